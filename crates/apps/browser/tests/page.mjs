// Tries the page in a headless Chromium:
//
//     node page.mjs SITE METALENS [PICTURES]
//
// A drop of a zip, of a folder and of two inputs; an example by click and by link, and the place in it;
// cancel; errors; what is saved or copied is what `metalens` writes; nothing can be sent from the page,
// from the report in it, or from the worker.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, opened } from "./chromium.mjs";

const [site, metalens, pictures] = process.argv.slice(2).map((path) => resolve(path));
const browser = await chromium();
if (!browser) {
  console.log("SKIPPED: no chromium on this machine, so the page was not tried in one");
  process.exit(0);
}

const scratch = mkdtempSync(join(tmpdir(), "metalens-page-"));
const at = (name) => join(scratch, name);
const native = (...words) => {
  const done = spawnSync(metalens, ["-q", ...words], { cwd: scratch, maxBuffer: 1 << 30 });
  assert.equal(done.status, 0, String(done.stderr));
  return done.stdout;
};
for (const name of ["eager", "fused"]) native("synth", name, "-o", `${name}.trace`);
spawnSync("python3", ["-c", "import shutil; shutil.make_archive('eager.trace', 'zip', '.', 'eager.trace')"], { cwd: scratch });
native("synth", "eager", "-o", "eager.export");
writeFileSync(at("words.txt"), "only words");
const json = native("analyze", "eager.trace.zip", "--json", "--html", "expected.html");
const html = readFileSync(at("expected.html"));

// A server that must never hear of anything.
const heard = [];
const server = createServer((request, response) => {
  heard.push(request.url);
  response.end();
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const elsewhere = `http://127.0.0.1:${server.address().port}`;

const onDisk = pathToFileURL(join(site, "index.html")).href;
const host = createServer((request, response) => {
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end(request.url === "/" ? readFileSync(join(site, "index.html")) : "");
});
await new Promise((ready) => host.listen(0, "127.0.0.1", ready));
const url = `http://127.0.0.1:${host.address().port}/`;
const done = "!document.getElementById('viewer').hidden && document.getElementById('report').srcdoc.length > 0";
const failed = "!document.getElementById('problem').hidden";

try {
  const page = await opened(browser, url);
  const click = (id) => page.run(`document.getElementById("${id}").click()`);

  // ── a zip ──
  await page.drop("#drop", [at("eager.trace.zip")]);
  await page.until(done);
  console.log(`a zip: ${await page.run("document.getElementById('viewer').dataset.tookMs")} ms`);
  await report(page, "report");
  await saved(page, "save-json", "eager.report.json", json);
  await saved(page, "save-html", "eager.report.html", html);

  // ── a part of it, and the whole again ──
  const set = (id, value) => page.run(`document.getElementById("${id}").value = "${value}"`);
  await click("adjust");
  await set("from", "1");
  await click("apply");
  await page.until(failed);
  assert.match(await page.run("document.getElementById('message').textContent"), /From: a time needs a unit/);
  await set("from", "710ms");
  await set("to", "720ms");
  await click("again");
  await page.until(done);
  await saved(page, "save-json", "eager.report.json", native("analyze", "eager.trace.zip", "--from", "710ms", "--to", "720ms", "--json"));

  await click("adjust");
  await set("from", "");
  await set("to", "");
  await click("apply");
  await page.until(done);
  await saved(page, "save-json", "eager.report.json", json);

  // ── nothing leaves it ──
  await nothingLeaves(page);

  // ── two at once ──
  native("compare", "eager.trace.zip", "fused.trace", "--allow-different", "-o", "compared");
  await click("another");
  await page.drop("#drop", [at("eager.trace.zip"), at("fused.trace")]);
  await page.until(`${done} || !document.getElementById('anyway').hidden`);
  if (await page.run("!document.getElementById('anyway').hidden")) await click("anyway");
  await page.until(done);
  await report(page, "comparison");
  await saved(page, "save-json", "eager-fused.comparison.json", readFileSync(at("compared/comparison.json")));
  await saved(page, "save-html", "eager-fused.comparison.html", readFileSync(at("compared/comparison.html")));

  // ── a folder, an export, a stored report ──
  writeFileSync(at("report.json"), json);
  for (const name of ["fused.trace", "eager.export", "report.json"]) {
    await click("another");
    await page.drop("#drop", [at(name)]);
    await page.until(done);
    await report(page, "report");
  }
  await saved(page, "save-json", "report.report.json", json);

  // ── a chosen file ──
  await click("another");
  await page.choose("#files", [at("eager.trace.zip")]);
  await page.until(done);

  // ── one more, to compare ──
  await page.run("(() => { const input = document.getElementById('files'); input.click = () => {}; document.getElementById('compare-file').click(); delete input.click; })()");
  await page.choose("#files", [at("report.json")]);
  await page.until(`${done} && document.getElementById('shown-name').textContent.includes('→') || !document.getElementById('anyway').hidden`);

  // ── an error, and the way on ──
  await click("another");
  await page.drop("#drop", [at("words.txt")]);
  await page.until(failed);
  const words = await page.run("document.getElementById('message').textContent");
  assert.match(words, /words\.txt/);
  assert.equal(await page.run("document.getElementById('problem').getAttribute('role')"), "alert");

  // ── cancel ──
  await click("another");
  await page.run("document.querySelector('[data-example=eager]').click()");
  await page.until("!document.getElementById('working').hidden");
  await click("cancel");
  assert.ok(await page.run("document.getElementById('working').hidden && document.getElementById('viewer').hidden"));
  await page.run("document.querySelector('[data-example=eager]').click()");
  await page.until(done);

  const complaints = page.messages.filter((text) => !text.includes(elsewhere.replace("http:", "")));
  assert.deepEqual(complaints, []);
  const loaded = page.requests.filter((one) => !/^(blob|data|about):/.test(one) && !one.startsWith(elsewhere));
  assert.deepEqual(loaded, [url], "the page loads something");

  // ── a link to an example and a place in it, and what is copied ──
  assert.equal(await page.run("location.hash"), "#eager");
  await browser.send("Browser.grantPermissions", { origin: url, permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] });
  const linked = await opened(browser, `${url}#fused/at-730000000`);
  await linked.send("Emulation.setFocusEmulationEnabled", { enabled: true });
  await linked.until(done);
  await placed(linked, "location.hash === '#at-730000000' && !document.getElementById('selected').hidden");
  await placed(linked, "(document.querySelector('a.at').click(), true)");
  await linked.until("/^#fused[/]at-\\d+/.test(location.hash) && location.hash !== '#fused/at-730000000'");

  // ── what somebody selects by dragging is in the link, which selects it for others ──
  const canvas = await value(linked, "(() => { document.getElementById('canvas').scrollIntoView({ block: 'center' }); return document.getElementById('canvas').getBoundingClientRect().toJSON(); })()");
  const around = await linked.run("document.getElementById('report').getBoundingClientRect().toJSON()");
  const y = around.y + canvas.y + canvas.height / 2, x = (share) => around.x + canvas.x + share * canvas.width;
  for (const [type, share] of [["mousePressed", 0.3], ["mouseMoved", 0.45], ["mouseMoved", 0.6], ["mouseReleased", 0.6]]) {
    await linked.send("Input.dispatchMouseEvent", { type, x: x(share), y, button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount: 1 });
  }
  await linked.until("/^#fused[/]at-\\d+-\\d{4,}$/.test(location.hash)");
  const sums = "document.getElementById('selected').dataset.sums", selection = await value(linked, sums);
  const restored = await opened(browser, `${url}${await linked.run("location.hash")}`);
  await restored.until(done);
  await placed(restored, `${sums} === ${JSON.stringify(selection)}`);
  assert.deepEqual(restored.messages, []);
  await linked.run("location.hash = '#eager/at-730000000'");
  await linked.until(`${done} && document.getElementById('shown-name').textContent === 'eager.trace.zip'`);
  await placed(linked, "location.hash === '#at-730000000'");
  await linked.run("document.getElementById('copy-comment').click()");
  await linked.until("document.getElementById('copied').textContent === 'Copied'");
  assert.equal(await linked.run("navigator.clipboard.readText()"), String(native("analyze", "eager.trace.zip", "--markdown")));
  await linked.run("(document.getElementById('copied').textContent = '', document.getElementById('copy-picture').click())");
  await linked.until("document.getElementById('copied').textContent === 'Copied'");
  const drawn = await linked.run("navigator.clipboard.read().then(([item]) => item.getType('image/png')).then((blob) => createImageBitmap(blob)).then((image) => image.width)");
  assert.equal(drawn, 2 * 830);
  assert.deepEqual(linked.messages, []);

  // ── saved on a disk ──
  const alone = await opened(browser, onDisk);
  for (const name of ["eager.trace", "eager.trace.zip"]) {
    await alone.drop("#drop", [at(name)]);
    await alone.until(done);
    await report(alone, "report");
    await saved(alone, "save-json", "eager.report.json", native("analyze", name, "--json"));
    await alone.run("document.getElementById('another').click()");
  }
  assert.deepEqual(alone.messages, []);
  assert.deepEqual(heard, []);

  if (pictures) await photograph();
  console.log("the page works in Chromium, and sent nothing");
} finally {
  await browser.close();
  server.close();
  host.close();
  rmSync(scratch, { recursive: true, force: true });
}

// Checks the shown report by looking into its frame, which is a world of its own.
async function report(page, kind) {
  const frame = await inner(page);
  const { result } = await page.send("Runtime.evaluate", {
    contextId: frame,
    returnByValue: true,
    expression: "({ kind: document.querySelector('main').className, rows: document.querySelectorAll('tbody tr').length, sorts: document.querySelectorAll('th button').length, wide: document.documentElement.scrollWidth - innerWidth })",
  });
  assert.equal(result.value.kind, kind);
  assert.ok(result.value.rows > 3, JSON.stringify(result.value));
  assert.ok(kind === "comparison" || result.value.sorts > 0, "the scripts of the report do not run");
  assert.ok(result.value.wide <= 0, "the report scrolls sideways");
}

// Returns the world of the report's own scripts.
async function inner(page) {
  for (let tries = 0; tries < 100; tries++) {
    const { frameTree } = await page.send("Page.getFrameTree");
    const frame = frameTree.childFrames?.[0]?.frame.id;
    if (frame) {
      const { executionContextId } = await page.send("Page.createIsolatedWorld", { frameId: frame });
      const { result } = await page.send("Runtime.evaluate", { contextId: executionContextId, expression: "document.readyState === 'complete' && document.querySelector('main') !== null", returnByValue: true });
      if (result.value) return executionContextId;
    }
    await new Promise((later) => setTimeout(later, 50));
  }
  throw new Error("the report has no frame");
}

// Returns the value of an expression in the frame of the report.
async function value(page, expression) {
  const { result } = await page.send("Runtime.evaluate", { contextId: await inner(page), expression, returnByValue: true });
  return result.value;
}

// Waits until an expression is true in the frame of the report.
async function placed(page, expression) {
  for (let tries = 0; tries < 200; tries++) {
    if (await value(page, expression)) return;
    await new Promise((later) => setTimeout(later, 50));
  }
  throw new Error(`the report waited in vain for ${expression}`);
}

async function saved(page, button, name, expected) {
  const folder = at("saved");
  mkdirSync(folder, { recursive: true });
  await browser.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
  const file = join(folder, name);
  rmSync(file, { force: true });
  await page.run(`document.getElementById("${button}").click()`);
  for (let tries = 0; tries < 200 && !(existsSync(file) && readFileSync(file).length === expected.length); tries++) {
    await new Promise((later) => setTimeout(later, 50));
  }
  assert.ok(existsSync(file), `${name} was not saved`);
  assert.ok(readFileSync(file).equals(expected), `${name} is not what metalens writes`);
}

// Tries every way out that a script has, in the page and in the report.
async function nothingLeaves(page) {
  const attempts = `
    const tries = {
      fetch: () => fetch("${elsewhere}/fetch"),
      beacon: () => { if (!navigator.sendBeacon("${elsewhere}/beacon", "x")) throw new Error("refused"); },
      request: () => new Promise((done, failed) => { const one = new XMLHttpRequest(); one.onload = done; one.onerror = () => failed(new Error("refused")); one.open("POST", "${elsewhere}/request"); one.send("x"); }),
      socket: () => new Promise((done, failed) => { const one = new WebSocket("${elsewhere}/socket".replace("http", "ws")); one.onopen = done; one.onerror = () => failed(new Error("refused")); }),
      image: () => new Promise((done, failed) => { const one = new Image(); one.onload = done; one.onerror = () => failed(new Error("refused")); one.src = "${elsewhere}/image"; }),
      script: () => new Promise((done, failed) => { const one = document.createElement("script"); one.onload = done; one.onerror = () => failed(new Error("refused")); one.src = "${elsewhere}/script"; document.head.append(one); }),
      style: () => new Promise((done, failed) => { const one = document.createElement("link"); one.rel = "stylesheet"; one.onload = done; one.onerror = () => failed(new Error("refused")); one.href = "${elsewhere}/style"; document.head.append(one); }),
      frame: () => new Promise((done) => { const one = document.createElement("iframe"); one.src = "${elsewhere}/frame"; document.body.append(one); setTimeout(() => { one.remove(); done(); }, 300); }),
      form: () => new Promise((done) => { const one = document.createElement("form"); one.action = "${elsewhere}/form"; one.method = "post"; one.target = "_blank"; document.body.append(one); one.submit(); setTimeout(done, 300); }),
    };
    Promise.all(Object.entries(tries).map(async ([name, attempt]) => {
      try { await attempt(); return [name, "went through"]; } catch { return [name, "refused"]; }
    })).then(Object.fromEntries)`;
  for (const world of ["page", "report"]) {
    // The page's own world and the report's: only there the policy holds as for its scripts.
    const contextId = world === "report" ? await mainWorld(page) : undefined;
    const { result, exceptionDetails } = await page.send("Runtime.evaluate", { contextId, expression: attempts, awaitPromise: true, returnByValue: true });
    assert.equal(exceptionDetails, undefined);
    for (const [name, ended] of Object.entries(result.value)) {
      if (!["frame", "form", "beacon"].includes(name)) assert.equal(ended, "refused", `${world}: ${name}`);
    }
  }
  assert.equal(
    await page.run(`new Promise((told) => { const one = new Worker(URL.createObjectURL(new Blob(["fetch('${elsewhere}/worker').then(() => postMessage('went through'), () => postMessage('refused'))"]))); one.onmessage = ({ data }) => told(data); one.onerror = () => told("refused"); })`),
    "refused",
  );
  assert.equal(await page.run(`(() => { try { return new Function("return 1")(); } catch { return "refused"; } })()`), "refused");
  await new Promise((later) => setTimeout(later, 500));
  assert.deepEqual(heard, [], "something left the page");
}

// The report's frame may live in the page's process: its own world has the frame's id.
async function mainWorld(page) {
  const { frameTree } = await page.send("Page.getFrameTree");
  const frameId = frameTree.childFrames[0].frame.id;
  const found = new Promise((done) => {
    browser.listen(({ method, params }) => {
      const data = params?.context?.auxData;
      if (method === "Runtime.executionContextCreated" && data?.frameId === frameId && data.isDefault) done(params.context.id);
    });
  });
  await page.send("Runtime.disable");
  await page.send("Runtime.enable");
  return found;
}

async function photograph() {
  mkdirSync(pictures, { recursive: true });
  for (const dark of [false, true]) {
    for (const width of [1400, 400]) {
      const page = await opened(browser, url, { width, height: width === 400 ? 800 : 900, dark });
      const take = async (name) => writeFileSync(join(pictures, `${name}-${width}${dark ? "-dark" : ""}.png`), await page.picture());
      const wide = await page.run("document.documentElement.scrollWidth - innerWidth");
      assert.ok(wide <= 0, `the page scrolls sideways at ${width}`);
      await take("opener");
      await page.drop("#drop", [at("words.txt")]);
      await page.until(failed);
      await take("problem");
      await page.run("document.querySelector('[data-example=eager]').click()");
      await page.until(done);
      await inner(page);
      await new Promise((later) => setTimeout(later, 500));
      await take("report");
      await browser.send("Target.closeTarget", { targetId: page.targetId });
    }
  }
}
