"""Retriever and the library interface on a small book in Qdrant Edge, with an embedder that hashes words."""

import asyncio
import threading
import uuid
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import citewell
from citewell.document import Paragraph, Part, read_plain
from citewell.errors import EmbeddingError, InvalidFilterError, RateLimitError, SchemaValidationError
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.index.payload import content_hash
from citewell.retrieval import RetrievalRequest, Retriever, embed_query, retrieve, retrieve_with_retry
from citewell.retrieval.reranking import REST, Reranking
from citewell.retrieval.validation import validate
from citewell.text import content_stems
from citewell.values import Message, Page, Passage, Vector


class HashingEmbedder:
    """Texts with common words are near each other."""

    name = "hashing"
    dimensions = 256
    max_tokens = 256

    def __init__(self, failures: Sequence[EmbeddingError] = ()) -> None:
        self.failures = list(failures)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed_query(self, text: str) -> Vector:
        if self.failures:
            raise self.failures.pop(0)
        vector = np.full(self.dimensions, 1e-3, dtype=np.float32)
        for stem in content_stems(text):
            vector[zlib.crc32(stem.encode()) % self.dimensions] += 1
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([await self.embed_query(text) for text in texts])

    async def ping(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


PAGES = {
    "balance": [
        "The zero moment point tells whether a walking robot keeps its balance.",
        "A robot falls when the zero moment point leaves the support polygon.",
        "Humanoids measure it with force sensors in their feet.",
    ],
    "simulation": [
        "Gazebo simulates robots, their sensors and the ground they stand on.",
        "Start `gz_sim` with the flag --headless on a server without a screen.",
    ],
    "license": ["The zero moment point tells whether a walking robot keeps its balance!"],
    "news": ["Gazebo simulates robots with sensors faster."],
    "quiz": ["Which sensors do robots have that Gazebo simulates?"],
    "billing": ["The plan costs 20 euros a month.", "Invoices are sent by post."],
}


ASIDE: dict[str, Part] = {"news": "changelog", "quiz": "quiz"}


def book() -> list[Passage]:
    made = []
    for page, texts in PAGES.items():
        start = 0
        for number, text in enumerate(texts):
            passage = Passage(
                id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{page}/{number}")),
                url=f"https://book.example/{page}",
                page_title=page.title(),
                text=text,
                chunk_index=number,
                char_start=start,
                char_end=start + len(text),
                heading_path=("Basics",),
                module="Robots" if page != "billing" else "Shop",
                blocks=(Paragraph(start=0, end=len(text), part=ASIDE[page]),) if page in ASIDE else (),
            )
            made.append(replace(passage, content_hash=content_hash(passage)))
            start += len(text) + 2
    return made


async def test_a_quiz_comes_last_unless_it_is_asked_for(retriever: Retriever) -> None:
    found = await retriever.rank("Which sensors do robots have that Gazebo simulates?", depth=20)
    assert [each.passage.url.rpartition("/")[2] for each in found.passages][-2:] == ["quiz", "news"]
    asked = await retriever.rank("Which quiz asks for the sensors that Gazebo simulates?", depth=20)
    assert asked.passages[0].passage.url.endswith("/quiz")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    embedder, passages = HashingEmbedder(), book()
    draft = await EdgeWriter(tmp_path).begin(embedder=embedder.name, dimensions=embedder.dimensions)
    for name, texts in PAGES.items():
        text = "\n\n".join(["## Basics", *texts])
        await draft.add_page(Page(f"https://book.example/{name}", name.title(), text, read_plain(text)))
    await draft.add(passages, await embedder.embed_passages([p.embedded_text for p in passages]))
    await draft.publish()
    made = EdgeIndex(tmp_path)
    yield made
    await made.aclose()


@pytest.fixture
def retriever(index: EdgeIndex) -> Retriever:
    return Retriever(index, HashingEmbedder())


async def test_the_passage_that_answers_comes_first(retriever: Retriever) -> None:
    found = await retriever.search("When does a robot fall?", score_threshold=0.0)
    assert "falls" in found.passages[0].passage.text
    assert found.total_found > len(found.passages) - 1
    assert found.embedding_ms >= 0
    assert found.search_ms > 0


@pytest.mark.parametrize("query", ["gz_sim", "what does --headless do?"])
async def test_an_identifier_comes_first(retriever: Retriever, query: str) -> None:
    found = await retriever.search(query, score_threshold=0.0)
    assert "gz_sim" in found.passages[0].passage.text


async def test_what_was_changed_comes_first_only_when_changes_are_asked_for(retriever: Retriever) -> None:
    asked = [
        await retriever.search(q) for q in ("Gazebo simulates robots", "Since when Gazebo simulates robots faster")
    ]
    assert [found.passages[0].passage.page_title for found in asked] == ["Simulation", "News"]
    assert "News" in [item.passage.page_title for item in asked[0].passages]


class Preferring:
    """A re-ranker that wants one word."""

    def __init__(self, word: str) -> None:
        self.word = word

    async def weigh(self, query: str, passages: Sequence[Passage]) -> list[float]:
        return [float(self.word in passage.text) for passage in passages]


async def test_a_reranker_has_a_say_among_the_first_and_no_more(index: EdgeIndex) -> None:
    question = "zero moment point of a walking robot"

    async def first(rerank: int) -> str:
        retriever = Retriever(index, HashingEmbedder(), reranking=Reranking(Preferring("polygon"), rerank))
        return (await retriever.search(question, score_threshold=0.0)).passages[0].passage.text

    assert "balance" in await first(0)
    assert "polygon" in await first(8)
    assert "balance" in await first(1)


async def test_a_reranker_does_not_cost_an_identifier(index: EdgeIndex) -> None:
    retriever = Retriever(index, HashingEmbedder(), reranking=Reranking(Preferring("Invoices"), 8))
    assert "gz_sim" in (await retriever.search("gz_sim", score_threshold=0.0)).passages[0].passage.text


async def test_a_machine_too_slow_to_rerank_keeps_the_order_of_the_search_and_says_so(index: EdgeIndex) -> None:
    class Endless:
        asked = 0

        async def weigh(self, query: str, passages: Sequence[Passage]) -> list[float]:
            self.asked += 1
            await asyncio.Event().wait()
            raise AssertionError("it never comes round")

    slow, now = Endless(), [0.0]
    reranking = Reranking(slow, 8, seconds=0.01, clock=lambda: now[0])
    retriever = Retriever(index, HashingEmbedder(), reranking=reranking)
    question = "zero moment point of a walking robot"
    plain = await Retriever(index, HashingEmbedder()).search(question, score_threshold=0.0)
    found = await retriever.search(question, score_threshold=0.0)
    assert (found.passages, found.reranked, plain.reranked) == (plain.passages, False, None)
    assert not (await retriever.search(question, score_threshold=0.0)).reranked
    assert slow.asked == 1  # it is left in peace for a while
    now[0] += REST
    await retriever.search(question, score_threshold=0.0)
    assert slow.asked == 2


async def test_a_repeated_passage_is_shown_once(retriever: Retriever) -> None:
    found = await retriever.search("zero moment point walking robot balance", score_threshold=0.0, top_k=8)
    texts = [p.passage.text.rstrip(".!") for p in found.passages]
    assert len(texts) == len(set(texts))


async def test_order_is_by_rank_and_the_same_every_time(retriever: Retriever) -> None:
    runs = [await retriever.search("robots and sensors", score_threshold=0.0, top_k=8) for _ in range(3)]
    assert runs[0].passages == runs[1].passages == runs[2].passages
    fused = [(-p.fused, p.passage.id) for p in runs[0].passages if p.passage.page_title not in ("News", "Quiz")]
    assert fused == sorted(fused)


async def test_weak_passages_are_left_out_unless_the_request_lowers_the_line(retriever: Retriever) -> None:
    question = "Which colour is the moon over Jupiter tonight?"
    assert (await retriever.search(question)).passages == ()
    assert (await retriever.search(question, score_threshold=0.0)).passages
    strict = await retriever.search("zero moment point", score_threshold=0.99)
    assert strict.passages == ()
    assert strict.total_found == 0


async def test_filters_confine_and_a_filter_without_match_finds_nothing(retriever: Retriever) -> None:
    found = await retriever.search("robot", filters={"module": ("Shop",)}, score_threshold=0.0, top_k=20)
    assert {p.passage.module for p in found.passages} == {"Shop"}
    assert (await retriever.search("robot", filters={"module": ("Nothing",)}, score_threshold=0.0)).passages == ()


async def test_a_follow_up_finds_what_it_is_about(retriever: Retriever) -> None:
    history = (
        Message("user", "What is the zero moment point?"),
        Message("assistant", "A point that tells whether a robot keeps its balance."),
    )
    alone = await retriever.search("And how is it measured?", score_threshold=0.0, top_k=1)
    assert "force sensors" in alone.passages[0].passage.text
    vague = "What about that one?"
    found = await retriever.search(vague, score_threshold=0.0, top_k=1, history=history)
    assert "zero moment point" in found.passages[0].passage.text


async def test_the_pages_of_the_book_are_listed_and_read(retriever: Retriever) -> None:
    page = await retriever.page("https://book.example/balance")
    assert page is not None
    assert page.text == "\n\n".join(["## Basics", *PAGES["balance"]])
    assert await retriever.page("https://book.example/none") is None
    assert [page.url.rsplit("/", 1)[1] for page in await retriever.pages()] == list(PAGES)


async def test_an_index_of_another_embedder_is_refused_by_name(index: EdgeIndex) -> None:
    other = HashingEmbedder()
    other.name = "another"
    with pytest.raises(SchemaValidationError, match=r"hashing.*another"):
        await Retriever(index, other).search("robot")
    checks = await validate(index, other)
    assert [c.status for c in checks] == ["pass", "pass", "fail", "skip"]


async def test_validation_passes_on_a_sound_index(index: EdgeIndex, tmp_path: Path) -> None:
    assert [c.status for c in await validate(index, HashingEmbedder())] == ["pass"] * 4
    assert [c.status for c in await validate(EdgeIndex(tmp_path / "none"), HashingEmbedder())] == [
        "pass",
        "fail",
        "skip",
        "skip",
    ]


async def test_the_library_returns_the_results_of_the_specification(retriever: Retriever) -> None:
    request = RetrievalRequest("zero moment point", top_k=2, score_threshold=0.1, filters={"page_title": "Balance"})
    found = await retrieve(request, retriever=retriever)
    assert found.query == "zero moment point"
    assert len(found.results) == 2
    assert found.latency_ms == pytest.approx(found.embedding_ms + found.search_ms)
    first = found.results[0]
    assert (first.source_url, first.page_title, first.section_heading) == (
        "https://book.example/balance",
        "Balance",
        "Basics",
    )
    assert first.chunk_text == PAGES["balance"][first.chunk_index]
    assert 0 <= first.score <= 1


async def test_the_library_opens_the_configured_book_and_closes_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_DATA_DIR", str(tmp_path))
    (tmp_path / "page.md").write_text("# Robot\n\nA robot balances on two legs.\n", "utf-8")
    async with citewell.open(tmp_path) as book:
        await book.ingest(tmp_path / "page.md")
    threads = threading.active_count()
    for _ in range(2):
        assert (await retrieve(RetrievalRequest("robot", score_threshold=0.0))).results
    assert (await embed_query("robot")).shape == (384,)
    assert threading.active_count() <= threads + 1  # the event loop's own


async def test_what_can_pass_is_tried_again_and_nothing_else(index: EdgeIndex) -> None:
    request = RetrievalRequest("robot", score_threshold=0.0)
    busy = HashingEmbedder([RateLimitError("wait"), RateLimitError("wait")])
    assert (await retrieve_with_retry(request, retriever=Retriever(index, busy))).results
    once = HashingEmbedder([RateLimitError("wait")])
    with pytest.raises(RateLimitError):
        await retrieve(request, retriever=Retriever(index, once))
    broken = HashingEmbedder([EmbeddingError("broken"), EmbeddingError("broken")])
    with pytest.raises(EmbeddingError):
        await retrieve_with_retry(request, retriever=Retriever(index, broken))
    assert len(broken.failures) == 1


def test_an_unknown_filter_lists_the_known_ones() -> None:
    with pytest.raises(InvalidFilterError, match="source_url, page_title, section_heading"):
        RetrievalRequest("robot", filters={"author": "me"})
