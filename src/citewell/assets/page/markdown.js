// Markdown into elements. Builds the DOM only: data never becomes markup.

const INLINE = /(`+)([\s\S]*?[^`])\1(?!`)|\[(\d{1,4})\]|\*\*([^*]+)\*\*/g;
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
    const fence = line.match(/^\s*(`{3,}|~{3,})\s*(\S*)/);
    const heading = line.match(/^(#{1,6})\s+(.*)$/);
    if (!line.trim()) {
      i += 1;
    } else if (fence) {
      const end = lines.findIndex((l, n) => n > i && l.trim().startsWith(fence[1]));
      const last = end < 0 ? lines.length : end;
      out.append(code(lines.slice(i + 1, last), fence[2]));
      i = last + 1;
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
  return /^\s*(`{3,}|~{3,})/.test(line) || /^#{1,6}\s/.test(line) || ROW.test(line) || ITEM.test(line);
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

function code(lines, language) {
  const text = lines.join("\n");
  const copy = element("button", { type: "button", class: "copy" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  });
  const block = element("pre", {}, element("code", {}, text));
  if (language) block.dataset.language = language;
  return element("div", { class: "code" }, block, copy);
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
    const fence = line.match(/^\s*(`{3,}|~{3,})\s*(\S*)/);
    if (fence) {
      const end = lines.findIndex((l, n) => n > next && l.trim().startsWith(fence[1]));
      const last = end < 0 ? lines.length : end;
      const strip = line.match(/^\s*/)[0].length;
      entry.append(code(lines.slice(next + 1, last).map((l) => l.slice(Math.min(strip, l.match(/^\s*/)[0].length))), fence[2]));
      i = last + 1;
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
    const [whole, , codeText, number, bold] = match;
    if (codeText !== undefined) out.append(element("code", {}, codeText.replace(/^ (.*) $/, "$1")));
    else if (bold !== undefined) out.append(element("strong", {}, bold));
    else out.append(cite(Number(number)) ?? whole);
    last = match.index + whole.length;
  }
  out.append(text.slice(last));
  return out;
}
