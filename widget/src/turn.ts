// One question and its answer on the screen: as it grows, when it is whole, and when something went wrong.

import { labelOf, type Card } from "./card.js";
import type { Turn } from "./chats.js";
import { button, copied, element, icon } from "./elements.js";
import { Growing, reachable, render, type Manner } from "./markdown.js";
import { Failure, type Related, type Reply, type Source } from "./wire.js";
import type { Words } from "./words.js";

const NEAR_END = 80; // pixels; who has scrolled up further reads something else
const ICONS = {
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  regenerate: "M20 11a8 8 0 1 0-2 6M20 5v6h-6",
  share: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  good: "M7 11v9H4v-9zM7 11l4-8a2 2 0 0 1 3 2l-1 4h6a2 2 0 0 1 2 2l-2 7a2 2 0 0 1-2 2H7",
  bad: "M7 13V4H4v9zM7 13l4 8a2 2 0 0 0 3-2l-1-4h6a2 2 0 0 0 2-2l-2-7a2 2 0 0 0-2-2H7",
};

/** What a turn needs of the panel it stands in. */
export interface Room {
  readonly log: HTMLElement;
  readonly card: Card;
  words(): Words;
  announce(text: string): void;
  linkTo(turnId: string): string;
  rate(turn: Turn, rating: "up" | "down" | null, comment?: string): Promise<void>;
  /** Ask again; `fresh` wants another answer, else the same question goes on under its key. */
  retry(view: TurnView, fresh: boolean): void;
  restart(): void;
  focusInput(): void;
}

export class TurnView {
  readonly root: HTMLElement;
  readonly #answer = element("div", { class: "answer" });
  #text = element("div", { class: "text", dir: "auto" });
  #growing = new Growing(this.#text);
  #note = element("p", { class: "note" });
  #timer = 0;

  constructor(
    private readonly room: Room,
    readonly turn: Turn,
  ) {
    const selected = turn.context ? [element("blockquote", { class: "selected" }, short(turn.context))] : [];
    this.root = element("article", { class: "turn", part: "turn" }, element("div", { class: "question", part: "question" }, ...selected, element("p", { dir: "auto" }, turn.question)), this.#answer);
    this.#answer.setAttribute("part", "answer");
  }

  get #words(): Words {
    return this.room.words();
  }

  #manner(sources: readonly Source[] | null): Manner {
    const byNumber = new Map((sources ?? []).map((source) => [source.number, source]));
    const cite = (number: number): Node | null => {
      const source = byNumber.get(number);
      if (source) return this.room.card.chipFor(source);
      return sources ? null : element("span", { class: "cite" }, String(number));
    };
    return { copy: this.#words.copy, copied: this.#words.copied, headings: 3, cite };
  }

  /** Begin, or begin again. */
  begin(): void {
    clearInterval(this.#timer);
    this.#text = element("div", { class: "text", dir: "auto" });
    this.#growing = new Growing(this.#text);
    this.#note = element("p", { class: "note" }, this.#words.searching);
    this.#keepFocus(() => this.#answer.replaceChildren(this.#text, this.#note));
    this.#answer.className = "answer";
    this.room.log.scrollTop = this.room.log.scrollHeight;
  }

  reading(): void {
    this.#note.textContent = this.#words.reading;
  }

  grow(said: string): void {
    this.#following(() => {
      this.#growing.show(said, this.#manner(null));
      this.#note.textContent = "";
    });
  }

  /** The end of the answer stays in sight, as long as its beginning does too. */
  #following(change: () => void): void {
    const { log } = this.room;
    const follows = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
    change();
    if (!follows) return;
    const start = this.#answer.getBoundingClientRect().top - log.getBoundingClientRect().top + log.scrollTop - 12;
    log.scrollTop = Math.min(log.scrollHeight - log.clientHeight, start);
  }

  /** What has the focus may go away with a change; then the question box has it. */
  #keepFocus(change: () => void): void {
    const held = (this.root.getRootNode() as ShadowRoot).activeElement;
    const inside = held && this.root.contains(held);
    change();
    if (inside && !held.isConnected) this.room.focusInput();
  }

  finish(): void {
    this.#following(() => this.#keepFocus(() => this.#showEnd()));
  }

  #showEnd(): void {
    const { reply, stopped } = this.turn;
    this.#note.remove();
    if (!reply) {
      this.#answer.append(element("p", { class: "note" }, this.#words.stopped), this.#tools(null));
      return;
    }
    if (!reply.should_answer && !reply.response) return this.#refuse(reply);
    this.#text.replaceChildren(render(reply.response, this.#manner(reply.sources)));
    const end: Node[] = [this.#text];
    const sources = [...new Map(reply.sources.map((source) => [source.number, source])).values()].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
    if (sources.length) end.push(this.#sources(sources));
    if (stopped) end.push(element("p", { class: "note" }, this.#words.stopped));
    const level = reply.confidence_level as "high";
    if (!stopped && this.#words[level]) end.push(element("p", { class: `note level ${level}` }, `${this.#words.confidence}: ${this.#words[level]}`));
    end.push(...this.#dropped(reply), this.#tools(reply));
    this.#answer.replaceChildren(...end);
    reachable(this.#answer);
  }

  #sources(sources: readonly Source[]): HTMLElement {
    const entry = (source: Source): HTMLElement =>
      element("li", {}, this.room.card.chipFor(source), " ", source.url ? this.room.card.link(source, {}, labelOf(source)) : this.#words.selection);
    return element("ol", { class: "sources", part: "sources", "aria-label": this.#words.sources }, ...sources.map(entry));
  }

  #refuse(reply: Reply): void {
    this.#answer.classList.add("refusal");
    this.#text.replaceChildren(element("p", {}, this.#words.refused), ...(reply.refusal_reason ? [element("p", { class: "note" }, reply.refusal_reason)] : []));
    const end: Node[] = [this.#text];
    if (reply.related?.length) {
      const entry = ({ title, url, first_line: text = "" }: Related): HTMLElement => {
        const source = { chunk_text: text, quote: text, chapter: title, section: "", url };
        return element("li", {}, this.room.card.link(source, {}, title), element("span", {}, short(text)));
      };
      end.push(element("p", { class: "note" }, this.#words.nearest), element("ul", { class: "related", part: "related" }, ...reply.related.map(entry)));
    }
    end.push(...this.#dropped(reply), this.#tools(reply));
    this.#answer.replaceChildren(...end);
  }

  #dropped({ metadata }: Reply): Node[] {
    const count = metadata?.dropped_sentences;
    return count ? [element("p", { class: "note" }, this.#words.dropped.replace("{}", String(count)))] : [];
  }

  /** Say what went wrong and what to do. What was said so far stays. */
  fail(error: unknown): void {
    const failure = error instanceof Failure ? error : new Failure("told", String((error as Error)?.message ?? error));
    const words = this.#words;
    const line = failure.trouble === "told" ? failure.message : words[failure.trouble];
    const restart = failure.trouble === "expired";
    const again = button({}, () => (restart ? this.room.restart() : this.room.retry(this, false)), restart ? words.fresh : words.again);
    const alert = element("p", { class: "note error", role: "alert" });
    this.#following(() => {
      this.#note.replaceWith(alert);
      this.#note = alert;
      this.#answer.classList.add("failed");
      alert.append(element("span", {}, line.replace("{}", String(failure.wait))), " ", again);
    });
    if (failure.wait > 0) this.#countDown(again, alert.firstElementChild!, line, failure.wait);
  }

  #countDown(again: HTMLButtonElement, said: Element, line: string, seconds: number): void {
    again.disabled = true;
    const ends = Date.now() + seconds * 1000;
    this.#timer = window.setInterval(() => {
      const left = Math.ceil((ends - Date.now()) / 1000);
      if (left > 0) said.textContent = line.replace("{}", String(left));
      else {
        clearInterval(this.#timer);
        again.disabled = false;
      }
    }, 250);
  }

  #tools(reply: Reply | null): HTMLElement {
    const { turn } = this;
    const words = this.#words;
    const tool = (name: keyof typeof ICONS, act: (made: HTMLButtonElement) => void, label = words[name]): HTMLButtonElement => {
      const made = button({ class: `tool ${name}`, "aria-label": label, title: label }, () => act(made), icon(ICONS[name]));
      return made;
    };
    const row = element("div", { class: "tools", part: "tools" });
    const id = reply?.metadata?.turn_id;
    const done = (made: HTMLElement, good: boolean): void => {
      if (good) this.room.announce(words.copied);
      made.classList.toggle("done", good);
    };
    if (reply?.response) row.append(tool("copy", (made) => void copied(asText(reply)).then((good) => done(made, good))));
    row.append(tool("regenerate", () => this.room.retry(this, true)));
    if (id && !turn.stopped) {
      if (reply.response) row.append(tool("share", (made) => void copied(this.room.linkTo(id)).then((good) => done(made, good))));
      const rate = (rating: "up" | "down") => () => this.#rate(row, turn.rating === rating ? null : rating);
      const [good, bad] = [tool("good", rate("up")), tool("bad", rate("down"))];
      good.setAttribute("aria-pressed", String(turn.rating === "up"));
      bad.setAttribute("aria-pressed", String(turn.rating === "down"));
      row.append(good, bad);
    }
    return row;
  }

  #rate(row: HTMLElement, rating: "up" | "down" | null): void {
    const words = this.#words;
    this.#answer.querySelector(".comment, .rated")?.remove();
    const say = (line: string, kind = ""): void => {
      this.#answer.querySelector(".rated")?.remove();
      row.after(element("p", { class: `note rated ${kind}`, role: kind ? "alert" : null }, line));
      if (!kind) this.room.announce(line);
    };
    const send = (comment?: string): Promise<boolean> =>
      this.room.rate(this.turn, rating, comment).then(
        () => true,
        (error: unknown) => (say(error instanceof Failure && error.trouble === "expired" ? words.expired : words.away, "error"), false),
      );
    void send().then((good) => {
      if (!good) return;
      row.querySelector(".good")!.setAttribute("aria-pressed", String(rating === "up"));
      row.querySelector(".bad")!.setAttribute("aria-pressed", String(rating === "down"));
      if (!rating) return;
      const field = element("input", { type: "text", maxlength: "2000", "aria-label": words.comment, placeholder: words.comment });
      const form = element("form", { class: "comment" }, field, element("button", { type: "submit" }, words.send));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        void send(field.value.trim()).then((sent) => {
          if (!sent) return;
          form.remove();
          say(words.thanks);
          this.room.focusInput();
        });
      });
      row.after(form);
      field.focus();
    });
  }
}

const short = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
};

/** The answer as Markdown, with its sources below. */
function asText(reply: Reply): string {
  const sources = reply.sources.filter((source) => source.url).map((source) => `[${source.number}]: ${labelOf(source)} <${source.url}>`);
  return [reply.response, ...(sources.length ? [sources.join("\n")] : [])].join("\n\n");
}
