// Everything the panel says. English is built in; the other languages are data, fetched when a page speaks them.

import type { Language } from "./language.js";

export const ENGLISH = {
  title: "Ask the docs",
  placeholder: "Ask a question or search",
  lead: "Every sentence of an answer is checked against the passage it cites.",
  close: "Close",
  fresh: "New chat",
  earlier: "Earlier chats",
  none: "No earlier chats in this browser.",
  forget: "Forget them all",
  stop: "Stop",
  again: "Try again",
  regenerate: "Answer again",
  copy: "Copy",
  copied: "Copied",
  share: "Copy a link",
  good: "Helpful",
  bad: "Not helpful",
  comment: "What was missing or wrong?",
  send: "Send",
  thanks: "Thank you.",
  searching: "Searching…",
  reading: "Reading…",
  ready: "The answer is ready.",
  stopped: "Stopped.",
  refused: "This does not seem to be answered here. Try other words.",
  dropped: "Sentences that were not supported and are not shown: {}",
  nearest: "The nearest sections:",
  sources: "Sources",
  open: "Open",
  selection: "Your selection",
  drop: "Do not use the selection",
  away: "The server cannot be reached. Check your connection, then try again.",
  lost: "The connection was lost before the answer was finished.",
  wait: "Too many questions just now. Try again in {} s.",
  down: "Answers are not available right now. Try again in a moment.",
  locked: "This page is not allowed to ask. Its owner has to check the key.",
  expired: "The server no longer has this. Start a new chat.",
  confidence: "Confidence",
  high: "high",
  medium: "medium",
  low: "low",
  question: "Your question",
  log: "Conversation",
  results: "{} results",
  ask: "Ask",
};

export type Words = Readonly<Record<keyof typeof ENGLISH, string>>;
const known = new Map<Language, Words>([["en", ENGLISH]]);

/** The words of a language; English for what cannot be had. */
export async function wordsOf(language: Language, server: string): Promise<Words> {
  const kept = known.get(language);
  if (kept) return kept;
  try {
    const reply = await fetch(`${server}/widget/${language}.json`, { credentials: "omit" });
    const words = { ...ENGLISH, ...(reply.ok ? ((await reply.json()) as Partial<Words>) : {}) };
    known.set(language, words);
    return words;
  } catch {
    return ENGLISH;
  }
}
