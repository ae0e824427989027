"""Readers of evaluation data: JSON lines, one form for each kind of question. Reads files, knows no metrics.

A line that is not what it should be is an error that names the file and the line: data that is skipped in silence
would make every figure a guess.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from citewell.errors import InvalidInputError
from citewell.values import Message

Answerability = Literal["answerable", "partial", "unanswerable", "conversational"]
_MARKER = re.compile(r"\s*\[\d+\]")
Fields = dict[str, Any]
"""A JSON object on its way to a value: it does not leave this module."""
_T = TypeVar("_T")


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
    passage: str
    question: str
    answerable: bool
    answers: tuple[str, ...] = ()
    """Spans of the passage, each of them right."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class CorpusQuestion:
    """A turn of a conversation over a whole corpus."""

    id: str
    question: str
    answerability: Answerability
    history: tuple[Message, ...] = ()
    passages: tuple[str, ...] = ()
    """Ids of the documents that the reference answer rests on."""
    reference_answer: str = ""


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
    faithfulness: float | None = None


@dataclass(frozen=True, slots=True)
class ConflictQuestion:
    id: str
    question: str
    passages: tuple[str, ...]
    conflicting: bool


@dataclass(frozen=True, slots=True)
class _AnsweringPassage:
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class _AnsweringPassages:
    id: str
    question: str
    passages: tuple[_AnsweringPassage, ...]


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question of an author's golden set. Without `urls` the book is not supposed to know."""

    id: str
    question: str
    urls: tuple[str, ...]
    kind: str
    must: tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...] = ()
    """Groups of phrases: a whole answer has one of each."""
    must_not: tuple[str, ...] = ()
    max_words: Annotated[int, Field(gt=0)] | None = None
    history: tuple[str, ...] = ()
    """What was asked before, in the same session."""

    @property
    def in_book(self) -> bool:
        return bool(self.urls)


def _lines(path: Path) -> Iterator[tuple[str, Fields]]:
    """Each line's place, for errors, and its object. Without an `id` of its own it has its number."""
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"The data file {path} cannot be read: {error}.", field="dataset") from error
    is_empty = True
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        is_empty, where = False, f"{path.name}, line {number}"
        try:
            fields = json.loads(line)
        except ValueError as error:
            raise _wrong(where, f"not JSON ({error}).") from error
        if not isinstance(fields, dict):
            raise _wrong(where, "not a JSON object.")
        yield where, {"id": str(number), **fields}
    if is_empty:
        raise InvalidInputError(f"The data file {path} is empty.", field="dataset")


def _wrong(where: str, what: str) -> InvalidInputError:
    return InvalidInputError(f"{where}: {what}", field="dataset")


def _read(path: Path, kind: type[_T], change: Callable[[Fields], Fields] = lambda fields: fields) -> tuple[_T, ...]:
    """Each line as one of `kind`, strictly; `change` brings other forms of a set to this one."""
    reader = TypeAdapter(kind)
    found = []
    for where, fields in _lines(path):
        try:
            found.append(reader.validate_json(json.dumps(change(fields)), strict=True))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise _wrong(where, f"`{place}`: {first['msg']}." if place else first["msg"]) from error
        except ValueError as error:
            raise _wrong(where, str(error)) from error
    return tuple(found)


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


Form = Literal["passage", "corpus", "listed", "golden", "claims", "conflicts", "given", "other"]
_FORMS: Sequence[tuple[Form, set[str]]] = (
    ("claims", {"claim"}),
    ("conflicts", {"conflicting"}),
    ("given", {"faithfulness"}),
    ("passage", {"passage"}),
    ("corpus", {"answerability"}),
    ("listed", {"passages", "answerable"}),
    ("golden", {"urls"}),
    ("golden", {"not_in_book"}),
)


def form_of(path: Path) -> Form:
    """Which kind of questions a file holds, by its first line."""
    _, first = next(_lines(path))
    return next((form for form, keys in _FORMS if keys <= first.keys()), "other")


def read_retrieval(folder: Path) -> RetrievalSet:
    """A folder with `corpus.jsonl` and `queries.jsonl`."""
    queries = _read(folder / "queries.jsonl", RetrievalQuery)
    return RetrievalSet(name_of(folder), read_documents(folder / "corpus.jsonl"), queries)


def read_documents(path: Path) -> tuple[Document, ...]:
    return _read(path, Document, lambda fields: {"title": "", **fields})


def read_passage_questions(path: Path) -> tuple[PassageQuestion, ...]:
    """SQuAD 2.0's form."""
    return _read(path, PassageQuestion)


def read_corpus_questions(path: Path) -> tuple[CorpusQuestion, ...]:
    """MTRAG's form: turns over the corpus that stands beside the file."""
    return _read(path, CorpusQuestion)


def read_listed_questions(path: Path) -> tuple[ListedQuestion, ...]:
    """NoMIRACL's form."""
    return _read(path, ListedQuestion)


def read_answers(path: Path) -> tuple[GivenAnswer, ...]:
    return _read(path, GivenAnswer)


def read_claims(path: Path) -> tuple[Claim, ...]:
    """Claims with their `evidence`, or with `passages` and the `headings` over them."""

    def claim(fields: Fields) -> Fields:
        evidence, relation = fields.get("passages", fields.get("evidence")), fields.get("class", "")
        said = _MARKER.sub("", str(fields.get("claim")))
        return {"relation": relation, **fields, "evidence": evidence, "claim": said}

    return _read(path, Claim, claim)


def read_conflicts(path: Path) -> tuple[ConflictQuestion, ...]:
    """WikiContradict's form; or RAMDocs', passages with the `answer` each gives, taken in pairs."""
    if form_of(path) == "conflicts":
        return _read(path, ConflictQuestion)
    return tuple(
        ConflictQuestion(f"{given.id}/{number}", given.question, (one.text, other.text), one.answer != other.answer)
        for given in _read(path, _AnsweringPassages)
        for number, (one, other) in enumerate(
            itertools.combinations([p for p in given.passages if p.answer != "unknown"], 2), start=1
        )
    )


def read_golden(path: Path) -> tuple[GoldenQuestion, ...]:
    """An author's golden set: `question` with `urls` and what the answer must hold, or with `not_in_book: true`.

    `must` has groups of phrases, `answer` one phrase; `must_not`, `max_words` and `history` may be there too.
    """

    def golden(fields: Fields) -> Fields:
        outside = fields.get("not_in_book", False)
        if bool(outside) == bool(fields.get("urls")):
            raise ValueError("give either `urls` or `not_in_book: true`.")
        must = [[fields["answer"]]] if fields.get("answer") else []
        return {"kind": "negative" if outside else "question", "urls": [], "must": must, **fields}

    return _read(path, GoldenQuestion, golden)
