// Runs the program on the dropped files, so that the page stays awake. Ending the worker cancels it.

const opener = new FileReaderSync();

function source(file) {
  const read = (at, length) => new Uint8Array(opener.readAsArrayBuffer(file.slice(at, at + length)));
  return { size: file.size, read };
}

onmessage = async ({ data: { program, request, files } }) => {
  const sources = files.map(([path, file]) => [path, source(file)]);
  const total = files.reduce((sum, [, file]) => sum + file.size, 0);
  let done = 0, told = 0;
  const watch = {
    read: (bytes) => {
      done += bytes;
      const now = performance.now();
      if (now - told < 50) return;
      told = now;
      postMessage({ kind: "progress", done: Math.min(done, total), total });
    },
    wrote: (name, text) => name === "stage" && postMessage({ kind: "stage", stage: text }),
  };
  try {
    const began = performance.now();
    const ended = await runProgram(program, ["metalens-browser", JSON.stringify(request)], sources, watch);
    const answer = [...ended.files].filter(([name]) => name !== "stage");
    const took = performance.now() - began;
    postMessage({ kind: "done", ...ended, files: answer, took });
  } catch (error) {
    postMessage({ kind: "done", code: -1, said: String(error), files: [] });
  }
};
