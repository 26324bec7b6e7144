// Measures the page in a headless Chromium: node million.mjs SITE INPUT... Prints the time from the
// drop to the report, and the most memory that a process of the browser took.
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
  const before = peaks(browser.pid);
  await page.run("addEventListener('drop', () => { window.began = performance.now(); }, true)");
  await page.run("new MutationObserver(() => { if (!document.getElementById('viewer').hidden) window.ended ??= performance.now(); }).observe(document.getElementById('viewer'), { attributes: true })");
  await page.drop("#drop", [input]);
  await page.until("window.ended || !document.getElementById('problem').hidden");
  const wall = await page.run("window.ended - window.began");
  const told = await page.run("({ ...document.getElementById('viewer').dataset, problem: document.getElementById('message').textContent })");
  const after = peaks(browser.pid);
  await browser.close();
  const mb = (bytes) => `${Math.round(bytes / 1e6)} MB`;
  console.log(`${basename(input)}: ${Math.round(wall)} ms from the drop to the report, ${told.tookMs} ms of them in the program; its memory ${mb(told.memory)}; the page's process ${mb(after)} at most, ${mb(before)} before; ${told.problem}`);
}

// Returns the largest resident size that a renderer ever had, in bytes.
function peaks(root) {
  let most = 0;
  const parents = new Map();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      parents.set(Number(id), Number(readFileSync(`/proc/${id}/stat`, "utf8").replace(/^.*\) /, "").split(" ")[1]));
    } catch { /* it has ended */ }
  }
  const isOurs = (id) => id === root || (parents.has(id) && parents.get(id) > 1 && isOurs(parents.get(id)));
  for (const id of parents.keys()) {
    try {
      if (!isOurs(id) || !readFileSync(`/proc/${id}/cmdline`, "utf8").includes("--type=renderer")) continue;
      most = Math.max(most, 1024 * Number(readFileSync(`/proc/${id}/status`, "utf8").match(/VmHWM:\s+(\d+)/)[1]));
    } catch { /* it has ended */ }
  }
  return most;
}
