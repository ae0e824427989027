"""A threaded HTTP server with the page's own files that plays the API: golden streams, slow ones, cut ones, errors."""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from citewell.api.headers import page_policy
from citewell.api.pages import page_reply
from citewell.ingest.markdown import read_markdown
from citewell.values import Page

ATTACK = "<img src=x onerror=\"document.title='owned'\">"
PAGES = {
    "/docs/nodes": (
        "Nodes",
        "Module 1",
        "## What a node is {#what}\n\nA node is a process that runs `rclpy.init` first.\nIt has a name.\n\n"
        + "\n\n".join(f"Filler paragraph {n} about nothing." for n in range(60))
        + "\n\n## Start {#start-a-node}\n\n1. Build it.\n\n```bash\ncolcon build\n```\n\n2. Run it with `ros2 run`.\n",
    ),
    "/docs/attack": (
        f"Title {ATTACK}",
        "Module 2",
        f"## {ATTACK} heading\n\nText {ATTACK} and [link](javascript:alert(1)).\n",
    ),
    "/module01/lesson05/": ("Lesson five", "Module 1", "## A lesson\n\nIts address ends with a slash.\n"),
    "/docs/": ("The first chapter", "", "## Welcome\n\nIts address without the slash is the API reference.\n"),
    "/health": ("Well-being", "", "## Health\n\nThe API has an address of this name too.\n"),
    "/docs/formulas": (
        "Formulas",
        "Module 2",
        "## Energy\n\nThe mass $m$ costs $5 in $HOME, and $E = mc^2$ holds.\n\n"
        "$$\n" + r" + ".join(rf"\frac{{x_{n}}}{{y_{n}}}" for n in range(40)) + "\n$$\n\nAfter it.\n",
    ),
}
REFERENCE = b"<!doctype html><title>API reference</title>"
QUESTIONS = ["What is a node?", "How do I start a node?"]
SOURCE = {
    "chunk_text": "1. Build it. 2. Run it with `ros2 run`.",
    "similarity_score": 0.9,
    "chapter": "Nodes",
    "section": "Start",
    "url": "/docs/nodes#start-a-node",
    "chunk_index": 1,
    "number": 2,
    "quote": "Run it with `ros2 run`.",
}
HIT = {"title": "Nodes", "section": "Start", "url": "/docs/nodes#start-a-node", "text": "Run it with ros2 run."}
RELATED = {"title": "Nodes", "url": "/docs/nodes#what", "first_line": "A node is a process."}
RESULTS = [SOURCE | {"number": 1, "section": "What", "url": "/docs/nodes#what"}, SOURCE]
DONE_ID = "0b9f3c1e-52c4-4f0a-8a59-6cf1f2f1a001"
DONE = {
    "response": "Run it with `ros2 run`. [2]",
    "confidence": 0.9,
    "confidence_level": "high",
    "sources": [SOURCE],
    "session_id": "x",
    "should_answer": True,
    "metadata": {"turn_id": DONE_ID},
}


class PlayedServer:
    """`play` names what the next streams do; `bodies` are the questions that came; `keys` their idempotency keys."""

    def __init__(self) -> None:
        self.play = "answer"
        self.key: str | None = None
        self.source = SOURCE
        self.pages = PAGES
        self.related = RELATED
        self.questions = QUESTIONS
        self.dropped = 0
        """How many sentences the gate kept back."""
        self.failed = False
        """Whether it answered with an error, of which browsers complain by themselves."""
        self.said: str | None = None
        """What the model says in place of its usual answer."""
        self.hits: list[dict[str, str]] = [HIT]
        self.feedback: list[tuple[str, dict[str, Any]]] = []
        self.keys: list[str | None] = []
        self.searches: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.go_on = threading.Event()
        self.url = ""

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        played = self

        class Handler(_Handler):
            server_state = played

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.go_on.set()
            server.shutdown()
            server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server_state: PlayedServer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base class's name
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        pages = self.server_state.pages
        if url.path.startswith(("/book", "/search", "/answers/")):
            if not self._locked():
                self._data(url.path, parse_qs(url.query))
        elif url.path.startswith("/widget"):
            self._asset("widget", url.path.removeprefix("/widget/").removeprefix("/"))
        elif url.path == "/docs":
            self._reply(200, REFERENCE, "text/html")
        elif url.path == "/" or url.path in pages:
            self._file("index.html")
        elif "text/html" in self.headers.get("Accept", ""):
            self._file("index.html", 404)
        else:
            self._file(url.path.removeprefix("/page/"))

    def _data(self, path: str, query: dict[str, list[str]]) -> None:
        state = self.server_state
        if path == "/search":
            state.searches.append(query["q"][0])
            self._json({"results": state.hits})
        elif path.endswith(DONE_ID):
            self._json({"question": "How do I run it?"} | DONE)
        elif path.startswith("/answers/"):
            self._json({"detail": "gone", "code": "NOT_FOUND"}, 404)
        elif path == "/book":
            self._json({"name": "The Robot Book", "pages": len(state.pages)})
        elif path == "/book/questions":
            self._json(state.questions)
        elif path == "/book/pages":
            self._json([{"url": u, "title": t, "module": m} for u, (t, m, _) in state.pages.items()])
        else:
            wanted = query["url"][0]
            title, module, markdown = state.pages[wanted]
            made = read_markdown(markdown, "docusaurus", lambda _: None).text
            page = Page(wanted, title, made.text, tuple(made.blocks), module=module)
            self._reply(200, page_reply(page), "application/json")

    def _locked(self) -> bool:
        key = self.server_state.key
        if key is None or self.headers.get("X-API-Key") == key:
            return False
        self._json({"detail": "A valid key is required in the header X-API-Key.", "code": "UNAUTHORIZED"}, 401)
        return True

    def _file(self, name: str, status: int = 200) -> None:
        self._asset("page", name, status)

    def _asset(self, folder: str, name: str, status: int = 200) -> None:
        kinds = {
            "html": "text/html",
            "js": "text/javascript",
            "css": "text/css",
            "svg": "image/svg+xml",
            "json": "application/json",
        }
        body = files("citewell").joinpath("assets", folder, name).read_bytes()
        self._reply(status, body, kinds[name.rpartition(".")[2]])

    def _json(self, value: object, status: int = 200, **headers: str) -> None:
        self._reply(status, json.dumps(value).encode(), "application/json", **headers)

    def _reply(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        self.server_state.failed |= status >= 400
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", page_policy())
        self._allow()
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def _allow(self) -> None:
        """Any site may ask this server, as with ALLOWED_ORIGINS."""
        self.send_header("Access-Control-Allow-Origin", self.headers.get("Origin") or "*")
        self.send_header("Access-Control-Allow-Headers", "Content-Type, X-API-Key, Idempotency-Key")
        self.send_header("Access-Control-Expose-Headers", "Retry-After")
        self.send_header("Access-Control-Max-Age", "600")

    def do_OPTIONS(self) -> None:
        self._reply(204, b"", "text/plain")

    def do_POST(self) -> None:
        state = self.server_state
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._locked():
            return
        if self.path.endswith("/feedback"):
            state.feedback.append((self.path, body))
            self._reply(404 if state.play == "expired" else 204, b"", "application/json")
            return
        state.bodies.append(body)
        state.keys.append(self.headers.get("Idempotency-Key"))
        play = state.play
        if play == "busy":
            self._json({"detail": "Rate limit exceeded.", "code": "X", "retry_after": 1}, 429, Retry_After="1")
        elif play == "down":
            self._json({"detail": "The database is away.", "code": "DATABASE_ERROR"}, 503, Retry_After="1")
        elif play == "invalid":
            self._json({"detail": "message is too long.", "code": "VALIDATION_ERROR"}, 400)
        elif play == "away" or (play == "no stream" and self.path == "/chat/stream"):
            state.failed = self.close_connection = True
            self.connection.close()
        elif self.path == "/chat/run":
            self._json(DONE)
        else:
            self._stream(play)

    def _stream(self, play: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self._allow()
        self.send_header("Connection", "close")
        self.end_headers()
        self._event("tool_call", {"tool_name": "search_documentation", "arguments": {"query": "q"}})
        self._event("retrieval", {"query": "q", "results": RESULTS})
        if play == "refuse":
            refusal = {"response": "", "should_answer": False, "refusal_reason": "Not in the book", "sources": []}
            refusal["related"] = [self.server_state.related]
            self._event("done", DONE | refusal | {"confidence_level": "insufficient"})
            return
        if play == "attack":
            self._event("content", {"delta": f"{ATTACK} [2] <script>document.title='owned'</script>"})
            source = SOURCE | {"chapter": ATTACK, "section": ATTACK, "url": "javascript:document.title='owned'"}
            self._event("done", DONE | {"response": f"{ATTACK} [2]", "sources": [source]})
            return
        if self.server_state.said is not None:
            self._event("content", {"delta": self.server_state.said})
            sources = [RESULTS[0], self.server_state.source]
            answer = {"response": self.server_state.said, "sources": sources}
            self._event("done", DONE | answer)
            return
        self._event("content", {"delta": "Run it with "})
        if play in ("slow", "cut", "error"):
            self.server_state.go_on.wait(30)
        if play == "cut":
            return
        if play == "error":
            self._event("error", {"error": "Backend processing error", "code": "OPENAI_ERROR"})
            return
        with contextlib.suppress(OSError):  # the reader may have left
            self._event("content", {"delta": "`ros2 run`. [2]"})
            metadata = {"turn_id": DONE_ID, "dropped_sentences": self.server_state.dropped}
            done = DONE | {"sources": [self.server_state.source], "metadata": metadata}
            self._event("done", done | ({"response": ""} if play == "empty done" else {}))

    def _event(self, name: str, data: object) -> None:
        self.wfile.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()
