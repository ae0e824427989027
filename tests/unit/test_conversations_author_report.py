"""The author's report."""

import html.parser
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.conversations import AuthorEntry, Vote
from citewell.conversations.author_report import AskedOften, Day, Report, one_line, report_of, tables_of
from citewell.conversations.author_report_page import page_of
from citewell.conversations.turns import ModelDay

SINCE = datetime(2026, 3, 1, tzinfo=UTC)
UNTIL = datetime(2026, 3, 4, 12, tzinfo=UTC)


def entry(
    question: str,
    *,
    refused: bool = False,
    hours: float = 1.0,
    confidence: float | None = 0.85,
    latency_ms: float = 500.0,
    complete: bool = True,
    conflicting_info: bool = False,
    vote: Vote | None = None,
    comment: str | None = None,
) -> AuthorEntry:
    return AuthorEntry(
        question=question,
        status="refused" if refused else "success",
        asked_at=SINCE + timedelta(hours=hours),
        confidence=confidence,
        latency_ms=latency_ms,
        complete=complete,
        refusal_reason="The book does not say." if refused else None,
        conflicting_info=conflicting_info,
        vote=vote,
        comment=comment,
    )


def report(*entries: AuthorEntry) -> Report:
    return report_of(entries, since=SINCE, until=UNTIL)


def test_every_day_of_the_period_is_there() -> None:
    made = report(entry("a", hours=1), entry("b", hours=50), entry("c", hours=51, refused=True))
    assert made.days == (
        Day(SINCE.date(), 1, 0),
        Day(date(2026, 3, 2), 0, 0),
        Day(date(2026, 3, 3), 1, 1),
        Day(date(2026, 3, 4), 0, 0),
    )


def test_the_same_question_in_other_words_order_is_counted_once() -> None:
    made = report(
        entry("How do I build a workspace?"),
        entry("how do I build a workspace"),
        entry("building the workspaces", vote="down"),
        entry("What is a node?"),
        entry("How do I build a workspace?", refused=True),
    )
    assert made.most_asked == (
        AskedOften("How do I build a workspace?", 4, 1, 1),
        AskedOften("What is a node?", 1, 0, 0),
    )


def test_a_topic_is_a_word_of_refused_questions_not_of_the_whole_book() -> None:
    made = report(
        *(entry(f"How does the robot {verb}?") for verb in ("walk", "turn", "stop", "see", "hear")),
        entry("What does a robot cost?", refused=True),
        entry("How much do the robots cost?", refused=True),
        entry("Who wrote the book?", refused=True),
        entry("?", refused=True),
    )
    assert [(topic.word, topic.refused) for topic in made.topics] == [("cost", 2), ("book", 1)]


def test_confidence_is_counted_in_tenths_and_refusals_are_not() -> None:
    made = report(
        entry("a", confidence=0.0),
        entry("b", confidence=0.85),
        entry("c", confidence=1.0),
        entry("d", confidence=None),
        entry("e", confidence=0.1, refused=True),
    )
    assert made.confidence == (1, 0, 0, 0, 0, 0, 0, 0, 1, 1)


def test_times_votes_and_the_rest_are_added_up() -> None:
    made = report(
        *(entry(f"q{n}", hours=n, latency_ms=n * 100.0) for n in range(1, 21)),
        entry("last", hours=30, vote="down", comment="Old.", latency_ms=50, complete=False, conflicting_info=True),
        entry("liked", hours=29, vote="up", latency_ms=50),
    )
    assert (made.questions, made.refused, made.cut_short, made.conflicting) == (22, 0, 1, 1)
    assert (made.voted_up, made.voted_down) == (1, 1)
    assert (made.median_ms, made.slow_ms) == (950.0, 1900.0)
    assert [e.question for e in made.slowest[:2]] == ["q20", "q19"]
    assert [(e.question, e.comment) for e in made.down_votes] == [("last", "Old.")]


def test_what_the_model_cost_stands_beside_what_it_may_cost() -> None:
    day = SINCE.date()
    used = [ModelDay(day, "", 2, 300), ModelDay(day, "0123456789abcdef", 1, 1000)]
    made = report_of([], since=SINCE, until=UNTIL, model_days=used, model_budget=(10, None))
    assert tables_of(made)[-1].rows == (
        (f"{day}", "all", "3 of 10", "1,300"),
        (f"{day}", "01234567", "1", "1,000"),
    )


def test_nothing_asked_is_a_report_too() -> None:
    made = report()
    assert (made.questions, made.median_ms, made.topics) == (0, 0.0, ())
    assert "Nothing was refused." in page_of(made)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("two\nlines\u2028three", "two lines three"),
        ("\x1b[31mred\x07", "[31mred"),
        ("\u202eturned", "turned"),
        ("שלום 🙂", "שלום 🙂"),
        ("long " * 100, ("long " * 100)[:159] + "…"),
    ],
)
def test_a_cell_is_one_printable_line(text: str, line: str) -> None:
    assert one_line(text) == line


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action")]


@given(st.lists(st.text(max_size=60) | st.just('"><script src=x></script><img onerror=a>'), max_size=5))
def test_the_page_loads_nothing_and_shows_questions_as_text(questions: list[str]) -> None:
    asked = [entry(q or "?", refused=n % 2 == 0, vote="down", comment=q) for n, q in enumerate(questions)]
    seen = _Tags()
    seen.feed(page_of(report(*asked)))
    assert not seen.tags & {"script", "img", "link", "iframe", "a", "object"}
    assert seen.addresses == []


def test_the_page_holds_four_plots_and_every_table() -> None:
    made = report(entry("What is a node?"), entry("Who wrote it?", refused=True, vote="down"))
    page = page_of(made)
    assert page.count("<svg") == 4
    for table in tables_of(made):
        assert f"<h2>{table.title}</h2>" in page
        assert {len(row) for row in table.rows} <= {len(table.columns)}
