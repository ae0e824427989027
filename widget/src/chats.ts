// The chats of this browser: kept in local storage as they were shown. A tab goes on with its own.

import { remember, remembered } from "./memory.js";
import type { Reply } from "./wire.js";

export interface Turn {
  readonly question: string;
  readonly context?: string;
  /** Undefined: nothing was said yet. */
  reply?: Reply;
  /** The reply is what was said until the reader stopped it. */
  stopped?: boolean;
  rating?: "up" | "down" | null;
}

export interface Chat {
  readonly id: string;
  at: number;
  turns: Turn[];
}

const KEY = "citewell";
const MOST_CHATS = 20;
const MOST_TURNS = 30;
const DAY = 86_400_000;

/** randomUUID is missing where the page is served without TLS from another machine. */
export function newId(): string {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

/** Storage may be full, forbidden or foreign: then chats last as long as the page. */
export class Chats {
  constructor(private readonly server: string) {}

  private get name(): string {
    return `${KEY}:${this.server}`;
  }

  all(): Chat[] {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(this.name) ?? "[]");
      return Array.isArray(kept) ? (kept as Chat[]).filter((chat) => chat?.id && Array.isArray(chat.turns) && chat.turns.length) : [];
    } catch {
      return [];
    }
  }

  current(): Chat {
    const id = remembered(this.name);
    return this.all().find((known) => known.id === id) ?? { id: newId(), at: Date.now(), turns: [] };
  }

  save(chat: Chat): void {
    chat.at = Date.now();
    chat.turns = chat.turns.slice(-MOST_TURNS);
    const others = this.all().filter((known) => known.id !== chat.id);
    for (let most = MOST_CHATS; most > 0; most = Math.floor(most / 2)) {
      try {
        localStorage.setItem(this.name, JSON.stringify([chat, ...others].slice(0, most)));
        return this.choose(chat.id);
      } catch {
        // full: fewer
      }
    }
  }

  choose(id: string | null): void {
    remember(this.name, id);
  }

  forget(): void {
    try {
      localStorage.removeItem(this.name);
    } catch {
      // forbidden
    }
    this.choose(null);
  }
}

/** The turns as history, for a chat that the server may have forgotten: it keeps none for ever. */
export function historyOf(chat: Chat): { role: string; content: string }[] | undefined {
  if (!chat.turns.length || Date.now() - chat.at < DAY) return undefined;
  return chat.turns
    .flatMap(({ question, reply }) => (reply?.response ? [{ role: "user", content: question }, { role: "assistant", content: reply.response.slice(0, 2000) }] : []))
    .slice(-10);
}
