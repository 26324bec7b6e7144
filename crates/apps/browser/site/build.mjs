// Puts the page together: node build.mjs PROGRAM EXAMPLES FOLDER. EXAMPLES has NAME.trace.zip of each
// example, and list, where the program says what they show. The scripts that the page may run are listed
// in its policy by their hashes: its own, and those of the reports that it shows, which are taken from
// reports of the first example.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { analyzed, compiled } from "./node.mjs";

const LARGEST = 3_000_000;

const [programPath, examplesPath, folder] = process.argv.slice(2);
const here = import.meta.dirname;
const read = (path) => readFileSync(join(here, path), "utf8");

const program = gzipSync(readFileSync(programPath), { level: 9 });
if (program.length > LARGEST) {
  console.error(`the program has ${program.length} bytes in gzip, more than ${LARGEST}`);
  process.exit(1);
}

// ── the scripts of every kind of page that the program makes ──

const archive = (name) => join(examplesPath, `${name}.trace.zip`);
const listed = [...readFileSync(join(examplesPath, "list"), "utf8").matchAll(/^ +([\w-]+) +(.+)$/gm)];
const examples = listed.map(([, name, shows]) => ({ name, shows })).filter(({ name }) => existsSync(archive(name)));
const demo = [["demo.trace.zip", archive(examples[0].name)]];
const copy = [["copy.trace.zip", archive(examples[0].name)]];
const module = await compiled(programPath);
const answers = [
  await analyzed(module, { inputs: [demo[0][0]] }, demo),
  await analyzed(module, { inputs: [demo[0][0], copy[0][0]] }, [...demo, ...copy]),
];
const stored = [["report.json", Buffer.from(answers[0].files.get("report.json"))]];
answers.push(await analyzed(module, { inputs: ["report.json"] }, stored));

const script = `\n${read("page.js")}`;
const bridge = read("bridge.js");
const hashes = new Set([hash(script), hash(bridge)]);
for (const { code, said, files } of answers) {
  if (code !== 0) throw new Error(`the program failed on the first example: ${said}${text(files.get("error.json"))}`);
  const page = text(files.get("report.html") ?? files.get("comparison.html"));
  for (const [, inner] of page.matchAll(/<script>([^]*?)<\/script>/g)) hashes.add(hash(inner));
}

const policy = [
  "default-src 'none'",
  "connect-src 'none'",
  `script-src ${[...hashes].map((one) => `'${one}'`).join(" ")} 'wasm-unsafe-eval'`,
  "style-src 'unsafe-inline'",
  "img-src data:",
  "worker-src blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const version = readFileSync(join(here, "../../../../Cargo.toml"), "utf8").match(/^version = "(.*)"$/m)[1];
const parts = {
  policy,
  style: `${readFileSync(join(here, "../../../../templates/report.css"), "utf8")}${read("page.css")}`,
  footer: `metalens ${version}. The examples are synthetic: no GPU ran them.`,
  program: program.toString("base64"),
  bridge,
  examples: examples.map(({ name, shows }) => `<li><button type="button" data-example="${name}"><strong>${name}</strong> ${shows}</button></li>`).join("\n"),
  recordings: examples.map(({ name }) => `<script type="text/plain" id="example-${name}">${readFileSync(archive(name)).toString("base64")}</script>`).join("\n"),
  worker: `${read("wasi.js")}${read("worker.js")}`,
};
for (const [name, part] of Object.entries({ ...parts, script })) {
  if (name !== "recordings" && part.includes("</script")) throw new Error(`${name} would end its element`);
}
let page = read("page.html").replace("\n{{ script }}\n", () => script);
page = page.replace(/\{\{ (\w+) \}\}/g, (_, name) => {
  if (parts[name] === undefined) throw new Error(`no ${name}`);
  return parts[name];
});
writeFileSync(join(folder, "index.html"), page);
const raw = readFileSync(programPath).length;
console.log(`${join(folder, "index.html")}: ${page.length} bytes; the program ${raw} bytes, ${program.length} in gzip`);

function hash(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function text(bytes) {
  return bytes ? Buffer.from(bytes).toString("utf8") : "";
}
