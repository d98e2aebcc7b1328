"use strict";
// Filters and sorts the table of a page. The state is in the address; without this script the table is whole, in its own order.
const wordsOf = (row, field) => row[field].split(",").filter(word => word);
// `row` has the words of each field and its text in small letters; `query` is a URLSearchParams.
function passes(row, query, fields) {
  const typed = (query.get("text") || "").toLowerCase().split(/\s+/);
  return fields.every(field => !query.get(field) || wordsOf(row, field).includes(query.get(field))) &&
      typed.every(word => row.text.includes(word));
}
// Numbers of the rows, each with its `cells`, in the order that `sort=COLUMN` or `sort=-COLUMN` asks; equal ones stay as they were.
function ordered(rows, query, columns) {
  const asked = query.get("sort") || "", column = columns.indexOf(asked.replace(/^-/, "")), order = [...rows.keys()];
  const collator = new Intl.Collator("en", {numeric: true}), sign = asked.startsWith("-") ? -1 : 1;
  return column < 0 ? order : order.sort((a, b) => sign * collator.compare(rows[a].cells[column], rows[b].cells[column]));
}
function start() {
  const table = document.getElementById("rows"), heads = [...table.tHead.rows[0].cells], columns = heads.map(head => head.textContent);
  const lines = [...table.tBodies[0].rows];
  const rows = lines.map(line => ({...line.dataset, text: line.textContent.toLowerCase(), cells: [...line.cells].map(cell => cell.textContent)}));
  const form = document.getElementById("filters"), count = document.getElementById("count");
  const fields = form.dataset.fields.split(",");
  let sort = "";
  const label = (field, input) => {
    const box = document.createElement("label");
    input.name = field;
    box.append(field + " ", input);
    form.append(box);
  };
  for (const field of fields) {
    const select = document.createElement("select");
    select.add(new Option("all", ""));
    for (const word of [...new Set(rows.flatMap(row => wordsOf(row, field)))].sort()) select.add(new Option(word, word));
    label(field, select);
  }
  label("text", Object.assign(document.createElement("input"), {type: "search", placeholder: form.dataset.example}));
  const show = query => {
    const shown = rows.map(row => passes(row, query, fields));
    lines.forEach((line, i) => { line.hidden = !shown[i]; });
    table.tBodies[0].append(...ordered(rows, query, columns).map(i => lines[i]));
    heads.forEach((head, i) => head.setAttribute("aria-sort", sort === columns[i] ? "ascending" : sort === "-" + columns[i] ? "descending" : "none"));
    count.textContent = shown.filter(Boolean).length + " of " + rows.length + " rows";
  };
  const change = () => {
    const query = new URLSearchParams([...new FormData(form), ["sort", sort]].filter(pair => pair[1]));
    history.replaceState(null, "", location.pathname + (String(query) && "?" + query));
    show(query);
  };
  heads.forEach((head, i) => {
    const button = Object.assign(document.createElement("button"), {type: "button", textContent: columns[i], title: "sort by " + columns[i]});
    button.onclick = () => {
      sort = sort === columns[i] ? "-" + columns[i] : sort === "-" + columns[i] ? "" : columns[i];
      change();
    };
    head.replaceChildren(button);
  });
  const query = new URLSearchParams(location.search);
  sort = query.get("sort") || "";
  for (const input of form.elements) {
    input.value = query.get(input.name) || "";
    if (input.selectedIndex === -1) input.add(new Option(query.get(input.name), query.get(input.name), true, true));
  }
  show(query);
  form.addEventListener("input", change);
  form.addEventListener("submit", event => event.preventDefault());
}
if (typeof document === "undefined") module.exports = {passes, ordered};
else start();
