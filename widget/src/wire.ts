// The reader's dialect over HTTP: one question's events, and the other requests of a reader.

export interface Source {
  readonly chunk_text: string;
  readonly chapter: string;
  readonly section: string;
  readonly url?: string;
  readonly number?: number;
  readonly quote?: string;
}

export interface Related {
  readonly title: string;
  readonly url: string;
  readonly first_line?: string;
}

export interface Reply {
  readonly response: string;
  readonly should_answer: boolean;
  readonly confidence_level: string;
  readonly sources: readonly Source[];
  readonly refusal_reason?: string;
  readonly related?: readonly Related[];
  readonly metadata?: { readonly turn_id?: string; readonly dropped_sentences?: number };
}

export interface Asked {
  readonly message: string;
  readonly session_id: string;
  readonly context?: string;
  readonly filters?: Filters;
  readonly history?: readonly { readonly role: string; readonly content: string }[];
}

export type Filters = Readonly<Record<string, string | readonly string[]>>;

export interface Hit {
  readonly title: string;
  readonly section: string;
  readonly url: string;
  readonly text: string;
}

export type WireEvent =
  | { readonly event: "tool_call" }
  | { readonly event: "retrieval"; readonly data: { readonly results: readonly Source[] } }
  | { readonly event: "content"; readonly data: { readonly delta: string } }
  | { readonly event: "done"; readonly data: Reply }
  | { readonly event: "error"; readonly data: { readonly error: string; readonly code: string } };

export type Trouble = "away" | "lost" | "wait" | "down" | "locked" | "expired" | "told";

/** What went wrong, in a kind that the reader's words know; `message` is the server's own line. */
export class Failure extends Error {
  constructor(
    readonly trouble: Trouble,
    message = "",
    readonly wait = 0,
  ) {
    super(message);
  }
}

const BUSY_TRIES = 5;

export class Server {
  /** `authorize` asks the reader for a key when the server wants one; without it a locked server is a failure. */
  constructor(
    private readonly base: () => string,
    private readonly key: () => string | null,
    private readonly authorize: () => ((refused: boolean) => Promise<void>) | null,
  ) {}

  /** The reply; any status but success is a failure. */
  async request(path: string, options: RequestInit = {}): Promise<Response> {
    for (;;) {
      const key = this.key();
      const headers = { ...options.headers, ...(key && { "X-API-Key": key }) };
      const response = await fetch(this.base() + path, { ...options, headers, credentials: "omit" }).catch(broken("away"));
      if (response.ok) return response;
      const authorize = this.authorize();
      if (response.status !== 401 || !authorize) throw await failureOf(response);
      if (this.key() === key) await unlessAborted(authorize(!!key), options.signal);
    }
  }

  async json<T>(path: string, options: RequestInit = {}): Promise<T> {
    return (await this.request(path, options)).json() as Promise<T>;
  }

  private post(path: string, body: string, key: string, signal: AbortSignal): Promise<Response> {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    return this.request(path, { method: "POST", headers, body, signal });
  }

  /** The events of an answer; the last is `done`. One key for one question: however often it is sent, it is answered once. */
  async *ask(asked: Asked, key: string, signal: AbortSignal): AsyncGenerator<WireEvent> {
    const body = JSON.stringify(asked);
    let response: Response;
    try {
      response = await this.sent("/chat/stream", body, key, signal);
    } catch (error) {
      if (!(error instanceof Failure) || error.trouble !== "away") throw error;
      response = await this.sent("/chat/run", body, key, signal); // the network gave no stream: one reply may still pass
      yield { event: "done", data: (await response.json()) as Reply };
      return;
    }
    for await (const event of eventsOf(response.body!)) {
      if (event.event === "error") throw new Failure("told", event.data.error);
      yield event;
      if (event.event === "done") return;
    }
    throw new Failure("lost");
  }

  /** An answer that is still being made under this key is waited for. */
  private async sent(path: string, body: string, key: string, signal: AbortSignal): Promise<Response> {
    for (let tries = 1; ; tries += 1) {
      const response = await this.post(path, body, key, signal).catch((error: unknown) => {
        if (error instanceof Failure && error.trouble === "told" && error.wait && tries < BUSY_TRIES) return error.wait;
        throw error;
      });
      if (typeof response !== "number") return response;
      await unlessAborted(new Promise((resolve) => setTimeout(resolve, response * 1000)), signal);
    }
  }

  async feedback(session: string, turn: string, rating: "up" | "down" | null, comment?: string): Promise<void> {
    const path = `/sessions/${session}/turns/${encodeURIComponent(turn)}/feedback`;
    const body = JSON.stringify({ rating, ...(comment && { comment }) });
    await this.request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  }
}

/** What the network did, unless the reader stopped it. */
const broken = (trouble: Trouble) => (error: Error): never => {
  throw error.name === "AbortError" ? error : new Failure(trouble);
};

async function failureOf(response: Response): Promise<Failure> {
  const reply = (await response.json().catch(() => ({}))) as { detail?: string; message?: string; retry_after?: number };
  const wait = Number(reply.retry_after ?? response.headers.get("Retry-After")) || 0;
  const line = reply.detail ?? reply.message ?? `HTTP ${response.status}`;
  const { status } = response;
  if (status === 429) return new Failure("wait", line, wait || 5);
  if (status === 401 || status === 403) return new Failure("locked", line);
  if (status === 404) return new Failure("expired", line);
  return status >= 500 ? new Failure("down", line, wait) : new Failure("told", line, wait);
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<WireEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let buffer = "";
  for (;;) {
    const chunk = await reader.read().catch(broken("lost"));
    if (chunk.done) return;
    buffer += decoder.decode(chunk.value, { stream: true });
    const parts = buffer.split(/\r?\n\r?\n/);
    buffer = parts.pop()!;
    for (const part of parts) {
      const value = (name: string): string =>
        part
          .split(/\r?\n/)
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).replace(/^ /, ""))
          .join("\n");
      if (value("data")) yield { event: value("event"), data: JSON.parse(value("data")) } as WireEvent;
    }
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return promise;
  const aborted = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }));
  return Promise.race([promise, aborted]);
}
