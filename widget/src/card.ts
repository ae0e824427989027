// Citations: a chip for each marker, and the card that shows what is cited on hover, focus and tap.

import { element } from "./elements.js";
import { fragment, safeAddress, wordsOf, type Place } from "./places.js";
import type { Source } from "./wire.js";
import type { Words } from "./words.js";

const LONGEST = 320;

export const labelOf = ({ chapter, section }: { chapter?: string; section?: string }): string =>
  [...new Set([chapter, ...(section ?? "").split(" > ")].filter(Boolean))].join(" › ");

export const placeOf = (source: Source): Place => ({
  url: source.url ?? "",
  quote: source.quote ?? source.chunk_text,
  section: source.section,
});

export class Card {
  readonly root = element("div", { class: "card", part: "card", role: "tooltip", id: "card", hidden: "" });
  #chip: HTMLElement | null = null;
  #leaving = 0;

  constructor(
    private readonly words: () => Words,
    private readonly base: () => string,
    private readonly follow: (place: Place) => void,
  ) {
    this.root.addEventListener("pointerenter", () => clearTimeout(this.#leaving));
    this.root.addEventListener("pointerleave", () => this.#leave());
  }

  /** The marker of a source: a link to its place, or plain for what the reader selected. */
  chipFor(source: Source): HTMLElement {
    const chip = this.link(source, { class: "cite", part: "citation" }, String(source.number ?? "•"));
    chip.setAttribute("aria-label", `${source.number ?? ""} ${labelOf(source)}`.trim());
    let touched = false;
    chip.addEventListener("pointerdown", (event) => (touched = event.pointerType === "touch"));
    chip.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.#show(chip, source));
    chip.addEventListener("pointerleave", () => this.#leave());
    chip.addEventListener("focus", () => this.#show(chip, source));
    chip.addEventListener("blur", () => this.#leave());
    chip.addEventListener(
      "click",
      (event) => {
        if (!touched) return; // a tap shows the card, whose link goes there
        event.preventDefault();
        event.stopImmediatePropagation();
        this.#show(chip, source);
      },
      { capture: true },
    );
    return chip;
  }

  /** A link that goes to the place: here when it is of this site, else with the words as a text fragment. */
  link(source: Source, attributes: Record<string, string>, ...children: (Node | string)[]): HTMLElement {
    const url = safeAddress(source.url, this.base());
    if (!url) return element("span", { ...attributes, ...(attributes.class === "cite" && { tabindex: "0", role: "note" }) }, ...children);
    const place = placeOf(source);
    const made = element("a", { ...attributes, href: fragment(url, place.quote) }, ...children);
    made.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
      event.preventDefault();
      this.hide();
      this.follow(place);
    });
    return made;
  }

  #show(chip: HTMLElement, source: Source): void {
    clearTimeout(this.#leaving);
    this.#chip?.removeAttribute("aria-describedby");
    this.#chip = chip;
    const words = this.words();
    const quote = wordsOf(source.quote ?? source.chunk_text);
    const [title, ...rest] = source.url ? labelOf(source).split(" › ") : [words.selection];
    this.root.replaceChildren(
      element("strong", {}, title ?? ""),
      ...(rest.length ? [element("span", { class: "path" }, rest.join(" › "))] : []),
      element("q", {}, quote.length > LONGEST ? `${quote.slice(0, LONGEST)}…` : quote),
      ...(safeAddress(source.url, this.base()) ? [this.link(source, { class: "go", tabindex: "-1" }, words.open)] : []),
    );
    chip.setAttribute("aria-describedby", "card");
    this.root.hidden = false;
    const [box, mine] = [chip.getBoundingClientRect(), this.root.getBoundingClientRect()];
    const above = box.top - mine.height - 6;
    this.root.style.top = `${Math.max(8, above > 8 ? above : Math.min(box.bottom + 6, innerHeight - mine.height - 8))}px`;
    this.root.style.left = `${Math.max(8, Math.min(box.left + box.width / 2 - mine.width / 2, innerWidth - mine.width - 8))}px`;
  }

  #leave(): void {
    clearTimeout(this.#leaving);
    this.#leaving = window.setTimeout(() => this.hide(), 180); // long enough to reach the card
  }

  /** True when it was shown. */
  hide(): boolean {
    const was = !this.root.hidden;
    this.root.hidden = true;
    this.#chip?.removeAttribute("aria-describedby");
    return was;
  }
}
