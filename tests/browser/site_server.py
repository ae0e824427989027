"""Sites that carry the widget, each on an origin of its own: a plain one under a strict policy, and built ones."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.support import node

ROOT = Path(__file__).parents[2]
FIXTURES = Path(__file__).parent / "sites"
PLACEHOLDER = "http://answers.invalid"
"""Stands in the built sites for the server that a test plays."""
KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css", "json": "application/json"}
PLAIN = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Nodes</title>
<script type="module" src="{PLACEHOLDER}/widget.js" data-title="Robots" async></script></head>
<body><header><a href="/docs/topics">Topics</a></header><main><h1>Nodes</h1><h2 id="what">What a node is</h2>
<p>A node is a process that runs <code>rclpy.init</code> first. It has a name.</p>
{"<p>Words in between.</p>" * 60}
<h2 id="start-a-node">Start</h2><ol><li>Build it.</li><li>Run it with <code>ros2 run</code>.</li></ol>
</main></body></html>"""
TOPICS = PLAIN.replace("Nodes", "Topics").replace("A node is a process", "A topic is a named bus")


@dataclass(frozen=True, slots=True)
class Site:
    """What is served: file names to bytes, and the policy it is served under."""

    name: str
    files: dict[str, bytes]
    strict: bool = False

    def policy(self, server: str) -> str | None:
        return (
            f"default-src 'none'; script-src {server}; connect-src {server}; base-uri 'none'" if self.strict else None
        )

    @contextlib.contextmanager
    def served(self, server: str) -> Iterator[str]:
        """The site's address, with the widget of this server."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base class's name
                pass

            def do_GET(self) -> None:
                path = unquote(urlsplit(self.path).path).strip("/")
                name = next(
                    (n for n in (path, f"{path}/index.html".lstrip("/"), f"{path}.html") if n in site.files), ""
                )
                body = site.files.get(name, b"").replace(PLACEHOLDER.encode(), server.encode())
                self.send_response(200 if name or path == "favicon.ico" else 404)
                kind = KINDS.get(name.rpartition(".")[2], "application/octet-stream")
                self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
                self.send_header("Content-Length", str(len(body)))
                if policy := site.policy(server):
                    self.send_header("Content-Security-Policy", policy)
                self.end_headers()
                self.wfile.write(body)

        listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        listening.daemon_threads = True
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://localhost:{listening.server_address[1]}"
        finally:
            listening.shutdown()
            listening.server_close()
            thread.join()


def plain_site() -> Site:
    sample = (ROOT / "integrations" / "html" / "index.html").read_text().replace("http://localhost:8000", PLACEHOLDER)
    pages = {"docs/nodes": PLAIN, "docs/topics": TOPICS, "sample": sample}
    return Site("plain", {f"{name}.html": page.encode() for name, page in pages.items()}, strict=True)


def mkdocs_site(folder: Path) -> Site:
    pytest.importorskip("material", reason="mkdocs-material is missing: make setup")
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-d", str(folder)]
    done = subprocess.run(command, cwd=FIXTURES / "mkdocs", env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Site("mkdocs", _read(folder))


def docusaurus_site(folder: Path) -> Site:
    """With the plugin as `npm pack` packs it. Kept beside its packages, for as long as its sources are the same."""
    home = node.packages(FIXTURES / "docusaurus")
    plugin = node.packed(ROOT / "integrations" / "docusaurus", folder)
    sources = {name: text for name, text in _read(FIXTURES / "docusaurus").items() if name != "package-lock.json"}
    made_of = hashlib.sha256(repr(sorted(sources.items())).encode() + plugin.read_bytes()).hexdigest()[:12]
    site = home / f"site-{made_of}"
    if not (site / "built").is_dir():
        shutil.rmtree(site, ignore_errors=True)
        for name, text in sources.items():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_bytes(text)
        installed = site / "node_modules" / "docusaurus-plugin-citewell"
        installed.mkdir(parents=True)
        with tarfile.open(plugin) as tarball:
            tarball.extractall(installed.parent, filter="data")
        (installed.parent / "package").rename(installed)
        command = (home / "node_modules" / ".bin" / "docusaurus", "build", "--no-minify", "--out-dir", "building")
        # What webpack kept of another build, in another folder, is wrong here.
        node.run(*command, cwd=site, env={"CITEWELL_SERVER": PLACEHOLDER, "DOCUSAURUS_NO_PERSISTENT_CACHE": "1"})
        (site / "building").rename(site / "built")
    return Site("docusaurus", _read(site / "built"))


def _read(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}
