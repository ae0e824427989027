// Lists the operations of /openapi.json, each with examples that run. No library, nothing loaded from elsewhere.
"use strict";

const make = (tag, text, attributes = {}) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

// What stands between backticks is code; the rest is text.
const prose = (text) => text.split(/`([^`]+)`/).map((part, n) => (n % 2 ? make("code", part) : part));

// The example session of the description would be shared by everybody who runs it.
const ownSession = crypto.randomUUID ? crypto.randomUUID() : null;
const fresh = (value) => {
  const copy = JSON.parse(JSON.stringify(value));
  if (ownSession && copy && copy.session_id) copy.session_id = ownSession;
  return copy;
};

function parameterInputs(operation) {
  const table = make("table");
  const inputs = [];
  for (const parameter of operation.parameters || []) {
    if (parameter.in === "header") continue;
    const row = make("tr");
    row.append(make("th", `${parameter.name}${parameter.required ? " *" : ""}`, { scope: "row" }));
    const cell = make("td");
    const input = make("input", undefined, { "aria-label": parameter.name });
    const isSession = parameter.name === "session_id" && ownSession;
    input.value = isSession ? ownSession : parameter.schema?.examples?.[0] ?? parameter.schema?.default ?? "";
    cell.append(input, " ", ...prose(parameter.description || ""));
    row.append(cell);
    table.append(row);
    inputs.push([parameter, input]);
  }
  return { table, inputs };
}

function addressOf(path, inputs) {
  const query = new URLSearchParams();
  for (const [parameter, input] of inputs) {
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value !== "") query.set(parameter.name, input.value);
  }
  return query.size ? `${path}?${query}` : path;
}

async function run(method, address, body, output) {
  const headers = {};
  const key = document.getElementById("key").value;
  if (key) headers["X-API-Key"] = key;
  if (body !== null) headers["Content-Type"] = "application/json";
  output.hidden = false;
  output.textContent = "…";
  try {
    const reply = await fetch(address, { method: method.toUpperCase(), headers, body: body ?? undefined });
    const head = [`${reply.status} ${reply.statusText}`, ...[...reply.headers].map(([n, v]) => `${n}: ${v}`)];
    output.textContent = `${head.join("\n")}\n\n`;
    if ((reply.headers.get("content-type") || "").includes("json")) {
      output.textContent += JSON.stringify(await reply.json(), null, 2);
      return;
    }
    if (!reply.body) return;
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) output.textContent += part.value;
  } catch (error) {
    output.textContent += `No reply: ${error.message}`;
  }
}

function bodyEditor(operation) {
  const content = operation.requestBody?.content?.["application/json"];
  if (!content) return null;
  const editor = make("textarea", undefined, { "aria-label": "Body", spellcheck: "false" });
  const choice = make("select", undefined, { "aria-label": "Example" });
  const examples = Object.entries(content.examples || {});
  for (const [name, example] of examples) choice.append(make("option", example.summary || name, { value: name }));
  const show = () => {
    const found = examples.find(([name]) => name === choice.value);
    editor.value = found ? JSON.stringify(fresh(found[1].value), null, 2) : "{}";
  };
  choice.addEventListener("change", show);
  show();
  return { editor, choice };
}

function replies(operation) {
  const table = make("table");
  for (const [status, reply] of Object.entries(operation.responses || {})) {
    const row = make("tr");
    const cell = make("td");
    cell.append(...prose(reply.description));
    row.append(make("th", status, { scope: "row" }), cell);
    table.append(row);
  }
  return table;
}

function render(path, method, operation) {
  const box = make("details");
  const summary = make("summary");
  summary.append(make("span", method.toUpperCase(), { class: "method" }), make("code", path), " ", ...prose(operation.summary || ""));
  box.append(summary);
  const { table, inputs } = parameterInputs(operation);
  if (inputs.length) box.append(table);
  const body = bodyEditor(operation);
  if (body) box.append(body.choice, body.editor);
  const button = make("button", "Send", { type: "button" });
  const output = make("pre");
  output.hidden = true;
  button.addEventListener("click", async () => {
    button.disabled = true;
    await run(method, addressOf(path, inputs), body ? body.editor.value : null, output);
    button.disabled = false;
  });
  box.append(button, output, make("h3", "Replies"), replies(operation));
  return box;
}

async function start() {
  const main = document.getElementById("operations");
  const description = await (await fetch("/openapi.json")).json();
  document.getElementById("about").append(...prose(` Version ${description.info.version}. ${description.info.description}`));
  const tags = new Map();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] || "other";
      if (!tags.has(tag)) tags.set(tag, main.appendChild(make("section")));
      const section = tags.get(tag);
      if (!section.firstChild) section.append(make("h2", tag));
      section.append(render(path, method, operation));
    }
  }
  const schemas = make("details");
  schemas.append(make("summary", "Schemas"), make("pre", JSON.stringify(description.components.schemas, null, 2)));
  main.append(schemas);
}

start().catch((error) => document.getElementById("operations").append(`/openapi.json could not be read: ${error.message}`));
