"""The questions that a reader is offered: the book's own, phrased as questions, and found by its search."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.api.suggestions import MOST_SEARCHES, OFFERED, Suggestions, spread, suggestions
from citewell.document import read_plain
from citewell.errors import DeadlineError
from citewell.ingest.pagetext import PageText
from citewell.retrieval import Found
from citewell.values import NO_FILTERS, Filters, Page, PageEntry, Passage, ScoredPassage

STEPS = "\n\n1. Do this.\n2. Do that.\n"


@dataclass
class Shelf:
    """A book in memory. Its search finds the section whose heading shares most words with the question."""

    texts: dict[str, str]
    score: float = 0.8
    searched: list[str] = field(default_factory=list)
    slow: frozenset[int] = frozenset()
    """Which searches take too long, counted from 1."""

    async def pages(self) -> list[PageEntry]:
        return [PageEntry(url, url.strip("/"), url.split("/")[1], 1) for url in self.texts]

    async def page(self, url: str) -> Page | None:
        text = self.texts.get(url)
        return None if text is None else Page(url, url, text, read_plain(text))

    async def search(self, query: str, *, top_k: int = 5, filters: Filters = NO_FILTERS) -> Found:
        del filters
        self.searched.append(query)
        if len(self.searched) in self.slow:
            raise DeadlineError("The search took longer than 5 s.")
        await asyncio.sleep(0)  # others get their turn, as in a real search
        words = set(query.lower().rstrip("?").split())
        headings = [
            (url, line[3:]) for url, text in self.texts.items() for line in text.split("\n") if line[:3] == "## "
        ]
        best = sorted(headings, key=lambda h: -len(words & set(h[1].lower().split())))
        return Found(tuple(self._scored(url, heading) for url, heading in best[:top_k]), 1, "g1", 1.0, 1.0, query)

    def _scored(self, url: str, heading: str) -> ScoredPassage:
        passage = Passage(
            id=url,
            url=url,
            page_title=url,
            text=heading,
            chunk_index=0,
            char_start=0,
            char_end=1,
            heading_path=(heading,),
        )
        return ScoredPassage(passage, score=self.score, dense=self.score, bm25=1.0, fused=1.0)


def asked(title: str, text: str) -> list[str]:
    return [suggestion.question for suggestion in suggestions(Page("/p", title, text, read_plain(text)))]


@pytest.mark.parametrize(
    ("heading", "body", "question"),
    [
        ("Packages", "A package is the unit of sharing.", "What is a package?"),
        ("Sensor fusion", "Sensor fusion is the combination of data.", "What is sensor fusion?"),
        ("Lifecycle nodes", "Rarely used. Lifecycle nodes are the managed ones.", "What are lifecycle nodes?"),
        ("Gazebo", "Gazebo is a simulator. Start Gazebo first.", "What is Gazebo?"),
        ("The Motion Pipeline", "The motion pipeline is the chain of steps.", "What is the motion pipeline?"),
        ("3. Odometry", "Odometry is the sum of small steps.", "What is odometry?"),
        ("How to record a bag", STEPS, "How do I record a bag?"),
        ("Deploy your site", STEPS, "How do I deploy my site?"),
        ("Setting the clock", "\n```bash\ndate\n```\n", "How do I set the clock?"),
        ("What is it for?", "Many things.", "What is it for?"),
    ],
)
def test_a_heading_becomes_a_question_in_the_words_of_the_book(heading: str, body: str, question: str) -> None:
    assert asked("Page", f"## {heading}\n\n{body}\n") == [question]


@pytest.mark.parametrize(
    ("heading", "body"),
    [
        ("Introduction", "Welcome to the book."),
        ("Packages", "See the list below. It is long."),
        ("How to record a bag", "This is hard to say."),
        ("docusaurus build [siteDir]", STEPS),
        ("Generating and accessing routes" + " of every kind" * 5, STEPS),
        ("Run", STEPS),
    ],
)
def test_a_heading_without_the_look_of_an_answer_asks_nothing(heading: str, body: str) -> None:
    assert asked("Page", f"## {heading}\n\n{body}\n") == []


def test_a_heading_of_a_quiz_or_of_exercises_asks_nothing() -> None:
    page = PageText()
    page.heading(1, "Nodes", "")
    page.heading(2, "Exercises", "exercises")
    page.heading(3, "How to record a bag", "record")
    page.item("1.", "Do this.", "")
    assert not list(suggestions(Page("/p", "Nodes", page.text, tuple(page.blocks))))


def test_the_title_of_a_counted_lesson_asks_for_its_topic() -> None:
    assert asked("Lesson 1.2 — The Jacobian", "The Jacobian is the matrix of slopes.\n") == ["What is the Jacobian?"]


def test_the_capitals_of_a_title_are_not_those_of_its_words() -> None:
    body = f"Unit 1, Start the System Inside Gazebo\n\nRun Gazebo once. The system is inside Gazebo.{STEPS}"
    assert asked("Start the System Inside Gazebo", body) == ["How do I start the system inside Gazebo?"]


@given(st.text(), st.text())
def test_any_page_can_be_read(title: str, text: str) -> None:
    assert all(question.endswith("?") for question in asked(title, text))


def test_each_module_comes_in_turn() -> None:
    pages = [PageEntry(f"/{module}/{n}", "", module, 1) for module, n in ("a1", "a2", "a3", "b1", "c1", "c2")]
    assert [page.url for page in spread(pages)] == ["/a/1", "/b/1", "/c/1", "/a/2", "/c/2", "/a/3"]


def a_shelf(names: Sequence[str], score: float = 0.8) -> Shelf:
    return Shelf({f"/m/{name}": f"## {name}\n\nA {name} is a thing.\n" for name in names}, score)


async def test_a_few_questions_are_offered_and_sought_once() -> None:
    shelf = a_shelf(["node", "topic", "bag", "robot", "frame", "link"])
    kept = Suggestions(shelf)
    offered = await kept.of(await shelf.pages())
    assert offered == ["What is a node?", "What is a topic?", "What is a bag?", "What is a robot?"]
    assert len(offered) == OFFERED
    searches = len(shelf.searched)
    assert await kept.of(await shelf.pages()) == offered
    assert len(shelf.searched) == searches
    shelf.texts = a_shelf(["wheel"]).texts
    assert await kept.of(await shelf.pages()) == ["What is a wheel?"]


async def test_readers_who_come_at_once_share_one_seeking() -> None:
    shelf = a_shelf(["node", "topic"])
    kept, pages = Suggestions(shelf), await shelf.pages()
    one, other = await asyncio.gather(kept.of(pages), kept.of(pages))
    assert one == other == ["What is a node?", "What is a topic?"]
    assert len(shelf.searched) == len(set(shelf.searched))


async def test_a_search_that_takes_too_long_costs_its_own_question_only() -> None:
    shelf = a_shelf(["node", "topic", "bag"])
    shelf.slow = frozenset({1})
    assert await Suggestions(shelf).of(await shelf.pages()) == ["What is a topic?", "What is a bag?"]


async def test_what_the_search_does_not_find_there_is_not_offered() -> None:
    shelf = a_shelf(["node"])
    shelf.texts["/m/other"] = "## What is a node really?\n\nIt is said here.\n"
    assert await Suggestions(shelf).of(await shelf.pages()) == ["What is a node really?"]
    weak = a_shelf(["node", "topic"], score=0.3)
    assert await Suggestions(weak).of(await weak.pages()) == []


async def test_a_book_that_finds_nothing_costs_a_bounded_number_of_searches() -> None:
    weak = a_shelf([f"thing{n}" for n in range(90)], score=0.1)
    assert await Suggestions(weak).of(await weak.pages()) == []
    assert len(weak.searched) == MOST_SEARCHES
