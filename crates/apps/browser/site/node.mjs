// Runs the program in Node as the worker does in a browser, for the build and the tests.
import { closeSync, fstatSync, openSync, readFileSync, readSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { runProgram } = createRequire(import.meta.url)("./wasi.js");

export async function compiled(path) {
  return WebAssembly.compile(readFileSync(path));
}

// Answers a request. Files are [path in the page, path on the disk or bytes].
export async function analyzed(module, request, files) {
  const open = [];
  const source = (path) => {
    if (typeof path !== "string") return { size: path.length, read: (at, length) => path.subarray(at, at + length) };
    const file = openSync(path);
    open.push(file);
    const read = (at, length) => {
      const piece = new Uint8Array(length);
      return piece.subarray(0, readSync(file, piece, 0, length, at));
    };
    return { size: fstatSync(file).size, read };
  };
  try {
    const sources = files.map(([path, place]) => [path, source(place)]);
    const words = ["metalens-browser", JSON.stringify({ output: "/out", ...request })];
    return await runProgram(module, words, sources, { read: () => {}, wrote: () => {} });
  } finally {
    for (const file of open) closeSync(file);
  }
}

// Lists the files of a folder, or a file, as the page lists what was dropped.
export function listed(folder, name) {
  const path = join(folder, name);
  let entries;
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch {
    return [[name, path]];
  }
  return entries.flatMap((entry) => {
    const inner = `${name}/${entry.name}`;
    if (entry.isDirectory()) return listed(folder, inner);
    return entry.isFile() ? [[inner, join(folder, inner)]] : [];
  });
}
