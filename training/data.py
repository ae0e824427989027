"""The labelled data into examples: one example is a passage (or a few) with everything that is asked of it.

Reads a training folder (support.jsonl.gz, reading.jsonl.gz, docs/claims.jsonl.gz, docs/questions.jsonl.gz) and our own
claims and questions in written/, whose passages `training.pages` fetches.

    python -m training.data ../shared/train PAGES held-out.jsonl

writes the claims over pages that are not trained on, for `citewell eval lines`.
"""

import gzip
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from training.packing import Asked, Claim, Example
from training.pages import WRITTEN, digest, texts
from training.quoting import quoted

Key = tuple[str, str]
"""The page a passage stands on, and its text."""

HELD_OUT_SHARE = 12
"""One page in so many of the documentation is never trained on: its rows show how training goes."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'`(\[*])|\n+")
_NAME = re.compile(r"\b[A-Z][a-z]+(?: (?:of |the )?[A-Z][a-z]+)*\b")
_NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d+\b")
_PAIRS = (
    "first last, most least, before after, largest smallest, highest lowest, more less, begin end, began ended, "
    "start stop, started stopped, north south, east west, above below, inside outside, increase decrease, "
    "oldest youngest, early late, can cannot, is isn't, did didn't, was wasn't, does doesn't, are aren't, won lost, "
    "minimum maximum, allowed forbidden"
)
OPPOSITES = {a: b for pair in _PAIRS.split(", ") for one in [pair.split()] for a, b in (one, one[::-1])}
_TURNED = re.compile(r"\b(?:" + "|".join(sorted(OPPOSITES, key=len, reverse=True)) + r")\b", re.IGNORECASE)
_OPENINGS = (
    "Yes, ", "In short, ", "According to the documentation, ", "Additionally, ", "Note that ", "In this case, ",
    "As described above, ", "Also, ", "This means that ", "Based on the documents, ", "However, ",
    "First, ", "Then, ", "Next, ", "To do this, ",
)  # fmt: skip
_SMALL = frozenset(
    "The A An It This That These Those You Your When If In On At For To By With From After Before Each Every All Any "
    "Some There They Its Both Once Only Without As Use Using Set Setting What Which Where How Why Who Is Are Does Do "
    "Can".split()
)
NEIGHBOUR_SHARE, ACROSS_SHARE, OPENED_SHARE = 0.6, 0.7, 0.1
COPIED_ROUNDS = 2
ASKED = 4
"""Questions to the same passages that share the reading of them."""
LABELS = ("supported", "contradicted", "neutral")
NLI_SHARE = {
    "mnli": 9000, "snli": 5000, "fever": 9000, "fever_symmetric": 1092, "fm2": 2548, "snli_cad": 3000, "scitail": 4000,
    "conjnli": 2500, "help": 1000, "med": 1000, "breaking_nli": 1000, "hans_swap": 700, "paws": 2500,
    "wice_train_partial": 374, "cb": 301,
}  # fmt: skip
READING_SHARE = {
    "squad": 9000, "iirc": 1500, "adversarialqa_answerable": 1200, "doqa_cooking": 700, "doqa_movies": 500,
    "policyqa": 1200, "qasper": 700, "boolq_q": 800, "fairytaleqa": 400,
}  # fmt: skip
"""Passages (not questions) of each set; a passage brings all its questions."""
REFUSING_SHARE = {
    "iirc": 1500,
    "adversarialqa_answerable": 1200,
    "doqa_cooking": 700,
    "doqa_movies": 500,
    "squad": 2500,
}
"""Mostly the sets in which people wrote what cannot be answered."""


def _is_held_out(page: str) -> bool:
    """By its name: what else is read does not move it."""
    return int(digest(page), 16) % HELD_OUT_SHARE == 0


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


class Documentation:
    """Claims and questions written by hand over real documentation, by passage."""

    def __init__(self, claims: Iterable[dict[str, Any]], questions: Iterable[dict[str, Any]], copied: int = 0) -> None:
        """`copied`: so many rounds have near copies of the passages' sentences as well."""
        self._claims: dict[Key, list[dict[str, Any]]] = defaultdict(list)
        self._questions: dict[Key, list[dict[str, Any]]] = defaultdict(list)
        self._across: dict[Key, list[tuple[Key, str, str]]] = defaultdict(list)
        self._copied = copied
        for row in claims:
            key = row["source"], row["passage"]
            if "beside" in row:
                self._across[key].append(((row["source"], row["beside"]), row["claim"], row["label"]))
            else:
                self._claims[key].append(row)
        for row in questions:
            self._questions[row["source"], row["passage"]].append(row)
        keys = sorted(set(self._claims) | set(self._questions))
        self._train = [k for k in keys if not _is_held_out(k[0])]
        self._held = [k for k in keys if _is_held_out(k[0])]

    def examples(self, seed: int, *, copies: bool = False) -> list[Example]:
        """One round, with near copies of the passages' sentences among the claims or without."""
        chance = random.Random(seed)
        copies = copies or seed < self._copied
        found = [e for key in self._train for e in self._example(key, chance, copies=copies)]
        chance.shuffle(found)
        return found

    def held_out(self) -> list[Example]:
        return [
            Example(
                (key[1],),
                tuple(Claim(r["claim"], r["label"], (0,)) for r in self._claims[key]),
                tuple(a for r in self._questions[key] for a in _asked(r, key[1], random.Random(9))),
            )
            for key in self._held
        ]

    def held_out_claims(self) -> Iterator[dict[str, Any]]:
        for key in self._held:
            for row in self._claims[key]:
                supported = row["label"] == "supported"
                yield {"claim": row["claim"], "evidence": [key[1]], "supported": supported, "class": row["label"]}

    def _example(self, key: tuple[str, str], chance: random.Random, *, copies: bool) -> list[Example]:
        """The passage, often with a neighbour beside it: claims see one of them or both, questions ask their own."""
        joined = self._across[key]
        joint = chance.choice(joined) if joined and chance.random() < ACROSS_SHARE else None
        other = joint[0] if joint else self._neighbour(key, chance)
        written = [Claim(r["claim"], r["label"], (0,), r.get("weight", 1.0)) for r in self._claims[key]]
        claims = written + _joined(written, chance)
        if copies:
            claims += quoted(key[1], chance, truths=2, lies=1)
        questions = [a for r in self._questions[key] for a in _asked(r, key[1], chance)]
        questions += [
            Asked(_typed(q["question"], chance), False, 0, weight=0.5)
            for q in chance.sample(self._questions[other], min(1, len(self._questions[other])))
            if q["answerable"]
        ]
        passages: tuple[str, ...] = (key[1],)
        if joint or chance.random() < NEIGHBOUR_SHARE:
            passages = (key[1], other[1])
            beside = [Claim(r["claim"], r["label"], (1,)) for r in self._claims[other]]
            claims = [_shown_to(c, chance) for c in claims] + _across(written, beside, chance)
        if joint:
            claims += [
                Claim(joint[1], joint[2], (0, 1)),
                Claim(joint[1], "unsupported", (chance.randrange(2),), 0.7),
            ]
        claims = [_opened(c, chance) for c in claims]
        chance.shuffle(claims)
        chance.shuffle(questions)
        return [Example(passages, tuple(claims), tuple(questions))]

    def _neighbour(self, key: tuple[str, str], chance: random.Random) -> tuple[str, str]:
        """Another passage of the same page when there is one, else of the same project, else any."""
        page = [k for k in self._train if k[0] == key[0] and k != key]
        project = key[0].split(":")[0]
        others = (
            page
            if page and chance.random() < 0.6
            else [k for k in self._train if k[0].startswith(project) and k != key]
        )
        return chance.choice(others or [k for k in self._train if k != key])


def handed(folder: Path, copied: int = COPIED_ROUNDS) -> Documentation:
    """What lies in the training folder."""
    return Documentation(lines(folder / "docs/claims.jsonl.gz"), lines(folder / "docs/questions.jsonl.gz"), copied)


class Answers:
    """Sentences as models write them to a question, true and false, over the five passages that a search found."""

    def __init__(self, known: Mapping[str, Key], name: str = "answers.jsonl") -> None:
        self._train: list[Example] = []
        self._held: list[Example] = []
        for row in map(json.loads, (WRITTEN / name).read_text(encoding="utf-8").splitlines()):
            if all(passage in known for passage in row["passages"]):
                seen = tuple(range(len(row["passages"])))
                example = Example(
                    tuple(known[passage][1] for passage in row["passages"]),
                    tuple(Claim(c, label, seen) for label in LABELS for c in row[label]),
                )
                (self._held if _is_held_out(row["passages"][0]) else self._train).append(example)

    def examples(self, seed: int, *, copies: bool = False) -> list[Example]:
        chance = random.Random(seed)
        shuffled = chance.sample(self._train, len(self._train))
        return [self._shown(example, chance, copies=copies) for example in shuffled]

    def held_out(self) -> list[Example]:
        return self._held

    def held_out_claims(self) -> Iterator[dict[str, Any]]:
        for example in self.held_out():
            for claim in example.claims:
                known = {"supported": claim.label == "supported", "class": claim.label}
                yield {"claim": claim.text, "evidence": list(example.passages), **known}

    def _shown(self, example: Example, chance: random.Random, *, copies: bool) -> Example:
        """In any order: the search's own must not tell."""
        passages, claims = list(example.passages), [_opened(c, chance) for c in example.claims]
        if copies:
            near = quoted(chance.choice(passages), chance, truths=2, lies=1)
            claims += [_opened(c._replace(sees=tuple(range(len(passages)))), chance) for c in near]
        chance.shuffle(passages)
        chance.shuffle(claims)
        return Example(tuple(passages), tuple(claims))


Weigh = Callable[[str, str, str], float]
"""What a claim counts, by its text, its label and its passage."""


def written(known: Mapping[str, Key], name: str = "passages.jsonl", weigh: Weigh = lambda *_: 1.0) -> Documentation:
    """What was written for this repository, over the passages that are known by their digests."""
    claims, questions, lost = [], [], 0
    for row in map(json.loads, (WRITTEN / name).read_text(encoding="utf-8").splitlines()):
        if row["passage"] not in known:
            lost += 1
            continue
        source, text = known[row["passage"]]
        place = {"source": source, "passage": text}
        claims += [
            place | {"claim": c, "label": label, "weight": weigh(c, label, text)}
            for label in LABELS
            for c in row[label]
        ]
        claims += [
            place | {"claim": c, "beside": known[beside][1], "label": label}
            for kind, label in (("joined", "supported"), ("stitched", "unsupported"))
            for beside, c in row.get(kind, ())
            if beside in known
        ]
        questions += [
            place | {"question": q, "answerable": True, "answers": [text[a:b] for a, b in pieces]}
            for q, pieces in row["questions"]
        ]
        questions += [place | {"question": q, "answerable": False, "answers": []} for q in row["misses"]]
    if lost:
        print(f"{lost} passages of written/{name} are not among the pages: the ingest cuts them otherwise now.")
    return Documentation(claims, questions)


def apart(known: Mapping[str, Key]) -> Documentation:
    """Of our own: truths in other words than the passage's, lies in its own, which are longer."""
    return written(known, "apart.jsonl", by_length)


def contrast(known: Mapping[str, Key], folder: Path) -> Documentation:
    """Of our own: truths and lies, questions that are answered and not, that differ in a word or two."""
    return written({**public(folder), **known}, "contrast.jsonl")


class Found:
    """Of our own: questions in readers' words to the passages that a search finds, most of which do not answer."""

    def __init__(self, known: Mapping[str, Key], most: int = 5) -> None:
        """`most`: so many of the passages that were found, what answers before what does not."""
        self._most = most
        self._groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
        """Questions to the same passages: to each its rows, one for each passage of which it is known."""
        phrased = map(json.loads, (WRITTEN / "phrased.jsonl").read_text(encoding="utf-8").splitlines())
        self._phrased: dict[str, list[str]] = {row["question"]: row["as"] for row in phrased}
        for row in map(json.loads, (WRITTEN / "found.jsonl").read_text(encoding="utf-8").splitlines()):
            rows = {}
            for passage, pieces in row["passages"]:
                if passage in known and pieces is not None:
                    source, text = known[passage]
                    answers = [text[a:b] for a, b in pieces]
                    place = {"source": source, "passage": text, "question": row["question"]}
                    rows[text] = place | {"answerable": bool(answers), "answers": answers}
            self._groups[tuple(sorted(passage for passage, _ in row["passages"]))].append(rows)
        every = chain.from_iterable(rows.values() for group in self._groups.values() for rows in group)
        self._apart = Documentation([], every)

    def examples(self, seed: int, *, copies: bool = False) -> list[Example]:
        """One round: up to ASKED questions with all that was found for them, in any order; no page that is held out."""
        chance = random.Random(seed)
        made = []
        for group in self._groups.values():
            shuffled = chance.sample(group, len(group))
            for first in range(0, len(group), ASKED):
                asked = shuffled[first : first + ASKED]
                rows = [row for question in asked for row in question.values() if not _is_held_out(row["source"])]
                if rows:
                    made.append(self._together(rows, chance))
        chance.shuffle(made)
        return made

    def _together(self, rows: list[dict[str, Any]], chance: random.Random) -> Example:
        """Each question to each of the passages; of those that answer, and of one that does not, to their parts too."""
        chance.shuffle(rows)
        passages = list(dict.fromkeys(row["passage"] for row in sorted(rows, key=lambda r: not r["answerable"])))
        passages = passages[: self._most]
        chance.shuffle(passages)
        by_question: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            if row["passage"] in passages:
                by_question[row["question"]].append(row)
        asked = [
            one
            for question, shown in by_question.items()
            for way in (question, *self._said_otherwise(question, chance))
            for one in _to_all(_typed(way, chance), shown, passages, chance)
        ]
        return Example(tuple(passages), (), tuple(asked), together=True)

    def _said_otherwise(self, question: str, chance: random.Random) -> list[str]:
        """The same in other words, where it was written: what answers it does not change."""
        ways = self._phrased.get(question)
        return [chance.choice(ways)] if ways else []

    def held_out(self) -> list[Example]:
        return self._apart.held_out()


def _to_all(question: str, shown: list[dict[str, Any]], passages: list[str], chance: random.Random) -> Iterator[Asked]:
    misses = [row for row in shown if not row["answerable"]]
    parted = [row for row in shown if row["answerable"]] + chance.sample(misses, min(1, len(misses)))
    for row in shown:
        number = passages.index(row["passage"])
        whole, *views = _asked(row, row["passage"], chance)
        yield replace(whole, text=question, passage=number)
        if row in parted:
            yield from (replace(view, text=question, passage=number) for view in views)


def public(folder: Path) -> dict[str, Key]:
    """Paragraphs of the public reading sets, by their digests."""
    known = {digest(row["passage"]): row["passage"] for row in lines(folder / "reading.jsonl.gz")}
    return {name: (f"general:{name}", text) for name, text in known.items()}


def general(folder: Path) -> Documentation:
    """Of our own, over paragraphs of the public reading sets: questions made to look answerable, and claims."""
    return written(public(folder), "general.jsonl")


def by_nearness(claim: str, label: str, passage: str) -> float:
    """Near copies count little when true and much when false, so that nearness of words does not tell."""
    said, there = (set(pairwise(re.findall(r"\w+", text.lower()))) for text in (claim, passage))
    near = len(said & there) / len(said) if said else 0.0
    return 1.6 - 1.2 * near if label == "supported" else 0.56 + 1.68 * near


def by_length(claim: str, label: str, _: str) -> float:
    """Long truths and short lies count more, so that length does not tell."""
    length = len(claim.split()) / 14
    return min(max(length if label == "supported" else 1 / length, 0.4), 2.0)


def _shown_to(claim: Claim, chance: random.Random) -> Claim:
    draw = chance.random()
    if draw < 0.5:
        return claim
    if draw < 0.92:
        return claim._replace(sees=(0, 1))
    return claim._replace(label="unsupported", sees=(1,), weight=0.7)


def _joined(claims: list[Claim], chance: random.Random) -> list[Claim]:
    """Long sentences, as models write them: two claims in one. It is true when both are."""
    truths = [c for c in claims if c.label == "supported"]
    lies = [c for c in claims if c.label != "supported"]
    found = []
    if len(truths) > 1 and chance.random() < 0.7:
        found.append(_both(*chance.sample(truths, 2), chance))
    if truths and lies and chance.random() < 0.5:
        found.append(_both(chance.choice(truths), chance.choice(lies), chance))
    return found


def _across(own: list[Claim], beside: list[Claim], chance: random.Random) -> list[Claim]:
    """A sentence that joins facts of two passages: supported by both together, by one alone not."""
    left, right = ([c for c in claims if c.label == "supported"] for claims in (own, beside))
    if not left or not right or chance.random() < 0.3:
        return []
    both = _both(chance.choice(left), chance.choice(right), chance)
    if chance.random() < 0.6:
        return [both._replace(sees=(0, 1))]
    return [both._replace(sees=(0,), label="unsupported")]


def _both(one: Claim, other: Claim, chance: random.Random) -> Claim:
    first, second = (one, other) if chance.random() < 0.5 else (other, one)
    joint = chance.choice((", and ", ", and ", "; ", ". ", ", while "))
    text = first.text.rstrip(" .") + joint + (second.text if joint == ". " else _inner(second.text))
    worse = one if one.label != "supported" else other
    return Claim(text, worse.label, one.sees, 0.8)


def _inner(text: str) -> str:
    """The sentence as it stands inside another: a plain word at its start begins small."""
    word = text.split(" ", 1)[0]
    return text[0].lower() + text[1:] if word in _SMALL else text


def _opened(claim: Claim, chance: random.Random) -> Claim:
    if chance.random() > OPENED_SHARE:
        return claim
    return claim._replace(text=chance.choice(_OPENINGS) + _inner(claim.text))


def _typed(question: str, chance: random.Random) -> str:
    """As readers type it: often without the question mark, sometimes all small at the start."""
    draw = chance.random()
    if draw < 0.35:
        question = question.rstrip("? ")
    if draw < 0.12 or draw > 0.92:
        question = _inner(question) if chance.random() < 0.5 else question.lower()
    return question


def _asked(row: dict[str, Any], passage: str, chance: random.Random, weight: float = 1.0) -> list[Asked]:
    places = [(passage.find(piece), piece) for piece in row["answers"]]
    spans = [(start, start + len(piece)) for start, piece in places if start >= 0]
    return [
        Asked(_typed(row["question"], chance), bool(row["answerable"]), 0, weight=weight),
        *_views(row, passage, spans, weight, chance),
    ]


def _views(
    row: dict[str, Any], passage: str, spans: list[tuple[int, int]], weight: float, chance: random.Random
) -> list[Asked]:
    """The question to single sentences, items or lines: to one that answers, and to some that do not."""
    if row["answerable"] and not spans:
        return []
    question, found = _typed(row["question"], chance), []
    if spans:
        found.append(Asked(question, True, 0, chance.choice(spans), weight))
    others = [u for u in units(passage) if not any(a < u[1] and u[0] < b for a, b in spans)]
    if others and (spans or chance.random() < 0.5):
        words = set(row["question"].lower().split())
        alike = max(others, key=lambda u: len(words & set(passage[u[0] : u[1]].lower().split())))
        beside = min(others, key=lambda u: min((abs(u[0] - b) for _, b in spans), default=0))
        shown = {alike, beside, chance.choice(others)} if spans else {alike}
        found += [Asked(question, False, 0, unit, weight) for unit in sorted(shown)]
    return found


def _twisted(row: dict[str, Any], passage: str, chance: random.Random) -> list[Asked]:
    """A question that sounds as if: another name or number of the same passage in it, or a word turned round."""
    question = row["question"]
    if not row["answerable"] or chance.random() < 0.4:
        return []
    answer = " ".join(row["answers"])
    ways = []
    for pattern in (_NAME, _NUMBER):
        inside = [m for m in pattern.finditer(question) if m.start() > 0]
        others = [t for t in pattern.findall(passage) if t not in question and t not in answer]
        if inside and others:
            place = chance.choice(inside)
            ways.append(question[: place.start()] + chance.choice(others) + question[place.end() :])
    turned = _TURNED.finditer(question)
    ways += [question[: m.start()] + OPPOSITES[m.group().lower()] + question[m.end() :] for m in turned]
    return [Asked(_typed(chance.choice(ways), chance), False, 0, weight=0.6)] if ways else []


def units(passage: str) -> list[tuple[int, int]]:
    """Sentences and lines."""
    ends = [0, *(m.end() for m in _SENTENCE_END.finditer(passage)), len(passage)]
    return [(a, b) for a, b in pairwise(ends) if passage[a:b].strip()]


def nli(folder: Path, seed: int) -> list[Example]:
    """Public pairs, as many of each set as NLI_SHARE says, those of one passage together."""
    by_set: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in lines(folder / "support.jsonl.gz"):
        by_set[row["set"]][row["passage"]].append(row)
    chance = random.Random(seed)
    found = []
    for name, wanted in NLI_SHARE.items():
        passages = sorted(by_set[name], key=lambda p: (-min(len(by_set[name][p]), 3), p))
        chance.shuffle(passages)
        taken = 0
        for passage in passages:
            if taken >= wanted:
                break
            rows = by_set[name][passage][:6]
            taken += len(rows)
            weight = (
                1.0 if name in ("fever", "fever_symmetric", "fm2", "mnli", "scitail", "wice_train_partial") else 0.6
            )
            claims = [Claim(r["claim"], r["label"], (0,), weight) for r in rows]
            claims += _joined(claims, chance)
            found.append(Example((passage,), tuple(_opened(c, chance) for c in claims)))
    chance.shuffle(found)
    return found


def reading(folder: Path, seed: int, share: Mapping[str, int]) -> list[Example]:
    by_set: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in lines(folder / "reading.jsonl.gz"):
        by_set["squad" if row["set"].startswith("squad1") else row["set"]][row["passage"]].append(row)
    chance = random.Random(seed)
    found = []
    for name, wanted in share.items():
        passages = sorted(by_set[name])
        chance.shuffle(passages)
        for passage in passages[:wanted]:
            rows = chance.sample(by_set[name][passage], min(5, len(by_set[name][passage])))
            asked = tuple(a for r in rows for a in (*_public(r, passage, chance), *_twisted(r, passage, chance)))
            if len(passage) < 1800:
                claims = quoted(passage, chance, truths=1, lies=1, weight=0.5)
                found.append(Example((passage,), tuple(_opened(c, chance) for c in claims), asked))
    chance.shuffle(found)
    return found


def _public(row: dict[str, Any], passage: str, chance: random.Random) -> list[Asked]:
    """A public set's answer is a few words; what should be shown is the sentence around them."""
    spans: list[tuple[int, int]] = []
    if row["answerable"] and not row["set"].startswith("boolq"):
        places = row.get("answer_start") or [passage.find(a) for a in row["answers"]]
        spans = [u for u in units(passage) if any(u[0] <= p < u[1] for p in places[:1])]
    whole = Asked(_typed(row["question"], chance), bool(row["answerable"]), 0, weight=0.8)
    return [whole, *_views(row, passage, spans, 0.8, chance)]


if __name__ == "__main__":
    folder, pages = Path(sys.argv[1]), Path(sys.argv[2])
    known = texts(pages)
    sets = (handed(folder), general(folder), Answers(known, "replies.jsonl"), contrast(known, folder))
    found = [row for documentation in sets for row in documentation.held_out_claims()]
    with Path(sys.argv[3]).open("w", encoding="utf-8") as out:
        out.writelines(json.dumps({"id": str(number), **row}) + "\n" for number, row in enumerate(found))
