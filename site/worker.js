"use strict";
// Runs calls of the module, one after another. The page starts it with the module's glue before this text.
let ready;
let bytes = {1: [], 2: []};
const decoded = stream => new TextDecoder().decode(Uint8Array.from(bytes[stream], code => code & 255));

function start(module) {
  return mmafuzz_bits({
    thisProgram: "mmafuzz",
    stdin: () => null,
    stdout: code => { if (code !== null) bytes[1].push(code); },
    stderr: code => { if (code !== null) bytes[2].push(code); },
    instantiateWasm: (imports, receive) => {
      WebAssembly.instantiate(module, imports).then(instance => receive(instance));
      return {};
    },
  });
}

/// The text, the message and the exit code of a call.
async function call(words, columns) {
  const instance = await ready;
  bytes = {1: [], 2: []};
  instance.ccall("setenv", "number", ["string", "string", "number"], ["COLUMNS", String(columns), 1]);
  const code = instance.callMain(words);
  return {out: decoded(1), error: decoded(2), code};
}

if (typeof onmessage !== "undefined") {
  onmessage = async ({data}) => {
    if (data.module) ready = start(data.module);
    else postMessage({id: data.id, ...await call(data.words, data.columns).catch(broken => ({out: "", error: String(broken), code: 3}))});
  };
}
