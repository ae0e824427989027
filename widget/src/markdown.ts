// Markdown into elements: the blocks that answers are made of. Builds the DOM only: data never becomes markup.

import { coloured } from "./colouring.js";
import { button, copied, element, type Child } from "./elements.js";
import { mathOf } from "./tex.js";

/** What the rendering takes from its surroundings. `cite(number)` makes the element for a marker, or null to leave it as text. */
export interface Manner {
  readonly copy: string;
  readonly copied: string;
  readonly cite?: (number: number) => Node | null;
  /** The level of every heading; without it they keep their own. */
  readonly headings?: number;
}

const INLINE =
  /(`+)([\s\S]*?[^`])\1(?!`)|\$\$([^$]+)\$\$|\$(?!\s)([^$]+)(?<!\s)\$(?!\d)|\[(\d{1,4})\](?!\()|\*\*([^*]+(?:\*[^*]+)*)\*\*|(?<![\w*])([*_])(?![\s*_])([^*_\n]+)(?<!\s)\7(?!\w)|\[([^\][]+)\]\(([^()\s]+)\)/g;
// What stands between two dollars is a formula when it has TeX's signs or is one letter; prices and $HOME have neither.
const FORMULA = /^(?![A-Z]{2})(?:.*[\\^_={}].*|[A-Za-z]'*)$/s;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const ROW = /^\s*\|.*\|\s*$/;
const FENCE = /^(\s*)(`{3,}|~{3,})\s*(\S*)/;
const STARTS = /^\s*(?:`{3,}|~{3,}|\$\$|#{1,6}\s|>|(?:[-*+]|\d{1,9}[.)])\s|\|.*\|\s*$)/;

export function render(markdown: string, manner: Manner): DocumentFragment {
  const out = document.createDocumentFragment();
  out.append(...blocksOf(markdown).map((block) => rendered(block, manner)));
  return out;
}

/** Show Markdown that grows: blocks that have not changed stay the elements they are. */
export class Growing {
  #shown: [string, Node][] = [];
  constructor(private readonly root: HTMLElement) {}

  show(markdown: string, manner: Manner): void {
    const blocks = blocksOf(markdown);
    let same = 0;
    while (same < blocks.length && this.#shown[same]?.[0] === blocks[same]) same += 1;
    for (const [, old] of this.#shown.splice(same)) (old as ChildNode).remove();
    for (const block of blocks.slice(same)) {
      const made = rendered(block, manner);
      this.root.append(made);
      this.#shown.push([block, made]);
    }
  }
}

/** The source of each block, in order: a list with all that belongs to its items is one. */
function blocksOf(markdown: string): string[] {
  const lines = markdown.split("\n");
  const blocks: string[] = [];
  for (let i = 0; i < lines.length; ) {
    const first = i;
    const line = lines[i]!;
    if (!line.trim()) {
      i += 1;
      continue;
    }
    if (FENCE.test(line)) i = afterFence(lines, i);
    else if (formulaEnd(lines, i) >= 0) i = formulaEnd(lines, i) + 1;
    else if (/^#{1,6}\s/.test(line)) i += 1;
    else if (ROW.test(line)) while (i < lines.length && ROW.test(lines[i]!)) i += 1;
    else if (/^\s*>/.test(line)) while (i < lines.length && /^\s*>/.test(lines[i]!)) i += 1;
    else if (ITEM.test(line)) i = afterList(lines, i);
    else for (i += 1; i < lines.length && lines[i]!.trim() && !STARTS.test(lines[i]!); ) i += 1;
    blocks.push(lines.slice(first, i).join("\n"));
  }
  return blocks;
}

function afterFence(lines: string[], first: number): number {
  const mark = FENCE.exec(lines[first]!)![2]!;
  const end = lines.findIndex((line, n) => n > first && line.trim().startsWith(mark));
  return end < 0 ? lines.length : end + 1;
}

/** The last line of a formula that fills its lines; -1 when none begins here. */
function formulaEnd(lines: string[], first: number): number {
  const opened = /^\s*\$\$(.*)$/.exec(lines[first]!);
  if (!opened) return -1;
  const same = opened[1]!.indexOf("$$");
  if (same >= 0) return opened[1]!.slice(same + 2).trim() ? -1 : first; // else a line of text that begins with a formula
  return lines.findIndex((line, n) => n > first && line.includes("$$"));
}

/** Items, and what stands between them indented, fenced, or as their continuation. */
function afterList(lines: string[], first: number): number {
  const [, space = "", sign = ""] = ITEM.exec(lines[first]!)!;
  let i = first + 1;
  for (let n = i; n < lines.length; n = i) {
    while (n < lines.length && !lines[n]!.trim()) n += 1;
    const line = lines[n] ?? "";
    const item = ITEM.exec(line);
    if (!line || (item && item[1]!.length <= space.length && /\d/.test(item[2]!) !== /\d/.test(sign))) break;
    if (FENCE.test(line)) i = afterFence(lines, n);
    else if (item) i = n + 1;
    else if (/^\s/.test(line) && formulaEnd(lines, n) >= 0) i = formulaEnd(lines, n) + 1;
    else if (/^\s{2,}\S/.test(line) || (n === i && !STARTS.test(line))) i = n + 1;
    else break;
  }
  return i;
}

function rendered(block: string, manner: Manner): HTMLElement {
  const lines = block.split("\n");
  const first = lines[0]!;
  const heading = /^(#{1,6})\s+(.*)$/.exec(first);
  if (heading) return element(`h${manner.headings ?? heading[1]!.length}` as "h2", {}, ...inline(heading[2]!, manner));
  if (FENCE.test(first)) return fencedCode(lines, manner);
  if (formulaEnd(lines, 0) >= 0) return formulaLines(block, manner);
  if (ROW.test(first)) return tableOf(lines, manner);
  if (/^\s*>/.test(first)) return element("blockquote", {}, render(lines.map((line) => line.replace(/^\s*> ?/, "")).join("\n"), manner));
  if (ITEM.test(first)) return listOf(lines, manner);
  if (/^\s*(?:[-*_]\s*){3,}$/.test(first)) return element("hr");
  return element("p", {}, ...inline(lines.map((line) => line.trim()).join(" "), manner));
}

/** Code between fences; the fence's own indent is taken off. */
function fencedCode(lines: string[], manner: Manner): HTMLElement {
  const [, space = "", mark = "", language = ""] = FENCE.exec(lines[0]!)!;
  const closed = lines.length > 1 && lines.at(-1)!.trim().startsWith(mark);
  const inside = lines.slice(1, closed ? -1 : undefined);
  return codeBlock(inside.map((line) => line.slice(Math.min(space.length, line.search(/\S|$/)))).join("\n"), language, manner);
}

export function codeBlock(text: string, language: string, manner: Manner): HTMLElement {
  const copy = button({ class: "copy" }, async () => {
    if (await copied(text)) copy.textContent = manner.copied;
  }, manner.copy);
  const block = element("pre", { "data-language": language || null }, element("code", {}, ...coloured(text, language)));
  return element("div", { class: "code" }, block, copy);
}

function formulaLines(block: string, manner: Manner): HTMLElement {
  const text = block.trim().slice(2);
  const [source = "", rest = ""] = [text.slice(0, text.indexOf("$$")), text.slice(text.indexOf("$$") + 2)];
  const made = formulaBlock(source);
  return rest.trim() ? element("div", {}, made, element("p", {}, ...inline(rest.trim(), manner))) : made;
}

export function formulaBlock(source: string): HTMLElement {
  return element("div", { class: "formula" }, formula(source, true));
}

function formula(source: string, display = false): Element {
  return mathOf(source.trim(), display) ?? element("code", {}, source.trim());
}

function tableOf(lines: string[], manner: Manner): HTMLElement {
  const rows = lines.map(cellsOf);
  const titled = rows[1]?.every((cell) => /^:?-+:?$/.test(cell));
  const body = (titled ? rows.slice(2) : rows).map((cells) => cells.slice(0, rows[0]!.length));
  return table(titled ? rows[0]! : null, body, manner);
}

export function table(header: readonly string[] | null, rows: readonly (readonly string[])[], manner: Manner): HTMLElement {
  const made = element("table");
  if (header) made.append(element("thead", {}, element("tr", {}, ...header.map((cell) => element("th", { scope: "col" }, ...inline(cell, manner))))));
  made.append(element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, ...inline(cell, manner)))))));
  return element("div", { class: "wide" }, made);
}

/** A bar in code or behind a backslash divides nothing. */
function cellsOf(line: string): string[] {
  const cells = line.trim().slice(1, -1).match(/(?:\\.|`[^`]*`|[^|\\])*(?:\||$)/g) ?? [];
  if (cells.at(-1) === "") cells.pop();
  return cells.map((cell) => cell.replace(/\|$/, "").replace(/\\\|/g, "|").trim());
}

function listOf(lines: string[], manner: Manner): HTMLElement {
  const [, space = "", sign = ""] = ITEM.exec(lines[0]!)!;
  const ordered = /\d/.test(sign);
  const list = element(ordered ? "ol" : "ul", { start: ordered && parseInt(sign, 10) !== 1 ? String(parseInt(sign, 10)) : null });
  for (let i = 0; i < lines.length; ) {
    const item = ITEM.exec(lines[i]!);
    let end = i + 1;
    while (end < lines.length && !startsItem(lines, end, space.length)) end = FENCE.test(lines[end]!) ? afterFence(lines, end) : end + 1;
    const inside = [item?.[3] ?? lines[i]!, ...lines.slice(i + 1, end)];
    list.append(element("li", {}, ...itemOf(inside, manner)));
    i = end;
  }
  return list;
}

/** Whether the line begins the next item of this list, and not one of a list inside it. */
function startsItem(lines: string[], i: number, indent: number): boolean {
  const item = ITEM.exec(lines[i]!);
  return !!item && item[1]!.length <= indent;
}

function itemOf(lines: string[], manner: Manner): Child[] {
  const deep = Math.min(...lines.slice(1).filter((line) => line.trim()).map((line) => line.search(/\S/)), 8);
  const text = [lines[0]!, ...lines.slice(1).map((line) => line.slice(Math.min(deep, Math.max(0, line.search(/\S|$/)))))].join("\n");
  const blocks = blocksOf(text).map((block) => rendered(block, { ...manner, headings: manner.headings ?? 6 }));
  const first = blocks[0];
  return first?.tagName === "P" ? [...first.childNodes, ...blocks.slice(1)] : blocks;
}

/** Code, formulas, emphasis, links to the web and markers of a line. */
export function inline(text: string, manner: Manner): Child[] {
  const out: Child[] = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    out.push(text.slice(last, match.index));
    const [whole, , code, display, math, number, bold, , slanted, label, target] = match;
    if (code !== undefined) out.push(element("code", {}, code.replace(/^ (.*) $/, "$1")));
    else if (bold !== undefined) out.push(element("strong", {}, ...inline(bold, manner)));
    else if (slanted !== undefined) out.push(element("em", {}, ...inline(slanted, manner)));
    else if (display !== undefined) out.push(formula(display));
    else if (math !== undefined) out.push(FORMULA.test(math) ? formula(math) : whole);
    else if (label !== undefined) out.push(/^https?:\/\//i.test(target!) ? element("a", { href: target, target: "_blank", rel: "noopener noreferrer" }, label) : label);
    else out.push(manner.cite?.(Number(number)) ?? whole);
    last = match.index + whole.length;
  }
  out.push(text.slice(last));
  return out;
}

/** Who moves by keyboard can scroll what is wider than its place. */
export function reachable(root: ParentNode): void {
  for (const wide of root.querySelectorAll<HTMLElement>("pre, .wide, .formula")) {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    else wide.removeAttribute("tabindex");
  }
}
