// Requests to the server: the key that it may ask for, and plain words when it cannot be reached.

const form = document.getElementById("key-form");
const field = document.getElementById("key");
const note = document.getElementById("key-note");
let asked = null;

/** The reply, whatever its status but 401: then the reader is asked for the key until one is accepted. */
export async function request(path, options = {}) {
  for (;;) {
    const key = sessionStorage.getItem("key");
    const headers = { ...options.headers, ...(key && { "X-API-Key": key }) };
    const response = await reached(path, { ...options, headers });
    if (response.status !== 401) return response;
    if (sessionStorage.getItem("key") === key) await unlessAborted((asked ??= askedFor(key)), options.signal);
  }
}

async function reached(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server cannot be reached. Check your connection, then try again.");
  }
}

function askedFor(refused) {
  note.textContent = refused ? "The server does not accept this key." : "This server asks for a key.";
  form.hidden = false;
  field.select();
  return new Promise((resolve) => {
    form.onsubmit = (event) => {
      event.preventDefault();
      sessionStorage.setItem("key", field.value);
      form.hidden = true;
      asked = null;
      document.getElementById("message").focus();
      resolve();
    };
  });
}

function unlessAborted(promise, signal) {
  if (!signal) return promise;
  const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  return Promise.race([promise, aborted]);
}
