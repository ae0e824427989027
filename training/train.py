"""Train the reading model: `python -m training.train DATA PAGES START.pt OUT`. Two threads, fixed seeds, resumable.

The mixture moves from public pairs to documentation; in a second stage our own claims and questions come in, over PAGES
(`training.pages`), and the rate rises once more. A checkpoint is written every few minutes; the same command takes
up where it stands. `OUT/log.jsonl` is the record.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from citewell_evaluation.statistics import auroc
from training.data import (
    READING_SHARE,
    REFUSING_SHARE,
    Answers,
    Documentation,
    Found,
    Key,
    apart,
    by_nearness,
    contrast,
    general,
    handed,
    nli,
    reading,
    written,
)
from training.model import Network, cross_encoder, deepened, restored
from training.packing import Example, Packer, Row, tensors
from training.pages import texts

Source = Documentation | Answers | Found
THREADS = 2
FROZEN = 3
SAVE_EVERY = 60
MEASURED = 60
HEADS = ("support", "claim_pooler", "pooler", "answer")


class Stage(NamedTuple):
    steps: int
    rate: float
    head_rate: float
    shares: tuple[tuple[float, dict[str, float]], ...]
    """From a progress on: the share of rows from each stream of `rounds`, which moves evenly to the next."""
    warm: int = 100
    planned: int = 0
    """Steps that rate and shares were laid out for, when it ended before."""
    rows: int = 3
    layers: int = 8
    half: bool = False
    """In bfloat16, on machines whose cores have it: half as long."""
    copies: bool = False
    """Near copies of the passages' own sentences, true and false, stand beside what was written."""

    def progress(self, at: int) -> float:
        return at / (self.planned or self.steps)

    def pace(self, at: int) -> float:
        """The share of the rate at this step."""
        return min(1.0, (at + 1) / self.warm) * max(0.03, 1 - self.progress(at))

    def mixture(self, progress: float) -> dict[str, float]:
        for (a, left), (b, right) in pairwise(self.shares):
            if progress <= b:
                t = (progress - a) / (b - a)
                return {name: left[name] + (right[name] - left[name]) * t for name in left}
        return self.shares[-1][1]


WHOLE = {
    "handed": 0.12, "apart": 0.14, "replies": 0.13, "answers": 0.07, "own": 0.06, "general": 0.09, "pairs": 0.10,
    "found": 0.19, "reading": 0.06, "refusing": 0.04,
}  # fmt: skip
"""Everything there is, as much of each as it is like what the product meets."""

CONTRASTED = {
    "contrast": 0.24, "handed": 0.10, "apart": 0.10, "replies": 0.12, "answers": 0.05, "own": 0.04, "general": 0.06,
    "pairs": 0.09, "found": 0.12, "reading": 0.07, "refusing": 0.01,
}  # fmt: skip
"""The same with pairs that differ in a word or two."""

STAGES = (
    Stage(
        1800, 1.2e-4, 6e-4,
        (
            (0.0, {"handed": 0.20, "pairs": 0.45, "reading": 0.35}),
            (0.25, {"handed": 0.45, "pairs": 0.25, "reading": 0.30}),
            (0.6, {"handed": 0.52, "pairs": 0.18, "reading": 0.30}),
            (1.0, {"handed": 0.60, "pairs": 0.16, "reading": 0.24}),
        ),
    ),
    Stage(
        900, 1.0e-4, 3e-4,
        (
            (0.0, {"handed": 0.26, "pairs": 0.09, "refusing": 0.16, "own": 0.49}),
            (1.0, {"handed": 0.32, "pairs": 0.06, "refusing": 0.12, "own": 0.50}),
        ),
        planned=1400,  # it had begun to take what is near for true
    ),
    Stage(
        450, 0.45e-4, 1.5e-4, ((0.0, {"handed": 0.45, "pairs": 0.08, "refusing": 0.10, "weighed": 0.37}),),
        warm=1,
    ),
    Stage(
        1000, 0.9e-4, 2.5e-4,
        ((0.0, {"handed": 0.22, "pairs": 0.06, "refusing": 0.08, "weighed": 0.19, "apart": 0.45}),),
    ),
    Stage(
        700, 0.9e-4, 2.2e-4,
        ((0.0, {"handed": 0.09, "pairs": 0.09, "refusing": 0.03, "own": 0.12, "apart": 0.15, "found": 0.52}),),
    ),
    Stage(
        600, 0.7e-4, 1.8e-4,
        ((0.0, {
            "handed": 0.10, "pairs": 0.12, "refusing": 0.03, "own": 0.08, "apart": 0.14, "found": 0.20, "answers": 0.33,
        }),),
    ),
    Stage(
        310, 0.8e-4, 1.8e-4,
        ((0.0, {
            "handed": 0.11, "pairs": 0.14, "reading": 0.10, "refusing": 0.06, "own": 0.15, "apart": 0.16, "found": 0.15,
            "answers": 0.13,
        }),),
        planned=3600, rows=2, layers=12, half=True,
    ),
    Stage(
        540, 0.8e-4, 1.6e-4, ((0.0, {"weighed": 0.75, "refusing": 0.25}),),
        warm=1, planned=4000, rows=2, layers=12, half=True,
    ),
    Stage(
        300, 0.9e-4, 1.8e-4, ((0.0, WHOLE),),
        warm=1, planned=6000, rows=2, layers=12, half=True,
    ),
    Stage(
        2040, 0.85e-4, 1.7e-4, ((0.0, WHOLE),),
        warm=1, planned=2300, rows=2, layers=12, half=True,  # time was up
    ),
    Stage(
        1140, 1.0e-4, 1.8e-4, ((0.0, CONTRASTED),),
        planned=6000, rows=2, layers=12, half=True, copies=True,  # until there were twice as many contrasts
    ),
    Stage(
        900, 0.85e-4, 1.5e-4, ((0.0, CONTRASTED),),
        warm=1, planned=3700, rows=2, layers=12, half=True, copies=True,  # it had begun to take what is near for true
    ),
    Stage(
        2600, 0.75e-4, 1.3e-4,
        ((0.0, {
            "handed": 0.15, "apart": 0.15, "contrast": 0.17, "replies": 0.13, "answers": 0.04, "weighed": 0.04,
            "general": 0.06, "pairs": 0.07, "found": 0.14, "reading": 0.05,
        }),),
        warm=1, rows=2, layers=12, half=True,
    ),
    Stage(
        1900, 0.8e-4, 1.3e-4,
        ((0.0, {
            "found": 0.34, "contrast": 0.15, "replies": 0.12, "handed": 0.10, "apart": 0.09, "general": 0.05,
            "answers": 0.04, "pairs": 0.05, "reading": 0.03, "weighed": 0.03,
        }),),
        rows=2, layers=12, half=True,
    ),
)  # fmt: skip


def endless(packer: Packer, make: "Iterator[list[Example]]") -> Iterator[Row]:
    for examples in make:
        yield from packer.rows(examples)


class Streams:
    """Rows of what was handed to us, public claims, public questions, near misses that people wrote, and our own."""

    def __init__(self, folder: Path, known: dict[str, Key], packer: Packer, sets: dict[str, Source]) -> None:
        self._packer = packer
        self._written = {**sets, "weighed": written(known, weigh=by_nearness)}
        self._public = {
            "pairs": nli(folder, 1),
            "reading": reading(folder, 2, READING_SHARE),
            "refusing": reading(folder, 3, REFUSING_SHARE),
        }

    def of_stage(self, number: int) -> dict[str, Iterator[Row]]:
        """Each stage begins its own: a run that was cut off goes through the present one again, not through all."""
        first, copies = 1000 * number, STAGES[number].copies
        made = {
            name: partial(in_rounds, partial(source.examples, copies=copies), first)
            for name, source in self._written.items()
        }
        made |= {name: partial(in_rounds, partial(shuffled, all_), first) for name, all_ in self._public.items()}
        return {name: endless(self._packer, begin()) for name, begin in made.items()}


def in_rounds(examples: Callable[[int], list[Example]], first: int) -> Iterator[list[Example]]:
    for seed in count(first):
        yield examples(seed)


def shuffled(examples: list[Example], seed: int) -> list[Example]:
    return random.Random(seed).sample(examples, len(examples))


def placed(rows: list[Row]) -> Iterator[tuple[int, Row]]:
    """Each row with the place of its first token among the tokens of all."""
    at = 0
    for row in rows:
        yield at, row
        at += len(row.ids)


def loss_of(network: Network, rows: list[Row], *, half: bool) -> tuple[Tensor, dict[str, float]]:
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        x = network.encode(*tensors(rows), frozen=FROZEN).float()
    claims = [x[at + claim[0]] for at, row in placed(rows) for claim in row.claims]
    asked = [x[at + question[0]] for at, row in placed(rows) for question in row.questions]
    return losses_of(
        rows,
        network.supports(torch.stack(claims)) if claims else torch.zeros(0),
        network.answers(torch.stack(asked)) if asked else torch.zeros(0),
    )


def losses_of(rows: list[Row], told: Tensor, answers: Tensor) -> tuple[Tensor, dict[str, float]]:
    """From the logits of all claims and of all questions, in the order of the rows."""
    parts: dict[str, Tensor] = {}
    if claims := [claim for row in rows for claim in row.claims]:
        parts["claims"] = losses_of_claims(told, claims)
    if asked := [question for row in rows for question in row.questions]:
        wanted, weights = torch.tensor([[float(q[1]), q[2]] for q in asked]).T
        losses = functional.binary_cross_entropy_with_logits(answers, wanted, reduction="none") * weights
        parts["answers"] = losses.sum() / weights.sum() * 1.5
        if chosen := list(_choices(rows)):
            parts["choices"] = 0.5 * torch.stack([_chosen(answers[at], wanted[at]) for at in chosen]).mean()
        if shown := list(_shown(rows)):
            parts["shown"] = torch.stack([_told(answers[at], wanted[at]) for at in shown]).mean()
    total: Tensor = sum(parts.values(), torch.zeros(()))
    return total, {k: round(v.item(), 4) for k, v in parts.items()}


def losses_of_claims(logits: Tensor, claims: Sequence[tuple[Any, int, float]]) -> Tensor:
    """Mean over claims, of which label and weight come second and third."""
    labels = torch.tensor([c[1] for c in claims])
    log = functional.log_softmax(logits, -1)
    either = torch.logsumexp(log[:, 1:], -1)
    chosen = torch.where(labels == 3, either, log.gather(1, labels.clamp(max=2)[:, None])[:, 0])
    # Kept apart or not, a lie is a lie: supported against the rest counts as well as the three outcomes.
    binary = torch.where(labels == 0, log[:, 0], either)
    weights = torch.tensor([c[2] for c in claims])
    return -((0.5 * chosen + 0.5 * binary) * weights).sum() / weights.sum()


def _choices(rows: list[Row]) -> Iterator[list[int]]:
    """Places among the questions of all rows: the views that one question has of a passage, of which some answer."""
    begin = 0
    for row in rows:
        for places in row.choices.values():
            if len({row.questions[p][1] for p in places}) > 1:
                yield [begin + p for p in places]
        begin += len(row.questions)


def _shown(rows: list[Row]) -> Iterator[list[int]]:
    """Places among the questions of all rows: one question to all that a search shows."""
    begin = 0
    for row in rows:
        yield from ([begin + p for p in places] for places in row.shown)
        begin += len(row.questions)


def _told(logits: Tensor, wanted: Tensor) -> Tensor:
    """Which passage answers, or none: "none" is a choice beside them, whose logit is 0."""
    none = torch.zeros(1)
    right = logits[wanted > 0] if wanted.any() else none
    return torch.logsumexp(torch.cat([none, logits]), 0) - torch.logsumexp(right, 0)


def _chosen(logits: Tensor, wanted: Tensor) -> Tensor:
    """What answers must stand before what does not, wherever both lie."""
    return torch.logsumexp(logits, 0) - torch.logsumexp(logits[wanted > 0], 0)


@torch.no_grad()
def outcomes(network: Network, rows: list[Row], *, half: bool) -> dict[str, list[tuple[bool, float]]]:
    """Claims, questions to passages and questions to parts, as (label, score)."""
    found: dict[str, list[tuple[bool, float]]] = {"claims": [], "questions": [], "parts": []}
    for row in rows:
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            x = network.encode(*tensors([row])).float()
        for start, label, _ in row.claims:
            found["claims"].append((label == 0, network.supports(x[start]).softmax(-1)[0].item()))
        for start, answerable, _, part in row.questions:
            found["parts" if part else "questions"].append((answerable, network.answers(x[start]).item()))
    return found


def measured(network: Network, packer: Packer, sets: dict[str, Source], *, half: bool) -> dict[str, float]:
    """AUROC on pages held out of each, as many as MEASURED rows hold."""
    return {
        f"{set_name} {name}": round(auroc([p[1] for p in pairs], [p[0] for p in pairs]), 4)
        for set_name, documentation in sets.items()
        for name, pairs in outcomes(
            network, list(islice(packer.rows(documentation.held_out()), MEASURED)), half=half
        ).items()
        if pairs
    }


def main(folder: Path, pages: Path, start: Path, out: Path) -> None:
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    out.mkdir(parents=True, exist_ok=True)
    begun = torch.load(start)
    step, network, kept = 0, cross_encoder(begun, STAGES[0].layers), None
    if (out / "state.pt").exists():
        state = torch.load(out / "state.pt")
        step, kept, network = state["step"], state.get("optimizer"), restored(state["network"])
    optimizer = _optimizer(network, kept)
    packer = Packer(Tokenizer.from_file(str(start.parent / "tokenizer.json")))
    known = texts(pages)
    sets: dict[str, Source] = {
        "handed": handed(folder), "own": written(known), "apart": apart(known), "found": Found(known),
        "answers": Answers(known), "replies": Answers(known, "replies.jsonl"), "general": general(folder),
        "contrast": contrast(known, folder),
    }  # fmt: skip
    every = Streams(folder, known, packer, sets)
    seen, began = 0, 0.0
    for number, place, at in planned([stage.steps for stage in STAGES], step):
        stage = STAGES[place]
        if at == 0:
            streams, chance = every.of_stage(place), random.Random(7 + place)
        mixture = stage.mixture(stage.progress(at))
        shares = [mixture.get(name, 0.0) for name in streams]
        picked = [next(streams[chance.choices(list(streams), shares)[0]]) for _ in range(stage.rows)]
        if number < step:
            continue  # the stage's streams go on as they did before the run was cut off
        began = began or time.time()
        if stage.layers > len(network.layers):
            network = deepened(network, begun, stage.layers)
            optimizer = _optimizer(network)
        for group in optimizer.param_groups:
            group["lr"] = getattr(stage, group["of"]) * stage.pace(at)
        loss, parts = loss_of(network, picked, half=stage.half)
        learn(optimizer, loss)
        seen += sum(len(r.ids) for r in picked)
        last = at == stage.steps - 1
        if number % 10 == 9:
            note(out, {"step": number + 1, "tokens/s": round(seen / (time.time() - began)), **parts})
        if last or number % SAVE_EVERY == SAVE_EVERY - 1:
            save(out, {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "step": number + 1})
        if last:
            note(out, {"held": number + 1, **measured(network, packer, sets, half=stage.half)})


def planned(stages: Sequence[int], done: int) -> Iterator[tuple[int, int, int]]:
    """Steps to go: number, stage and step within it, from the beginning of the stage in which a run was cut off."""
    begins = 0
    for place, steps in enumerate(stages):
        if begins + steps > done:
            yield from ((begins + at, place, at) for at in range(steps))
        begins += steps


def _optimizer(network: Network, kept: dict[str, Any] | None = None) -> torch.optim.Optimizer:
    """Heads learn at a rate of their own; `kept` is the state of a run that was cut off."""
    named = [(n.split(".")[0] in HEADS, p) for n, p in network.named_parameters()]
    layers = [p for layer in network.layers[FROZEN:] for p in layer.parameters()]
    optimizer = torch.optim.AdamW(
        [
            {"params": layers, "of": "rate"},
            {"params": [p for head, p in named if head], "of": "head_rate"},
        ],
        weight_decay=0.01, betas=(0.9, 0.98), fused=True,
    )  # fmt: skip
    if kept is not None:
        optimizer.load_state_dict(kept)
    return optimizer


def learn(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)
    optimizer.step()


def note(out: Path, entry: dict[str, float]) -> None:
    with (out / "log.jsonl").open("a") as file:
        file.write(json.dumps(entry) + "\n")


def save(out: Path, state: dict[str, object]) -> None:
    torch.save(state, out / "state.tmp")
    (out / "state.tmp").replace(out / "state.pt")


if __name__ == "__main__":
    main(*(Path(a) for a in sys.argv[1:5]))
