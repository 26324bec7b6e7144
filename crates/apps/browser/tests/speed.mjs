// Measures report pages in a headless Chromium: node speed.mjs REPORT.html... Prints the size of each, the time until its
// timeline is drawn and answers, and the time of a frame while it is moved. A page above 5 MB fails; no time does.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, opened } from "./chromium.mjs";

const MOST_BYTES = 5e6;
const FRAMES = 120;

// In the page: moves the timeline by one key a frame, at a zoom, and returns the times between frames and those of the
// page's own work in them.
const moved = (zooms) => `(async () => {
  const canvas = document.getElementById("canvas"), frame = () => new Promise(requestAnimationFrame);
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  press("0");
  for (let n = 0; n < ${zooms}; n++) press("w");
  await frame();
  const apart = [], work = [];
  let before = await frame();
  for (let n = 0; n < ${FRAMES}; n++) {
    press(n % 40 < 20 ? "d" : "a");
    const now = await frame();
    // The drawing was asked for before this frame was, so that it is done.
    apart.push(now - before);
    work.push(performance.now() - now);
    before = now;
  }
  return { apart, work, mode: document.getElementById("state").dataset.mode };
})()`;

const browser = await chromium();
if (!browser) {
  console.log("SKIPPED: no chromium on this machine, so no page was opened");
  process.exit(0);
}
let large = 0;
for (const path of process.argv.slice(2)) {
  const bytes = statSync(path).size;
  const page = await opened(browser, pathToFileURL(resolve(path)).href);
  const times = await page.run(`new Promise((later) => requestAnimationFrame(() => setTimeout(later)))
    .then(() => performance.getEntriesByType("navigation")[0])
    .then(({ responseEnd, domInteractive, loadEventEnd }) => ({ responseEnd, domInteractive, loadEventEnd,
      painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime }))`);
  const views = [];
  for (const zooms of [0, 4, 8, 12, 16]) {
    const { apart, work, mode } = await page.run(moved(zooms));
    views.push(`${mode} ÷${2 ** zooms}: ${of(apart, 0.5)} (${of(apart, 0.99)}), ${of(work, 0.5)} (${of(work, 0.99)})`);
  }
  const ms = (value) => (value === undefined ? "–" : `${value.toFixed(0)} ms`);
  console.log(`${path}: ${(bytes / 1e6).toFixed(2)} MB; answers after ${ms(times.domInteractive)}, loaded after ${ms(times.loadEventEnd)}, painted after ${ms(times.painted)}
  ms from frame to frame, and ms of work in a frame, median (99th of 100): ${views.join("; ")}`);
  if (bytes > MOST_BYTES) large += 1;
  await browser.send("Target.closeTarget", { targetId: page.targetId });
}
await browser.close();
process.exit(large ? 1 : 0);

function of(all, share) {
  const sorted = all.slice().sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1);
}
