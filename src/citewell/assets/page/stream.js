// The reader's dialect: events of a stream, or one reply when no stream can be opened.

import { request } from "./server.js";

export class Refused extends Error {
  /** A reply with a status that is not 200: said once, never tried again by itself. */
  constructor(detail, retryAfter) {
    super(detail);
    this.retryAfter = retryAfter;
  }
}

/** Yields {event, data}; the last is `done` or `error`. Throws Refused, AbortError, or an Error for a cut stream. */
export async function* ask(body, signal) {
  let response;
  try {
    response = await post("/chat/stream", body, signal);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    response = await post("/chat/run", body, signal); // the network gave no stream: one reply may still pass
    await check(response);
    yield { event: "done", data: await response.json() };
    return;
  }
  await check(response);
  let ended = false;
  for await (const event of events(response.body)) {
    ended = event.event === "done" || event.event === "error";
    yield event;
    if (ended) return;
  }
  if (!ended) throw new Error("The connection was lost before the answer was finished.");
}

function post(path, body, signal) {
  return request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
}

async function check(response) {
  if (response.ok) return;
  const reply = await response.json().catch(() => ({}));
  const wait = Number(reply.retry_after ?? response.headers.get("Retry-After"));
  const detail = reply.detail ?? reply.message ?? `The server answered ${response.status}.`;
  throw new Refused(detail, response.status === 429 ? wait || 5 : 0);
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    let chunk;
    try {
      chunk = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The connection was lost before the answer was finished.");
    }
    if (chunk.done) return;
    buffer += chunk.value;
    const parts = buffer.split("\n\n");
    buffer = parts.pop();
    for (const part of parts) {
      const fields = part.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]);
      const value = (name) => fields.filter(([key]) => key === name).map(([, v]) => v).join("\n");
      if (value("data")) yield { event: value("event"), data: JSON.parse(value("data")) };
    }
  }
}
