"""Questions of public data sets as examples for the confidence model: what was seen, and whether the answer was right.

An answer from a whole index is right when it quotes what it should: the gold span out of its own passage, the golden
words, or a reference passage. What cannot be answered has no right answer.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from citewell.confidence import Features
from citewell.errors import InvalidInputError
from citewell.extractive import Numbered, Reading, compose, quoted, read
from citewell.retrieval import Found
from citewell_evaluation import Progress, quiet
from citewell_evaluation.answers import TOP_K, Searching, holds, numbered, quotes_reference
from citewell_evaluation.book import is_expected, plain
from citewell_evaluation.datasets import (
    Document,
    GoldenQuestion,
    PassageQuestion,
    form_of,
    name_of,
    read_corpus_questions,
    read_documents,
    read_golden,
    read_listed_questions,
    read_passage_questions,
)

Part = Literal["general", "confined"]
Over = Callable[[str, Sequence[Document]], AbstractAsyncContextManager[Searching]]
"""Opens a search over some documents; the name tells one such index from another."""
_STRANGERS = 6
"""One question in so many is asked of a passage of another article too: SQuAD has near misses only."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question as the model sees it, and whether its answer was right."""

    features: Features
    truth: bool
    group: str
    """Examples of one group are never on both sides of a split: an article, or the question itself."""
    weight: float = 1.0
    source: str = ""
    """The data set's name."""
    near: bool = False
    """From a set made of near misses, with an index only to carry them."""
    made_up: bool = False
    """A question asked of a passage it does not belong to: fitted to, not measured on."""


async def examples_of(
    path: Path, *, book: Searching | None, over: Over, progress: Progress = quiet
) -> dict[Part, list[Example]]:
    """What a data set says about each part of the model. `book` is the index that golden sets belong to."""
    match form_of(path):
        case "passage":
            pooled = await _pooled(path, over=over, progress=progress)
            return {"confined": selection_examples(path, progress=progress), "general": pooled}
        case "corpus":
            return {"confined": [], "general": await _corpus(path, over=over, progress=progress)}
        case "listed":
            return {"confined": [], "general": await _listed(path, over=over, progress=progress)}
        case "golden" if book is not None:
            return await golden_examples(path, searching=book, progress=progress)
        case "golden":
            raise InvalidInputError("A golden set is calibrated over its index; there is none.", field="dataset")
    raise InvalidInputError(f"{path.name} is no data set that confidence can be fitted to.", field="dataset")


def selection_examples(path: Path, *, progress: Progress = quiet) -> list[Example]:
    """SQuAD 2.0's form, one group for each article; right when two sentences hold the gold span."""
    questions = read_passage_questions(path)
    name = name_of(path)
    found = []
    for number, question in enumerate(questions):
        reading = read(question.question, [Numbered(1, question.passage)])
        right = question.answerable and holds(compose(reading, limit=2), question.answers)
        group = question.title or question.id
        found.append(Example(reading.features, right, group, source=name))
        if number % _STRANGERS == 0 and (other := _stranger(questions, number)):
            features = read(question.question, [Numbered(1, other)]).features
            found.append(Example(features, False, group, source=name, made_up=True))
        progress(number + 1, len(questions), "selections")
    return found


def _stranger(questions: Sequence[PassageQuestion], number: int) -> str:
    """The passage half the file further on, when it is of another article."""
    other = questions[(number + len(questions) // 2) % len(questions)]
    return other.passage if other.title != questions[number].title else ""


async def _pooled(path: Path, *, over: Over, progress: Progress) -> list[Example]:
    """The same questions asked of all the passages together."""
    questions = read_passage_questions(path)
    passages = list(dict.fromkeys((q.passage, q.title.replace("_", " ")) for q in questions))
    documents = [Document(str(number), title, text) for number, (text, title) in enumerate(passages)]
    found = []
    async with over(name_of(path), documents) as searching:
        for number, question in enumerate(questions, start=1):
            seen = await searching.search(question.question, top_k=TOP_K)
            if seen.passages:
                reading = read(question.question, numbered(seen), background=seen.background)
                own = any(reading.passages[piece.passage].text == question.passage for piece in quoted(reading))
                right = question.answerable and own and holds(compose(reading), question.answers)
                group = question.title or question.id
                found.append(Example(reading.features, right, group, source=name_of(path), near=True))
            progress(number, len(questions), "pooled questions")
    return found


async def _corpus(path: Path, *, over: Over, progress: Progress) -> list[Example]:
    """MTRAG's form over the corpus beside the file: right when a reference passage is quoted."""
    asked = [q for q in read_corpus_questions(path) if q.answerability in ("answerable", "unanswerable")]
    found = []
    async with over(name_of(path.parent), read_documents(path.parent / "corpus.jsonl")) as searching:
        for number, question in enumerate(asked, start=1):
            seen = await searching.search(question.question, top_k=TOP_K, history=question.history)
            earlier = next((m.content for m in reversed(question.history) if m.role == "user"), "")
            if seen.passages:
                reading = read(question.question, numbered(seen), earlier=earlier, background=seen.background)
                right = question.answerability == "answerable" and quotes_reference(reading, seen, question.passages)
                # Turns of one conversation share their words and passages.
                conversation = question.id.split("<::>")[0]
                found.append(Example(reading.features, right, conversation, source=name_of(path)))
            progress(number, len(asked), "turns")
    return found


async def _listed(path: Path, *, over: Over, progress: Progress) -> list[Example]:
    """NoMIRACL's form, all lists in one index. It does not say which passage answers: one of its own list must do."""
    questions = read_listed_questions(path)
    texts = dict.fromkeys(text for question in questions for text in question.passages)
    documents = [Document(str(i), *_titled(text)) for i, text in enumerate(texts)]
    found = []
    async with over(name_of(path), documents) as searching:
        for number, question in enumerate(questions, start=1):
            seen = await searching.search(question.question, top_k=TOP_K)
            if seen.passages:
                reading = read(question.question, numbered(seen), background=seen.background)
                own = {_titled(text)[1] for text in question.passages}
                right = question.answerable and any(reading.passages[p.passage].text in own for p in quoted(reading))
                found.append(Example(reading.features, right, question.question, source=name_of(path), near=True))
            progress(number, len(questions), "listed questions")
    return found


def _titled(text: str) -> tuple[str, str]:
    """ "Title: text", as NoMIRACL writes its passages."""
    title, colon, rest = text.partition(": ")
    return (title, rest) if colon else ("", text)


async def golden_examples(path: Path, *, searching: Searching, progress: Progress = quiet) -> dict[Part, list[Example]]:
    """A golden set over its own index, and each question asked of a passage as if a reader had selected it.

    What finds no passage at all is refused without a model and left out.
    """
    golden = read_golden(path)
    general: list[Example] = []
    confined: list[Example] = []
    before = ""
    for number, one in enumerate(golden, start=1):
        seen = await searching.search(one.question, top_k=TOP_K)
        if seen.passages:
            reading = read(one.question, numbered(seen), background=seen.background)
            general.append(Example(reading.features, _is_right(one, reading, seen), one.question, source=name_of(path)))
        selections = [s.passage.text for s in seen.passages if is_expected(s.passage.url, one.urls)][:1]
        for text in [*selections, *([before] if before else [])]:
            alone = read(one.question, [Numbered(1, text)])
            right = text is not before and bool(one.answer) and plain(one.answer) in plain(compose(alone, limit=2))
            confined.append(Example(alone.features, right, one.question, source=name_of(path), made_up=True))
        before = selections[0] if selections else before
        progress(number, len(golden), "golden questions")
    return {"general": general, "confined": confined}


def _is_right(golden: GoldenQuestion, reading: Reading, found: Found) -> bool:
    if golden.in_book and golden.answer:
        return plain(golden.answer) in plain(compose(reading))
    return any(is_expected(found.passages[piece.passage].passage.url, golden.urls) for piece in quoted(reading))
