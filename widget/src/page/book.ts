// The reading pane: chapters, addresses, and the place that a citation points at.

import { button, element } from "../elements.js";
import { reachable } from "../markdown.js";
import { clear, decoded, show, type Place } from "../places.js";
import type { Server } from "../wire.js";
import { chapterOf, type Block } from "./blocks.js";

interface Entry {
  readonly url: string;
  readonly title: string;
  readonly module: string;
}

interface Page {
  readonly title: string;
  readonly blocks: readonly Block[];
}

interface Opening {
  readonly place?: Place;
  readonly anchor?: string;
  /** Whether the address goes into the browser's history. */
  readonly record?: boolean;
}

const MANNER = { copy: "Copy", copied: "Copied" };
// Addresses that the API answers itself; with a slash at their end they are the book's.
const TAKEN = new Set(["/docs", "/health", "/metrics", "/mcp", "/chat", "/search", "/widget.js"]);
const FEWEST_HEADINGS = 2;

const pathOf = (url: string): string => new URL(url, location.origin).pathname.replace(/\/$/, "") || "/";

/** The address of a page in this browser: as the book spells it, so that a reload finds it again. */
function addressOf(url: string): string {
  const { pathname } = new URL(url, location.origin);
  return TAKEN.has(pathname) ? `${pathname}/` : pathname;
}

export class Book {
  private readonly contents = document.getElementById("contents")!;
  private readonly chapter = document.getElementById("chapter")!;
  private readonly reading = document.getElementById("reading")!;
  private readonly around = document.getElementById("around")!;
  private readonly headings = document.getElementById("headings")!;
  private pages: readonly Entry[] = [];
  private shown: string | null = null;
  private opened = 0;

  constructor(private readonly server: Server) {}

  private pageAt(url: string): Entry | undefined {
    return this.pages.find((page) => pathOf(page.url) === pathOf(url));
  }

  has(url: string): boolean {
    return !!this.pageAt(url);
  }

  async load(): Promise<void> {
    const pages = await this.read<Entry[]>("/book/pages");
    if (!pages) return;
    this.pages = pages;
    const { name } = (await this.server.json<{ name: string }>("/book").catch(() => null)) ?? { name: "" };
    if (name) document.getElementById("name")!.textContent = name;
    const modules = new Map<string, Entry[]>();
    for (const page of pages) modules.set(page.module, [...(modules.get(page.module) ?? []), page]);
    this.contents.replaceChildren(
      ...[...modules].map(([name, inside]) =>
        element("section", {}, ...(name ? [element("h2", {}, name)] : []), element("ul", {}, ...inside.map((page) => element("li", {}, this.link(page, page.title))))),
      ),
    );
    addEventListener("popstate", () => void this.showHere());
    addEventListener("resize", () => reachable(this.chapter));
    await this.showHere();
  }

  /** The JSON at an address; null when there is none, and then the reading pane says why. */
  private async read<T>(address: string): Promise<T | null> {
    try {
      return await this.server.json<T>(address);
    } catch (error) {
      const retry = button({}, () => void this.load(), "Try again");
      this.note((error as Error).message || "The server cannot be reached. Check your connection.", retry);
      return null;
    }
  }

  private note(text: string, ...more: Node[]): void {
    this.shown = null;
    this.around.hidden = this.headings.hidden = true;
    this.chapter.replaceChildren(element("h1", {}, "The book"), element("p", { class: "note" }, text), ...more);
  }

  private async showHere(): Promise<void> {
    const here = location.pathname === "/" ? (this.pageAt("/") ?? this.pageAt("/index") ?? this.pages[0]) : this.pageAt(location.href);
    if (here) await this.open(here.url, { anchor: decoded(location.hash.slice(1)), record: false });
    else if (this.pages[0]) this.note("The book has no page at this address.", this.link(this.pages[0], "Go to its first page"));
    else this.note("No documentation has been indexed yet. Ingest it, then load this page again.");
  }

  private link(page: Entry, text: string): HTMLAnchorElement {
    const link = element("a", { href: addressOf(page.url), "data-url": page.url }, text);
    link.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      void this.open(page.url);
    });
    return link;
  }

  /** Show a chapter; go to the quoted words, else to the heading, else to its beginning. */
  async open(url: string, { place, anchor = url.split("#")[1] ?? "", record = true }: Opening = {}): Promise<void> {
    const page = this.pageAt(url);
    if (!page) return;
    const turn = (this.opened += 1);
    const address = addressOf(page.url) + (anchor ? `#${encodeURIComponent(decoded(anchor))}` : "");
    if (record && address !== location.pathname + location.hash) history.pushState(null, "", address);
    if (this.shown !== page.url) {
      const reply = await this.read<Page>(`/book/page?url=${encodeURIComponent(page.url)}`);
      if (!reply || turn !== this.opened) return; // another chapter was chosen meanwhile
      this.showChapter(page, reply);
    }
    clear();
    if (!show(this.chapter, place ?? { url: `#${encodeURIComponent(decoded(anchor))}`, quote: "", section: "" })) this.reading.scrollTo(0, 0);
  }

  private showChapter(page: Entry, { title, blocks }: Page): void {
    this.chapter.replaceChildren(chapterOf(blocks, MANNER));
    if (!this.chapter.querySelector("h1")) this.chapter.prepend(element("h1", {}, title));
    this.shown = page.url;
    document.title = `${title} · ${document.getElementById("name")!.textContent}`;
    for (const link of this.contents.querySelectorAll("a")) {
      if (link.dataset.url === page.url) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.contents.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    this.showAround(page);
    this.showHeadings();
    reachable(this.chapter);
  }

  private showAround(page: Entry): void {
    const at = this.pages.indexOf(page);
    const [before, after] = [this.pages[at - 1], this.pages[at + 1]];
    this.around.replaceChildren(...(before ? [this.link(before, `← ${before.title}`)] : []), ...(after ? [this.link(after, `${after.title} →`)] : []));
    this.around.querySelectorAll("a").forEach((link) => link.classList.add(link.textContent!.endsWith("→") ? "after" : "before"));
    this.around.hidden = !before && !after;
  }

  private showHeadings(): void {
    const found = [...this.chapter.querySelectorAll<HTMLElement>("h2[id], h3[id]")];
    this.headings.hidden = found.length < FEWEST_HEADINGS;
    const entry = (heading: HTMLElement): HTMLElement => {
      const link = element("a", { href: `#${encodeURIComponent(heading.id)}` }, heading.textContent!);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        void this.open(this.shown!, { anchor: heading.id });
      });
      return element("li", { class: heading.tagName.toLowerCase() }, link);
    };
    this.headings.replaceChildren(element("h2", {}, "On this page"), element("ul", {}, ...found.map(entry)));
  }
}
