"""Train the larger model: `python -m training.train_larger DATA PAGES MPNET OUT`. Two threads, fixed seeds, resumable.

MPNET is the folder of all-mpnet-base-v2. First claims alone: what was written over documentation, and public pairs,
more of them at the beginning. Then questions beside them. A checkpoint is written every few minutes; the same command
takes up where it stands.
"""

import random
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from citewell.inference.model_files import ASSETS
from citewell_evaluation.statistics import auroc
from training.data import (
    READING_SHARE,
    REFUSING_SHARE,
    Answers,
    Found,
    apart,
    by_nearness,
    contrast,
    general,
    handed,
    nli,
    reading,
    written,
)
from training.mpnet import ALONE, Look, Network, pretrained
from training.packing import CLAIM_MARK, QUESTION_MARK, Packer, Row, claims_alone, questions_alone
from training.packing import END as PIECE_END
from training.pages import texts
from training.train import Source, endless, in_rounds, learn, losses_of, note, planned, save, shuffled

THREADS: Final = 2
WARM, ROWS = 120, 2
SAVE_EVERY, MEASURE_EVERY, MEASURED = 100, 600, 12
SHIFT: Final = 4
"""MPNet's word pieces are BERT's, behind four of its own."""
BEGIN, END = 0, 2
MARKS: Final = {CLAIM_MARK: BEGIN, QUESTION_MARK: BEGIN, PIECE_END: END}
FOUND: Final = 3
"""Of the passages that a search found, so many are read with a question."""


class Stage(NamedTuple):
    steps: int
    rate: float
    head_rate: float
    first: dict[str, float]
    """The share of rows at the first step."""
    last: dict[str, float] | None = None
    """At the last, when it is another."""
    questions: bool = False
    """Whether questions are asked too, or claims judged alone."""

    def share(self, name: str, progress: float) -> float:
        begins, ends = (shares.get(name, 0.0) for shares in (self.first, self.last or self.first))
        return begins + (ends - begins) * progress


STAGES: Final = (
    Stage(
        2400, 6e-5, 3e-4,
        {
            "pairs": 0.34, "contrast": 0.20, "handed": 0.12, "apart": 0.10, "replies": 0.10, "weighed": 0.06,
            "general": 0.06, "answers": 0.02,
        },
        {
            "pairs": 0.12, "contrast": 0.28, "handed": 0.15, "apart": 0.13, "replies": 0.15, "weighed": 0.06,
            "general": 0.07, "answers": 0.04,
        },
    ),
    Stage(
        3400, 6e-5, 3e-4,
        {
            "found": 0.20, "reading": 0.26, "refusing": 0.12, "general": 0.07, "contrast": 0.12, "handed": 0.06,
            "apart": 0.05, "replies": 0.05, "weighed": 0.02, "answers": 0.02, "pairs": 0.03,
        },
        {
            "tables": 0.22, "found": 0.23, "reading": 0.07, "refusing": 0.03, "general": 0.08, "contrast": 0.12,
            "handed": 0.08, "apart": 0.06, "replies": 0.07, "weighed": 0.01, "answers": 0.01, "pairs": 0.02,
        },
        questions=True,
    ),
    Stage(
        3400, 6e-5, 2e-4,
        {
            "found": 0.22, "reading": 0.19, "refusing": 0.11, "general": 0.04, "contrast": 0.08, "tables": 0.05,
            "handed": 0.05, "apart": 0.04, "replies": 0.05, "weighed": 0.01, "answers": 0.01, "pairs": 0.15,
        },
        {
            "found": 0.28, "reading": 0.11, "refusing": 0.06, "general": 0.05, "contrast": 0.11, "tables": 0.06,
            "handed": 0.06, "apart": 0.05, "replies": 0.08, "weighed": 0.01, "answers": 0.01, "pairs": 0.12,
        },
        questions=True,
    ),
)  # fmt: skip


def batch(rows: list[Row]) -> tuple[Tensor, Tensor, list[Look], list[Look], list[Tensor]]:
    """What `Network.firsts` takes; sentences come out in the order of the rows."""
    alone, looks, firsts, offset = [], [], [], 0
    for row in rows:
        segment, place = np.array(row.segment), np.array(row.places)
        starts = np.flatnonzero(np.diff(segment, prepend=-1))
        ends = [*starts[1:], len(segment)]
        alone += [Look(offset + a, offset + b, offset + a) for a, b in zip(starts, ends, strict=True)]
        begins = sorted(start for start, *_ in (*row.claims, *row.questions))
        for spans, middle, end in row.examples:
            looks += [Look(offset + a, offset + b, offset + a) for a, b in spans]
            firsts += [torch.zeros(0, dtype=torch.long)] * len(spans)
            if end > middle:
                looks.append(_look(row, segment, place, (spans[0][0], middle, end), offset))
                firsts.append(torch.tensor([start - middle for start in begins if middle <= start < end]))
        offset += len(row.ids)
    ids = torch.tensor([MARKS.get(i, i + SHIFT) for r in rows for i in r.ids])
    return ids, torch.tensor([p for r in rows for p in r.places]), alone, looks, firsts


def _look(
    row: Row, segment: NDArray[np.int64], place: NDArray[np.int64], at: tuple[int, int, int], offset: int
) -> Look:
    first, middle, end = at
    allowed = np.zeros((end - middle, len(row.sees)), bool)
    for i, own in enumerate(segment[middle:end]):
        allowed[i, list(row.sees[own])] = True
    mask = allowed[:, segment[first:end]]
    for start, stop, a, b in row.hidden:
        if middle <= start < end:
            mask[start - middle : stop - middle, a - first : b - first] = False
    across = segment[middle:end, None] != segment[None, first:end]
    return Look(
        offset + middle, offset + end, offset + first,
        mask=torch.from_numpy(mask),
        across=torch.from_numpy(across),
        places=torch.from_numpy(place[None, first:end] - place[middle:end, None]),
    )  # fmt: skip


def logits_of(network: Network, rows: list[Row]) -> tuple[Tensor, Tensor]:
    """Of all claims, and of all questions, in the order of the rows."""
    with torch.autocast("cpu", torch.bfloat16):
        first = network.firsts(*batch(rows)).float()
    asks = torch.tensor(
        [asks for row in rows for _, asks in sorted(
            [*((start, False) for start, *_ in row.claims), *((start, True) for start, *_ in row.questions)]
        )]
    )  # fmt: skip
    return network.told(first[~asks]), network.answers(first[asks])


@torch.no_grad()
def measured(network: Network, held: dict[str, list[Row]]) -> dict[str, float]:
    """AUROC on pages held out of each: of claims, of questions to a passage, and to its parts."""
    found = {}
    for name, rows in held.items():
        pairs: dict[str, list[tuple[float, bool]]] = {"claims": [], "questions": [], "parts": []}
        for row in rows:
            told, answers = logits_of(network, [row])
            supported = told.softmax(-1)[:, 0].tolist()
            pairs["claims"] += [(s, label == 0) for s, (_, label, _) in zip(supported, row.claims, strict=True)]
            for score, (_, answerable, _, part) in zip(answers.tolist(), row.questions, strict=True):
                pairs["parts" if part else "questions"].append((score, answerable))
        for kind, scored in pairs.items():
            if scored:
                found[f"{name} {kind}"] = round(auroc([s for s, _ in scored], [label for _, label in scored]), 4)
    return found


def streams(folder: Path, sets: dict[str, Source], packer: Packer, place: int) -> dict[str, Iterator[Row]]:
    """Each stage goes through its own rounds, and from the third on through its own part of the public sets."""
    first, other = 1000 * place, 10 * max(0, place - 1)
    made = {name: partial(in_rounds, source.examples, first) for name, source in sets.items()}
    made["pairs"] = partial(in_rounds, partial(shuffled, nli(folder, 1 + other)), first)
    if not STAGES[place].questions:
        return {name: endless(packer, map(claims_alone, begin())) for name, begin in made.items() if name != "found"}
    for name, number, share in (("reading", 2, READING_SHARE), ("refusing", 3, REFUSING_SHARE)):
        every = questions_alone(reading(folder, number + other, share))
        made[name] = partial(in_rounds, partial(shuffled, every), first)
    return {name: endless(packer, begin()) for name, begin in made.items()}


def main(folder: Path, pages: Path, mpnet: Path, out: Path) -> None:
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    out.mkdir(parents=True, exist_ok=True)
    network, step, kept = pretrained(load_file(mpnet / "model.safetensors")), 0, None
    if (out / "state.pt").exists():
        state = torch.load(out / "state.pt")
        step, kept = state["step"], state.get("optimizer")
        network.load_state_dict(state["network"])
    optimizer = _optimizer(network, kept)
    packer = Packer(Tokenizer.from_file(str(ASSETS / "embedder" / "tokenizer.json")), passage_from=1, marked=True)
    known = texts(pages)
    sets: dict[str, Source] = {
        "handed": handed(folder, 0), "weighed": written(known, weigh=by_nearness), "apart": apart(known),
        "answers": Answers(known), "replies": Answers(known, "replies.jsonl"), "general": general(folder),
        "contrast": contrast(known, folder), "found": Found(known, FOUND),
        "tables": written(known, "tables.jsonl"),
    }  # fmt: skip
    held = {n: list(islice(packer.rows(s.held_out()), MEASURED)) for n, s in sets.items()}
    seen, began = 0, 0.0
    for number, place, at in planned([stage.steps for stage in STAGES], step):
        stage = STAGES[place]
        if at == 0:
            every, chance = streams(folder, sets, packer, place), random.Random(7 + place)
        shares = [stage.share(name, at / stage.steps) for name in every]
        picked = [next(every[chance.choices(list(every), shares)[0]]) for _ in range(ROWS)]
        if number < step:
            continue  # the streams go on as they did before the run was cut off
        began = began or time.time()
        for group in optimizer.param_groups:
            group["lr"] = getattr(stage, group["of"]) * min(1.0, (at + 1) / WARM) * max(0.02, 1 - at / stage.steps)
        loss, parts = losses_of(picked, *logits_of(network, picked))
        learn(optimizer, loss)
        seen += sum(len(r.ids) for r in picked)
        last = at == stage.steps - 1
        if number % 10 == 9:
            note(out, {"step": number + 1, "tokens/s": round(seen / (time.time() - began)), **parts})
        if last or number % SAVE_EVERY == SAVE_EVERY - 1:
            save(out, {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "step": number + 1})
        if last or number % MEASURE_EVERY == MEASURE_EVERY - 1:
            note(out, {"held": number + 1, **measured(network, held)})


def _optimizer(network: Network, kept: dict[str, Any] | None) -> torch.optim.Optimizer:
    heads = [
        p for head in (network.pooler, network.support, network.asked_pooler, network.answer) for p in head.parameters()
    ]
    layers = [p for layer in network.layers[ALONE:] for p in layer.parameters()]
    optimizer = torch.optim.AdamW(
        [{"params": layers, "of": "rate"}, {"params": heads, "of": "head_rate"}],
        weight_decay=0.01, betas=(0.9, 0.98), fused=True,
    )  # fmt: skip
    if kept is not None:
        optimizer.load_state_dict(kept)
    return optimizer


if __name__ == "__main__":
    main(*(Path(a) for a in sys.argv[1:5]))
