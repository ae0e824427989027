// Places in a page: which address a citation has here, and the very words marked where they stand.

import { element } from "./elements.js";
import { render } from "./markdown.js";

/** What is cited: the words, and where the book has them. */
export interface Place {
  readonly url: string;
  readonly quote: string;
  readonly section: string;
}

interface Letter {
  readonly node: Text;
  readonly start: number;
  readonly end: number;
}

const SHORTEST = 6; // letters; what is shorter stands anywhere
const NAME = "citewell";
const MANNER = { copy: "", copied: "" };
const SKIPPED = "script, style, noscript, template, button, nav, citewell-widget, .katex-html, annotation";

/** An address that may be followed: of the web, or relative to the book's site; else null. */
export function safeAddress(url: string | undefined, base: string): URL | null {
  try {
    const made = new URL(url ?? "", base);
    return url && /^https?:$/.test(made.protocol) ? made : null;
  } catch {
    return null;
  }
}

const pathOf = (url: URL): string => decodeURI(url.pathname).replace(/(?:\/index)?(?:\.html?)?\/?$/, "") || "/";
export const samePage = (one: URL, other: URL): boolean => one.origin === other.origin && pathOf(one) === pathOf(other);

/** The link with the quote as a text fragment, for browsers that mark it themselves. */
export function fragment(url: URL, quote: string): string {
  const lines = quote.split("\n").map((line) => wordsOf(line)).filter(Boolean);
  const first = lines[0]?.split(" ") ?? [];
  const last = lines.at(-1)?.split(" ") ?? [];
  if (!first.length) return url.href;
  const encoded = (words: string[]): string => encodeURIComponent(words.join(" ")).replace(/-/g, "%2D");
  const short = lines.length === 1 && first.length <= 8;
  const text = short ? encoded(first) : `${encoded(first.slice(0, 4))},${encoded(last.slice(-4))}`;
  return `${url.href.split("#")[0]}${url.hash || "#"}:~:text=${text}`;
}

/** The words of Markdown as a page shows them. */
export function wordsOf(markdown: string): string {
  const blockOf = (node: Text): Element | null => node.parentElement!.closest("p, li, td, th, pre, h1, h2, h3, h4, h5, h6");
  const nodes = textOf(render(markdown, MANNER));
  return nodes.map((node, n) => (n && blockOf(node) !== blockOf(nodes[n - 1]!) ? ` ${node.data}` : node.data)).join("").replace(/\s+/g, " ").trim();
}

const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
const lettersOf = (markdown: string): string => plain(textOf(render(markdown, MANNER)).map((node) => node.data).join(""));

function textOf(root: Node): Text[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest(SKIPPED) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  const nodes: Text[] = [];
  while (walker.nextNode()) nodes.push(walker.currentNode as Text);
  return nodes;
}

/** Mark the quote below its heading; what is in sight afterwards is the first of its words, else the heading. False: neither. */
export function show(root: HTMLElement, place: Place): boolean {
  clear();
  const heading = headingFor(root, place);
  const ranges = place.quote ? rangesOf(root, place.quote, heading) : [];
  for (let box = ranges[0]?.startContainer.parentElement?.closest("details"); box; box = box.parentElement?.closest("details")) box.open = true;
  const target = ranges.length ? marked(ranges) : heading;
  target?.scrollIntoView({ block: ranges.length ? "center" : "start", behavior: calm() ? "auto" : "smooth" });
  return !!target;
}

export const calm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** By its id, or by its words when the page gave it an id of its own. */
function headingFor(root: HTMLElement, { url, section }: Place): HTMLElement | null {
  const anchor = decoded(url.split("#")[1] ?? "");
  const byId = anchor ? root.querySelector<HTMLElement>(`[id="${CSS.escape(anchor)}"]`) : null;
  if (byId) return byId;
  const last = plain(section.split(/ (?:>|›) /).pop() ?? "");
  return last ? ([...root.querySelectorAll<HTMLElement>("h1,h2,h3,h4,h5,h6")].find((h) => plain(h.textContent!) === last) ?? null) : null;
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand
  }
}

/** Where the quote stands, wherever elements divide it; only letters and digits count. */
function rangesOf(root: HTMLElement, quote: string, after: HTMLElement | null): Range[] {
  let text = "";
  const letters: Letter[] = [];
  let from = 0;
  const nodes = textOf(root);
  for (const node of nodes) {
    if (after && !from && after.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) from = text.length;
    let at = 0;
    for (const sign of node.data) {
      for (const unit of plain(sign)) {
        text += unit;
        letters.push({ node, start: at, end: at + sign.length });
      }
      at += sign.length;
    }
  }
  return spansOf(quote, text, from).flatMap(([start, end]) => runsOf(letters.slice(start, end), quote, nodes));
}

/** Whole, else those of its lines, else of their pieces between formulas, that are found in their order. */
function spansOf(quote: string, text: string, from: number): [number, number][] {
  const find = (words: string, start: number): [number, number] | null => {
    const found = words ? text.indexOf(words, start) : -1;
    return found < 0 ? null : [found, found + words.length];
  };
  const whole = lettersOf(quote);
  const exact = find(whole, from) ?? find(whole, 0);
  if (exact) return [exact];
  const spans: [number, number][] = [];
  const seek = (part: string): boolean => {
    const words = lettersOf(part);
    const found = words.length >= SHORTEST ? find(words, spans.at(-1)?.[1] ?? from) : null;
    if (found) spans.push(found);
    return !!found;
  };
  for (const line of quote.split("\n")) if (!seek(line)) line.split(/\$[^$]+\$|\|/).forEach(seek);
  return spans;
}

/** One range for each text node, so that a button between two is not marked; with the sign that ends the quote. */
function runsOf(letters: Letter[], quote: string, nodes: Text[]): Range[] {
  const runs: Range[] = [];
  const add = (node: Text, start: number, end: number): void => {
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, end);
    runs.push(range);
  };
  const [first, last] = [letters[0]!, letters.at(-1)!];
  for (const text of nodes.slice(nodes.indexOf(first.node), nodes.indexOf(last.node) + 1)) {
    const [from, to] = [text === first.node ? first.start : 0, text === last.node ? last.end : text.data.length];
    if (text.data.slice(from, to).trim()) add(text, from, to);
  }
  const { node, end } = last;
  const closing = /[^\p{L}\p{N}\s`*|$]*$/u.exec(quote)![0];
  const [next, at] = end < node.data.length ? [node, end] : [nodes[nodes.indexOf(node) + 1], 0];
  if (closing && next?.data.startsWith(closing, at)) add(next, at, at + closing.length);
  return runs;
}

let rule: CSSStyleSheet | null = null;

/** Mark the ranges; the element that holds the first. */
function marked(ranges: Range[]): HTMLElement {
  const first = ranges[0]!.startContainer.parentElement!;
  if (globalThis.Highlight && CSS.highlights) {
    if (!rule) {
      rule = new CSSStyleSheet();
      rule.replaceSync(`::highlight(${NAME}){background:var(--citewell-mark,#ffe89a);color:#222}`);
      document.adoptedStyleSheets.push(rule);
    }
    CSS.highlights.set(NAME, new Highlight(...ranges));
    return first;
  }
  for (const range of ranges.reverse()) range.surroundContents(element("mark", { class: NAME })); // from the last: the places before it stay true
  return first;
}

export function clear(): void {
  globalThis.CSS?.highlights?.delete(NAME);
  for (const old of document.querySelectorAll(`mark.${NAME}`)) {
    const parent = old.parentNode!;
    old.replaceWith(...old.childNodes);
    parent.normalize();
  }
}
