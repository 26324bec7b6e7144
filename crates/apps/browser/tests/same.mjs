// Checks that the program in the page and `metalens` give the same bytes:
//
//     node same.mjs PROGRAM METALENS [--million]
//
// JSON, HTML, comparisons and errors, on the built-in scenarios as export, bundle and zip, the stored
// export, every scenario of fixtures/findings, and every real recording below $METALENS_REAL.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { analyzed, compiled, listed } from "../site/node.mjs";

const [programPath, metalens] = process.argv.slice(2);
const program = resolve(metalens);
const root = resolve(import.meta.dirname, "../../../..");
const scratch = mkdtempSync(join(tmpdir(), "metalens-same-"));
const module = await compiled(programPath);
const counts = { analyses: 0, real: 0, refused: 0, comparisons: 0, stored: 0 };
let different = 0;

function native(folder, ...words) {
  return spawnSync(program, words, { cwd: folder, maxBuffer: 1 << 30 });
}

function same(what, ours, theirs) {
  if (Buffer.compare(Buffer.from(ours ?? ""), Buffer.from(theirs ?? "")) === 0) return;
  different++;
  const [a, b] = [Buffer.from(ours ?? "").toString(), Buffer.from(theirs ?? "").toString()];
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const near = (text) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 120));
  console.error(`${what} differs at ${at}:\n  page:   ${near(a)}\n  native: ${near(b)}`);
}

const text = (bytes) => Buffer.from(bytes ?? "").toString("utf8");

// The lines of an error and its hint on standard error.
function said(stderr) {
  const lines = text(stderr).trimEnd().replace(/\x1b\[[0-9;]*m/g, "");
  const [, message, hint] = lines.match(/^error: ([^]*?)(?:\nhint: ([^]*))?$/) ?? [];
  return { message, hint: hint ?? null };
}

async function analyze(path, part = {}, words = []) {
  const [folder, name] = [dirname(path), basename(path)];
  const beside = name.replace(/\.trace$/, ".work.json");
  const files = listed(folder, name).concat(existsSync(join(folder, beside)) ? listed(folder, beside) : []);
  const ours = await analyzed(module, { inputs: [name], ...part }, files);
  const html = join(scratch, "report.html");
  const theirs = native(folder, "-q", "analyze", name, "--json", "--html", html, "--force", ...words);
  if (ours.code === -1) {
    different++;
    console.error(`${path}: the program broke: ${ours.said}`);
  } else if (theirs.status === 0) {
    counts.analyses++;
    same(`${path}: JSON`, ours.files.get("report.json") ?? ours.files.get("error.json"), theirs.stdout);
    same(`${path}: HTML`, ours.files.get("report.html"), readFileSync(html));
    const markdown = native(folder, "-q", "analyze", name, "--markdown", ...words);
    same(`${path}: Markdown`, ours.files.get("report.md"), markdown.stdout);
    return ours.files.get("report.json");
  } else {
    counts.refused++;
    const refusal = JSON.parse(text(ours.files.get("error.json")) || "{}");
    const { message, hint } = refusal;
    same(`${path}: the error`, JSON.stringify({ message, hint }), JSON.stringify(said(theirs.stderr)));
  }
}

async function stored(report) {
  counts.stored++;
  const ours = await analyzed(module, { inputs: ["report.json"] }, [["report.json", Buffer.from(report)]]);
  same("a stored report", ours.files.get("report.json"), report);
}

async function compare(folder, base, new_) {
  counts.comparisons++;
  const files = [...listed(folder, base), ...listed(folder, new_)];
  const ours = await analyzed(module, { inputs: [base, new_], allowDifferent: true }, files);
  const output = join(scratch, "comparison");
  const theirs = native(folder, "-q", "compare", base, new_, "--allow-different", "--json", "-o", output, "--force");
  same(`${base} and ${new_}: JSON`, ours.files.get("comparison.json") ?? ours.files.get("error.json"), theirs.stdout);
  same(`${base} and ${new_}: HTML`, ours.files.get("comparison.html"), readFileSync(join(output, "comparison.html")));
  const markdown = native(folder, "-q", "compare", base, new_, "--allow-different", "--markdown");
  same(`${base} and ${new_}: Markdown`, ours.files.get("comparison.md"), markdown.stdout);
}

function zipped(name) {
  const make = "import shutil, sys; shutil.make_archive(sys.argv[1], 'zip', '.', sys.argv[1])";
  spawnSync("python3", ["-c", make, name], { cwd: scratch });
  return `${name}.zip`;
}

function synthesized(scenario, output) {
  const done = native(scratch, "-q", "synth", scenario, "-o", output);
  if (done.status !== 0) throw new Error(`cannot write ${output}: ${done.stderr}`);
  return join(scratch, output);
}

const lines = text(native(root, "synth", "--list").stdout).split("\n").slice(1);
const names = lines.map((line) => line.trim().split(/\s+/)[0]).filter((name) => name && name !== "million");
for (const name of names) {
  for (const ending of ["export", "trace"]) {
    const report = await analyze(synthesized(name, `${name}.${ending}`));
    if (report && ending === "trace") await stored(report);
  }
  await analyze(join(scratch, zipped(`${name}.trace`)));
}
await analyze(join(root, "fixtures/small-export"));

// A part of a recording.
const part = join(scratch, "eager.trace");
await analyze(part, { from: "710ms", to: "0.72 s" }, ["--from", "710ms", "--to", "0.72 s"]);
await analyze(part, { step: "steps:2" }, ["--step", "steps:2"]);
await analyze(part, { from: "90s" }, ["--from", "90s"]);

for (const scenario of readdirSync(join(root, "fixtures/findings"), { recursive: true }).filter((name) => name.endsWith(".toml"))) {
  const output = `finding-${scenario.replace(/\W/g, "-")}.trace`;
  await analyze(synthesized(join(root, "fixtures/findings", scenario), output));
}
await compare(scratch, "eager.trace", "fused.trace");
await compare(scratch, "fused.export", "batched.trace.zip");
await compare(scratch, "eager.trace", "eager.export");

// What is no recording has the same error and hint.
writeFileSync(join(scratch, "words.txt"), "only words");
writeFileSync(join(scratch, "broken.zip"), readFileSync(join(scratch, "eager.trace.zip")).subarray(0, 5000));
for (const name of ["words.txt", "broken.zip"]) await analyze(join(scratch, name));

const real = process.env.METALENS_REAL;
if (real && existsSync(real)) {
  const inner = readdirSync(real, { recursive: true, withFileTypes: true });
  const bundles = inner.filter((entry) => entry.isDirectory() && entry.name.endsWith(".trace"));
  const documents = inner.filter((entry) => /\.xml(\.gz)?$/.test(entry.name));
  const inputs = new Set(bundles.map((entry) => join(entry.parentPath, entry.name)));
  // What lies in a bundle is no export.
  for (const { parentPath } of documents) if (!parentPath.includes(".trace/")) inputs.add(parentPath);
  for (const input of [...inputs].sort()) if (await analyze(input)) counts.real++;
} else {
  console.log("SKIPPED: no real recordings in $METALENS_REAL");
}

rmSync(scratch, { recursive: true });
console.log(`${JSON.stringify(counts)}: ${different} differences`);
process.exit(different === 0 ? 0 : 1);
