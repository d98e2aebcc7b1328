"use strict";
// Runs calls of the module in node, through the page's own worker: node run.js FOLDER COLUMNS, with a JSON array of calls on standard
// input; prints an array of what each gave.
const fs = require("fs"), path = require("path"), [folder, columns] = process.argv.slice(2);
const text = fs.readFileSync(folder + "/bits.js", "utf8") + fs.readFileSync(path.join(__dirname, "worker.js"), "utf8") +
    ";return {start, call, ready: one => { ready = one; }}";
const page = new Function("require", "__dirname", text)(require, folder);
(async () => {
  page.ready(page.start(await WebAssembly.compile(fs.readFileSync(folder + "/bits.wasm"))));
  const answers = [];
  for (const words of JSON.parse(fs.readFileSync(0))) answers.push(await page.call(words, columns));
  process.exitCode = 0;
  fs.writeFileSync(1, JSON.stringify(answers));
})();
