"""Analytics for the author: what readers ask, what was refused or voted down, as figures and tables. Pure."""

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from statistics import median

from citewell.conversations.turns import AuthorEntry, ModelDay
from citewell.text import STOPWORDS, stem, words

CONFIDENCE_BINS = 10
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    answered: int
    refused: int


@dataclass(frozen=True, slots=True)
class Topic:
    """A word that refused questions have in common."""

    word: str
    refused: int
    example: str


@dataclass(frozen=True, slots=True)
class AskedOften:
    """Questions that say the same in the same words, whatever their order and endings."""

    question: str
    times: int
    refused: int
    voted_down: int


@dataclass(frozen=True, slots=True)
class Report:
    since: datetime
    until: datetime
    questions: int
    refused: int
    cut_short: int
    conflicting: int
    voted_up: int
    voted_down: int
    median_ms: float
    slow_ms: float
    """Nineteen of twenty were quicker."""
    days: tuple[Day, ...]
    """Every day of the period, also those without a question."""
    confidence: tuple[int, ...]
    """How many answers in each tenth from 0 to 1; refusals are not counted."""
    topics: tuple[Topic, ...]
    most_asked: tuple[AskedOften, ...]
    refusals: tuple[AuthorEntry, ...]
    """Newest first, as the next two."""
    down_votes: tuple[AuthorEntry, ...]
    slowest: tuple[AuthorEntry, ...]
    model_days: tuple[ModelDay, ...] = ()
    """What the hosted model cost, newest day first."""
    model_budget: tuple[int | None, int | None] = (None, None)
    """Calls and tokens that a day may cost in all; None: any number."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str
    """What to say instead of a table without rows."""


def report_of(
    entries: Iterable[AuthorEntry],
    *,
    since: datetime,
    until: datetime,
    model_days: Iterable[ModelDay] = (),
    model_budget: tuple[int | None, int | None] = (None, None),
) -> Report:
    asked = sorted(entries, key=lambda entry: entry.asked_at)
    refused = [entry for entry in asked if entry.status == "refused"]
    latencies = sorted(entry.latency_ms for entry in asked)
    return Report(
        since=since,
        until=until,
        questions=len(asked),
        refused=len(refused),
        cut_short=sum(not entry.complete for entry in asked),
        conflicting=sum(entry.conflicting_info for entry in asked),
        voted_up=sum(entry.vote == "up" for entry in asked),
        voted_down=sum(entry.vote == "down" for entry in asked),
        median_ms=median(latencies) if latencies else 0.0,
        slow_ms=latencies[math.ceil(0.95 * len(latencies)) - 1] if latencies else 0.0,
        days=_days(asked, since, until),
        confidence=_confidence(asked),
        topics=_topics(asked, refused),
        most_asked=_most_asked(asked),
        refusals=tuple(reversed(refused[-_LISTED:])),
        down_votes=tuple([entry for entry in reversed(asked) if entry.vote == "down"][:_LISTED]),
        slowest=tuple(sorted(asked, key=lambda entry: -entry.latency_ms)[:10]),
        model_days=tuple(model_days),
        model_budget=model_budget,
    )


def tables_of(report: Report) -> tuple[ReportTable, ...]:
    """The report in words and figures, for a terminal and for the page; every cell is one printable line."""
    share = f"{report.refused / report.questions:.0%}" if report.questions else "–"
    return (
        ReportTable(
            "In short",
            ("Questions", "Refused", "Cut short", "Sources disagree", "Voted up", "Voted down", "Median", "95 of 100"),
            (
                (
                    str(report.questions),
                    f"{report.refused} ({share})",
                    str(report.cut_short),
                    str(report.conflicting),
                    str(report.voted_up),
                    str(report.voted_down),
                    _seconds(report.median_ms),
                    _seconds(report.slow_ms),
                ),
            ),
            "",
        ),
        ReportTable(
            "Asked most",
            ("Question", "Times", "Refused", "Voted down"),
            tuple((one_line(a.question), str(a.times), str(a.refused), str(a.voted_down)) for a in report.most_asked),
            "Nothing was asked.",
        ),
        ReportTable(
            "Refused, by topic",
            ("Topic", "Refused", "For example"),
            tuple((one_line(topic.word), str(topic.refused), one_line(topic.example)) for topic in report.topics),
            "Nothing was refused.",
        ),
        ReportTable(
            "Refused last",
            ("When", "Question", "Reason"),
            tuple((_when(e), one_line(e.question), one_line(e.refusal_reason or "")) for e in report.refusals),
            "Nothing was refused.",
        ),
        ReportTable(
            "Voted down",
            ("When", "Question", "Comment"),
            tuple((_when(e), one_line(e.question), one_line(e.comment or "")) for e in report.down_votes),
            "Nothing was voted down.",
        ),
        ReportTable(
            "Slowest",
            ("When", "Question", "Took"),
            tuple((_when(e), one_line(e.question), _seconds(e.latency_ms)) for e in report.slowest),
            "Nothing was asked.",
        ),
        ReportTable(
            "Hosted model",
            ("Day", "Key", "Calls", "Tokens"),
            tuple(_model_rows(report.model_days, report.model_budget)),
            "No hosted model was asked.",
        ),
    )


def _model_rows(days: Sequence[ModelDay], budget: tuple[int | None, int | None]) -> Iterator[tuple[str, str, str, str]]:
    """For each day all keys together, beside what the day may cost, and each key by the beginning of its digest."""
    for day, group in groupby(days, key=lambda each: each.day):
        used = list(group)
        sums = sum(one.calls for one in used), sum(one.tokens for one in used)
        calls, tokens = (
            f"{n:,}" if most is None else f"{n:,} of {most:,}" for n, most in zip(sums, budget, strict=True)
        )
        yield f"{day:%Y-%m-%d}", "all", calls, tokens
        for one in used:
            if one.owner:
                yield f"{day:%Y-%m-%d}", one.owner[:8], f"{one.calls:,}", f"{one.tokens:,}"


def _days(asked: Sequence[AuthorEntry], since: datetime, until: datetime) -> tuple[Day, ...]:
    totals = Counter(entry.asked_at.date() for entry in asked)
    refused = Counter(entry.asked_at.date() for entry in asked if entry.status == "refused")
    count = (until.date() - since.date()).days + 1
    every_day = (since.date() + timedelta(days=n) for n in range(count))
    return tuple(Day(day, totals[day] - refused[day], refused[day]) for day in every_day)


def _confidence(asked: Sequence[AuthorEntry]) -> tuple[int, ...]:
    bins = [0] * CONFIDENCE_BINS
    for entry in asked:
        if entry.status == "success" and entry.confidence is not None:
            bins[min(CONFIDENCE_BINS - 1, max(0, int(entry.confidence * CONFIDENCE_BINS)))] += 1
    return tuple(bins)


def _topics(asked: Sequence[AuthorEntry], refused: Sequence[AuthorEntry]) -> tuple[Topic, ...]:
    """Each refused question goes to the word that most refused questions share and few others have."""
    everywhere = Counter(stem for entry in asked for stem in _words_by_stem(entry.question))
    in_refused = Counter(stem for entry in refused for stem in _words_by_stem(entry.question))
    surface: defaultdict[str, Counter[str]] = defaultdict(Counter)
    members: defaultdict[str, list[AuthorEntry]] = defaultdict(list)
    for entry in refused:
        by_stem = _words_by_stem(entry.question)
        if not by_stem:
            continue
        # Of the questions with this word, the part that was refused: "robot" stands everywhere, "licence" only here.
        chosen = max(sorted(by_stem), key=lambda s: in_refused[s] * (in_refused[s] / everywhere[s]))
        members[chosen].append(entry)
        surface[chosen][by_stem[chosen]] += 1
    topics = [Topic(surface[s].most_common(1)[0][0], len(found), found[-1].question) for s, found in members.items()]
    return tuple(sorted(topics, key=lambda topic: (-topic.refused, topic.word))[:_LISTED])


def _most_asked(asked: Sequence[AuthorEntry]) -> tuple[AskedOften, ...]:
    groups: defaultdict[tuple[str, ...], list[AuthorEntry]] = defaultdict(list)
    for entry in asked:
        groups[tuple(sorted(_words_by_stem(entry.question))) or (entry.question.casefold(),)].append(entry)
    found = [
        AskedOften(
            Counter(entry.question for entry in group).most_common(1)[0][0],
            len(group),
            sum(entry.status == "refused" for entry in group),
            sum(entry.vote == "down" for entry in group),
        )
        for group in groups.values()
    ]
    return tuple(sorted(found, key=lambda a: (-a.times, a.question))[:_LISTED])


def _words_by_stem(question: str) -> dict[str, str]:
    return {stem(word): word.lower() for word in words(question) if word.lower() not in STOPWORDS}


def one_line(text: str, limit: int = 160) -> str:
    """One line without control characters: a question must not move the author's cursor or turn the line around."""
    shown = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text if c not in _BIDI)
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _when(entry: AuthorEntry) -> str:
    return entry.asked_at.strftime("%Y-%m-%d %H:%M")


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.2f} s"
