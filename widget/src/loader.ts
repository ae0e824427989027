// What a site loads first: the custom element with its button, shortcut and offer to ask about a selection, and the
// JavaScript API. The panel comes when it is first needed. Nothing here touches a document before there is one.

import css from "./button.css";
import { button, dressed, element, icon } from "./elements.js";
import { OPEN, PLACE, remembered } from "./memory.js";
import { buttonsOf, directionOf, languageOf } from "./language.js";
import type { Panel } from "./panel.js";
import { shadeOf, watchShade } from "./shade.js";

/** Options of the widget: `data-…` attributes of the script tag or of the element. All are optional. */
export interface Options {
  /** The address of the server; by default where the script came from. */
  server?: string;
  /** A publishable key. */
  key?: string;
  /** What the panel is called. */
  title?: string;
  /** Where relative addresses of the book live; by default this site. */
  base?: string;
  lang?: string;
  theme?: "light" | "dark";
  position?: "start" | "end";
  /** `none`: no button of our own. */
  button?: string;
  /** The letter that opens the panel with Ctrl or Cmd; `none`: no shortcut. */
  shortcut?: string;
  /** A CSS selector of the text that can be asked about; `none`: no offer. */
  selection?: string;
  /** Filters as JSON, for example `{"version": "2.0"}`. */
  filters?: string;
  /** Questions to begin with, one on each line; by default those of the page. */
  questions?: string;
  placeholder?: string;
  /** Set: no button, the panel stands where the element stands. */
  inline?: string;
}

export interface Asking {
  /** The text that the question is about. */
  context?: string;
}

export interface Api {
  open(): void;
  close(): void;
  toggle(): void;
  ask(question: string, asking?: Asking): void;
  configure(options: Options): void;
  /** Listen to `open`, `close`, `question`, `answer`, `refusal`, `error`, `about`, `feedback` or `navigate`; call what is returned to stop. */
  on(name: string, listener: (event: CustomEvent) => void): () => void;
  /** A call as a list: `["ask", "How?"]`. Works before the script is there, on a plain array of that name. */
  push(...calls: [string, ...unknown[]][]): void;
}

declare global {
  interface Window {
    citewell?: Api | [string, ...unknown[]][];
  }
}

const TAG = "citewell-widget";
const SHARED = /^#citewell=([\w-]{1,64})$/;
const ICON = "M21 12a8 8 0 0 1-8 8H4l2-3a8 8 0 1 1 15-5zM9 10h8M9 14h5";
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement; // on a server there are no elements
const own = PACKAGED ? null : import.meta.url;

/** Fetched with its digest; then the module that was checked is the one that is used. */
async function panelModule(): Promise<typeof import("./panel.js")> {
  if (PACKAGED) return import("./panel.js");
  const url = new URL(PANEL.file, own!).href;
  const script = element("script", { type: "module", src: url, integrity: PANEL.integrity, crossorigin: "anonymous" });
  script.nonce = scriptTag()?.nonce ?? "";
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  }).finally(() => script.remove());
  return import(url) as Promise<typeof import("./panel.js")>;
}

const scriptTag = (): HTMLScriptElement | undefined => [...document.scripts].find((script) => script.src === own);

export class CitewellWidget extends Base {
  /** Asks the reader for a key and sets it, where a page has a way to ask; else a locked server is a failure. */
  authorize: ((refused: boolean) => Promise<void>) | null = null;
  /** Put back when the site replaces its body. */
  kept = false;
  #panel: Panel | null = null;
  #loading: Promise<Panel> | null = null;
  #bound: AbortController | null = null;
  readonly #launch = button({ class: "launch", part: "button", "aria-haspopup": "dialog", "aria-expanded": "false" }, () => this.toggle());
  readonly #about = button({ class: "about", part: "selection", hidden: "" }, () => this.#askAbout());

  get server(): string {
    return (this.dataset.server ?? (own ? new URL(".", own).href : "")).replace(/\/$/, "");
  }
  get inline(): boolean {
    return this.dataset.inline !== undefined;
  }
  get isOpen(): boolean {
    return this.#panel?.shown ?? false;
  }
  get phone(): boolean {
    return matchMedia("(max-width: 640px)").matches;
  }

  connectedCallback(): void {
    if (!this.shadowRoot) this.#build();
    this.#bound = new AbortController();
    const { signal } = this.#bound;
    const dress = (): void => this.#dress();
    dress();
    watchShade(dress, signal);
    addEventListener("keydown", (event) => this.#key(event), { signal });
    addEventListener("hashchange", () => this.#shared(), { signal });
    let next = 0;
    const follow = (): void => {
      cancelAnimationFrame(next);
      next = requestAnimationFrame(() => this.#offer());
    };
    document.addEventListener("selectionchange", follow, { signal });
    addEventListener("scroll", follow, { signal, capture: true, passive: true });
    addEventListener("resize", follow, { signal });
    if (!this.#panel) this.#resume();
  }

  disconnectedCallback(): void {
    this.#bound?.abort();
    if (this.kept) requestAnimationFrame(() => this.isConnected || document.body.append(this));
  }

  #build(): void {
    const root = this.attachShadow({ mode: "open" });
    dressed(root, css);
    root.append(this.#launch, this.#about);
    this.#about.addEventListener("pointerdown", (event) => event.preventDefault()); // or the selection is gone
    // What is typed here is for us: the site's own shortcuts do not see it.
    for (const kind of ["keydown", "keyup", "keypress"]) {
      root.addEventListener(kind, (event) => this.#isShortcut(event as KeyboardEvent) || event.stopPropagation());
    }
  }

  /** Words, direction and shade, as the site has them now. */
  #dress(): void {
    const { dataset } = this;
    const language = languageOf(dataset.lang);
    const [ask, about] = buttonsOf(language);
    const keys = this.#shortcut && `${/mac|ip/i.test(navigator.platform) ? "⌘" : "Ctrl+"}${this.#shortcut.toUpperCase()}`;
    this.dir = directionOf(language);
    this.lang = language;
    this.setAttribute("shade", shadeOf(dataset.theme));
    if (!this.inline) {
      this.setAttribute("role", "region");
      this.setAttribute("aria-label", dataset.title ?? ask);
    }
    this.#launch.replaceChildren(icon(ICON), ask);
    this.#launch.hidden = this.inline || dataset.button === "none" || this.isOpen;
    this.#launch.title = keys;
    this.#about.replaceChildren(about, element("kbd", {}, keys));
    this.#panel?.dress();
  }

  get #shortcut(): string {
    const wanted = this.dataset.shortcut ?? "i";
    return wanted === "none" ? "" : wanted.toLowerCase();
  }

  #isShortcut(event: KeyboardEvent): boolean {
    return (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && !!this.#shortcut && event.key?.toLowerCase() === this.#shortcut;
  }

  #key(event: KeyboardEvent): void {
    if (!this.#isShortcut(event) || event.defaultPrevented) return;
    const target = event.composedPath()[0] as HTMLElement;
    const ours = event.composedPath().includes(this);
    if (!ours && (target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName))) return; // there it means italics
    event.preventDefault();
    if (this.#chosen()) this.#askAbout();
    else if (this.inline) void this.open();
    else this.toggle();
  }

  /** The text that is selected where it can be asked about. */
  #chosen(): string {
    const within = this.dataset.selection;
    const picked = getSelection();
    if (within === "none" || !picked?.rangeCount || picked.isCollapsed) return "";
    const node = picked.anchorNode!;
    const holder = node instanceof Element ? node : node.parentElement;
    const places = within ?? (document.querySelector("main, article, [role=main]") ? "main, article, [role=main]" : "body");
    return holder?.closest(places) && !holder.closest(`${TAG}, nav`) ? picked.toString().trim().slice(0, 5000) : "";
  }

  /** Below the end of the selection, as long as that is in sight. */
  #offer(): void {
    const rects = this.#chosen() ? [...getSelection()!.getRangeAt(0).getClientRects()] : [];
    const box = rects.at(-1);
    this.#about.hidden = !box || box.bottom < 0 || box.bottom > innerHeight;
    if (!box) return;
    this.#about.style.top = `${Math.min(box.bottom + 8, innerHeight - 52)}px`;
    this.#about.style.left = `${Math.max(8, Math.min(box.left, innerWidth - this.#about.offsetWidth - 8))}px`;
  }

  #askAbout(): void {
    const context = this.#chosen();
    this.#about.hidden = true;
    void this.open().then((panel) => panel?.about(context));
  }

  /** A link to an answer, a place that a citation leads to, or a panel that was open on the page before. */
  #resume(): void {
    const place = remembered(PLACE);
    if (place) void this.ready().then((panel) => panel.arrive(JSON.parse(place)));
    if (this.inline || (remembered(OPEN) && !this.phone)) void this.open(false);
    this.#shared();
  }

  #shared(): void {
    const id = SHARED.exec(location.hash)?.[1];
    if (id) void this.open(false).then((panel) => panel?.shared(id));
  }

  /** The panel, loaded once; a failure is forgotten, so that the next try is a new one. */
  ready(): Promise<Panel> {
    return (this.#loading ??= panelModule()
      .then(({ Panel }) => Panel.of(this))
      .then((panel) => (this.#panel = panel))
      .catch((error: unknown) => {
        this.#loading = null;
        throw error;
      }));
  }

  async open(focus = true): Promise<Panel | null> {
    try {
      this.#launch.setAttribute("aria-busy", "true");
      const panel = await this.ready();
      this.#launch.hidden = true;
      panel.open(focus);
      return panel;
    } catch (error) {
      this.#launch.append(" ⚠");
      console.error("citewell: the panel could not be loaded", error);
      return null;
    } finally {
      this.#launch.removeAttribute("aria-busy");
    }
  }

  close(): void {
    if (!this.isOpen || this.inline) return;
    this.#launch.hidden = this.dataset.button === "none";
    this.#panel!.close(this.#launch);
  }

  toggle(): void {
    if (this.isOpen) this.close();
    else void this.open();
  }

  ask(question: string, asking: Asking = {}): void {
    void this.open().then((panel) => panel?.ask(question, asking.context));
  }

  configure(options: Options): void {
    for (const [name, value] of Object.entries(options)) {
      if (value == null) delete this.dataset[name];
      else this.dataset[name] = String(value);
    }
    if (this.isConnected) this.#dress();
  }
}

/** The widget of this page, made when there is none. */
export function mount(options: Options = {}): CitewellWidget {
  const found = document.querySelector<CitewellWidget>(TAG);
  const widget = found ?? (document.createElement(TAG) as CitewellWidget);
  widget.configure(options);
  if (!found) {
    widget.kept = true;
    if (document.body) document.body.append(widget);
    else addEventListener("DOMContentLoaded", () => document.body.append(widget), { once: true });
  }
  return widget;
}

const api: Api = {
  open: () => void mount().open(),
  close: () => mount().close(),
  toggle: () => mount().toggle(),
  ask: (question, asking) => mount().ask(question, asking),
  configure: (options) => void mount(options),
  on(name, listener) {
    document.addEventListener(`citewell:${name}`, listener as EventListener);
    return () => document.removeEventListener(`citewell:${name}`, listener as EventListener);
  },
  push(...calls) {
    for (const [name, ...given] of calls) (api[name as keyof Api] as (...given: unknown[]) => void)?.(...given);
  },
};

if (globalThis.document && !customElements.get(TAG)) {
  customElements.define(TAG, CitewellWidget);
  const queued = window.citewell;
  const script = own ? scriptTag() : undefined;
  if (script) mount(script.dataset as Options);
  window.citewell = api;
  if (Array.isArray(queued)) api.push(...queued);
}

export default api;
