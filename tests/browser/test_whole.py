"""The whole of it, as a newcomer meets it: ingest, serve, ask in a browser, click through to the passage."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from tests.browser.looking import complaints, find, found, marked
from tests.browser.test_page import ask

pytestmark = pytest.mark.browser
BOOK = Path(__file__).parents[2] / "examples" / "book"
CHAPTERS = (
    "docs/intro.md",
    "docs/module-3-perception/03-sensor-fusion.mdx",
    "docs/module-4-humanoids/03-inverse-kinematics.md",
)


def _wait_until_live(url: str, seconds: float = 90.0) -> None:
    ends = time.monotonic() + seconds
    while True:
        try:
            urlopen(f"{url}/health/live").close()
            return
        except URLError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.1)  # nothing tells when another process listens


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("whole")
    for name in ("docusaurus.config.js", *CHAPTERS):
        (folder / "book" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BOOK / name, folder / "book" / name)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {**os.environ, "CITEWELL_DATA_DIR": str(folder / "data")}
    command = [sys.executable, "-m", "citewell"]
    subprocess.run([*command, "ingest", str(folder / "book")], env=env, check=True, capture_output=True)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*command, "serve", "--port", str(port)], env=env, stderr=log)
        url = f"http://127.0.0.1:{port}"
        _wait_until_live(url)
        yield url
        process.terminate()
        assert process.wait(timeout=40) in (0, -15)


def test_a_newcomer_asks_and_clicks_through_to_the_passage(page: WebDriver, server: str) -> None:
    page.get(server)
    find(page, "#contents a", "Sensor Fusion")
    ask(page, "Explain sensor fusion")
    find(page, ".answer .sources a", "Sensor Fusion")
    assert "Sensor fusion" in find(page, ".answer .text").text
    find(page, ".answer a.cite").click()
    assert marked(page)
    assert "/docs/module-3-perception/sensor-fusion" in page.current_url
    page.refresh()
    find(page, "#chapter h1", "Sensor Fusion")
    assert complaints(page) == []


def test_a_suggested_question_is_answered(page: WebDriver, server: str) -> None:
    page.get(server)
    find(page, ".welcome button").click()
    find(page, ".answer .sources a")


def test_what_the_book_does_not_know_is_refused(page: WebDriver, server: str) -> None:
    page.get(server)
    find(page, "#contents a", "Sensor Fusion")
    ask(page, "What is the capital of France?")
    find(page, ".answer.refusal")
    assert not found(page, ".sources")
