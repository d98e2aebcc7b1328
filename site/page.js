"use strict";
// The page's words are those of the command line. They stand in the address: #VERSION&WORD&WORD..., and nowhere else.
const at = id => document.getElementById(id);
const FIRST = ["explain", "a100", "h100", "--case", "0x1p-14 | 0x1p-11 | -1."];

const wordsOf = hash => hash.replace(/^#/, "").split("&").map(word => decodeURIComponent(word.replace(/\+/g, " ")));
const hashOf = words => "#" + words.map(word => encodeURIComponent(word).replace(/%20/g, "+").replace(/%(2F|3A|2C|3D|3F)/g, decodeURIComponent)).join("&");
const shellWord = word => /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";
const shellWords = line => [...line.matchAll(/(?:'[^']*'|\\'|[^\s'])+/g)].map(([word]) => word.replace(/'([^']*)'|\\(')/g, "$1$2"));

/// A call as the form has it. `rest` are options that the form has no field for.
function fieldsOf([question, ...words]) {
  const fields = {question, units: [], op: "", cases: [], number: "", rest: []};
  if (question === "list") fields.number = words.slice(1).join(" ");
  else for (let i = 0; i < words.length; ++i) {
    const word = words[i];
    if (word === "--op") fields.op = words[++i] || "";
    else if (word === "--case") fields.cases.push(words[++i] || "");
    else if (word === "--units") fields.units.push(...(words[++i] || "").split(","));
    else if (word.startsWith("--")) fields.rest.push(word, ...(/^\d+$/.test(words[i + 1]) ? [words[++i]] : []));
    else if (word.includes("|")) fields.cases.push(word);
    else fields.units.push(word);
  }
  return fields;
}
function wordsOfFields({question, units, op, cases, number, rest}) {
  if (question === "list") return ["list", "formats", ...(number ? [number] : [])];
  return [question, ...units.filter(Boolean), ...(op ? ["--op", op] : []), ...rest,
    ...(question === "explain" ? cases.filter(Boolean).flatMap(one => ["--case", one]) : [])];
}

/// The formats of a list: name, bits, and how many of them are exponent and fraction.
function formatsOf(list) {
  return new Map([...list.matchAll(/^(\S+) +(\d+) bits(?:: (\d+) exponent, (\d+) fraction)?/gm)].map(
      ([, name, bits, exponent, fraction]) => [name, {bits: +bits, exponent: +(exponent || 0), fraction: +(fraction || bits)}]));
}
/// An encoding with one bit, counted from the lowest, turned.
const turned = (encoding, bit) => (BigInt("0x" + encoding) ^ (1n << BigInt(bit))).toString(16).padStart(encoding.length, "0");
/// What a bit is; tf32 stands in the upper bits of its encoding, whose others are no part of the number.
function partOf({bits, exponent, fraction}, bit) {
  const below = bits === 32 && fraction === 10 ? 13 : 0;
  return bit < below ? "" : bit < below + fraction ? "fraction" : bit < below + fraction + exponent ? "exponent" : "sign";
}

/// What `why` prints, taken apart: of each op the lines above its facts, and the facts.
function opsOf(text) {
  const ops = [], lines = text.split("\n");
  for (const [i, line] of lines.entries()) {
    const op = ops.at(-1), fact = op && op.facts.at(-1);
    if (line.startsWith("op ")) ops.push({op: line, notes: [], facts: []});
    else if (op && /^ {2}\S+$/.test(line) && !lines[i - 1]) op.facts.push({name: line.trim(), results: []});
    else if (fact && line.startsWith("    mmafuzz explain ")) fact.words = shellWords(line).slice(1);
    else if (fact && line.startsWith("    ")) fact.sentence ? fact.results.push(line.trim()) : fact.sentence = line.trim();
    else if (op && line.trim()) op.notes.push(line.trim());
  }
  return ops;
}

function startPage() {
  const form = at("form").elements;
  let version = "", rest = [], formats = new Map(), module, worker, waiting = new Map(), asked = 0, edited = null, timer = 0;

  function begin() {
    if (worker) worker.terminate();
    for (const [, {reject}] of waiting) reject(new Error("superseded"));
    waiting = new Map();
    worker = new Worker(URL.createObjectURL(new Blob([at("glue").textContent, at("worker").textContent], {type: "text/javascript"})));
    worker.onmessage = ({data}) => {
      waiting.get(data.id).resolve(data);
      waiting.delete(data.id);
    };
    worker.onerror = event => { at("message").textContent = event.message; };
    worker.postMessage({module});
  }
  function run(words, columns = 80) {
    const id = ++asked;
    worker.postMessage({id, words, columns});
    return new Promise((resolve, reject) => waiting.set(id, {resolve, reject}));
  }
  /// Columns of monospaced text that stand side by side here.
  function columns() {
    const probe = document.createElement("code");
    probe.textContent = "0".repeat(100);
    probe.style.whiteSpace = "pre";
    at("command").append(probe);
    const width = probe.getBoundingClientRect().width / 100;
    probe.remove();
    return Math.max(40, Math.floor(document.querySelector("main").clientWidth / (width || 8)) - 6);
  }
  const line = text => Object.assign(document.createElement("div"), {textContent: text});

  /// A number in all formats, each bit a button that turns it.
  function numbers(out) {
    const focused = document.activeElement.title;
    at("numbers").replaceChildren(...[...out.matchAll(/^(\S+) +([0-9a-f]+)  (.*)$/gm)].filter(([, name]) => formats.has(name)).map(([, name, encoding, value]) => {
      const format = formats.get(name), row = line("");
      const bits = [...Array(format.bits).keys()].reverse().map(bit => {
        const part = partOf(format, bit), one = BigInt("0x" + encoding) >> BigInt(bit) & 1n;
        const button = Object.assign(document.createElement(part ? "button" : "span"), {textContent: one, className: part, title: `${name} bit ${bit} ${part}`});
        if (part) button.setAttribute("aria-pressed", one === 1n);
        if (part) button.type = "button";
        button.onclick = part && (() => { form.number.value = `${name}:${turned(encoding, bit)}`; go(null); });
        return button;
      });
      row.append(Object.assign(document.createElement("b"), {textContent: name}), ...bits, Object.assign(line(`${encoding}  ${value}`), {className: "value"}));
      return row;
    }));
    const again = focused && [...at("numbers").querySelectorAll("button")].find(button => button.title === focused);
    if (again) again.focus();
  }

  /// The call of the address: into the form, through the module, onto the page.
  async function show(fill = true) {
    let words = FIRST, made = "";
    try {
      if (location.hash.length > 1) [made, ...words] = wordsOf(location.hash);
    } catch { /* a broken % */ }
    const fields = fieldsOf(words);
    const known = ["explain", "why", "list"].includes(fields.question);
    if (fill && known) {
      rest = fields.rest;
      form.question.value = fields.question;
      if (fields.question === "list") form.number.value = fields.number;
      else [form.first.value, form.second.value, form.op.value] = [fields.units[0] || "", fields.units.slice(1).join(","), fields.op];
      if (fields.question === "explain") form.cases.value = fields.cases.join("\n");
    }
    for (const label of document.querySelectorAll("[data-for]")) label.hidden = !label.dataset.for.split(" ").includes(form.question.value);
    at("command").textContent = ["mmafuzz", ...words].map(shellWord).join(" ");
    document.body.classList.add("stale");
    at("busy").textContent = "running";
    if (waiting.size) begin();
    try {
      const explained = known && fields.question === "explain" && !words.includes("--json");
      const text = known ? await run(words, fields.question === "why" ? 10000 : columns()) : {out: "", error: `this page has no '${fields.question}'`, code: 2};
      const parts = explained && text.code === 0 ? {json: JSON.parse((await run([...words, "--json"])).out), svg: (await run([...words, "--svg", "--width", String(columns())])).out} : {};
      put(text, made, parts);
    } catch (broken) {
      if (broken.message !== "superseded") throw broken;
    }
  }
  function put({out, error}, made, {json, svg}) {
    document.body.classList.remove("stale");
    at("busy").textContent = "";
    at("message").textContent = error.replace(/^mmafuzz: /, "");
    at("version").textContent = made && made !== version ? `This link is of mmafuzz ${made}, the page of ${version}: rows may differ.` : "";
    at("notes").textContent = json ? json.notes.join("; ") : "";
    const cases = json ? json.cases : [];
    at("verdict").textContent = cases.filter(one => one.verdict).map(one => one.verdict.sentence).join("; ");
    at("results").replaceChildren(...cases.flatMap(one => one.units.flatMap(unit => unit.results.slice(0, 16).map(
        one => line(`${one.encoding}  ${one.hexadecimal}${one.decimal && ` = ${one.decimal}`}  ${unit.name}`)))));
    const drawn = svg && new DOMParser().parseFromString(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" '), "image/svg+xml");
    at("picture").replaceChildren(...(drawn ? [document.importNode(drawn.documentElement, true)] : []));
    at("picture").hidden = !drawn;
    numbers(form.question.value === "list" && formats.size ? out : "");
    at("text").textContent = out;
    at("text").classList.toggle("wraps", !drawn);
    at("details").hidden = !out;
    at("steps").replaceChildren(...(form.question.value === "why" ? opsOf(out) : []).map(ofOp));
    if (!drawn) at("details").open = !at("numbers").hasChildNodes() && !at("steps").hasChildNodes();
  }
  /// What differs on an op, each fact with its results and the address of its bits.
  function ofOp({op, notes, facts}) {
    const section = document.createElement("section");
    section.append(Object.assign(document.createElement("h2"), {textContent: op}), ...notes.map(line), ...facts.map(({name, sentence, results, words}) => {
      const box = Object.assign(line(""), {className: "fact"});
      box.append(Object.assign(line(sentence), {className: "sentence"}), ...results.map(text => Object.assign(line(text), {className: "bits"})));
      if (words) box.append(Object.assign(document.createElement("a"), {href: hashOf([version, ...words]), textContent: `bits of ${name}`}));
      return box;
    }));
    return section;
  }
  /// The form's call becomes the address. Letters typed into one field are one entry of the history.
  function go(field) {
    clearTimeout(timer);
    const units = [form.first.value.trim(), ...form.second.value.split(",").map(unit => unit.trim())];
    const words = wordsOfFields({question: form.question.value, units, op: form.op.value.trim(),
      cases: form.cases.value.split("\n").map(one => one.trim()), number: form.number.value.trim(), rest});
    const hash = hashOf([version, ...words]);
    if (hash === location.hash) return;
    history[field && field === edited ? "replaceState" : "pushState"](null, "", hash);
    edited = field;
    show(false);
  }
  /// What may be typed for units and ops, once nothing else runs.
  async function offerNames() {
    try {
      const rows = JSON.parse((await run(["list", "--units", "model:*", "--json"])).out);
      const names = (await run(["list"])).out.split("\n").filter(name => name && !name.includes("(not here"));
      const gpus = (await run(["list", "gpus"])).out.split("\n").map(text => text.split(" ")[0]).filter(Boolean);
      const ops = rows.filter(row => row.op).map(row => row.op.replace(/^op /, ""));
      at("units").append(...[...gpus, ...names].map(name => new Option("", name)));
      at("ops").append(...[...new Set(ops)].map(op => new Option("", op)));
    } catch (broken) {
      if (broken.message === "superseded") setTimeout(offerNames, 1000);
    }
  }
  at("form").addEventListener("submit", event => { event.preventDefault(); go(null); });
  at("form").addEventListener("input", ({target}) => {
    if (target.name === "question") rest = [];
    clearTimeout(timer);
    timer = setTimeout(() => go(target.name), target.name === "question" ? 0 : 300);
  });
  addEventListener("hashchange", () => { edited = null; show(); });
  at("copy").addEventListener("click", async () => {
    getSelection().selectAllChildren(at("command"));
    await navigator.clipboard.writeText(at("command").textContent).then(
        () => { at("copied").textContent = "copied"; }, () => { at("copied").textContent = "selected: copy it"; });
  });

  (async () => {
    at("page").hidden = false;
    const packed = Uint8Array.from(atob(at("module").textContent), letter => letter.charCodeAt(0));
    const unpacked = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
    module = await WebAssembly.compile(await unpacked.arrayBuffer());
    begin();
    version = (await run(["--version"])).out.trim();
    formats = formatsOf((await run(["list", "formats"])).out);
    await show();
    await offerNames();
  })().catch(broken => { at("message").textContent = `This browser cannot run the page: ${broken.message}`; });
}
if (typeof document === "undefined") module.exports = {formatsOf, partOf, turned, wordsOf, hashOf, shellWord, shellWords, fieldsOf, wordsOfFields, opsOf};
else startPage();
