// Markdown into elements. Builds the DOM only: data never becomes markup.

const INLINE = /(`+)([\s\S]*?[^`])\1(?!`)|\$\$([^$]+)\$\$|\$(?!\s)([^$]+)(?<!\s)\$(?!\d)|\[(\d{1,4})\]|\*\*([^*]+)\*\*/g;
// What stands between two dollars is a formula when it has TeX's signs or is one letter; prices and $HOME have neither.
const FORMULA = /^(?![A-Z]{2})(?:.*[\\^_={}].*|[A-Za-z]'*)$/s;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const ROW = /^\s*\|.*\|\s*$/;

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The anchor that Docusaurus gives a heading. */
export function slug(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replace(/ /g, "-");
}

/** `cite(number)` makes the element for a marker, or null to leave it as text. */
export function render(markdown, cite = () => null) {
  const out = document.createDocumentFragment();
  const lines = markdown.split("\n");
  const seen = new Map();
  for (let i = 0; i < lines.length; ) {
    const line = lines[i];
    const fenced = fencedAt(lines, i) ?? formulaAt(lines, i);
    const heading = line.match(/^(#{1,6})\s+(.*)$/);
    if (!line.trim()) {
      i += 1;
    } else if (fenced) {
      out.append(fenced[0]);
      i = fenced[1];
    } else if (heading) {
      out.append(headingOf(heading, seen, cite));
      i += 1;
    } else if (ROW.test(line)) {
      let last = i;
      while (last < lines.length && ROW.test(lines[last])) last += 1;
      out.append(table(lines.slice(i, last), cite));
      i = last;
    } else if (ITEM.test(line)) {
      const [list, next] = listFrom(lines, i, cite);
      out.append(list);
      i = next;
    } else {
      let last = i + 1;
      while (last < lines.length && lines[last].trim() && !startsBlock(lines[last])) last += 1;
      out.append(element("p", {}, inline(lines.slice(i, last).join(" "), cite)));
      i = last;
    }
  }
  return out;
}

function startsBlock(line) {
  return /^\s*(`{3,}|~{3,}|\$\$)/.test(line) || /^#{1,6}\s/.test(line) || ROW.test(line) || ITEM.test(line);
}

function headingOf([, marks, line], seen, cite) {
  const [, text, own] = line.match(/^(.*?)(?:\s*\{#([^\s{}]+)\})?\s*$/);
  if (own) return element(`h${marks.length}`, { id: own }, inline(text, cite));
  const base = slug(text.replace(/`/g, ""));
  const times = seen.get(base) ?? 0;
  seen.set(base, times + 1);
  const id = times ? `${base}-${times}` : base;
  return element(`h${marks.length}`, { id }, inline(text, cite));
}

/** Code between fences: its element and the line after it. The fence's own indent is taken off. */
function fencedAt(lines, first) {
  const fence = lines[first].match(/^(\s*)(`{3,}|~{3,})\s*(\S*)/);
  if (!fence) return null;
  const end = lines.findIndex((line, n) => n > first && line.trim().startsWith(fence[2]));
  const last = end < 0 ? lines.length : end;
  const indent = fence[1].length;
  const inside = lines.slice(first + 1, last).map((line) => line.slice(Math.min(indent, line.match(/^\s*/)[0].length)));
  return [code(inside, fence[3]), last + 1];
}

/** A formula that fills its lines, as its TeX: its element and the line after it. What follows its end goes on as text. */
function formulaAt(lines, first) {
  if (!/^\s*\$\$/.test(lines[first])) return null;
  const end = lines.findIndex((line, n) => n >= first && (n > first ? line : line.replace("$$", "")).includes("$$"));
  if (end < 0) return null;
  const inside = lines.slice(first, end + 1).join("\n").trim().slice(2);
  const [source, rest] = [inside.slice(0, inside.indexOf("$$")), inside.slice(inside.indexOf("$$") + 2)];
  if (rest.trim()) {
    if (end === first) return null; // a line of text that begins with a formula
    lines[end] = rest;
  }
  const block = element("div", { class: "formula", role: "math" }, source.trim());
  return [block, rest.trim() ? end : end + 1];
}

function code(lines, language) {
  const text = lines.join("\n");
  const copy = element("button", { type: "button", class: "copy" }, "Copy");
  copy.addEventListener("click", async () => {
    copy.textContent = (await copied(text)) ? "Copied" : "Select and copy";
  });
  const block = element("pre", {}, element("code", {}, text));
  if (language) block.dataset.language = language;
  return element("div", { class: "code" }, block, copy);
}

/** Whether the text is on the clipboard. Browsers give `navigator.clipboard` only to pages served with TLS or from here. */
async function copied(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const before = document.activeElement;
  const field = element("textarea", { class: "hidden", "aria-hidden": "true" });
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  before?.focus();
  return done;
}

function cells(row) {
  return row
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replace(/\\\|/g, "|"));
}

function table(rows, cite) {
  const isRule = (row) => cells(row).every((cell) => /^:?-+:?$/.test(cell));
  const made = element("table");
  let body = null;
  rows.forEach((row, number) => {
    if (isRule(row)) return;
    const head = number === 0 && rows[1] && isRule(rows[1]);
    const line = element("tr", {}, ...cells(row).map((c) => element(head ? "th" : "td", {}, inline(c, cite))));
    if (head) made.append(element("thead", {}, line));
    else {
      body ??= made.appendChild(element("tbody"));
      body.append(line);
    }
  });
  return element("div", { class: "wide" }, made);
}

function listFrom(lines, first, cite) {
  const [, indent, sign] = lines[first].match(ITEM);
  const ordered = /\d/.test(sign);
  const list = element(ordered ? "ol" : "ul");
  if (ordered && parseInt(sign, 10) !== 1) list.setAttribute("start", parseInt(sign, 10));
  let i = first;
  while (i < lines.length) {
    const item = lines[i].match(ITEM);
    if (!item || item[1].length < indent.length || (item[1].length === indent.length && /\d/.test(item[2]) !== ordered)) break;
    if (item[1].length > indent.length) {
      const [inner, next] = listFrom(lines, i, cite);
      (list.lastElementChild ?? list).append(inner);
      i = next;
      continue;
    }
    const entry = list.appendChild(element("li"));
    const text = [item[3]];
    i += 1;
    while (i < lines.length && lines[i].trim() && !startsBlock(lines[i])) text.push(lines[i++].trim());
    entry.append(inline(text.join(" "), cite));
    i = continuation(lines, i, entry, cite);
  }
  return [list, i];
}

/** Code and paragraphs that belong to an item: what follows it before the next item or an unindented paragraph. */
function continuation(lines, i, entry, cite) {
  for (;;) {
    let next = i;
    while (next < lines.length && !lines[next].trim()) next += 1;
    const line = lines[next] ?? "";
    const fenced = line ? (fencedAt(lines, next) ?? (/^\s/.test(line) ? formulaAt(lines, next) : null)) : null;
    if (fenced) {
      entry.append(fenced[0]);
      i = fenced[1];
    } else if (/^\s{2,}\S/.test(line) && !ITEM.test(line) && !ROW.test(line)) {
      entry.append(element("p", {}, inline(line.trim(), cite)));
      i = next + 1;
    } else {
      return ITEM.test(line) ? next : i;
    }
  }
}

function inline(text, cite) {
  const out = document.createDocumentFragment();
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    out.append(text.slice(last, match.index));
    const [whole, , codeText, display, math, number, bold] = match;
    if (codeText !== undefined) out.append(element("code", {}, codeText.replace(/^ (.*) $/, "$1")));
    else if (bold !== undefined) out.append(element("strong", {}, bold));
    else if (display !== undefined) out.append(formula(display));
    else if (math !== undefined) out.append(FORMULA.test(math) ? formula(math) : whole);
    else out.append(cite(Number(number)) ?? whole);
    last = match.index + whole.length;
  }
  out.append(text.slice(last));
  return out;
}

const formula = (source) => element("span", { class: "formula", role: "math" }, source.trim());
