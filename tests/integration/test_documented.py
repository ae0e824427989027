"""Every command of the README, the tutorials and the how-tos, run in order from an empty folder with a built wheel.

A block after `<!-- not run: reason -->` is left out. In a `console` block what the lines after a command say must be in
its output: every number and address, and most of the words, so that another model may say it in its own. What differs
from run to run (seconds, confidence, the numbers of passages) is not compared; `…` stands for what is left out.
"""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import citewell
from tests.support.model_server import ModelServer, Say

REPO = Path(__file__).parents[2]
UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
PORT = 8000
FENCE = re.compile(r"^(<!-- not run: .*? -->\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SERVES = re.compile(r"^(?:\w+=\S+ )*citewell (?:serve|demo)\b")
# `pip` installs the wheel that was just built, with the extras that the page names.
SHELL = """
set -e
pip() { "$UV" pip install -q --python "$VIRTUAL_ENV/bin/python" "$WHEEL${2#citewell}"; }
"""
DIFFERS = (
    (re.compile(r"\d[\d,]* passages \(\d[\d,]* embedded, \d[\d,]* unchanged\) in [\d.]+ s"), "# passages in # s"),
    (re.compile(r"Confidence \w+ \([\d.]+\)"), "Confidence #"),
    (re.compile(r"\[\d+\]"), "[#]"),
    (re.compile(r"I (?:couldn't find relevant|don't have) information.*"), "(refused)"),
    (re.compile(r"\s+"), " "),
)


@dataclass(frozen=True)
class Step:
    script: str
    expected: tuple[str, ...] = ()
    is_python: bool = False


def steps(page: Path) -> Iterator[Step]:
    for not_run, language, body in FENCE.findall(page.read_text("utf-8")):
        if not_run:
            continue
        match language:
            case "python":
                yield Step(body, is_python=True)
            case "console":
                for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
                    yield Step(command, tuple(line for line in output.splitlines() if line.strip() not in ("", "…")))
            case "sh":
                before, served = [], ""
                for line in body.splitlines():
                    if SERVES.match(line):
                        served = line
                    else:
                        before.append(line)
                yield Step("\n".join(before))
                if served:
                    yield Step(served)
            case _:
                raise AssertionError(f"{page.name}: a block of {language}: run it or say why not")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Citewell's; those of its judge and its evaluation lie beside it."""
    folder = tmp_path_factory.mktemp("dist")
    for source in (REPO, REPO / "larger", REPO / "evaluation"):
        subprocess.run([UV, "build", "-q", "--wheel", "--python", sys.executable, "-o", folder, source], check=True)
    (built,) = folder.glob("citewell-[0-9]*.whl")
    return built


@dataclass
class Machine:
    """An empty folder, an environment with the wheel, and a shell that remembers what was exported."""

    folder: Path
    environment: dict[str, str]
    replaced: dict[str, str]
    serving: asyncio.subprocess.Process | None = None

    async def run(self, step: Step) -> str:
        script = step.script
        for written, real in self.replaced.items():
            script = script.replace(written, real)
        if step.is_python:
            return await self._output("python", "-c", script)
        if SERVES.match(script):
            await self._serve(script)
            return ""
        state = self.folder.parent / "exported"
        state.touch()
        return await self._output("bash", "-c", f". {state}\n{SHELL}\n{script}\nexport -p > {state}\n")

    async def _output(self, *command: str) -> str:
        process = await self._started(*command)
        output, _ = await process.communicate()
        text = output.decode()
        assert process.returncode == 0, f"{command[-1]}\n{text}"
        return text

    async def _serve(self, script: str) -> None:
        await self.stop()
        port = self.replaced[f":{PORT}"][1:]
        self.serving = await self._started("bash", "-c", f"exec env {script} --port {port}")
        assert self.serving.stdout is not None
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(port))) == 0:
                    return
            assert self.serving.returncode is None, (await self.serving.stdout.read()).decode()
            await asyncio.sleep(0.2)

    async def _started(self, *command: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *command,
            cwd=self.folder,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )

    async def stop(self) -> None:
        if self.serving is not None and self.serving.returncode is None:
            os.killpg(self.serving.pid, signal.SIGTERM)
            await self.serving.communicate()


def install(venv: Path, *packages: str) -> None:
    subprocess.run([UV, "venv", "-q", "--python", sys.executable, venv], check=True)
    subprocess.run([UV, "pip", "install", "-q", "--python", venv / "bin" / "python", *packages], check=True)


@asynccontextmanager
async def machine(folder: Path, wheel: Path, extras: str) -> AsyncIterator[Machine]:
    venv = folder / "venv"
    await asyncio.to_thread(install, venv, f"{wheel}{extras}")
    empty = folder / "empty"
    empty.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **{k: v for k, v in os.environ.items() if k.startswith(("UV_", "SSL_", "HTTP", "HOME", "LANG"))},
        "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": str(venv),
        "UV": UV,
        "WHEEL": str(wheel),
    }
    async with ModelServer([Say("The shoulder turns 180 degrees. [1]")]).running() as model:
        made = Machine(empty, environment, {f":{PORT}": f":{port}", "http://localhost:11434/v1": model.url})
        try:
            yield made
        finally:
            await made.stop()


RUN = {
    "README.md": "",
    "docs/tutorials/first-book.md": "",
    "docs/tutorials/own-site.md": "[server]",
    "docs/tutorials/hosted-model.md": "[agent]",
    "docs/tutorials/scale-out.md": "",
    "docs/how-to/own-parts.md": "",
}
"""The pages that are run, and the extras that they need."""


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("page", "extras"), RUN.items())
async def test_the_commands_of_a_page_do_what_it_says(page: str, extras: str, wheel: Path, tmp_path: Path) -> None:
    async with machine(tmp_path, wheel, extras) as here:
        for step in steps(REPO / page):
            output = alike(await here.run(step))
            for line in step.expected:
                assert says(output, alike(line)), f"{page}: {step.script}\nsays\n{output}\nand not\n{line}"


@pytest.mark.parametrize("page", sorted({str(p.relative_to(REPO)) for p in (REPO / "docs").rglob("*.md")} - RUN.keys()))
def test_commands_of_other_pages_say_why_they_are_not_run(page: str) -> None:
    fences = FENCE.findall((REPO / page).read_text("utf-8"))
    assert [body for not_run, language, body in fences if language in ("sh", "console") and not not_run] == []


def says(output: str, line: str) -> bool:
    exact = re.findall(r"\S*(?:/|\d)\S*", line)
    words = re.findall(r"[^\W\d_]{3,}", line.lower())
    said = sum(word in output.lower() for word in words)
    return all(part.strip(".,") in output for part in exact) and said >= 0.7 * len(words)


@pytest.mark.parametrize(
    ("line", "enough"),
    [
        ("The pump moves 40 litres a minute. [#]", True),
        ("The pump can move 40 litres each minute.", True),
        ("The pump moves 60 litres a minute.", False),
        ("[#] Watering › The pump https://greenhouse.example/heating", False),
        ("Seedlings need water every day.", False),
    ],
)
def test_what_a_page_says_is_compared_in_substance(line: str, enough: bool) -> None:
    output = alike(
        "The pump moves 40 litres a minute. [1]\n\n[1] Watering › The pump  https://greenhouse.example/watering"
    )
    assert says(output, line) is enough


def alike(text: str) -> str:
    for pattern, same in DIFFERS:
        text = pattern.sub(same, text)
    return text.strip()


def test_each_wheel_is_within_the_limit_of_the_index(wheel: Path) -> None:
    sizes = {built.name: built.stat().st_size for built in wheel.parent.glob("*.whl")}
    assert len(sizes) == 3
    assert max(sizes.values()) < 100_000_000


def test_the_extra_for_evaluating_brings_its_own_distribution(wheel: Path, tmp_path: Path) -> None:
    install(tmp_path / "venv", "--find-links", str(wheel.parent), "citewell[eval]")
    command = str(tmp_path / "venv" / "bin" / "citewell")
    done = subprocess.run([command, "eval", "book", "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert "--json" in done.stdout


def test_the_docs_are_a_site_whose_links_lead_somewhere_and_on_which_citewell_knows_its_way(tmp_path: Path) -> None:
    """Strict: a link, an anchor or a name of the reference that is not there is an error, and a place that we cite."""
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-d", str(tmp_path / "site")]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "CITEWELL_SERVER": "https://answers.example"}
    done = subprocess.run(command, cwd=REPO, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "reference" / "python" / "index.html").read_text("utf-8")
    assert "async" in page
    assert 'id="citewell.book.Book.ask"' in page
    assert 'src="https://answers.example/widget.js"' in page
    with citewell.open_sync(tmp_path / "data", settings=citewell.Settings(_env_file=None)) as book:
        book.ingest(REPO / "docs", base_url="https://docs.example")
        asked = ("Who may ask with a publishable key?", "How do I pass my own embedder?", "What does EMBED_ORIGINS do?")
        places = [hit.passage.section_url for query in asked for hit in book.search(query, top_k=3).passages]
    for place in map(urlsplit, places):
        shown = (tmp_path / "site" / place.path.strip("/") / "index.html").read_text("utf-8")
        assert not place.fragment or f'id="{place.fragment}"' in shown, place.geturl()


@pytest.mark.parametrize("page", [REPO / "README.md", REPO / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", text):
        assert (page.parent / target).exists(), target
