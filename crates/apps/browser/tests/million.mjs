// Measures the page in a headless Chromium: node million.mjs SITE INPUT... Prints the time from the
// drop to the report, and the memory and the processor time that the page's process took.
import { readFileSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, opened } from "./chromium.mjs";

const [site, ...inputs] = process.argv.slice(2).map((path) => resolve(path));
for (const input of inputs) {
  const browser = await chromium();
  if (!browser) {
    console.log("SKIPPED: no chromium on this machine");
    process.exit(0);
  }
  const page = await opened(browser, pathToFileURL(join(site, "index.html")).href);
  await page.run("new Promise((later) => setTimeout(later, 1000))");
  const before = costs(browser.pid);
  await page.run("addEventListener('drop', () => { window.began = performance.now(); }, true)");
  await page.run("new MutationObserver(() => { if (!document.getElementById('viewer').hidden) window.ended ??= performance.now(); }).observe(document.getElementById('viewer'), { attributes: true })");
  await page.drop("#drop", [input]);
  await page.until("window.ended || !document.getElementById('problem').hidden");
  const wall = await page.run("window.ended - window.began");
  const told = await page.run("({ ...document.getElementById('viewer').dataset, problem: document.getElementById('message').textContent })");
  const after = costs(browser.pid);
  await browser.close();
  const mb = (bytes) => `${Math.round(bytes / 1e6)} MB`;
  console.log(`${basename(input)}: ${Math.round(wall)} ms from the drop to the report, ${told.tookMs} ms of them in the program; its memory ${mb(told.memory)}; the page's process took ${mb(after.peak)} at most (${mb(before.peak)} before the drop) and ${(after.seconds - before.seconds).toFixed(1)} s of processor time ${told.problem}`);
}

// Returns the largest resident size of the page's process, in bytes, and its processor time.
function costs(root) {
  const found = { peak: 0, seconds: 0 };
  const facts = new Map();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      facts.set(Number(id), readFileSync(`/proc/${id}/stat`, "utf8").replace(/^.*\) /, "").split(" "));
    } catch { /* it has ended */ }
  }
  const parent = (id) => Number(facts.get(id)?.[1] ?? 0);
  const isOurs = (id) => id === root || (id > 1 && isOurs(parent(id)));
  for (const [id, fields] of facts) {
    try {
      if (!isOurs(id) || !readFileSync(`/proc/${id}/cmdline`, "utf8").includes("--type=renderer")) continue;
      const peak = 1024 * Number(readFileSync(`/proc/${id}/status`, "utf8").match(/VmHWM:\s+(\d+)/)[1]);
      found.peak = Math.max(found.peak, peak);
      // In ticks of 10 ms, as on every Linux.
      found.seconds += (Number(fields[11]) + Number(fields[12])) / 100;
    } catch { /* it has ended */ }
  }
  return found;
}
