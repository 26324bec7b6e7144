// Checks in Chromium that the pages of metalens fit each width and that their text has contrast (WCAG AA), in
// light and in dark: `node widths.mjs METALENS`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, opened } from "./chromium.mjs";

const WIDTHS = [320, 400, 800, 1280];
const metalens = process.argv[2];

// In the page: what is wider than it, and texts that are hard to read on the color behind them.
const FAULTS = `(() => {
  const faults = [], root = document.documentElement;
  if (root.scrollWidth > innerWidth) faults.push("the page is " + root.scrollWidth + " wide");
  const parsed = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const linear = part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const luminance = ([red, green, blue]) => 0.2126 * linear(red / 255) + 0.7152 * linear(green / 255) + 0.0722 * linear(blue / 255);
  const ground = one => {
    for (let at = one; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor, [red, green, blue, alpha = 1] = parsed(color);
      if (color.startsWith("rgb") && alpha > 0.99) return [red, green, blue];
    }
    return null;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement, box = one.getBoundingClientRect();
    const isText = texts.currentNode.data.trim() && box.width > 1 && box.height > 1;
    if (!isText || one.closest("svg, script, style, noscript, [hidden]")) continue;
    const style = getComputedStyle(one), behind = ground(one), ink = parsed(style.color);
    if (!behind || !style.color.startsWith("rgb") || ink.length < 3) continue;
    const both = [luminance(ink), luminance(behind)].sort((a, b) => b - a);
    const contrast = (both[0] + 0.05) / (both[1] + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700;
    if (contrast < (isLarge ? 3 : 4.5)) faults.push(contrast.toFixed(2) + ": " + texts.currentNode.data.trim().slice(0, 40));
  }
  return [...new Set(faults)];
})()`;

const folder = mkdtempSync(join(tmpdir(), "metalens-widths-"));
const run = (...words) => {
  const { status, stderr } = spawnSync(metalens, words, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`metalens ${words.join(" ")}: ${stderr}`);
};
const browser = await chromium();
if (!browser) {
  console.log("skipped: no chromium on this machine, so the widths of the pages were not tried");
  process.exit(0);
}
const pages = [];
for (const scenario of ["eager", "batched", "renderer", "awkward", "shared-machine"]) {
  run("synth", scenario, "-q", "-o", `runs/${scenario}`);
  run("analyze", `runs/${scenario}`, "-q", "-o", scenario);
  pages.push(`${scenario}/report.html`);
}
run("compare", "runs/eager", "runs/batched", "-q", "-o", "comparison");
run("batch", "runs", "-q", "-o", "index");
pages.push("comparison/comparison.html", "index/index.html");

let faults = 0, tried = 0;
for (const page of pages) {
  for (const dark of [false, true]) {
    const tab = await opened(browser, `file://${join(folder, page)}`, { dark });
    // A selected gap has the most words beside the timeline.
    await tab.run("document.querySelector('#longest-gaps a.at')?.click()");
    for (const width of WIDTHS) {
      await tab.send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
      for (const fault of await tab.run(FAULTS)) {
        console.error(`${page}, ${width} px, ${dark ? "dark" : "light"}: ${fault}`);
        faults += 1;
      }
      tried += 1;
    }
  }
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
console.log(`${tried} views of ${pages.length} pages: ${faults} faults`);
process.exit(faults ? 1 : 0);
