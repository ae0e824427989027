"""One bad page never ends a run: it is named in the report, and the others come in."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.ingest import IngestOptions, PageRead, source_of
from citewell.ingest.bounds import UnreadablePage, Worker
from citewell.ingest.sources import Failure, Outcome
from tests.support.ingest import LoopbackSite, Reply

GOOD = "# Good\n\nThis page is as it should be.\n"


def forever() -> None:
    while True:
        pass


def dead() -> None:
    os.abort()


def hungry() -> int:
    return len(bytearray(40_000_000_000))


def doubled(number: int) -> int:
    return 2 * number


def refused() -> None:
    raise UnreadablePage("Not this one.")


async def outcomes_of(place: str, page_cpu_seconds: int = 20) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    given = IngestOptions(
        allow_hosts=frozenset({"127.0.0.1"}),
        requests_per_second=1000,
        retry_seconds=0.01,
        page_cpu_seconds=page_cpu_seconds,
    )
    async for outcome in source_of(place, given).read({}):
        assert isinstance(outcome, PageRead | Failure)
        found[outcome.page.url if isinstance(outcome, PageRead) else outcome.url] = outcome
    return found


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker(seconds=1)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("function", "why"), [(forever, "more than 1 s"), (dead, "ended the process"), (hungry, "Memory")]
)
async def test_what_takes_too_much_is_ended_and_the_next_page_is_read(
    worker: Worker, function: object, why: str
) -> None:
    with pytest.raises(UnreadablePage, match=why):
        await worker.run(function)  # type: ignore[arg-type]
    assert await worker.run(doubled, 21) == 42


async def test_what_a_reader_raises_in_the_worker_arrives(worker: Worker) -> None:
    with pytest.raises(UnreadablePage, match="Not this one"):
        await worker.run(refused)


async def test_each_bad_file_is_named_and_the_others_come_in(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text(GOOD)
    (tmp_path / "front.md").write_text("---\ntitle: " + "[" * 30_000 + "\n---\n\nText under it.\n")
    (tmp_path / "brackets.md").write_text("[" * 500_000)
    (tmp_path / "ticks.rst").write_text("``a` " * 9_000)  # not large, but docutils takes long
    (tmp_path / "deep.html").write_text("<div>" * 5_000 + "x")
    (tmp_path / "bytes.md").write_bytes(b"caf\xe9 and more")
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text(GOOD)
    found = await outcomes_of(str(tmp_path), page_cpu_seconds=1)
    codes = {url: outcome.error_code for url, outcome in found.items() if isinstance(outcome, Failure)}
    assert codes == {
        "/brackets": "out_of_bounds",
        "/ticks.html": "out_of_bounds",
        "/deep.html": "unreadable_html",
        "/bytes": "invalid_utf8",
    }
    front = found["/front"]
    assert isinstance(front, PageRead)
    assert front.page.text == "Text under it."
    assert [problem.error_code for problem in front.problems] == ["bad_front_matter"]
    assert {"/good", "/caf%E9"} <= set(found), "a file's name need not be UTF-8"


async def test_a_page_of_nine_megabytes_on_one_line_comes_in(tmp_path: Path) -> None:
    (tmp_path / "line.md").write_text("# Long\n\n" + "nine megabytes of words " * 375_000)
    (tmp_path / "more.md").write_text("x" * 10_000_001)
    found = await outcomes_of(str(tmp_path))
    line, more = found["/line"], found["/more"]
    assert isinstance(line, PageRead)
    assert len(line.page.text) > 8_900_000
    assert isinstance(more, Failure)
    assert more.error_code == "too_large"


@pytest.mark.parametrize("target", ["http://[", "http://127.0.0.1:99999/", "//", "http://127.0.0.1:port/", "/bad"])
async def test_a_redirect_to_nowhere_is_named(target: str) -> None:
    async with LoopbackSite().running() as site:
        site.pages["/"] = Reply('<p>The first page is as it should be.</p><a href="/bad">x</a> <a href="/">itself</a>')
        site.pages["/bad"] = Reply("", 302, {"Location": target})
        found = await outcomes_of(site.url + "/")
    assert isinstance(found[site.url + "/"], PageRead)
    assert all(isinstance(outcome, Failure) for url, outcome in found.items() if url != site.url + "/")
    assert target == "//" or len(found) == 2


@pytest.mark.parametrize("charset", ["undefined", "no-such", "idna", '"'])
async def test_a_page_in_an_unknown_character_set_is_named(charset: str) -> None:
    async with LoopbackSite().running() as site:
        site.pages["/"] = Reply('<p>The first page.</p><a href="/odd">x</a> <a href="http://[">y</a> <a href="#">z</a>')
        site.pages["/odd"] = Reply("<p>text</p>", headers={"Content-Type": f"text/html; charset={charset}"})
        found = await outcomes_of(site.url + "/")
    assert isinstance(found[site.url + "/"], PageRead)
    odd = found[site.url + "/odd"]
    assert charset == '"' or (isinstance(odd, Failure) and odd.error_code == "invalid_text")
