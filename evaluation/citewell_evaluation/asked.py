"""Questions of public data sets asked of the built-in reader: what it saw, what it quotes, and whether that is right.

An answer is right when it quotes what it should: the gold span, the golden words, or a reference passage. What cannot
be answered has no right answer.
"""

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from citewell.answering.confidence import Features, features_of
from citewell.answering.evidence import Evidence
from citewell.errors import InvalidInputError
from citewell.reader import Inquiry, PassageReading, Quote, Reader, choose, compose
from citewell.retrieval import Found, standing_alone
from citewell.values import Message, Passage, ScoredPassage
from citewell_evaluation import Progress, quiet
from citewell_evaluation.datasets import (
    Document,
    PassageQuestion,
    form_of,
    name_of,
    read_corpus_questions,
    read_documents,
    read_golden,
    read_listed_questions,
    read_passage_questions,
)
from citewell_evaluation.verdicts import is_expected, verdict_of

TOP_K = 5
_MARKERS = re.compile(r"\s*\[\d{1,4}\]")
_STRANGERS = 6
"""One question in so many is asked of a passage of another article too: SQuAD has near misses only."""


_OTHERS = 10
"""Documents beside the right ones for each question of a sample."""


class Searching(Protocol):
    async def search(self, query: str, *, top_k: int, history: Sequence[Message] = ()) -> Found: ...

    async def passages_of(self, url: str) -> list[Passage]: ...


Over = Callable[[str, Sequence[Document]], AbstractAsyncContextManager[Searching]]
"""Opens a search over some documents; the name tells one such index from another."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question went."""

    id: str
    question: str
    answerable: bool
    answer: str
    features: Features
    right: bool
    """Whether the answer holds what it should; never for a question that cannot be answered."""
    right_with_two: bool = False
    """Whether the two best sentences hold the gold span."""
    right_with_one: bool = False
    group: str = ""
    """Examples of one group are never on both sides of a split: an article, a conversation, or the question itself."""
    made_up: bool = False
    """A question asked of a passage it does not belong to: fitted to, not measured on."""
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Sets:
    """What asking needs: a reader, the index of the book that golden sets belong to, and a way to index others."""

    reader: Reader
    book: Searching | None
    over: Over
    most: int = 0
    """Questions of one set, spread over it; 0 for all."""
    books: Mapping[Path, Searching] = field(default_factory=dict)
    """The indexes of golden sets that belong to other books."""

    def some(self, questions: Sequence[Any]) -> Sequence[Any]:
        return _spread(questions, self.most) if self.most else questions

    def name(self, path: Path) -> str:
        """Of the index; a sample has one of its own."""
        return f"{name_of(path)}-{self.most}" if self.most else name_of(path)

    def documents(self, all_of_them: Sequence[Document], needed: Collection[str]) -> list[Document]:
        """With few questions few documents: those that answer, and so many others for each question."""
        kept = {one.id for one in _spread(all_of_them, self.most * _OTHERS)} if self.most else ()
        return [one for one in all_of_them if not self.most or one.id in kept or one.id in needed]


def _spread(items: Sequence[Any], most: int) -> Sequence[Any]:
    return items if len(items) <= most else [items[i * len(items) // most] for i in range(most)]


async def outcomes_of(path: Path, sets: Sets, *, pooled: bool = False, progress: Progress = quiet) -> list[Outcome]:
    """Every question of the set. `pooled`: those that carry their passage are asked of all passages together."""
    match form_of(path):
        case "passage" if pooled:
            return await _pooled(path, sets, progress)
        case "passage":
            return await _selections(path, sets, progress)
        case "corpus":
            return await _corpus(path, sets, progress)
        case "listed":
            return await _listed(path, sets, progress)
        case "golden" if (book := sets.books.get(path, sets.book)) is not None:
            return await _golden(path, sets.reader, book, progress)
    raise InvalidInputError(f"{path.name} is no data set that the reader can be asked.", field="dataset")


@dataclass(frozen=True, slots=True)
class _Read:
    readings: list[PassageReading]
    features: Features
    groups: list[list[Quote]]
    answer: str
    elapsed_ms: float

    @property
    def quoted(self) -> list[Quote]:
        return [quote for group in self.groups for quote in group]

    def best(self, count: int) -> str:
        """The units with the highest scores."""
        units = [
            (unit.score, r.passage.text[unit.start : unit.end]) for r in self.readings for b in r.units for unit in b
        ]
        return " ".join(text for _, text in sorted(units, key=lambda pair: -pair[0])[:count])


async def _read(
    reader: Reader, question: str, found: Sequence[ScoredPassage], background: float, searching: Searching | None
) -> _Read:
    started = time.perf_counter()
    readings = await reader.read(question, found)
    seen = features_of(question, readings, found, background)
    pages: Mapping[str, Sequence[Passage]] = {}
    if searching is not None:
        best = sorted(readings, key=lambda r: -r.weight)
        urls = list(dict.fromkeys(r.passage.url for r in best))[:2]
        pages = {url: await searching.passages_of(url) for url in urls}
    groups = choose(Inquiry(question), readings, pages)
    evidence = Evidence()

    def number(passage: Passage) -> int:
        return evidence.number(ScoredPassage(passage, 0.0, 0.0, 0.0, 0.0))

    answer = compose(groups, number)
    return _Read(readings, seen, groups, answer, (time.perf_counter() - started) * 1000)


async def _selections(path: Path, sets: Sets, progress: Progress) -> list[Outcome]:
    """SQuAD 2.0's form, one group for each article."""
    questions = sets.some(read_passage_questions(path))
    found = []
    for number, question in enumerate(questions):
        read = await _read(sets.reader, question.question, [_selected(question.passage)], 1.0, None)
        found.append(
            Outcome(
                id=question.id,
                question=question.question,
                answerable=question.answerable,
                answer=read.answer,
                features=read.features,
                right=question.answerable and holds(read.answer, question.answers),
                right_with_two=holds(read.best(2), question.answers),
                right_with_one=holds(read.best(1), question.answers),
                group=question.title or question.id,
                elapsed_ms=read.elapsed_ms,
            )
        )
        if number % _STRANGERS == 0 and (other := _stranger(questions, number)):
            read = await _read(sets.reader, question.question, [_selected(other)], 1.0, None)
            group = question.title or question.id
            made_up = Outcome(
                question.id, question.question, False, "", read.features, False, group=group, made_up=True
            )
            found.append(made_up)
        progress(number + 1, len(questions), "selections")
    return found


def _selected(text: str) -> ScoredPassage:
    return Evidence().add_selection(text)


def _stranger(questions: Sequence[PassageQuestion], number: int) -> str:
    """The passage half the file further on, when it is of another article."""
    other = questions[(number + len(questions) // 2) % len(questions)]
    return other.passage if other.title != questions[number].title else ""


async def _pooled(path: Path, sets: Sets, progress: Progress) -> list[Outcome]:
    questions = read_passage_questions(path)
    passages = list(dict.fromkeys((q.passage, q.title.replace("_", " ")) for q in questions))
    documents = [Document(str(number), title, text) for number, (text, title) in enumerate(passages)]
    some = sets.some(questions)
    found = []
    async with sets.over(name_of(path), documents) as searching:
        for number, question in enumerate(some, start=1):
            seen = await searching.search(question.question, top_k=TOP_K)
            read = await _read(sets.reader, question.question, seen.passages, seen.background, searching)
            own = any(quote.piece.passage.text in question.passage for quote in read.quoted)
            right = question.answerable and own and holds(read.answer, question.answers)
            found.append(_outcome(question.id, question.question, question.answerable, read, right, question.title))
            progress(number, len(some), "pooled questions")
    return found


async def _corpus(path: Path, sets: Sets, progress: Progress) -> list[Outcome]:
    """MTRAG's form over the corpus beside the file: right when a reference passage is quoted."""
    asked = [q for q in read_corpus_questions(path) if q.answerability in ("answerable", "unanswerable")]
    some = sets.some(asked)
    found = []
    needed = {name for question in some for name in question.passages}
    documents = sets.documents(read_documents(path.parent / "corpus.jsonl"), needed)
    async with sets.over(sets.name(path.parent), documents) as searching:
        for number, question in enumerate(some, start=1):
            alone = standing_alone(question.question, question.history)[0]
            seen = await searching.search(alone, top_k=TOP_K, history=question.history)
            read = await _read(sets.reader, alone, seen.passages, seen.background, searching)
            right = [s.passage.text for s in seen.passages if s.passage.url in question.passages]
            texts = [quote.piece.text for quote in read.quoted]
            good = question.answerability == "answerable" and any(text in whole for text in texts for whole in right)
            # Turns of one conversation share their words and passages.
            conversation = question.id.split("<::>")[0]
            answerable = question.answerability == "answerable"
            found.append(_outcome(question.id, question.question, answerable, read, good, conversation))
            progress(number, len(some), "turns")
    return found


async def _listed(path: Path, sets: Sets, progress: Progress) -> list[Outcome]:
    """NoMIRACL's form, all lists in one index. It does not say which passage answers: one of its own list must do."""
    some = sets.some(read_listed_questions(path))
    texts = dict.fromkeys(text for question in some for text in question.passages)
    documents = [Document(str(i), *_titled(text)) for i, text in enumerate(texts)]
    found = []
    async with sets.over(sets.name(path), documents) as searching:
        for number, question in enumerate(some, start=1):
            seen = await searching.search(question.question, top_k=TOP_K)
            read = await _read(sets.reader, question.question, seen.passages, seen.background, searching)
            own = [_titled(text)[1] for text in question.passages]
            right = question.answerable and any(q.piece.passage.text in text for q in read.quoted for text in own)
            found.append(_outcome(question.id, question.question, question.answerable, read, right))
            progress(number, len(some), "listed questions")
    return found


def _titled(text: str) -> tuple[str, str]:
    """ "Title: text", as NoMIRACL writes its passages."""
    title, colon, rest = text.partition(": ")
    return (title, rest) if colon else ("", text)


async def _golden(path: Path, reader: Reader, searching: Searching, progress: Progress) -> list[Outcome]:
    """A golden set over its own index. What finds no passage at all is refused without a model and left out."""
    golden = read_golden(path)
    found = []
    for number, one in enumerate(golden, start=1):
        history = tuple(Message("user", said) for said in one.history)
        alone = standing_alone(one.question, history)[0]
        seen = await searching.search(alone, top_k=TOP_K, history=history)
        if seen.passages:
            read = await _read(reader, alone, seen.passages, seen.background, searching)
            urls = [quote.piece.passage.url for quote in read.quoted]
            cites = any(is_expected(url, one.urls) for url in urls)
            right = one.in_book and verdict_of(one, read.answer, cites=cites) == "complete"
            found.append(_outcome(one.id, one.question, one.in_book, read, right))
        progress(number, len(golden), "golden questions")
    return found


def _outcome(name: str, question: str, answerable: bool, read: _Read, right: bool, group: str = "") -> Outcome:
    return Outcome(
        id=name,
        question=question,
        answerable=answerable,
        answer=read.answer,
        features=read.features,
        right=right,
        group=group or question,
        elapsed_ms=read.elapsed_ms,
    )


def holds(answer: str, spans: Sequence[str]) -> bool:
    """Whether the answer, without its markers, has one of the spans word for word."""
    text = " ".join(_MARKERS.sub("", answer).split())
    return any(" ".join(span.split()) in text for span in spans)
