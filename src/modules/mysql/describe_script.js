// The page that tries the tables of a route. It knows nothing but the OpenAPI document beside it.
"use strict";

const base = location.pathname;
const OPERATORS = ["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "in", "is", "isdistinct", "fts"];
const WITH_CONTENT = ["POST", "PATCH", "PUT"];
const byId = (id) => document.getElementById(id);
let api = null;

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function fill(id, words) {
  byId(id).replaceChildren(...words.map((word) => element("option", word)));
}

const resolve = (part) =>
  part.$ref ? part.$ref.slice(2).split("/").reduce((at, step) => at[step], api) : part;

// "#orders" names the path of a table.
const current = () => decodeURIComponent(location.hash.slice(1));
const pathOf = (table) => "/" + table;

// The tables, by what stands in their paths.
const tables = () => Object.entries(api.paths)
  .filter(([, operations]) => Object.values(operations).some(({ tags }) => tags))
  .map(([path]) => path.slice(1));

// The columns: of the row as it comes.
function columnsOf(path) {
  const operations = Object.values(api.paths[path] || {});
  for (const { responses = {} } of operations) {
    const { content = {} } = resolve(responses[200] || responses[201] || {});
    const schema = content["application/vnd.pgrst.object+json"];
    if (schema) return Object.entries(resolve(schema.schema).properties || {});
  }
  return [];
}

function typeText(schema) {
  const types = [].concat(schema.type || "any").join(" or ");
  const more = [schema.format, schema.maxLength && `at most ${schema.maxLength}`, schema.enum && schema.enum.join(", "),
    schema.readOnly && "read only"];
  return [types, ...more.filter(Boolean)].join("; ");
}

function showTable() {
  const name = current() || tables()[0] || "";
  const path = pathOf(name);
  const operations = api.paths[path] || {};
  const methods = Object.keys(operations).map((method) => method.toUpperCase());
  const columns = columnsOf(path);
  for (const link of byId("tables").children)
    link.ariaCurrent = link.getAttribute("href") === "#" + encodeURIComponent(name) ? "true" : null;
  byId("name").textContent = decodeURIComponent(name);
  byId("about").textContent = (operations.get || {}).description || "";
  fill("method", methods);
  fill("column", columns.map(([column]) => column));
  byId("columns").tBodies[0].replaceChildren(...columns.map(([column, schema]) => {
    const row = element("tr");
    row.append(element("th", column, { scope: "row" }), element("td", typeText(schema)), element("td", schema.description || ""));
    return row;
  }));
  byId("query").value = methods.includes("GET") ? "limit=20" : "";
  showMethod();
}

function showMethod() {
  byId("content").hidden = !WITH_CONTENT.includes(byId("method").value);
  showUrl();
}

function url() {
  const query = byId("query").value.trim();
  return base + (current() || tables()[0] || "") + (query ? "?" + query : "");
}

const showUrl = () => { byId("url").textContent = `${byId("method").value} ${url()}`; };

function addCondition() {
  const name = /^\w+$/.test(byId("column").value) ? byId("column").value : JSON.stringify(byId("column").value);
  const condition = `${encodeURIComponent(name)}=${byId("operator").value}.${encodeURIComponent(byId("value").value)}`;
  const query = byId("query");
  query.value += (query.value ? "&" : "") + condition;
  showUrl();
}

function cell(value) {
  if (value === null || value === undefined) return element("td", "null", { class: "null" });
  return element("td", typeof value === "object" ? JSON.stringify(value) : String(value));
}

function rowsTable(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = element("table");
  const head = table.createTHead().insertRow();
  head.append(...names.map((name) => element("th", name, { scope: "col" })));
  const body = table.createTBody();
  for (const row of rows) body.insertRow().append(...names.map((name) => cell(row[name])));
  return table;
}

async function showAnswer(answer, began) {
  const text = await answer.text();
  byId("status").textContent = `${answer.status} ${answer.statusText} in ${Math.round(performance.now() - began)} ms`;
  byId("status").classList.toggle("failed", !answer.ok);
  byId("fields").textContent = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  let rows = null;
  try {
    const value = JSON.parse(text);
    rows = Array.isArray(value) && value.every((row) => row && typeof row === "object") ? value : null;
    byId("text").textContent = rows ? "" : JSON.stringify(value, null, 2);
  } catch {
    byId("text").textContent = text;
  }
  byId("rows").replaceChildren(...(rows ? [rowsTable(rows)] : []));
}

async function send(event) {
  event.preventDefault();
  const method = byId("method").value;
  const headers = { Accept: byId("accept").value };
  if (byId("prefer").value) headers.Prefer = byId("prefer").value;
  const options = { method, headers };
  if (WITH_CONTENT.includes(method)) {
    headers["Content-Type"] = "application/json";
    options.body = byId("body").value;
  }
  const began = performance.now();
  try {
    await showAnswer(await fetch(url(), options), began);
  } catch (error) {
    byId("status").textContent = String(error);
    byId("status").classList.add("failed");
  }
}

async function start() {
  byId("document").href = base;
  fill("operator", OPERATORS);
  const answer = await fetch(base, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  api = await answer.json();
  byId("tables").replaceChildren(...tables().map((table) =>
    element("a", decodeURIComponent(table), { href: "#" + encodeURIComponent(table) })));
  addEventListener("hashchange", () => { showTable(); byId("name").focus(); });
  byId("method").addEventListener("change", showMethod);
  byId("query").addEventListener("input", showUrl);
  byId("add").addEventListener("click", addCondition);
  byId("request").addEventListener("submit", send);
  showTable();
}

start().catch((error) => { byId("status").textContent = String(error); });
