"""Book, the public API, on a small book in a temporary folder with the built-in models, awaited and plain."""

import asyncio
import inspect
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import citewell
from citewell.book import Book
from citewell.errors import CollectionNotFoundError, ConfigurationError, InvalidInputError, InvalidSessionError
from citewell.index.edge import EdgeIndex
from citewell.values import Completed, PassagesFound, SearchStarted, TextReleased, Vector

SETTINGS = citewell.Settings(_env_file=None)
QUESTION = "Which port does the bridge listen on?"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "bridge.md").write_text(
        "# Bridge\n\n## Ports\n\nThe bridge listens on port 8765.\n\n## Speed\n\nIt moves 40 messages a second.\n",
        "utf-8",
    )
    (folder / "arm.md").write_text("# Arm\n\nThe arm has six joints and a gripper.\n", "utf-8")
    return folder


def opened(folder: Path) -> Book:
    return citewell.open(folder, settings=SETTINGS)


async def test_a_book_is_ingested_asked_searched_and_read_in_a_few_lines(docs: Path, tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as book:
        report = await book.ingest(docs, base_url="https://book.example")
        answer = await book.ask(QUESTION)
        found = await book.search("joints of the arm", top_k=1)
        pages = await book.pages()
        page = await book.page("https://book.example/arm")
    assert report.statistics.urls_successful == 2
    assert (answer.status, answer.citations[0].passage.section_url) == ("success", "https://book.example/bridge#ports")
    assert "8765" in answer.text
    assert [p.passage.page_title for p in found.passages] == ["Arm"]
    assert {p.title for p in pages} == {"Arm", "Bridge"}
    assert page is not None
    assert "six joints" in page.text


async def test_a_book_of_one_page_answers_what_it_says_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "arm.md"
    page.write_text("# Arm\n\nThe arm has six joints. Its gripper holds up to two kilograms.\n", "utf-8")
    async with opened(tmp_path / "data") as book:
        await book.ingest(page)
        assert "two kilograms" in (await book.ask("How much can the gripper hold?")).text
        assert (await book.ask("What is the capital of France?")).status == "refused"


async def test_a_notebook_shows_answers_passages_and_reports_as_markdown(docs: Path, tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as book:
        report = await book.ingest(docs, base_url="https://book.example")
        answer = await book.ask(QUESTION)
        found = await book.search("joints of the arm", top_k=1)
    number = answer.citations[0].number
    assert f"\n{number}. [Bridge › Ports](https://book.example/bridge#ports)" in answer._repr_markdown_()
    assert found._repr_markdown_().startswith("1. [Arm](https://book.example/arm")
    assert report._repr_markdown_().startswith("2 pages, 3 passages")


async def test_a_stream_ends_with_the_answer_whose_text_it_brought(docs: Path, tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as book:
        await book.ingest(docs)
        events = [event async for event in book.stream(QUESTION)]
    assert [type(e) for e in events[:2]] == [SearchStarted, PassagesFound]
    last = events[-1]
    assert isinstance(last, Completed)
    assert "".join(e.text for e in events if isinstance(e, TextReleased)) == last.answer.text


def test_the_plain_book_gives_what_the_awaited_one_gives(docs: Path, tmp_path: Path) -> None:
    with citewell.open_sync(tmp_path / "data", settings=SETTINGS) as book:
        book.ingest(docs)
        answer = book.ask(QUESTION)
        streamed = list(book.stream(QUESTION))[-1]
        first = next(book.stream(QUESTION))  # whoever stops early leaves nothing running
        pages = book.pages()
    assert isinstance(first, SearchStarted)
    assert isinstance(streamed, Completed)

    async def awaited() -> tuple[citewell.Answer, list[citewell.PageEntry]]:
        async with opened(tmp_path / "data") as same:
            return await same.ask(QUESTION), await same.pages()

    again, same_pages = asyncio.run(awaited())
    assert answer.output_hash == streamed.answer.output_hash == again.output_hash
    assert pages == same_pages


def test_the_plain_book_has_every_method_of_the_awaited_one() -> None:
    inside = {"engine", "parts", "searching"}  # open parts belong to the loop that opened them
    methods = {name for name, _ in inspect.getmembers(Book, callable) if not name.startswith("_")}
    assert {name for name in dir(citewell.SyncBook) if not name.startswith("_")} == methods - inside | {
        "close",
        "folder",
    }


def test_the_plain_book_ends_its_thread_when_closed_or_forgotten(tmp_path: Path) -> None:
    before = set(threading.enumerate())  # a thread of an earlier test may end meanwhile
    book = citewell.open_sync(tmp_path, settings=SETTINGS)
    with pytest.raises(CollectionNotFoundError):
        book.search("anything")
    book.close()
    book.close()
    forgotten = citewell.open_sync(tmp_path, settings=SETTINGS)
    del forgotten
    assert set(threading.enumerate()) <= before


async def test_a_session_remembers_and_a_question_without_one_stands_alone(docs: Path, tmp_path: Path) -> None:
    session = "1c7a9b0e-6a57-4b0b-9b64-0a4c2c3b7a11"
    async with opened(tmp_path / "data") as book:
        await book.ingest(docs)
        first = await book.ask(QUESTION, session_id=session)
        alone = await book.ask(QUESTION)
        stored = await (await book.parts()).conversations.history(session, limit_messages=10)
    assert first.session_id == session
    assert alone.session_id != session
    assert stored[0].content == QUESTION


async def test_selected_text_is_alone_and_needs_no_index(tmp_path: Path) -> None:
    async with opened(tmp_path) as book:
        answer = await book.ask("How many joints has the arm?", selected_text="The arm has six joints and a gripper.")
    assert "six joints" in answer.text
    assert answer.citations[0].span is not None


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"selected_text": "a", "context": "b"}, InvalidInputError),
        ({"selected_text": " "}, InvalidInputError),
        ({"session_id": "me"}, InvalidSessionError),
        ({"top_k": 0}, InvalidInputError),
        ({"filters": {"author": "me"}}, InvalidInputError),
    ],
)
async def test_what_is_not_valid_is_said_before_anything_is_opened(
    how: citewell.book.Asking, error: type[citewell.CitewellError], tmp_path: Path
) -> None:
    async with opened(tmp_path / "data") as book:
        with pytest.raises(error):
            await book.ask("Which port?", **how)
    assert not (tmp_path / "data").exists()


class CountingEmbedder:
    """Two words, two directions. Says whether somebody closed it."""

    name = "counting"
    dimensions = 2
    max_tokens = 64
    is_closed = False

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([await self.embed_query(text) for text in texts])

    async def embed_query(self, text: str) -> Vector:
        vector = np.array([1 + text.count("bridge"), 1 + text.count("arm")], dtype=np.float32)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    async def ping(self) -> None: ...

    async def aclose(self) -> None:
        self.is_closed = True


async def test_an_embedder_of_the_callers_own_serves_and_stays_the_callers(docs: Path, tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    async with citewell.open(tmp_path / "data", settings=SETTINGS, embedder=embedder) as book:
        report = await book.ingest(docs)
        found = await book.search("arm")
    assert report.configuration.embedder == "counting"
    assert found.passages[0].passage.page_title == "Arm"
    assert not embedder.is_closed


async def test_an_index_of_the_callers_own_is_read_and_not_written_without_its_writer(
    docs: Path, tmp_path: Path
) -> None:
    async with opened(tmp_path / "data") as book:
        await book.ingest(docs)
    index = EdgeIndex(tmp_path / "data" / "index")
    async with citewell.open(tmp_path / "other", settings=SETTINGS, index=index) as book:
        assert (await book.search("gripper")).passages[0].passage.page_title == "Arm"
        with pytest.raises(ConfigurationError, match="writer="):
            await book.ingest(docs)
    await index.current()  # still open
    await index.aclose()
