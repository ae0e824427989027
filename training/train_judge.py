"""Train the judge: `python -m training.train_judge DATA PAGES MPNET OUT`. Two threads, fixed seeds, resumable.

MPNET is the folder of all-mpnet-base-v2. Claims alone: what was written over documentation, and public pairs, more of
them at the beginning. A checkpoint is written every few minutes; the same command takes up where it stands.
"""

import random
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from citewell.inference.model_files import ASSETS
from citewell_evaluation.statistics import auroc
from training.data import Answers, Documentation, apart, by_nearness, contrast, general, handed, nli, written
from training.mpnet import ALONE, Look, Network, pretrained
from training.packing import CLAIM_MARK, Packer, Row, claims_alone
from training.packing import END as PIECE_END
from training.pages import texts
from training.train import endless, in_rounds, losses_of_claims, note, save, shuffled

THREADS: Final = 2
STEPS, WARM, ROWS = 2400, 120, 2
RATE, HEAD_RATE = 6e-5, 3e-4
SAVE_EVERY, MEASURE_EVERY, MEASURED = 100, 600, 12
SHIFT: Final = 4
"""MPNet's word pieces are BERT's, behind four of its own."""
BEGIN, END = 0, 2
MARKS: Final = {CLAIM_MARK: BEGIN, PIECE_END: END}
FIRST: Final = {
    "pairs": 0.34, "contrast": 0.20, "handed": 0.12, "apart": 0.10, "replies": 0.10, "weighed": 0.06, "general": 0.06,
    "answers": 0.02,
}  # fmt: skip
LAST: Final = {
    "pairs": 0.12, "contrast": 0.28, "handed": 0.15, "apart": 0.13, "replies": 0.15, "weighed": 0.06, "general": 0.07,
    "answers": 0.04,
}  # fmt: skip
"""The share of rows at the first step and at the last."""


def batch(rows: list[Row]) -> tuple[Tensor, Tensor, list[Look], list[Look], list[Tensor]]:
    """What `Network.supports` takes; claims come out in the order of the rows."""
    alone, looks, firsts, offset = [], [], [], 0
    for row in rows:
        segment, place = np.array(row.segment), np.array(row.places)
        starts = np.flatnonzero(np.diff(segment, prepend=-1))
        ends = [*starts[1:], len(segment)]
        alone += [Look(offset + a, offset + b, offset + a) for a, b in zip(starts, ends, strict=True)]
        for spans, middle, end in row.examples:
            looks += [Look(offset + a, offset + b, offset + a) for a, b in spans]
            firsts += [torch.zeros(0, dtype=torch.long)] * len(spans)
            if end > middle:
                looks.append(_look(row, segment, place, (spans[0][0], middle, end), offset))
                firsts.append(torch.tensor([start - middle for start, *_ in row.claims if middle <= start < end]))
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
    across = segment[middle:end, None] != segment[None, first:end]
    return Look(
        offset + middle, offset + end, offset + first,
        mask=torch.from_numpy(allowed[:, segment[first:end]]),
        across=torch.from_numpy(across),
        places=torch.from_numpy(place[None, first:end] - place[middle:end, None]),
    )  # fmt: skip


def logits_of(network: Network, rows: list[Row]) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return network.supports(*batch(rows)).float()


@torch.no_grad()
def measured(network: Network, held: dict[str, list[Row]]) -> dict[str, float]:
    """AUROC on pages held out of each."""
    found = {}
    for name, rows in held.items():
        scores = [s for row in rows for s in logits_of(network, [row]).softmax(-1)[:, 0].tolist()]
        found[name] = round(auroc(scores, [label == 0 for row in rows for _, label, _ in row.claims]), 4)
    return found


def streams(folder: Path, sets: dict[str, Documentation | Answers], packer: Packer) -> dict[str, Iterator[Row]]:
    made = {name: partial(in_rounds, source.examples, 0) for name, source in sets.items()}
    made["pairs"] = partial(in_rounds, partial(shuffled, nli(folder, 1)), 0)
    return {name: endless(packer, (claims_alone(some) for some in begin())) for name, begin in made.items()}


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
    packer = Packer(Tokenizer.from_file(str(ASSETS / "embedder" / "tokenizer.json")), passage_from=1)
    known = texts(pages)
    sets: dict[str, Documentation | Answers] = {
        "handed": handed(folder), "weighed": written(known, weigh=by_nearness), "apart": apart(known),
        "answers": Answers(known), "replies": Answers(known, "replies.jsonl"), "general": general(folder),
        "contrast": contrast(known, folder),
    }  # fmt: skip
    held = {n: list(islice(packer.rows(claims_alone(s.held_out())), MEASURED)) for n, s in sets.items()}
    every, chance = streams(folder, sets, packer), random.Random(7)
    seen, began = 0, 0.0
    for number in range(STEPS):
        shares = [FIRST[n] + (LAST[n] - FIRST[n]) * number / STEPS for n in every]
        picked = [next(every[chance.choices(list(every), shares)[0]]) for _ in range(ROWS)]
        if number < step:
            continue  # the streams go on as they did before the run was cut off
        began = began or time.time()
        for group in optimizer.param_groups:
            group["lr"] = group["full"] * min(1.0, (number + 1) / WARM) * max(0.02, 1 - number / STEPS)
        loss = losses_of_claims(logits_of(network, picked), [c for row in picked for c in row.claims])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)
        optimizer.step()
        seen += sum(len(r.ids) for r in picked)
        if number % 10 == 9:
            pace = round(seen / (time.time() - began))
            note(out, {"step": number + 1, "tokens/s": pace, "loss": round(loss.item(), 4)})
        if number % SAVE_EVERY == SAVE_EVERY - 1 or number == STEPS - 1:
            save(out, {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "step": number + 1})
        if number % MEASURE_EVERY == MEASURE_EVERY - 1 or number == STEPS - 1:
            note(out, {"held": number + 1, **measured(network, held)})


def _optimizer(network: Network, kept: dict[str, Any] | None) -> torch.optim.Optimizer:
    heads = [*network.pooler.parameters(), *network.support.parameters(), network.across]
    layers = [p for layer in network.layers[ALONE:] for p in layer.parameters()]
    optimizer = torch.optim.AdamW(
        [{"params": layers, "full": RATE}, {"params": heads, "full": HEAD_RATE}],
        weight_decay=0.01, betas=(0.9, 0.98), fused=True,
    )  # fmt: skip
    if kept is not None:
        optimizer.load_state_dict(kept)
    return optimizer


if __name__ == "__main__":
    main(*(Path(a) for a in sys.argv[1:5]))
