"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const [OPENER, VIEWER] = [at("opener"), at("viewer")];
  // The inputs: { name, files: [[path, file]] }. Files beside them, such as known work: [[path, file]].
  let inputs = [], beside = [];
  let answer = null, worker = null, isComparing = false, allowDifferent = false;
  // The link has the name of an example, and the place that the report selects: #eager/at-871618000.
  let example = "", place = "";

  const decoded = (id) => Uint8Array.from(atob(at(id).textContent.trim()), (letter) => letter.charCodeAt(0));
  async function compiled() {
    const packed = new Blob([decoded("program")]).stream();
    const plain = packed.pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(plain).arrayBuffer());
  }
  // Compiled while the reader looks for the recording.
  const program = compiled();
  program.catch((error) => refuse({ message: `this browser cannot run metalens: ${error.message}`, hint: "use a current Chrome, Edge, Firefox or Safari" }));
  const workerUrl = URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" }));

  const size = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} KB` : `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`);
  const note = (text) => { at("copied").textContent = text; };
  const say = (text) => { at("status").textContent = text; };
  const show = (id, isShown) => { at(id).hidden = !isShown; };

  // ── what was dropped or chosen ──

  const isBeside = (name) => name.endsWith(".work.json");
  function take(entries, named = "") {
    if (answer) place = "";
    example = named;
    const known = isComparing ? inputs : [];
    const added = entries.filter((entry) => !isBeside(entry.name));
    beside = (isComparing ? beside : []).concat(entries.filter((entry) => isBeside(entry.name)).flatMap((entry) => entry.files));
    if (added.length === 0) return refuse({ message: "there is no recording among these files", hint: "open a .trace folder, its zip, an export, or a report.json" });
    isComparing = false;
    allowDifferent = false;
    // Files dropped at once have no order of their own.
    added.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    inputs = known.concat(added);
    run();
  }

  function openExample(name) {
    const file = `${name}.trace.zip`;
    isComparing = false;
    take([{ name: file, files: [[file, new File([decoded(`example-${name}`)], file)]] }], name);
  }

  // ── the link ──

  function follow() {
    const [, name, selected] = /^#([\w-]*)(?:\/(at-[\d-]+))?$/.exec(location.hash) ?? [];
    if (name && name !== example && at(`example-${name}`)) openExample(name);
    place = selected ? `#${selected}` : "";
    goToPlace();
  }

  function keepLink() {
    const link = `#${example}${place.replace("#", "/")}`;
    history.replaceState(null, "", link === "#" ? location.pathname : link);
  }

  function goToPlace() {
    if (answer && place) at("report").contentWindow.postMessage(place, "*");
  }

  async function walk(entry, path) {
    if (entry.isFile) return [[path, await new Promise((found, failed) => entry.file(found, failed))]];
    const reader = entry.createReader();
    const found = [];
    // A reader gives some hundred entries at a time.
    for (;;) {
      const some = await new Promise((read, failed) => reader.readEntries(read, failed));
      if (some.length === 0) break;
      found.push(...some);
    }
    const inner = await Promise.all(found.map((one) => walk(one, `${path}/${one.name}`)));
    return inner.flat();
  }

  async function walkHandle(handle, path) {
    if (handle.kind === "file") return [[path, await handle.getFile()]];
    const inner = [];
    for await (const [name, one] of handle.entries()) inner.push(walkHandle(one, `${path}/${name}`));
    return (await Promise.all(inner)).flat();
  }

  // Chromium refuses one way into a folder in a page that was opened as a file, others lack the other.
  async function filesOf({ entry, file, handle }) {
    if (!entry || entry.isFile) return [[file.name, file]];
    try {
      return await walk(entry, entry.name);
    } catch (error) {
      const other = await handle?.catch(() => null);
      if (!other) throw error;
      return walkHandle(other, entry.name);
    }
  }

  async function dropped(transfer) {
    // These are gone as soon as this function waits.
    const items = [...transfer.items].filter((item) => item.kind === "file").map((item) => ({
      entry: item.webkitGetAsEntry?.(),
      file: item.getAsFile(),
      handle: item.getAsFileSystemHandle?.(),
    }));
    say("Listing files");
    try {
      take(await Promise.all(items.map(async (item) => ({ name: item.entry?.name ?? item.file.name, files: await filesOf(item) }))));
    } catch (error) {
      refuse({ message: `the browser cannot read what was dropped: ${error.message}`, hint: "choose it with the buttons, or drop its zip" });
    }
  }

  function picked(list) {
    const found = new Map();
    for (const file of list) {
      const path = file.webkitRelativePath || file.name;
      const name = path.split("/")[0];
      if (!found.has(name)) found.set(name, []);
      found.get(name).push([path, file]);
    }
    if (found.size > 0) take([...found].map(([name, files]) => ({ name, files })));
  }

  // ── running ──

  async function run() {
    cancel();
    answer = null;
    open("opener");
    show("problem", false);
    show("apply", false);
    at("inputs").textContent = inputs.length === 2 ? `base: ${inputs[0].name}; new: ${inputs[1].name}` : inputs.map((one) => one.name).join(", ");
    show("chosen", true);
    if (inputs.length > 2) return refuse({ message: `${inputs.length} inputs were given`, hint: "open one, or two to compare" });
    show("working", true);
    stage("Reading");
    at("progress").removeAttribute("value");

    // Two inputs of one name lie in different folders.
    const isTwice = inputs.length === 2 && inputs[0].name === inputs[1].name;
    const place = (index, path) => (isTwice && index === 1 ? `new/${path}` : path);
    const files = inputs.flatMap((input, index) => input.files.map(([path, file]) => [place(index, path), file])).concat(beside);
    const text = (id) => at(id).value.trim() || null;
    const request = {
      output: "/out",
      inputs: inputs.map((input, index) => place(index, input.name)),
      showNames: at("show-names").checked,
      process: text("process"),
      from: text("from"),
      to: text("to"),
      step: text("step"),
      run: Number(at("run").value) || null,
      allowTruncated: at("allow-truncated").checked,
      allowDifferent,
    };
    const mine = worker = new Worker(workerUrl);
    mine.onmessage = ({ data }) => { if (worker === mine) heard(data); };
    mine.onerror = (error) => { if (worker === mine) heard({ kind: "done", code: -1, said: error.message, files: [] }); };
    try {
      mine.postMessage({ program: await program, request, files });
    } catch (error) {
      if (worker === mine) refuse({ message: `metalens could not start: ${error.message}` });
    }
  }

  function stage(words) {
    at("stage").textContent = words;
    say(words);
  }

  function heard(told) {
    if (told.kind === "progress") {
      at("progress").max = told.total;
      at("progress").value = told.done;
      at("stage").textContent = `Reading: ${size(told.done)} of ${size(told.total)}`;
    } else if (told.kind === "stage") {
      at("progress").removeAttribute("value");
      stage({ analyze: "Analyzing", draw: "Drawing" }[told.stage] ?? "Reading");
    } else {
      finished(told);
    }
  }

  function finished({ code, said, files, took, memory }) {
    stop();
    const found = new Map(files);
    const text = (name) => new TextDecoder().decode(found.get(name));
    if (found.has("error.json")) return refuse(JSON.parse(text("error.json")));
    if (code !== 0) {
      const why = said.trim() || `code ${code}`;
      return refuse({ message: `metalens stopped: ${why}`, hint: "if the recording needs more memory than a browser has, run `metalens analyze` on it; else please report this" });
    }
    const kind = found.has("comparison.html") ? "comparison" : "report";
    answer = { kind, json: found.get(`${kind}.json`), html: found.get(`${kind}.html`), markdown: text(`${kind}.md`) };
    VIEWER.dataset.tookMs = Math.round(took);
    VIEWER.dataset.memory = memory;
    const name = inputs.map((one) => one.name).join(" → ");
    at("shown-name").textContent = name;
    document.title = `${name}: metalens`;
    const page = text(`${kind}.html`);
    answer.picture = page.match(/<svg[^]*?<\/svg>/)?.[0];
    show("copy-picture", answer.picture !== undefined);
    // Before the policy of the report itself, which allows only the scripts of the report.
    at("report").srcdoc = page.replace("<head>", (head) => `${head}<script>${at("bridge").textContent}<\/script>`);
    keepLink();
    show("swap", kind === "comparison");
    show("compare-file", kind === "report");
    show("compare-folder", kind === "report");
    open("viewer");
    at("report").focus();
    say("The report is shown");
  }

  function refuse({ message, hint, isDifferent }) {
    stop();
    open("opener");
    at("message").textContent = message;
    at("hint").textContent = hint ?? "";
    show("anyway", isDifferent === true);
    show("again", inputs.length > 0 && isDifferent !== true);
    show("problem", true);
    say("");
  }

  function stop() {
    worker?.terminate();
    worker = null;
    show("working", false);
  }

  function cancel() {
    if (worker) say("Canceled");
    stop();
  }

  function open(which) {
    OPENER.hidden = which !== "opener";
    VIEWER.hidden = which !== "viewer";
  }

  function reset() {
    inputs = [];
    beside = [];
    answer = null;
    example = place = "";
    keepLink();
    document.title = "metalens: open a recording";
    at("report").removeAttribute("srcdoc");
    show("chosen", false);
    show("problem", false);
    show("apply", false);
    open("opener");
    at("choose-files").focus();
  }

  // The options of the report that is shown.
  function adjust() {
    open("opener");
    show("apply", true);
    at("options").open = true;
    at("process").focus();
  }

  function save(bytes, ending, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes], { type }));
    link.download = `${inputs.map((one) => one.name.replace(/\.(trace|zip|export|json|xml|gz)(?=\.|$)/g, "")).join("-")}.${answer.kind}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  async function picture() {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(answer.picture.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"'))}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((made) => canvas.toBlob(made));
  }

  async function copy(type, content) {
    try {
      await navigator.clipboard.write([new ClipboardItem({ [type]: content })]);
      note("Copied");
    } catch (error) {
      note(`The browser did not copy: ${error.message}`);
    }
  }

  // ── the page ──

  const click = (id, does) => at(id).addEventListener("click", does);
  const choose = (id, compares) => () => { isComparing = compares; at(id).value = ""; at(id).click(); };
  click("choose-files", choose("files", false));
  click("choose-folder", choose("folder", false));
  click("compare-file", choose("files", true));
  click("compare-folder", choose("folder", true));
  for (const button of document.querySelectorAll("[data-example]")) button.addEventListener("click", () => openExample(button.dataset.example));
  for (const id of ["files", "folder"]) at(id).addEventListener("change", () => picked(at(id).files));
  click("cancel", () => { cancel(); show("chosen", false); at("choose-files").focus(); });
  click("again", run);
  click("adjust", adjust);
  click("apply", run);
  click("anyway", () => { allowDifferent = true; run(); });
  click("swap", () => { inputs.reverse(); run(); });
  click("another", reset);
  click("save-html", () => save(answer.html, "html", "text/html"));
  click("save-json", () => save(answer.json, "json", "application/json"));

  click("copy-picture", () => copy("image/png", picture()));
  click("copy-comment", () => copy("text/plain", new Blob([answer.markdown], { type: "text/plain" })));
  at("report").addEventListener("load", goToPlace);
  addEventListener("message", ({ source, data }) => {
    if (source !== at("report").contentWindow || !/^#at-[\d-]+$/.test(data)) return;
    place = data;
    keepLink();
  });
  addEventListener("hashchange", follow);
  follow();

  const over = (is) => at("drop").classList.toggle("over", is);
  addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
  addEventListener("dragleave", (event) => { if (event.relatedTarget === null) over(false); });
  addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    isComparing = false;
    dropped(event.dataTransfer);
  });
})();
