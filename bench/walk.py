"""One question walked: the functions, files and async generators of ours that it runs, and the modules that are loaded.

    python bench/walk.py [SOURCE]

SOURCE is the `src` of any commit, this one's by default: before and after are measured alike. The demo book is
ingested and served with the built-in model; the second question of the server is recorded, through the socket.
"""

import ast
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import CodeType, FrameType

REPO = Path(__file__).resolve().parents[1]
BOOK = REPO / "examples" / "book"
QUESTIONS = ("What is a ROS 2 node?", "What is inverse kinematics?", "How many joints does the humanoid arm have?")
ASYNC_GENERATOR = 0x200
Figures = dict[str, float]


def served(record: Path, *arguments: str) -> None:
    """In a process of its own: `citewell serve`, recording from SIGUSR1 until SIGUSR2."""
    seen: set[CodeType] = set()
    recording = threading.Event()

    def look(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and recording.is_set():
            seen.add(frame.f_code)

    def write(*_: object) -> None:
        recording.clear()
        ours = [c for c in seen if "/citewell/" in c.co_filename and not c.co_name.startswith("<")]
        found = [(c.co_filename, c.co_firstlineno, c.co_name, bool(c.co_flags & ASYNC_GENERATOR)) for c in ours]
        record.with_suffix(".draft").write_text(json.dumps(found))
        record.with_suffix(".draft").rename(record)

    signal.signal(signal.SIGUSR1, lambda *_: recording.set())
    signal.signal(signal.SIGUSR2, write)
    threading.setprofile(look)
    sys.setprofile(look)
    from citewell.cli import main

    sys.argv = ["citewell", *arguments]
    main()


def ask(port: int, question: str) -> None:
    """Until it is answered: on a busy machine the first question may wait too long for the models."""
    body = json.dumps({"query": question}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/chat/stream", body, {"Content-Type": "application/json"})
    while True:
        try:
            with urllib.request.urlopen(request) as reply:
                if '"sources"' in reply.read().decode():
                    return
        except urllib.error.HTTPError as error:
            print(f"asked again: {error}", file=sys.stderr)


def recorded(source: Path, data: Path) -> list[tuple[str, int, str, bool]]:
    record = data / "record.json"
    port = free_port()
    with subprocess.Popen(
        [sys.executable, __file__, "--serve", str(record), "serve", "--port", str(port)], env=environment(source, data)
    ) as server:
        try:
            wait_for_health(port)
            ask(port, QUESTIONS[1])
            server.send_signal(signal.SIGUSR1)
            ask(port, QUESTIONS[2])
            server.send_signal(signal.SIGUSR2)
            while not record.exists():
                time.sleep(0.05)
        finally:
            server.terminate()
    return [(file, line, name, is_generator) for file, line, name, is_generator in json.loads(record.read_text())]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


def wait_for_health(port: int) -> None:
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health"):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)


def environment(source: Path, data: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(source), "CITEWELL_DATA_DIR": str(data), "API_RATE_LIMIT": "1000"}


def loaded(source: Path, data: Path) -> Figures:
    """Of `citewell ask` without a key, at its end; and of the two imports that start-up pays for."""

    def modules(code: str) -> list[str]:
        """Until it works: on a busy machine a search may take too long."""
        told = f"{code}\nimport sys; print('\\n' + ' '.join(sorted(sys.modules)))"
        while True:
            ran = subprocess.run([sys.executable, "-c", told], env=environment(source, data), capture_output=True)
            if ran.returncode == 0:
                return ran.stdout.decode().splitlines()[-1].split()
            print(ran.stderr.decode()[-300:], file=sys.stderr)

    asked = modules(
        f"import sys; sys.argv = ['citewell', 'ask', {QUESTIONS[0]!r}]\nfrom citewell.cli import main\n"
        "try: main()\nexcept SystemExit as error:\n  if error.code: raise"
    )
    return {
        "modules loaded by citewell ask": len(asked),
        "of them Citewell's": sum(name.partition(".")[0] == "citewell" for name in asked),
        "of them the Agents SDK's and OpenAI's": sum(name.partition(".")[0] in ("agents", "openai") for name in asked),
        "modules loaded by import citewell": len(modules("import citewell")),
        "modules loaded by import citewell.cli": len(modules("import citewell.cli")),
    }


def is_context(file: str, line: int, name: str) -> bool:
    """An `async with` made of a generator: nothing is passed along by it."""
    for node in ast.walk(ast.parse(Path(file).read_text("utf-8"))):
        if isinstance(node, ast.AsyncFunctionDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == line:
                return any("contextmanager" in ast.unparse(decorator) for decorator in node.decorator_list)
    return False


def measured(source: Path) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        ingest = [sys.executable, "-m", "citewell", "ingest", str(BOOK)]
        subprocess.run(ingest, env=environment(source, data), check=True, capture_output=True)
        modules = loaded(source, data)  # first: a question that was asked before is answered from what is kept
        functions = recorded(source, data)
        passing_on = [one for one in functions if one[3] and not is_context(*one[:3])]
        generators = sorted(f"{name} ({Path(file).name})" for file, _, name, _ in passing_on)
        print(f"async generators: {', '.join(generators)}", file=sys.stderr)
        return {
            "functions that one question runs": len(functions),
            "in so many files": len({file for file, *_ in functions}),
            "async generators among them": len(generators),
            **modules,
        }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        served(Path(sys.argv[2]), *sys.argv[3:])
    else:
        print(json.dumps(measured(Path(sys.argv[1] if len(sys.argv) > 1 else REPO / "src").resolve())))
