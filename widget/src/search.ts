// Search as one types: the best pages and sections below "Ask", which is the first choice.

import { element } from "./elements.js";
import { labelOf } from "./card.js";
import type { Filters, Hit, Server } from "./wire.js";

const PAUSE = 60; // milliseconds without a key
const MOST_KEPT = 60;
const LONGEST = 200;

export interface Choices {
  readonly ask: string;
  filters(): Filters;
  choose(hit: Hit): void;
  submit(): void;
  announce(count: number): void;
}

export class SearchBox {
  readonly list = element("ul", { class: "hits", part: "results", role: "listbox", id: "hits", hidden: "" });
  readonly #kept = new Map<string, readonly Hit[]>();
  #hits: readonly Hit[] = [];
  #at = 0;
  #timer = 0;
  #running: AbortController | null = null;

  constructor(
    private readonly input: HTMLTextAreaElement,
    private readonly server: Server,
    private readonly choices: Choices,
  ) {
    input.addEventListener("input", () => this.#typed());
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("blur", () => this.hide());
    this.list.addEventListener("pointerdown", (event) => event.preventDefault()); // the focus stays in the box
    this.list.addEventListener("click", (event) => {
      const option = (event.target as Element).closest<HTMLElement>("[role=option]");
      if (option) this.#take(Number(option.dataset.at));
    });
  }

  get open(): boolean {
    return !this.list.hidden;
  }

  get #query(): string {
    return this.input.value.trim();
  }

  #typed(): void {
    clearTimeout(this.#timer);
    this.#running?.abort();
    const query = this.#query;
    if (query.length < 2 || query.length > LONGEST || query.includes("\n")) return this.hide();
    const known = this.#kept.get(query);
    if (known) return this.#show(known);
    this.#timer = window.setTimeout(() => void this.#search(query), PAUSE);
  }

  async #search(query: string): Promise<void> {
    this.#running = new AbortController();
    const asked = new URLSearchParams({ q: query, limit: "6" });
    for (const [name, values] of Object.entries(this.choices.filters())) for (const value of [values].flat()) asked.append(name, value);
    try {
      const { results } = await this.server.json<{ results: Hit[] }>(`/search?${asked}`, { signal: this.#running.signal });
      this.#kept.set(query, results);
      if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
      if (this.#query === query && this.input.matches(":focus")) this.#show(results);
    } catch (error) {
      if ((error as Error).name !== "AbortError") this.hide(); // asking still works, and says what is wrong
    }
  }

  #show(hits: readonly Hit[]): void {
    this.#hits = hits;
    this.#at = 0;
    const option = (at: number, ...children: Node[]): HTMLElement =>
      element("li", { role: "option", id: `hit${at}`, "data-at": String(at), "aria-selected": String(!at) }, ...children);
    this.list.replaceChildren(
      option(0, element("strong", {}, `${this.choices.ask}: `), element("span", {}, this.#query)),
      ...hits.map((hit, i) => option(i + 1, element("strong", {}, ...marked(labelOf({ chapter: hit.title, section: hit.section }), this.#query)), element("span", {}, ...marked(hit.text, this.#query)))),
    );
    this.list.hidden = false;
    this.input.setAttribute("aria-activedescendant", "hit0");
    this.choices.announce(hits.length);
  }

  hide(): void {
    clearTimeout(this.#timer);
    this.list.hidden = true;
    this.input.removeAttribute("aria-activedescendant");
  }

  #key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (this.open && step) {
      event.preventDefault();
      this.#move(step);
    } else if (this.open && event.key === "Escape") {
      event.stopPropagation();
      this.hide();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#take(this.open ? this.#at : 0);
    }
  }

  #move(step: number): void {
    const options = [...this.list.children];
    options[this.#at]?.setAttribute("aria-selected", "false");
    this.#at = (this.#at + step + options.length) % options.length;
    options[this.#at]!.setAttribute("aria-selected", "true");
    options[this.#at]!.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", `hit${this.#at}`);
  }

  #take(at: number): void {
    this.hide();
    const hit = this.#hits[at - 1];
    if (at && hit) this.choices.choose(hit);
    else this.choices.submit();
  }
}

/** The words of the query where they stand in the text. */
function marked(text: string, query: string): (Node | string)[] {
  const words = query.split(/\s+/).filter((word) => word.length > 1).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!words.length) return [text];
  return text.split(new RegExp(`(${words.join("|")})`, "gi")).map((part, i) => (i % 2 ? element("b", {}, part) : part));
}
