"use strict";
const rows = JSON.parse(document.getElementById("rows").textContent);
const body = document.querySelector("tbody"), count = document.getElementById("count");
const inputs = ["search", "verdict", "rule", "package"].map((id) => document.getElementById(id));
const most = 500;
for (const rule of [...new Set(rows.flatMap((r) => r.f || []))].sort()) {
  const option = document.createElement("option");
  option.textContent = rule;
  inputs[2].append(option);
}
// The kinds and scopes of packages: "npm:@a/" begins the keys of all that the scope has.
for (const scope of [...new Set(rows.flatMap((r) => r.k.match(/^[a-z]+:(@[^/]+\/)?/g) || []))].sort()) {
  const option = document.createElement("option");
  option.value = scope;
  document.getElementById("packages").append(option);
}
for (const r of rows) r.text = (r.n + " " + r.k + " " + r.v).toLowerCase();
function cell(tr, text, className) {
  const td = document.createElement("td");
  td.textContent = text;
  if (className) td.className = className;
  tr.append(td);
  return td;
}
function show() {
  const [search, verdict, rule, name] = inputs.map((i) => i.value);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((r) => (!verdict || r.r === verdict) && (!rule || (r.f || []).includes(rule)) && r.k.startsWith(name.trim()) && words.every((w) => r.text.includes(w)));
  const list = document.createDocumentFragment();
  for (const r of found.slice(0, most)) {
    const tr = document.createElement("tr");
    const a = document.createElement("a");
    a.href = r.p;
    a.textContent = r.n;
    cell(tr, "").append(a);
    cell(tr, r.v);
    cell(tr, r.r, r.r);
    cell(tr, (r.f || []).join(", "));
    cell(tr, r.h);
    list.append(tr);
  }
  body.replaceChildren(list);
  count.textContent = found.length + " of " + rows.length + (found.length > most ? ", the first " + most + " are shown" : "");
}
for (const i of inputs) i.addEventListener("input", show);
show();
