// The panel: its frame, the question box, and the conversation in it.

import { Card } from "./card.js";
import { Chats, historyOf, newId, type Chat, type Turn } from "./chats.js";
import { button, deepFocus, dressed, element, icon } from "./elements.js";
import { languageOf } from "./language.js";
import type { CitewellWidget } from "./loader.js";
import { OPEN, PLACE, remember } from "./memory.js";
import { readable } from "./contrast.js";
import { clear, safeAddress, samePage, show, type Place } from "./places.js";
import { SearchBox } from "./search.js";
import css from "./panel.css";
import { TurnView, type Room } from "./turn.js";
import { Failure, Server, type Asked, type Filters, type Reply, type Source } from "./wire.js";
import { wordsOf, type Words } from "./words.js";

const CLOSE = "M6 6l12 12M18 6L6 18";
const FRESH = "M12 5v14M5 12h14";
const EARLIER = "M12 8v4l3 2M3 12a9 9 0 1 0 3-6.7M3 4v4h4";
const SEND = "M5 12h13M12 5l7 7-7 7";
const STOP = "M7 7h10v10H7z";
const ARRIVAL = 6000; // milliseconds that a page may take to show the place

export class Panel {
  shown = false;
  readonly #server: Server;
  #words: Words;
  readonly #chats: Chats;
  #chat: Chat;
  #running: AbortController | null = null;
  #selection = "";
  #suggestedFor = "";
  #from: HTMLElement | null = null;
  readonly #keys = new WeakMap<Turn, string>();

  readonly #title = element("h2");
  readonly #fresh = button({ class: "head" }, () => this.restart(), icon(FRESH));
  readonly #earlier = button({ class: "head", "aria-expanded": "false" }, () => this.#showEarlier(this.#past.hidden), icon(EARLIER));
  readonly #closing = button({ class: "head" }, () => this.host.close(), icon(CLOSE));
  readonly #past = element("div", { class: "past", hidden: "" });
  readonly #log = element("div", { class: "turns", part: "conversation", role: "log", tabindex: "0" });
  readonly #contextText = element("span");
  readonly #drop = button({}, () => (this.#setSelection(""), this.#input.focus()), "×");
  readonly #contextChip = element("div", { class: "context", hidden: "" }, this.#contextText, this.#drop);
  readonly #input = element("textarea", {
    rows: "1", maxlength: "1000", id: "message", part: "input", "aria-controls": "hits", "aria-autocomplete": "list", enterkeyhint: "send", autocomplete: "off",
  });
  readonly #send = element("button", { type: "submit", class: "send", part: "send" }, icon(SEND));
  readonly #stopping = button({ class: "stop", part: "stop", hidden: "" }, () => this.#running?.abort(), icon(STOP));
  readonly #form = element("form", { class: "ask", autocomplete: "off" });
  readonly #status = element("p", { class: "unseen", role: "status" });
  readonly #box: HTMLElement;
  readonly #card: Card;
  readonly #search: SearchBox;
  readonly #room: Room;

  static async of(host: CitewellWidget): Promise<Panel> {
    return new Panel(host, await wordsOf(languageOf(host.dataset.lang), host.server));
  }

  private constructor(
    private readonly host: CitewellWidget,
    words: Words,
  ) {
    this.#words = words;
    this.#server = new Server(
      () => host.server,
      () => host.dataset.key ?? null,
      () => host.authorize,
    );
    this.#chats = new Chats(host.server);
    this.#chat = this.#chats.current();
    this.#card = new Card(() => this.#words, () => this.#base, (place) => this.#go(place));
    this.#room = this.#madeRoom();
    const panel = this;
    this.#search = new SearchBox(this.#input, this.#server, {
      get ask() {
        return panel.#words.ask;
      },
      filters: () => this.#filters,
      choose: (hit) => this.#go({ url: hit.url, quote: hit.text, section: hit.section }),
      submit: () => this.#form.requestSubmit(),
      announce: (count) => this.#announce(this.#words.results.replace("{}", String(count))),
    });
    this.#box = element("div", { class: "panel", part: "panel", ...(host.inline ? {} : { role: "dialog" }), hidden: "" });
    this.#build();
    this.#label();
    this.#showChat();
  }

  get #base(): string {
    return new URL(this.host.dataset.base ?? "/", location.href).href;
  }

  get #filters(): Filters {
    try {
      return JSON.parse(this.host.dataset.filters ?? "{}") as Filters;
    } catch {
      return {};
    }
  }

  #build(): void {
    const root = this.host.shadowRoot!;
    dressed(root, css);
    const head = element("div", { class: "top", part: "header" }, this.#title, this.#fresh, this.#earlier, this.#closing);
    const line = element("div", { class: "line" }, this.#input, this.#stopping, this.#send);
    this.#form.append(this.#search.list, this.#contextChip, line);
    this.#box.append(head, this.#past, this.#log, this.#form, this.#status);
    root.append(this.#box, this.#card.root);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask(this.#input.value);
    });
    this.#input.addEventListener("input", () => this.#fit());
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    this.#log.addEventListener("scroll", () => this.#card.hide(), { passive: true });
  }

  #madeRoom(): Room {
    return {
      log: this.#log,
      card: this.#card,
      words: () => this.#words,
      announce: (text) => this.#announce(text),
      linkTo: (id) => `${location.href.split("#")[0]}#citewell=${id}`,
      rate: async (turn, rating, comment) => {
        await this.#server.feedback(this.#chat.id, turn.reply!.metadata!.turn_id!, rating, comment);
        turn.rating = rating;
        this.#chats.save(this.#chat);
        this.#tell("feedback", { rating, comment });
      },
      retry: (view, fresh) => {
        if (this.#running) return;
        if (fresh) this.#keys.delete(view.turn);
        void this.#answer(view);
      },
      restart: () => this.restart(),
      focusInput: () => this.#input.focus(),
    };
  }

  /** Words, title and colours as the options and the site say now. */
  dress(): void {
    void wordsOf(languageOf(this.host.dataset.lang), this.host.server).then((words) => {
      this.#words = words;
      this.#label();
    });
  }

  #label(): void {
    const { dataset, inline } = this.host;
    const words = this.#words;
    readable(this.host, this.#send, this.#box);
    const title = dataset.title ?? words.title;
    this.#title.textContent = title;
    if (!inline) this.#box.setAttribute("aria-label", title);
    this.#closing.hidden = inline;
    for (const [made, label] of [[this.#fresh, words.fresh], [this.#earlier, words.earlier], [this.#closing, words.close], [this.#drop, words.drop], [this.#send, words.ask], [this.#stopping, words.stop]] as const) {
      made.setAttribute("aria-label", label);
      made.title = label;
    }
    this.#log.setAttribute("aria-label", words.log);
    this.#search.list.setAttribute("aria-label", words.placeholder);
    this.#input.setAttribute("aria-label", words.question);
    this.#input.placeholder = dataset.placeholder ?? words.placeholder;
  }

  #announce(text: string): void {
    this.#status.textContent = text;
  }

  /** As high as what is typed, up to a third of the panel. */
  #fit(): void {
    this.#input.style.height = "auto";
    this.#input.style.height = `${Math.min(this.#input.scrollHeight + 2, 160)}px`;
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      if (this.#card.hide()) return;
      if (this.#running) this.#running.abort();
      else if (!this.#past.hidden) this.#showEarlier(false);
      else this.host.close();
    } else if (event.key === "Tab" && this.host.phone && !this.host.inline) this.#keepInside(event);
  }

  /** A sheet covers the page: the keyboard stays in it. */
  #keepInside(event: KeyboardEvent): void {
    const stops = [...this.#box.querySelectorAll<HTMLElement>("button, a[href], textarea, input, [tabindex='0']")].filter((stop) => stop.checkVisibility() && !(stop as HTMLButtonElement).disabled);
    const edge = event.shiftKey ? stops[0] : stops.at(-1);
    if (deepFocus() !== edge) return;
    event.preventDefault();
    (event.shiftKey ? stops.at(-1) : stops[0])?.focus();
  }

  open(focus: boolean): void {
    if (!this.shown) this.#from = deepFocus();
    this.#box.hidden = false;
    remember(OPEN, "1");
    if (this.host.phone && !this.host.inline) this.#box.setAttribute("aria-modal", "true");
    else this.#box.removeAttribute("aria-modal");
    if (focus) this.#input.focus();
    if (!this.#chat.turns.length && this.#suggestedFor !== location.pathname) void this.#welcome();
    if (this.shown) return;
    this.shown = true;
    this.#log.scrollTop = this.#log.scrollHeight;
    this.#tell("open", null);
  }

  close(launch: HTMLElement): void {
    const held = this.#box.contains(deepFocus());
    this.shown = false;
    remember(OPEN, null);
    this.#box.hidden = true;
    this.#card.hide();
    if (held) (this.#from?.isConnected && this.#from !== document.body ? this.#from : launch).focus();
    this.#tell("close", null);
  }

  /** The next question is about this text. */
  about(context: string): void {
    this.#setSelection(context);
    this.#tell("about", { context });
    this.#input.focus();
  }

  #setSelection(text: string): void {
    this.#selection = text.trim().slice(0, 5000);
    this.#contextChip.hidden = !this.#selection;
    this.#contextText.textContent = this.#selection.replace(/\s+/g, " ").slice(0, 200);
  }

  restart(): void {
    this.#running?.abort();
    this.#chats.choose(null);
    this.#chat = { id: newId(), at: Date.now(), turns: [] };
    this.#showChat();
    this.#input.focus();
  }

  #showChat(): void {
    this.#showEarlier(false);
    this.#log.replaceChildren();
    for (const turn of this.#chat.turns) {
      const view = new TurnView(this.#room, turn);
      this.#log.append(view.root);
      view.begin();
      view.finish();
    }
    if (!this.#chat.turns.length) void this.#welcome();
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** What to begin with: the site's own questions, else those of this page, else those of the book. */
  async #welcome(): Promise<void> {
    this.#suggestedFor = location.pathname;
    const box = element("div", { class: "welcome" }, element("p", {}, this.#words.lead));
    this.#log.replaceChildren(box);
    const own = this.host.dataset.questions?.split("\n").map((line) => line.trim()).filter(Boolean);
    const asked = new URLSearchParams({ url: location.href.split("#")[0]! });
    const questions = own ?? (await this.#server.json<string[]>(`/book/questions?${asked}`).catch(() => []));
    box.append(...questions.map((question) => button({ part: "suggestion" }, () => this.ask(question), question)));
  }

  #showEarlier(open: boolean): void {
    this.#past.hidden = !open;
    this.#earlier.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const chats = this.#chats.all().filter((chat) => chat.id !== this.#chat.id);
    const when = new Intl.DateTimeFormat(languageOf(this.host.dataset.lang), { dateStyle: "medium" });
    const entry = (chat: Chat): HTMLElement =>
      button({}, () => this.#choose(chat), element("span", {}, chat.turns[0]!.question), element("small", {}, when.format(chat.at)));
    const forget = button({ class: "quiet" }, () => (this.#chats.forget(), this.restart()), this.#words.forget);
    this.#past.replaceChildren(...(chats.length ? [...chats.map(entry), forget] : [element("p", { class: "note" }, this.#words.none)]));
    this.#past.querySelector("button")?.focus();
  }

  #choose(chat: Chat): void {
    this.#running?.abort();
    this.#chat = chat;
    this.#chats.choose(chat.id);
    this.#showChat();
    this.#input.focus();
  }

  /** An answer that somebody shared, alone. */
  async shared(id: string): Promise<void> {
    const turn: Turn = { question: "…" };
    try {
      const { question, ...reply } = await this.#server.json<Reply & { question: string }>(`/answers/${encodeURIComponent(id)}`);
      Object.assign(turn, { question, reply });
      this.#chat = { id: newId(), at: Date.now(), turns: [turn] };
      this.#showChat();
    } catch (error) {
      const view = new TurnView(this.#room, turn);
      this.#log.replaceChildren(view.root);
      view.begin();
      view.fail(error);
    }
  }

  ask(text: string, context?: string): void {
    const question = text.trim();
    if (!question || this.#running) return;
    if (context !== undefined) this.#setSelection(context);
    const turn: Turn = { question, ...(this.#selection && { context: this.#selection }) };
    this.#input.value = "";
    this.#fit();
    this.#search.hide();
    this.#setSelection("");
    this.#showEarlier(false);
    const welcome = this.#log.querySelector(".welcome");
    const held = welcome?.contains(this.host.shadowRoot!.activeElement);
    welcome?.remove();
    if (held) this.#log.focus({ preventScroll: true });
    const view = new TurnView(this.#room, turn);
    this.#log.append(view.root);
    void this.#answer(view);
  }

  async #answer(view: TurnView): Promise<void> {
    const { turn } = view;
    const chat = this.#chat;
    const key = this.#keys.get(turn) ?? newId();
    this.#keys.set(turn, key);
    this.#running = new AbortController();
    this.#busy(true);
    view.begin();
    this.#tell("question", { question: turn.question });
    const answer = new Heard(turn.context ? 1 : 0);
    try {
      for await (const event of this.#server.ask(this.#asked(turn, chat), key, this.#running.signal)) {
        if (event.event === "retrieval") answer.found(event.data.results);
        if (event.event === "retrieval" && !answer.said) view.reading();
        if (event.event === "content") view.grow((answer.said += event.data.delta));
        if (event.event === "done") turn.reply = event.data.response || !answer.said ? event.data : { ...event.data, response: answer.said };
      }
      delete turn.stopped;
      this.#ended(view, chat);
      this.#announce(this.#words.ready);
      this.#tell(turn.reply!.should_answer ? "answer" : "refusal", { question: turn.question, answer: turn.reply!.response });
    } catch (error) {
      if ((error as Error).name === "AbortError") {
        turn.stopped = true;
        turn.reply = answer.soFar();
        this.#ended(view, chat);
        this.#announce(this.#words.stopped);
      } else {
        view.fail(error);
        this.#tell("error", { question: turn.question, trouble: error instanceof Failure ? error.trouble : "told" });
      }
    } finally {
      this.#running = null;
      this.#busy(false);
    }
  }

  #asked(turn: Turn, chat: Chat): Asked {
    const filters = this.#filters;
    const before = chat.turns.indexOf(turn);
    const history = historyOf(before < 0 ? chat : { ...chat, turns: chat.turns.slice(0, before) });
    return {
      message: turn.question,
      session_id: chat.id,
      ...(turn.context && { context: turn.context }),
      ...(Object.keys(filters).length && { filters }),
      ...(history && { history }),
    };
  }

  #ended(view: TurnView, chat: Chat): void {
    if (!chat.turns.includes(view.turn)) chat.turns.push(view.turn);
    delete view.turn.rating;
    this.#chats.save(chat);
    view.finish();
  }

  #busy(busy: boolean): void {
    const held = this.host.shadowRoot!.activeElement;
    this.#log.setAttribute("aria-busy", String(busy));
    this.#stopping.hidden = !busy;
    this.#send.hidden = busy;
    if (held === this.#stopping || held === this.#send) (busy ? this.#stopping : this.#input).focus();
  }

  /** Tell whoever listens; false when a listener took it over. */
  #tell(name: string, detail: unknown): boolean {
    return this.host.dispatchEvent(new CustomEvent(`citewell:${name}`, { detail, bubbles: true, composed: true, cancelable: true }));
  }

  /** To the place of a citation or a result: on this page, on this site, or elsewhere. */
  #go(place: Place): void {
    const url = safeAddress(place.url, this.#base);
    if (!url || !this.#tell("navigate", { ...place, url: url.href })) return;
    if (url.origin !== location.origin) {
      window.open(url.href, "_blank", "noopener");
    } else if (samePage(url, new URL(location.href))) {
      if (url.hash !== location.hash) history.pushState(history.state, "", url.hash || location.pathname + location.search);
      if (this.host.phone) this.host.close();
      this.arrive({ ...place, url: url.href });
    } else {
      remember(PLACE, JSON.stringify({ ...place, url: url.href }));
      location.assign(url.href);
    }
  }

  /** Show the place as soon as the page has it. */
  arrive(place: Place): void {
    const shown = (): boolean => show(document.querySelector<HTMLElement>("main, [role=main], article") ?? document.body, place);
    clear();
    remember(PLACE, null);
    if (document.readyState !== "complete") return void addEventListener("load", () => this.arrive(place), { once: true });
    if (shown()) return;
    const watcher = new MutationObserver(() => shown() && watcher.disconnect());
    watcher.observe(document.body, { childList: true, subtree: true });
    setTimeout(() => watcher.disconnect(), ARRIVAL);
  }
}

/** What was heard of an answer until it ends or is stopped. */
class Heard {
  said = "";
  readonly #sources: Source[] = [];

  /** `shown` is how many numbers are taken: a selection has the first. */
  constructor(private readonly shown: number) {}

  /** Passages are numbered in the order they are first shown. */
  found(results: readonly Source[]): void {
    for (const result of results) {
      if (this.#sources.some((known) => known.url === result.url && known.chunk_text === result.chunk_text)) continue;
      this.#sources.push({ ...result, number: this.shown + this.#sources.length + 1 });
    }
  }

  /** Its citations stay links. */
  soFar(): Reply | undefined {
    if (!this.said) return undefined;
    const cited = new Set([...this.said.matchAll(/\[(\d{1,4})\]/g)].map((match) => Number(match[1])));
    return { response: this.said, should_answer: true, confidence_level: "", sources: this.#sources.filter((source) => cited.has(source.number!)) };
  }
}
