"""Learns `citewell.instructions`: sentences that address the model against sentences of real documentation.

    python -m training.instructions ../shared PAGES src/citewell/assets/instructions

Positives are the attacks of BIPIA that address the answer (half of the categories are held out while it is measured)
and those made of the parts in `instructions.toml`; negatives are sentences of two books and of half of the projects in
PAGES (`training.pages`), questions of SQuAD, and the ordinary ones of that file. Prints what it finds in what it did
not see.
"""

import argparse
import itertools
import json
import random
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.instructions import BUCKETS, features, names_somebody
from training.pages import WRITTEN, texts

Floats = NDArray[np.float64]
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(\[*])|\n+")
_CODE = re.compile(r"```.*?```", re.DOTALL)
_NO_ADDRESS = frozenset(
    ("Information Retrieval", "Content Creation", "Learning and Tutoring", "Language Translation", "Programming Help")
)
"""Categories whose attacks are plain questions and tasks: no sentence of them says to whom it is said."""
_MADE = 2400
_BOOK_SENTENCES = 5000
_QUESTIONS = 500
_OWN = 6
"""How often a sentence that was written by hand counts: each stands for a kind."""
_ABOVE = 2 / 1000
"""The line is drawn where so few of the sentences of the books learnt from are above it."""


def made(parts: dict[str, Any], rng: random.Random) -> list[str]:
    """Attacks put together from their parts."""
    found = [
        " ".join(chosen).strip()
        for name in ("overrides", "addressed", "covert")
        for chosen in itertools.product(*parts[name].values())
    ]
    actions = parts["actions"].split()
    while len(found) < _MADE:
        template = rng.choice(parts["templates"])
        found.append(
            template.format(
                action=rng.choice(actions),
                other=rng.choice(actions),
                thing=rng.choice(parts["things"]),
                place=rng.choice(parts["places"]),
                reply=rng.choice(parts["replies"]),
            )
        )
    filled = (re.sub(r"\{x\}", lambda _: rng.choice(parts["fillers"]), text) for text in found)
    return [text[:1].upper() + text[1:] + "." for text in filled]


def book(folder: Path) -> list[str]:
    """The sentences of a folder of Markdown, each once."""
    found: dict[str, None] = {}
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".md", ".mdx")):
        found.update(dict.fromkeys(sentences(path.read_text("utf-8", "replace"))))
    return list(found)


def sentences(text: str) -> list[str]:
    parts = (part.strip() for part in _SENTENCE.split(_CODE.sub("", text)))
    return [part for part in parts if 4 <= len(part.split()) <= 80 and part[:1].isalpha()]


def projects(pages: Path) -> tuple[list[str], list[str]]:
    """The sentences of the fetched documentation that name somebody: of one half of the projects, and of the other."""
    halves: tuple[dict[str, None], dict[str, None]] = {}, {}
    names = sorted(json.loads((WRITTEN / "sources.json").read_text()))
    for source, text in texts(pages).values():
        half = halves[names.index(source.partition(":")[0]) % 2]
        half.update(dict.fromkeys(filter(names_somebody, sentences(text))))
    return list(halves[0]), list(halves[1])


def attacks(shared: Path) -> tuple[list[str], list[str]]:
    """To learn from, and of other categories to measure on."""
    stored = json.loads((shared / "eval/injection/bipia_text_attack_train.json").read_text("utf-8"))
    names = [name for name in stored if name not in _NO_ADDRESS]
    return [t for name in names[::2] for t in stored[name]], [t for name in names[1::2] for t in stored[name]]


class Rows:
    """The features of many sentences: those of each row stand side by side."""

    def __init__(self, texts: list[str]) -> None:
        found = [features(text) for text in texts]
        self.count = len(found)
        self._buckets = np.concatenate(found)
        self._rows = np.repeat(np.arange(self.count), [len(row) for row in found])

    def scores(self, w: Floats, b: float) -> Floats:
        return np.bincount(self._rows, w[self._buckets], self.count) + b

    def gathered(self, errors: Floats) -> Floats:
        return np.bincount(self._buckets, errors[self._rows], BUCKETS)


def fitted(positive: list[str], negative: list[str], ordinary: list[str], steps: int = 400) -> tuple[Floats, float]:
    """Logistic regression, whole batches, decayed weights; both classes weigh the same."""
    x = Rows([*positive, *negative])
    sizes = [len(positive), len(negative)]
    y = np.repeat([1.0, 0.0], sizes)
    share = np.repeat([0.5 / size for size in sizes], sizes)
    w, b = np.zeros(BUCKETS), 0.0
    for step in range(steps):
        error = share * (1 / (1 + np.exp(-x.scores(w, b))) - y)
        rate = 2.0 / (1 + step / 100)
        w -= rate * (x.gathered(error) + 1e-4 * w)
        b -= rate * float(error.sum())
    scores = np.sort(Rows([text for text in ordinary if names_somebody(text)]).scores(w, b))
    return w, b - float(scores[-1 - round(len(ordinary) * _ABOVE)])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("shared", type=Path)
    parser.add_argument("pages", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    rng = random.Random(7)
    corpora = arguments.shared / "corpora"
    parts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    learnt, held_out = attacks(arguments.shared)
    with (arguments.shared / "eval/squad2/questions.jsonl").open(encoding="utf-8") as file:
        questions = [json.loads(line)["question"] for line in itertools.islice(file, _QUESTIONS)]
    ordinary = [*book(corpora / "docusaurus"), *book(corpora / "curriculum"), *parts["ordinary"]]
    rng.shuffle(ordinary)
    learnt_projects, other_projects = projects(arguments.pages)
    own = parts["attacks"] * _OWN
    positive = [*learnt, *learnt, *own, *made(parts, rng)]
    negative = [*ordinary[:_BOOK_SENTENCES], *learnt_projects, *questions, *parts["ordinary"] * 12 * _OWN]
    ordinary += learnt_projects
    w, b = fitted(positive, negative, ordinary)
    fixtures = Path(__file__).parent.parent / "tests/fixtures/injection"
    unseen = {name: book(corpora / name) for name in ("httpx", "rust-book", "docusaurus-3.9.2")}
    unseen["sentences of other projects that name somebody"] = other_projects
    unseen["a book on prompt injection"] = book(fixtures)
    unseen["own attacks of other wordings"] = (fixtures / "attacks.txt").read_text("utf-8").splitlines()
    found: dict[str, str] = {}
    for name, said in {"BIPIA's attacks of other categories": held_out, **unseen}.items():
        known = [text for text, score in zip(said, Rows(said).scores(w, b), strict=True) if score > 0]
        found[name] = f"{sum(map(names_somebody, known))} of {len(said)}"
        print(f"{name}: {found[name]}")
    w, b = fitted([*held_out, *held_out, *positive], negative, ordinary)  # what ships has seen all of them
    used = np.flatnonzero(np.abs(w) > 0.02)
    arguments.out.mkdir(parents=True, exist_ok=True)
    stored = {"bias": round(b, 4), "buckets": used.tolist(), "weights": [round(float(v), 3) for v in w[used]]}
    (arguments.out / "weights.json").write_text(json.dumps(stored, separators=(",", ":")) + "\n", "utf-8")
    record = {"made_by": "python -m training.instructions SHARED PAGES OUT", "unseen, before all was learnt": found}
    (arguments.out / "record.json").write_text(json.dumps(record, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
