// The reading pane: chapters, addresses, and the place that a citation points at.

import { element, render, slug } from "./markdown.js";

const contents = document.getElementById("contents");
const chapter = document.getElementById("chapter");
const reading = document.getElementById("reading");
let pages = [];
let shown = null;

const pathOf = (url) => new URL(url, location.origin).pathname.replace(/\/$/, "") || "/";

export async function load() {
  const response = await fetch("/book/pages");
  if (!response.ok) {
    const reply = await response.json().catch(() => ({}));
    chapter.replaceChildren(element("p", { class: "note" }, reply.message ?? "The book cannot be read just now."));
    return [];
  }
  pages = await response.json();
  const modules = Map.groupBy?.(pages, (page) => page.module) ?? grouped(pages);
  contents.replaceChildren(
    ...[...modules].map(([name, inside]) =>
      element("section", {}, ...(name ? [element("h2", {}, name)] : []), element("ul", {}, ...inside.map(entry))),
    ),
  );
  const here = pages.find((page) => pathOf(page.url) === pathOf(location.href)) ?? pages[0];
  if (here) await open(here.url, { anchor: decodeURIComponent(location.hash.slice(1)), record: false });
  addEventListener("popstate", () => {
    const page = pages.find((p) => pathOf(p.url) === location.pathname) ?? pages[0];
    open(page.url, { anchor: decodeURIComponent(location.hash.slice(1)), record: false });
  });
  return pages;
}

function grouped(list) {
  const groups = new Map();
  for (const page of list) groups.set(page.module, [...(groups.get(page.module) ?? []), page]);
  return groups;
}

function entry(page) {
  const link = element("a", { href: pathOf(page.url) }, page.title);
  link.dataset.url = page.url;
  link.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    open(page.url, { record: true });
  });
  return element("li", {}, link);
}

/** Show a chapter; go to the quoted words, else to the heading, else to its beginning. */
export async function open(url, { anchor = "", quote = "", section = "", record = true } = {}) {
  const page = pages.find((p) => pathOf(p.url) === pathOf(url));
  if (!page) return false;
  if (shown !== page.url) {
    const response = await fetch(`/book/page?url=${encodeURIComponent(page.url)}`);
    if (!response.ok) return false;
    const { title, markdown } = await response.json();
    chapter.replaceChildren(render(markdown));
    if (!chapter.querySelector("h1")) chapter.prepend(element("h1", {}, title));
    shown = page.url;
    document.title = `${title} · Citewell`;
    for (const link of contents.querySelectorAll("a")) {
      if (link.dataset.url === page.url) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    contents.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }
  if (record) history.pushState(null, "", pathOf(page.url) + (anchor ? `#${encodeURIComponent(anchor)}` : ""));
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

const plain = (text) => text.replace(/[`*|#>\s-]+/g, "").toLowerCase();

/** Mark the quoted words, wherever elements divide them; white space and Markdown signs do not count. */
function mark(quote, after) {
  const walker = document.createTreeWalker(chapter, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest("button") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  let text = "";
  const places = [];
  let from = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (after && !from && after.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) from = text.length;
    [...node.data].reduce((offset, letter) => {
      if (plain(letter)) {
        for (const unit of plain(letter)) {
          text += unit;
          places.push([node, offset, offset + letter.length]);
        }
      }
      return offset + letter.length;
    }, 0);
  }
  const wanted = plain(quote);
  let start = wanted ? text.indexOf(wanted, from) : -1;
  if (start < 0 && wanted) start = text.indexOf(wanted);
  if (start < 0) return null;
  const byNode = new Map();
  for (const [node, a, b] of places.slice(start, start + wanted.length)) {
    const range = byNode.get(node);
    byNode.set(node, range ? [range[0], b] : [a, b]);
  }
  let first = null;
  for (const [node, [a, b]] of byNode) {
    const part = a ? node.splitText(a) : node;
    if (b - a < part.data.length) part.splitText(b - a);
    const made = element("mark");
    part.replaceWith(made);
    made.append(part);
    first ??= made;
  }
  return first;
}
