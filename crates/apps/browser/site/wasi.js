// Gives the program what it asks its system for (WASI preview 1): a folder with the dropped files,
// which is read only and read as the program asks for it, and a folder for its answer, in memory.
// No network, no clock that matters, no environment: there is nothing else to ask for.
"use strict";

const ERRNO = { ok: 0, badFile: 8, invalid: 28, isFolder: 31, noEntry: 44, noSystem: 52, notFolder: 54, readOnly: 69 };
const FOLDER = 3, FILE = 4, STREAM = 2;
const OUTPUT = "out";
// Each read of a dropped file is a message to another process of the browser, so they are large.
const CHUNK = 1 << 20;

class Exit extends Error {
  constructor(code) {
    super(`exit ${code}`);
    this.code = code;
  }
}

// A source is { size, read(at, length) }. Paths have `/` between their parts.
function folderOf(sources) {
  const root = { kind: FOLDER, entries: new Map() };
  root.entries.set(OUTPUT, { kind: FOLDER, entries: new Map(), isWritable: true });
  for (const [path, source] of sources) {
    const parts = path.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
    const name = parts.pop();
    let at = root;
    for (const part of parts) {
      if (!at.entries.has(part)) at.entries.set(part, { kind: FOLDER, entries: new Map() });
      at = at.entries.get(part);
    }
    at.entries.set(name, { kind: FILE, source });
  }
  return root;
}

// Runs a compiled program. `watch.read(bytes)` hears of each read, `watch.wrote(name, text)` of each
// short file of the answer. Returns the exit code, the files of the answer, and what the program
// said before it broke.
async function runProgram(module, args, sources, watch) {
  const root = folderOf(sources);
  const opened = new Map([[3, { node: root, at: 0 }]]);
  const answer = new Map();
  let said = "";
  let memory;
  const view = () => new DataView(memory.buffer);
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
  const utf8 = new TextEncoder(), text = new TextDecoder();

  const find = (path) => {
    let at = root;
    for (const part of path.split("/").filter((part) => part !== "" && part !== ".")) {
      if (at.kind !== FOLDER) return ERRNO.notFolder;
      at = part === ".." ? undefined : at.entries.get(part);
      if (at === undefined) return ERRNO.noEntry;
    }
    return at;
  };
  const from = (descriptor, pointer, length) => {
    const base = opened.get(descriptor)?.path ?? "";
    return `${base}/${text.decode(bytes(pointer, length).slice())}`;
  };
  const size = (node) => (node.kind === FILE ? (node.source ? node.source.size : node.length) : 0);
  const stat = (node, at) => {
    const facts = view();
    bytes(at, 64).fill(0);
    facts.setUint8(at + 16, node.kind);
    facts.setBigUint64(at + 24, 1n, true);
    facts.setBigUint64(at + 32, BigInt(size(node)), true);
    return ERRNO.ok;
  };
  const slices = (pointer, count) => {
    const found = [];
    for (let at = 0; at < count; at++) {
      const there = view();
      found.push([there.getUint32(pointer + 8 * at, true), there.getUint32(pointer + 8 * at + 4, true)]);
    }
    return found;
  };
  // Copies bytes of a dropped file into the program's memory, through a chunk that is kept.
  const copy = (file, at, length) => {
    const { source } = file.node;
    if (length === 0 || file.at >= source.size) return 0;
    const begin = Math.floor(file.at / CHUNK) * CHUNK;
    if (file.begin !== begin) {
      file.chunk = source.read(begin, Math.min(CHUNK, source.size - begin));
      file.begin = begin;
      watch.read(file.chunk.length);
    }
    const part = file.chunk.subarray(file.at - begin, file.at - begin + length);
    bytes(at, part.length).set(part);
    file.at += part.length;
    return part.length;
  };
  const strings = (list, pointers, buffer) => {
    for (const one of list) {
      view().setUint32(pointers, buffer, true);
      bytes(buffer, one.length).set(one);
      pointers += 4;
      buffer += one.length;
    }
    return ERRNO.ok;
  };
  const sizes = (list, count, length) => {
    view().setUint32(count, list.length, true);
    view().setUint32(length, list.reduce((sum, one) => sum + one.length, 0), true);
    return ERRNO.ok;
  };
  const words = args.map((one) => utf8.encode(`${one}\0`));

  const calls = {
    args_sizes_get: (count, length) => sizes(words, count, length),
    args_get: (pointers, buffer) => strings(words, pointers, buffer),
    environ_sizes_get: (count, length) => sizes([], count, length),
    environ_get: () => ERRNO.ok,
    clock_time_get: (clock, precision, at) => {
      const now = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(now * 1e6)), true);
      return ERRNO.ok;
    },
    random_get: (at, length) => {
      // Longer requests are refused by browsers; the program asks for 16 bytes.
      for (let from = 0; from < length; from += 65536) {
        crypto.getRandomValues(bytes(at + from, Math.min(65536, length - from)));
      }
      return ERRNO.ok;
    },
    sched_yield: () => ERRNO.ok,
    proc_exit: (code) => { throw new Exit(code); },
    fd_prestat_get: (descriptor, at) => {
      if (descriptor !== 3) return ERRNO.badFile;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return ERRNO.ok;
    },
    fd_prestat_dir_name: (descriptor, at) => {
      bytes(at, 1)[0] = "/".charCodeAt(0);
      return ERRNO.ok;
    },
    fd_fdstat_get: (descriptor, at) => {
      const node = opened.get(descriptor)?.node;
      if (!node && descriptor > 2) return ERRNO.badFile;
      bytes(at, 24).fill(0);
      view().setUint8(at, node ? node.kind : STREAM);
      view().setBigUint64(at + 8, 0xffffffffffffffffn, true);
      view().setBigUint64(at + 16, 0xffffffffffffffffn, true);
      return ERRNO.ok;
    },
    fd_fdstat_set_flags: () => ERRNO.ok,
    fd_filestat_get: (descriptor, at) => {
      const node = opened.get(descriptor)?.node;
      return node ? stat(node, at) : ERRNO.badFile;
    },
    path_filestat_get: (descriptor, flags, pointer, length, at) => {
      const node = find(from(descriptor, pointer, length));
      return typeof node === "number" ? node : stat(node, at);
    },
    path_open: (descriptor, lookup, pointer, length, how, base, inheriting, flags, at) => {
      const path = from(descriptor, pointer, length);
      let node = find(path);
      const [creates, wantsFolder] = [(how & 1) !== 0, (how & 2) !== 0];
      if (node === ERRNO.noEntry && creates) {
        const parts = path.split("/").filter((part) => part !== "" && part !== ".");
        if (parts.length !== 2 || parts[0] !== OUTPUT) return ERRNO.readOnly;
        node = { kind: FILE, pieces: [], length: 0, name: parts[1] };
        root.entries.get(OUTPUT).entries.set(parts[1], node);
        answer.set(parts[1], node);
      } else if (typeof node === "number") {
        return node;
      } else if (creates && node.pieces) {
        node.pieces = [];
        node.length = 0;
      }
      if (wantsFolder && node.kind !== FOLDER) return ERRNO.notFolder;
      let free = 4;
      while (opened.has(free)) free++;
      opened.set(free, { node, at: 0, path });
      view().setUint32(at, free, true);
      return ERRNO.ok;
    },
    fd_close: (descriptor) => {
      const file = opened.get(descriptor);
      if (!file) return ERRNO.badFile;
      opened.delete(descriptor);
      const { node } = file;
      if (node.pieces && node.length < 100) watch.wrote(node.name, text.decode(joined(node)));
      return ERRNO.ok;
    },
    fd_read: (descriptor, pointer, count, at) => {
      const file = opened.get(descriptor);
      if (descriptor === 0) {
        view().setUint32(at, 0, true);
        return ERRNO.ok;
      }
      if (!file) return ERRNO.badFile;
      if (!file.node.source) return ERRNO.isFolder;
      let read = 0;
      for (let [to, length] of slices(pointer, count)) {
        while (length > 0) {
          const copied = copy(file, to, length);
          if (copied === 0) break;
          read += copied;
          to += copied;
          length -= copied;
        }
      }
      view().setUint32(at, read, true);
      return ERRNO.ok;
    },
    fd_write: (descriptor, pointer, count, at) => {
      const node = opened.get(descriptor)?.node;
      let written = 0;
      for (const [from, length] of slices(pointer, count)) {
        const piece = bytes(from, length).slice();
        if (descriptor === 1 || descriptor === 2) said += text.decode(piece);
        else if (node?.pieces) {
          node.pieces.push(piece);
          node.length += length;
        } else return ERRNO.badFile;
        written += length;
      }
      view().setUint32(at, written, true);
      return ERRNO.ok;
    },
    fd_seek: (descriptor, offset, whence, at) => {
      const file = opened.get(descriptor);
      if (!file) return ERRNO.badFile;
      const start = [0, file.at, size(file.node)][whence];
      const moved = start + Number(offset);
      if (!(moved >= 0)) return ERRNO.invalid;
      file.at = moved;
      view().setBigUint64(at, BigInt(moved), true);
      return ERRNO.ok;
    },
    fd_tell: (descriptor, at) => calls.fd_seek(descriptor, 0n, 1, at),
    fd_readdir: (descriptor, buffer, length, cookie, at) => {
      const node = opened.get(descriptor)?.node;
      if (node?.kind !== FOLDER) return ERRNO.notFolder;
      const entries = [...node.entries];
      let used = 0;
      for (let next = Number(cookie); next < entries.length && used < length; next++) {
        const [name, entry] = entries[next];
        const letters = utf8.encode(name);
        const record = new Uint8Array(24 + letters.length);
        const facts = new DataView(record.buffer);
        facts.setBigUint64(0, BigInt(next + 1), true);
        facts.setUint32(16, letters.length, true);
        facts.setUint8(20, entry.kind);
        record.set(letters, 24);
        // A record that is cut off tells the program that there is more.
        const part = record.subarray(0, length - used);
        bytes(buffer + used, part.length).set(part);
        used += part.length;
      }
      view().setUint32(at, used, true);
      return ERRNO.ok;
    },
  };

  // What the program is linked with and never calls is refused.
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = calls[name] ?? (() => ERRNO.noSystem);
  }
  const instance = await WebAssembly.instantiate(module, imports);
  memory = instance.exports.memory;
  let code = 0;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof Exit)) {
      return { code: -1, said: `${said}${error}`, files: new Map(), memory: memory.buffer.byteLength };
    }
    code = error.code;
  }
  const files = new Map([...answer].map(([name, node]) => [name, joined(node)]));
  return { code, said, files, memory: memory.buffer.byteLength };
}

function joined(node) {
  if (node.pieces.length === 1) return node.pieces[0];
  const all = new Uint8Array(node.length);
  let at = 0;
  for (const piece of node.pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

// Node, which tests this, has modules; the worker has not.
if (typeof module !== "undefined") module.exports = { runProgram };
