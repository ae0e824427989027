// The chat: questions, streamed answers, their citations.

import { addressOf, open } from "./book.js";
import { element, render } from "./markdown.js";
import { request } from "./server.js";
import { ask, Refused } from "./stream.js";

const turns = document.getElementById("turns");
const form = document.getElementById("ask");
const message = document.getElementById("message");
const stop = document.getElementById("stop");
const send = document.getElementById("send");
const chip = document.getElementById("context");
const quoteButton = document.getElementById("quote");
let running = null;
let selection = "";

const NEAR_END = 80; // pixels; who has scrolled up further reads something else

function session() {
  let id = sessionStorage.getItem("session");
  if (!id) sessionStorage.setItem("session", (id = crypto.randomUUID?.() ?? madeId()));
  return id;
}

/** randomUUID is missing where the page is served without TLS from another machine. */
function madeId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

export function begin(showPane) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(message.value, showPane);
  });
  message.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  addEventListener("keydown", (event) => event.key === "Escape" && running?.abort());
  stop.addEventListener("click", () => running?.abort());
  document.getElementById("fresh").addEventListener("click", () => {
    running?.abort();
    sessionStorage.removeItem("session");
    welcome(showPane);
    message.focus();
  });
  document.getElementById("context-drop").addEventListener("click", () => setSelection(""));
  offerSelection(showPane);
  restore(showPane);
}

/** After a reload the conversation goes on at the server, so it is shown again; else the chat begins. */
async function restore(showPane) {
  const id = sessionStorage.getItem("session");
  const past = id ? await turnsOf(id) : [];
  if (turns.children.length) return; // the reader was faster
  if (!past.length) return welcome(showPane);
  for (const { query, answer: response, sources, metadata, complete } of past) {
    const [answer, text, note] = newTurn(query);
    const done = { ...metadata, response, sources: sources.map(asRead), should_answer: metadata.status !== "refused" };
    finish(answer, text, note, "", done, showPane);
    if (!complete) answer.append(element("p", { class: "note" }, "Stopped."));
  }
  toEnd();
}

async function turnsOf(id) {
  try {
    const response = await request(`/sessions/${id}?limit=20`);
    return response.ok ? (await response.json()).turns : [];
  } catch {
    return []; // the reading pane says that the server cannot be reached
  }
}

/** A source as a conversation keeps it, in the reader's words. */
function asRead({ source_url, section_url, section_heading, ...source }) {
  return { ...source, section: section_heading, ...(source_url !== "selected_text" && { url: section_url }) };
}

async function welcome(showPane) {
  const lead = "Ask the book. Every sentence of an answer is checked against the passage it cites.";
  const box = element("div", { class: "welcome" }, element("p", {}, lead));
  turns.replaceChildren(box);
  const buttons = (await suggested()).map((question) => {
    const button = element("button", { type: "button" }, question);
    button.addEventListener("click", () => submit(question, showPane));
    return button;
  });
  box.append(...buttons);
}

/** Questions that the book answers; none is no failure. */
async function suggested() {
  try {
    const response = await request("/book/questions");
    return response.ok ? await response.json() : [];
  } catch {
    return [];
  }
}

function setSelection(text) {
  selection = text.trim().slice(0, 5000);
  chip.hidden = !selection;
  const short = selection.replace(/\s+/g, " ");
  document.getElementById("context-text").textContent = short.length > 90 ? `${short.slice(0, 89)}…` : short;
}

function offerSelection(showPane) {
  const chosen = () => {
    const picked = getSelection();
    const inside = picked.rangeCount && document.getElementById("chapter").contains(picked.anchorNode);
    return inside ? picked.toString().trim() : "";
  };
  document.addEventListener("selectionchange", () => {
    const text = chosen();
    quoteButton.hidden = !text;
    if (!text) return;
    const box = getSelection().getRangeAt(0).getBoundingClientRect();
    quoteButton.style.top = `${Math.max(8, box.bottom + 8)}px`;
    quoteButton.style.left = `${Math.max(8, Math.min(box.left, innerWidth - 160))}px`;
  });
  quoteButton.addEventListener("mousedown", (event) => event.preventDefault());
  quoteButton.addEventListener("click", () => {
    setSelection(chosen());
    quoteButton.hidden = true;
    showPane("chat");
    message.focus();
  });
}

async function submit(text, showPane) {
  const question = text.trim();
  if (!question || running) return;
  message.value = "";
  const body = { message: question, session_id: session(), ...(selection && { context: selection }) };
  setSelection("");
  keepFocus(turns, () => turns.querySelector(".welcome")?.remove());
  const [answer] = newTurn(question);
  await answered(answer, body, showPane);
}

function newTurn(question) {
  const text = element("div", { class: "text" });
  const note = element("p", { class: "note" });
  const answer = element("div", { class: "answer" }, text, note);
  turns.append(element("article", { class: "turn" }, element("p", { class: "question" }, question), answer));
  return [answer, text, note];
}

async function answered(answer, body, showPane) {
  running = new AbortController();
  stop.hidden = false;
  send.disabled = true;
  const text = element("div", { class: "text" });
  const note = element("p", { class: "note" }, "Searching the book…");
  keepFocus(turns, () => answer.replaceChildren(text, note));
  answer.className = "answer";
  answer.setAttribute("aria-busy", "true");
  toEnd();
  let said = "";
  let done = null;
  try {
    for await (const { event, data } of ask(body, running.signal)) {
      if (event === "retrieval") note.textContent = "Reading…";
      if (event === "content") {
        said += data.delta;
        atEnd(() => {
          text.replaceChildren(render(said, (number) => pending(number)));
          note.textContent = "";
        });
      }
      if (event === "error") throw new Error(data.error);
      if (event === "done") done = data;
    }
    atEnd(() => finish(answer, text, note, said, done, showPane));
  } catch (error) {
    if (error.name === "AbortError") note.textContent = said ? "Stopped." : "Stopped before the first words.";
    else atEnd(() => failed(answer, note, error, body, showPane));
  } finally {
    running = null;
    keepFocus(message, () => (stop.hidden = true));
    send.disabled = false;
    answer.removeAttribute("aria-busy");
  }
}

const toEnd = () => turns.scrollTo(0, turns.scrollHeight);

/** Who reads the end of the chat sees it also after the change. */
function atEnd(change) {
  const follows = turns.scrollHeight - turns.scrollTop - turns.clientHeight < NEAR_END;
  change();
  if (follows) toEnd();
}

/** A change that takes away what has the focus hands it on; else the keyboard would start again at the top. */
function keepFocus(next, change) {
  const held = document.activeElement;
  change();
  if (held !== document.body && (!held.isConnected || held.hidden)) next.focus({ preventScroll: true });
}

const pending = (number) => element("span", { class: "cite" }, String(number));

function finish(answer, text, note, said, done, showPane) {
  note.remove();
  if (done.should_answer === false && !said) {
    answer.classList.add("refusal");
    text.append(element("p", {}, "The book does not seem to answer this. Try other words, or ask about another topic."));
    if (done.refusal_reason) text.append(element("p", { class: "note" }, done.refusal_reason));
    return;
  }
  const sources = done.sources ?? [];
  const byNumber = new Map(sources.map((source) => [source.number, source]));
  text.replaceChildren(render(done.response || said, (n) => (byNumber.has(n) ? cite(byNumber.get(n), showPane) : pending(n))));
  const listed = [...byNumber.values()].sort((a, b) => a.number - b.number);
  if (listed.length) {
    const items = listed.map((source) => element("li", {}, cite(source, showPane), " ", place(source, showPane)));
    answer.append(element("ol", { class: "sources", "aria-label": "Sources" }, ...items));
  }
  if (done.confidence_level) answer.append(element("p", { class: `note level ${done.confidence_level}` }, `Confidence: ${done.confidence_level}`));
}

function follow(link, source, showPane) {
  link.addEventListener("click", async (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || !source.url) return;
    event.preventDefault();
    const [url, anchor = ""] = source.url.split("#");
    showPane("book");
    const found = await open(url, { anchor, section: source.section, quote: source.quote ?? source.chunk_text });
    if (!found) window.open(source.url, "_blank", "noopener");
  });
  return link;
}

const label = (source) =>
  [...new Set([source.chapter, ...(source.section ?? "").split(" > ")].filter(Boolean))].join(" › ");

function address(source) {
  const url = source.url ?? "";
  if (/^\/(?!\/)/.test(url)) return addressOf(url);
  return /^https?:\/\//.test(url) ? url : "#";
}

function cite(source, showPane) {
  if (!source.url) return element("span", { class: "cite", title: label(source) }, String(source.number));
  const title = `${label(source)}: ${source.quote ?? source.chunk_text}`.slice(0, 300);
  const link = element("a", { class: "cite", href: address(source), title }, String(source.number));
  return follow(link, source, showPane);
}

function place(source, showPane) {
  if (!source.url) return "Your selection";
  return follow(element("a", { href: address(source) }, label(source)), source, showPane);
}

function failed(answer, note, error, body, showPane) {
  const again = element("button", { type: "button" }, "Try again");
  again.addEventListener("click", () => !running && answered(answer, body, showPane));
  answer.classList.add("failed");
  if (error instanceof Refused && error.retryAfter) {
    again.disabled = true;
    note.textContent = `Please wait ${error.retryAfter} s: ${error.message} `;
    setTimeout(() => (again.disabled = false), error.retryAfter * 1000);
  } else {
    note.textContent = `${error.message} `;
  }
  note.classList.add("error");
  note.setAttribute("role", "alert");
  note.append(again);
}
