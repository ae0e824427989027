// The reading pane: chapters, addresses, and the place that a citation points at.

import { element, render, slug } from "./markdown.js";
import { request } from "./server.js";

const contents = document.getElementById("contents");
const chapter = document.getElementById("chapter");
const reading = document.getElementById("reading");
let pages = [];
let shown = null;
let opened = 0;

const SHORTEST_LINE = 8; // letters; what is shorter stands anywhere
// Addresses that the API answers itself; with a slash at their end they are the book's.
const TAKEN = new Set(["/docs", "/health", "/metrics", "/mcp", "/chat"]);

/** The address of a page in this browser: as the book spells it, so that a reload finds it again. */
export function addressOf(url) {
  const { pathname, hash } = new URL(url, location.origin);
  return (TAKEN.has(pathname) ? `${pathname}/` : pathname) + hash;
}

const pathOf = (url) => new URL(url, location.origin).pathname.replace(/\/$/, "") || "/";
const pageAt = (url) => pages.find((page) => pathOf(page.url) === pathOf(url));
const showNote = (text) => chapter.replaceChildren(element("p", { class: "note" }, text));

export async function load() {
  const reply = await read("/book/pages");
  if (!reply) return;
  pages = reply;
  const modules = Map.groupBy?.(pages, (page) => page.module) ?? grouped(pages);
  contents.replaceChildren(
    ...[...modules].map(([name, inside]) =>
      element("section", {}, ...(name ? [element("h2", {}, name)] : []), element("ul", {}, ...inside.map(entry))),
    ),
  );
  addEventListener("popstate", showHere);
  await showHere();
}

/** The JSON at an address; null when there is none, and then the reading pane says why. */
async function read(address) {
  try {
    const response = await request(address);
    const reply = await response.json().catch(() => ({}));
    if (response.ok) return reply;
    showNote(reply.message ?? "The book cannot be read just now.");
  } catch (error) {
    showNote(error.message);
  }
  shown = null;
  return null;
}

async function showHere() {
  const here = pageAt(location.href) ?? pages[0];
  if (here) await open(here.url, { anchor: decoded(location.hash.slice(1)), record: false });
}

function decoded(anchor) {
  try {
    return decodeURIComponent(anchor);
  } catch {
    return anchor; // typed by hand
  }
}

function grouped(list) {
  const groups = new Map();
  for (const page of list) groups.set(page.module, [...(groups.get(page.module) ?? []), page]);
  return groups;
}

function entry(page) {
  const link = element("a", { href: addressOf(page.url) }, page.title);
  link.dataset.url = page.url;
  link.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    open(page.url, { record: true });
  });
  return element("li", {}, link);
}

/** Show a chapter; go to the quoted words, else to the heading, else to its beginning. False: not of this book. */
export async function open(url, { anchor = "", quote = "", section = "", record = true } = {}) {
  const page = pageAt(url);
  if (!page) return false;
  const turn = (opened += 1);
  const address = addressOf(page.url) + (anchor ? `#${encodeURIComponent(anchor)}` : "");
  if (record && address !== location.pathname + location.hash) history.pushState(null, "", address);
  if (shown !== page.url) {
    const reply = await read(`/book/page?url=${encodeURIComponent(page.url)}`);
    if (!reply || turn !== opened) return true; // another chapter was chosen meanwhile
    const { title, markdown, blocks = [] } = reply;
    chapter.replaceChildren(render(markdown));
    const anchors = blocks.filter(({ type }) => type === "heading").map(({ anchor }) => anchor);
    chapter.querySelectorAll("h1, h2, h3, h4, h5, h6").forEach((heading, n) => (heading.id = anchors[n] ?? heading.id));
    if (!chapter.querySelector("h1")) chapter.prepend(element("h1", {}, title));
    shown = page.url;
    document.title = `${title} · Citewell`;
    for (const link of contents.querySelectorAll("a")) {
      if (link.dataset.url === page.url) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    contents.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }
  clear();
  const heading = headingFor(anchor, section);
  const place = quote ? mark(quote, heading) : null;
  const target = place ?? heading;
  if (target) target.scrollIntoView({ block: place ? "center" : "start" });
  else reading.scrollTo(0, 0);
  return true;
}

/** By its id, or by its words when the book gave it an id of its own. */
function headingFor(anchor, section) {
  const byId = anchor && chapter.querySelector(`[id="${CSS.escape(anchor)}"]`);
  if (byId) return byId;
  const last = section.split(/ (?:>|›) /).pop();
  return last ? chapter.querySelector(`[id="${CSS.escape(slug(last))}"]`) : null;
}

function clear() {
  for (const old of chapter.querySelectorAll("mark")) old.replaceWith(...old.childNodes);
  chapter.normalize();
}

const plain = (text) => text.replace(/[`*|#>$\s-]+/g, "").toLowerCase();

/** The words of Markdown as a chapter shows them: without the signs of lists, fences and formulas. */
const wordsOf = (markdown) => plain(textOf(render(markdown)).map((node) => node.data).join(""));

function textOf(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest("button") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

/** Mark the quoted words, wherever elements divide them; white space and Markdown signs do not count. */
function mark(quote, after) {
  let text = "";
  const places = [];
  let from = 0;
  for (const node of textOf(chapter)) {
    if (after && !from && after.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) from = text.length;
    [...node.data].reduce((offset, letter) => {
      for (const unit of plain(letter)) {
        text += unit;
        places.push([node, offset, offset + letter.length]);
      }
      return offset + letter.length;
    }, 0);
  }
  const spans = spansOf(quote, text, from);
  const runs = spans.flatMap(([start, end]) => runsOf(places.slice(start, end)));
  return runs.reduceRight((_, run) => wrapped(run), null); // from the last: the places before it stay true
}

/** Where the quote stands in the text: whole, else those of its lines that are found, in their order. */
function spansOf(quote, text, from) {
  const find = (words, start) => {
    const found = text.indexOf(words, start);
    return words && found >= 0 ? [[found, found + words.length]] : [];
  };
  const whole = wordsOf(quote);
  const exact = [...find(whole, from), ...find(whole, 0)].slice(0, 1);
  if (exact.length) return exact;
  const spans = [];
  for (const line of quote.split("\n").map(wordsOf)) {
    if (line.length >= SHORTEST_LINE) spans.push(...find(line, spans.at(-1)?.[1] ?? from));
  }
  return spans;
}

/** One run for each text node; between the first letter and the last, the blanks at a node's edges belong to it. */
function runsOf(places) {
  const runs = [];
  for (const [node, start, end] of places) {
    const last = runs.at(-1);
    if (last?.node === node) last.end = end;
    else if (!last) runs.push({ node, start, end });
    else {
      last.end = last.node.data.length;
      runs.push({ node, start: 0, end });
    }
  }
  return runs;
}

function wrapped({ node, start, end }) {
  const part = start ? node.splitText(start) : node;
  if (end - start < part.data.length) part.splitText(end - start);
  const made = element("mark");
  part.replaceWith(made);
  made.append(part);
  return made;
}
