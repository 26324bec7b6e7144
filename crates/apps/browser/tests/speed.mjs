// Measures report pages in a headless Chromium: node speed.mjs REPORT.html... Prints the size of each, the time until its
// timeline is drawn and answers, and that of a frame while the timeline is moved at five zooms: the median and the 99th
// of 100. A page above 6 MB fails; no time does.
import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, opened } from "./chromium.mjs";

const MOST_BYTES = 6e6;
const FRAMES = 60;
const ZOOMS = [0, 4, 8, 12, 16];

// In the page: moves the timeline by one key a frame, and returns the times between frames and those of the page's own
// work in them.
const moved = (zooms) => `(async () => {
  const canvas = document.getElementById("canvas"), frame = () => new Promise(requestAnimationFrame);
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  press("0");
  for (let n = 0; n < ${zooms}; n++) press("w");
  await frame();
  const apart = [], work = [];
  let before = await frame();
  for (let n = 0; n < ${FRAMES}; n++) {
    press(n % 20 < 10 ? "d" : "a");
    // The drawing was asked for first, so that it is done by then.
    const now = await frame();
    apart.push(now - before);
    work.push(performance.now() - now);
    before = now;
  }
  return { apart, work };
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
  // The script is at the end of the page: once it is parsed, the timeline is drawn and has its keys.
  const opened_ms = await page.run("performance.getEntriesByType('navigation')[0].domInteractive");
  const apart = [], work = [];
  for (const zooms of ZOOMS) {
    const frames = await page.run(moved(zooms));
    apart.push(...frames.apart);
    work.push(...frames.work);
  }
  const ms = (all) => `${of(all, 0.5)} ms (${of(all, 0.99)})`;
  console.log(`${basename(path)}: ${(bytes / 1e6).toFixed(2)} MB; answers after ${opened_ms.toFixed(0)} ms; from frame to frame ${ms(apart)}, of which the page works ${ms(work)}`);
  if (bytes > MOST_BYTES) large += 1;
  await browser.send("Target.closeTarget", { targetId: page.targetId });
}
await browser.close();
process.exit(large ? 1 : 0);

function of(all, share) {
  const sorted = all.slice().sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1);
}
