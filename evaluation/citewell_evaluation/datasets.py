"""Readers of evaluation data: JSON lines, one form for each kind of question. Reads files, knows no metrics.

A line that is not what it should be is an error that names the file and the line: data that is skipped in silence
would make every figure a guess.
"""

import gzip
import hashlib
import itertools
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from citewell.errors import InvalidInputError
from citewell.values import Message

Answerability = Literal["answerable", "partial", "unanswerable", "conversational"]
_HELD_OUT_SEED, _HELD_OUT_SHARE = 5, 12
"""As in `training.data`."""
_MARKER = re.compile(r"\s*\[\d+\]")
_ANSWERABILITIES: tuple[Answerability, ...] = ("answerable", "partial", "unanswerable", "conversational")


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    id: str
    text: str
    relevant: Mapping[str, float]
    history: tuple[Message, ...] = ()
    rewritten: str = ""
    """The question as a person made it stand alone; empty when the set has none."""


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    name: str
    documents: tuple[Document, ...]
    queries: tuple[RetrievalQuery, ...]


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question and the one passage that it is asked of."""

    id: str
    title: str
    passage: str
    question: str
    answerable: bool
    answers: tuple[str, ...]
    """Spans of the passage, each of them right."""


@dataclass(frozen=True, slots=True)
class CorpusQuestion:
    """A turn of a conversation over a whole corpus."""

    id: str
    question: str
    history: tuple[Message, ...]
    answerability: Answerability
    passages: tuple[str, ...]
    """Ids of the documents that the reference answer rests on."""
    reference_answer: str


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """A question and the passages that a search gave, the answer among them or not."""

    id: str
    question: str
    passages: tuple[str, ...]
    answerable: bool


@dataclass(frozen=True, slots=True)
class Claim:
    id: str
    claim: str
    evidence: tuple[str, ...]
    supported: bool
    relation: str = ""
    """entailment, contradiction or neutral, when the set tells them apart."""
    headings: tuple[str, ...] = ()
    """Of each evidence, when they are known."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """A whole answer that a person or a model gave from passages. `faithfulness` is a person's mark, 1 to 4."""

    id: str
    model: str
    answer: str
    passages: tuple[str, ...]
    faithfulness: float | None


@dataclass(frozen=True, slots=True)
class ConflictQuestion:
    id: str
    question: str
    passages: tuple[str, ...]
    conflicting: bool


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question of an author's golden set. Without `urls` the book is not supposed to know."""

    id: str
    question: str
    urls: tuple[str, ...]
    kind: str
    must: tuple[tuple[str, ...], ...] = ()
    """Groups of phrases: a whole answer has one of each."""
    must_not: tuple[str, ...] = ()
    max_words: int | None = None
    history: tuple[str, ...] = ()
    """What was asked before, in the same session."""

    @property
    def in_book(self) -> bool:
        return bool(self.urls)


class _Line:
    """A JSON object of a data file, read field by field."""

    def __init__(self, path: Path, number: int, fields: dict[str, object]) -> None:
        self._where = f"{path.name}, line {number}"
        self._fields = fields
        self.number = number

    def wrong(self, what: str) -> InvalidInputError:
        return InvalidInputError(f"{self._where}: {what}", field="dataset")

    def has(self, key: str) -> bool:
        return key in self._fields

    def text(self, key: str, default: str | None = None) -> str:
        value = self._fields.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(f"`{key}` must be text.")
        return value

    def flag(self, key: str) -> bool:
        value = self._fields.get(key)
        if not isinstance(value, bool):
            raise self.wrong(f"`{key}` must be true or false.")
        return value

    def mark(self, key: str) -> float | None:
        value = self._fields.get(key)
        if value is not None and not isinstance(value, int | float):
            raise self.wrong(f"`{key}` must be a number or null.")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._fields.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.wrong(f"`{key}` must be a list of texts.")
        return tuple(value)

    def groups(self, key: str) -> tuple[tuple[str, ...], ...]:
        value = self._fields.get(key, [])
        if not isinstance(value, list) or not all(isinstance(group, list) and group for group in value):
            raise self.wrong(f"`{key}` must be a list of lists of texts.")
        if not all(isinstance(phrase, str) for group in value for phrase in group):
            raise self.wrong(f"`{key}` must be a list of lists of texts.")
        return tuple(tuple(group) for group in value)

    def number_of(self, key: str) -> int | None:
        value = self._fields.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise self.wrong(f"`{key}` must be a whole number.")
        return value

    def grades(self, key: str) -> Mapping[str, float]:
        value = self._fields.get(key)
        if not isinstance(value, dict) or not all(isinstance(v, int | float) for v in value.values()):
            raise self.wrong(f"`{key}` must give a number for each document.")
        return {str(k): float(v) for k, v in value.items()}

    def objects(self, key: str) -> "list[_Line]":
        value = self._fields.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.wrong(f"`{key}` must be a list of objects.")
        return [_Line(Path(self._where), self.number, v) for v in value]

    def history(self) -> tuple[Message, ...]:
        return tuple(
            Message("assistant" if turn.text("role") == "assistant" else "user", turn.text("content"))
            for turn in self.objects("history")
        )


def _lines(path: Path) -> Iterator[_Line]:
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"The data file {path} cannot be read: {error}.", field="dataset") from error
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except ValueError as error:
            raise InvalidInputError(f"{path.name}, line {number}: not JSON ({error}).", field="dataset") from error
        if not isinstance(fields, dict):
            raise InvalidInputError(f"{path.name}, line {number}: not a JSON object.", field="dataset")
        yield _Line(path, number, fields)


_T = TypeVar("_T")


def _read(path: Path, make: Callable[[_Line], _T]) -> tuple[_T, ...]:
    found = tuple(make(line) for line in _lines(path))
    if not found:
        raise InvalidInputError(f"The data file {path} is empty.", field="dataset")
    return found


def fingerprint(*paths: Path) -> str:
    """SHA-256 over the files' bytes, in the order given: which data a figure belongs to."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            digest.update(path.read_bytes())
        except OSError as error:
            raise InvalidInputError(f"The data file {path} cannot be read: {error}.", field="dataset") from error
    return digest.hexdigest()


def name_of(path: Path) -> str:
    """`squad2/questions` for `…/squad2/questions.jsonl`, `scifact` for the folder: no path of the machine."""
    path = path.resolve()
    return f"{path.parent.name}/{path.stem}" if path.suffix else path.name


_JUDGED: Mapping[str, Literal["claims", "conflicts", "given"]] = {
    "claim": "claims",
    "conflicting": "conflicts",
    "faithfulness": "given",
}


def form_of(
    path: Path,
) -> Literal["passage", "corpus", "listed", "golden", "claims", "conflicts", "given", "other"]:
    """Which kind of questions a file holds, by its first line."""
    first = next(_lines(path), None)
    if first is None:
        raise InvalidInputError(f"The data file {path} is empty.", field="dataset")
    for key, form in _JUDGED.items():
        if first.has(key):
            return form
    if first.has("passage"):
        return "passage"
    if first.has("answerability"):
        return "corpus"
    if first.has("passages") and first.has("answerable"):
        return "listed"
    return "golden" if first.has("urls") or first.has("not_in_book") else "other"


def read_documents(path: Path) -> tuple[Document, ...]:
    return _read(path, lambda line: Document(line.text("id"), line.text("title", ""), line.text("text")))


def read_retrieval(folder: Path) -> RetrievalSet:
    """A folder with `corpus.jsonl` and `queries.jsonl`."""

    def query(line: _Line) -> RetrievalQuery:
        return RetrievalQuery(
            line.text("id"), line.text("text"), line.grades("relevant"), line.history(), line.text("rewritten", "")
        )

    return RetrievalSet(
        name_of(folder), read_documents(folder / "corpus.jsonl"), _read(folder / "queries.jsonl", query)
    )


def read_passage_questions(path: Path) -> tuple[PassageQuestion, ...]:
    """SQuAD 2.0's form."""

    def question(line: _Line) -> PassageQuestion:
        return PassageQuestion(
            line.text("id"),
            line.text("title", ""),
            line.text("passage"),
            line.text("question"),
            line.flag("answerable"),
            line.texts("answers"),
        )

    return _read(path, question)


def read_corpus_questions(path: Path) -> tuple[CorpusQuestion, ...]:
    """MTRAG's form: turns over the corpus that stands beside the file."""

    def question(line: _Line) -> CorpusQuestion:
        given = line.text("answerability")
        answerability = next((known for known in _ANSWERABILITIES if known == given), None)
        if answerability is None:
            raise line.wrong(f"`answerability` must be one of {', '.join(_ANSWERABILITIES)}.")
        return CorpusQuestion(
            line.text("id"),
            line.text("question"),
            line.history(),
            answerability,
            line.texts("passages"),
            line.text("reference_answer", ""),
        )

    return _read(path, question)


def read_listed_questions(path: Path) -> tuple[ListedQuestion, ...]:
    """NoMIRACL's form."""
    return _read(
        path,
        lambda line: ListedQuestion(
            line.text("id"), line.text("question"), line.texts("passages"), line.flag("answerable")
        ),
    )


def read_claims(path: Path) -> tuple[Claim, ...]:
    """Claims with their `evidence`, or with `passages` and the `headings` over them."""

    def claim(line: _Line) -> Claim:
        return Claim(
            line.text("id"),
            _MARKER.sub("", line.text("claim")),
            line.texts("passages" if line.has("passages") else "evidence"),
            line.flag("supported"),
            line.text("relation", line.text("class", "")),
            line.texts("headings"),
        )

    return _read(path, claim)


def read_answers(path: Path) -> tuple[GivenAnswer, ...]:
    return _read(
        path,
        lambda line: GivenAnswer(
            line.text("id"), line.text("model"), line.text("answer"), line.texts("passages"), line.mark("faithfulness")
        ),
    )


def read_held_out(path: Path) -> tuple[Claim, ...]:
    """The documentation claims (`claims.jsonl.gz`) of the pages that `training.data` keeps out of training."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with gzip.open(path.with_name("questions.jsonl.gz"), "rt", encoding="utf-8") as file:
        pages = sorted({row["source"] for row in rows} | {json.loads(line)["source"] for line in file})
    random.Random(_HELD_OUT_SEED).shuffle(pages)  # noqa: S311 the same pages as in training, no secret
    held = set(pages[: len(pages) // _HELD_OUT_SHARE])
    return tuple(
        Claim(str(number), row["claim"], (row["passage"],), row["label"] == "supported", row["label"])
        for number, row in enumerate(rows)
        if row["source"] in held
    )


def read_conflicts(path: Path) -> tuple[ConflictQuestion, ...]:
    """WikiContradict's form; or RAMDocs', passages with the `answer` each gives, taken in pairs."""

    def pairs(line: _Line) -> Iterator[ConflictQuestion]:
        name, question = line.text("id", str(line.number)), line.text("question")
        if line.has("conflicting"):
            yield ConflictQuestion(name, question, line.texts("passages"), line.flag("conflicting"))
            return
        passages = [(p.text("text"), p.text("answer")) for p in line.objects("passages")]
        known = [(text, answer) for text, answer in passages if answer != "unknown"]
        for number, ((one, first), (other, second)) in enumerate(itertools.combinations(known, 2), start=1):
            yield ConflictQuestion(f"{name}/{number}", question, (one, other), first != second)

    return tuple(itertools.chain.from_iterable(_read(path, lambda line: tuple(pairs(line)))))


def read_golden(path: Path) -> tuple[GoldenQuestion, ...]:
    """An author's golden set: `question` with `urls` and what the answer must hold, or with `not_in_book: true`.

    `must` has groups of phrases, `answer` one phrase; `must_not`, `max_words` and `history` may be there too.
    """

    def question(line: _Line) -> GoldenQuestion:
        urls = line.texts("urls")
        outside = line.has("not_in_book") and line.flag("not_in_book")
        if outside == bool(urls):
            raise line.wrong("give either `urls` or `not_in_book: true`.")
        answer = line.text("answer", "")
        return GoldenQuestion(
            line.text("id", str(line.number)),
            line.text("question"),
            urls,
            line.text("kind", "negative" if outside else "question"),
            line.groups("must") if line.has("must") else ((answer,),) if answer else (),
            line.texts("must_not"),
            line.number_of("max_words"),
            line.texts("history"),
        )

    return _read(path, question)
