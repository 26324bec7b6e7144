// Drives a headless Chromium through a pipe. Returns null where there is none.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PATIENCE_MS = 240_000;

export async function chromium() {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const name = names.find((name) => spawnSync(name, ["--version"]).status === 0);
  if (!name) return null;

  const profile = mkdtempSync(join(tmpdir(), "metalens-chromium-"));
  const flags = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
    // One process for the page and its report, so that one session sees both.
    "--disable-features=IsolateSandboxedIframes", `--user-data-dir=${profile}`,
  ];
  const child = spawn(name, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const [to, from] = [child.stdio[3], child.stdio[4]];
  const waiting = new Map(), listeners = [];
  let next = 1, rest = "";
  from.setEncoding("utf8");
  from.on("data", (text) => {
    const messages = (rest + text).split("\0");
    rest = messages.pop();
    for (const one of messages) {
      const message = JSON.parse(one);
      if (message.id) {
        const [done, failed] = waiting.get(message.id);
        waiting.delete(message.id);
        if (message.error) failed(new Error(message.error.message));
        else done(message.result);
      } else for (const listener of listeners) listener(message);
    }
  });
  const send = (method, params = {}, sessionId) => {
    const id = next++;
    const answered = new Promise((done, failed) => waiting.set(id, [done, failed]));
    to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return answered;
  };
  const close = async () => {
    await send("Browser.close").catch(() => {});
    await new Promise((ended) => (child.exitCode === null ? child.once("exit", ended) : ended()));
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return { send, close, listen: (listener) => listeners.push(listener), pid: child.pid };
}

// Opens a page, and returns what tests do with it.
export async function opened(browser, url, { width = 1400, height = 900, dark = false } = {}) {
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const messages = [], requests = [];
  browser.listen(({ method, params, sessionId: from }) => {
    if (from !== sessionId) return;
    if (method === "Log.entryAdded") messages.push(params.entry.text);
    if (method === "Runtime.exceptionThrown") messages.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Network.requestWillBeSent") requests.push(params.request.url);
  });
  for (const domain of ["Page", "Runtime", "Log", "Network", "DOM"]) await send(`${domain}.enable`);
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
  await send("Page.navigate", { url });

  const run = async (expression) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true, allowUnsafeEvalBlockedByCSP: false });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const until = async (expression) => {
    const end = Date.now() + PATIENCE_MS;
    while (Date.now() < end) {
      const found = await run(`(() => { try { return ${expression}; } catch { return false; } })()`);
      if (found) return found;
      await new Promise((later) => setTimeout(later, 50));
    }
    throw new Error(`waited in vain for ${expression}; ${messages.join("; ")}`);
  };
  // Puts files into a chooser, as a reader would.
  const choose = async (selector, files) => {
    const { root } = await send("DOM.getDocument");
    const { nodeId } = await send("DOM.querySelector", { nodeId: root.nodeId, selector });
    await send("DOM.setFileInputFiles", { nodeId, files });
  };
  // Drops files or folders of the disk into the middle of an element.
  const drop = async (selector, files) => {
    const { x, y } = await run(`(() => { const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect(); return { x: box.x + box.width / 2, y: box.y + box.height / 2 }; })()`);
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) await send("Input.dispatchDragEvent", { type, x, y, data });
  };
  const picture = async () => Buffer.from((await send("Page.captureScreenshot", { format: "png" })).data, "base64");
  await until("document.readyState === 'complete'");
  return { send, run, until, choose, drop, picture, messages, requests, targetId };
}
