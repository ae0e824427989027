"""Train the reading model: `python -m training.train DATA START.pt OUT`. One thread, fixed seeds, resumable.

The mixture moves from public pairs to documentation. A checkpoint is written every few minutes; the same command takes
up where it stands. `OUT/log.jsonl` is the record.
"""

import json
import random
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from citewell_evaluation.statistics import auroc
from training.data import Documentation, nli, reading
from training.model import Network, load_cross_encoder
from training.packing import Example, Packer, Row, tensors

STEPS = 1800
ROWS = 3
FROZEN = 3
RATE, HEAD_RATE = 1.2e-4, 6e-4
WARM = 100
SAVE_EVERY = 60
SHARES = ((0.0, (0.20, 0.45, 0.35)), (0.25, (0.45, 0.25, 0.30)), (0.6, (0.52, 0.18, 0.30)), (1.0, (0.60, 0.16, 0.24)))
"""Progress to the shares of rows: documentation, public claims, public questions."""


def shares(progress: float) -> list[float]:
    for (a, left), (b, right) in pairwise(SHARES):
        if progress <= b:
            t = (progress - a) / (b - a)
            return [x + (y - x) * t for x, y in zip(left, right, strict=True)]
    return list(SHARES[-1][1])


def endless(packer: Packer, make: "Iterator[list[Example]]") -> Iterator[Row]:
    for examples in make:
        yield from packer.rows(examples)


def rounds(folder: Path) -> tuple[Iterator[list[Example]], Iterator[list[Example]], Iterator[list[Example]]]:
    documentation = Documentation(folder)

    def docs() -> Iterator[list[Example]]:
        seed = 0
        while True:
            yield documentation.examples(seed)
            seed += 1

    def again(examples: list[Example]) -> Iterator[list[Example]]:
        seed = 0
        while True:
            chance = random.Random(seed)
            copy = list(examples)
            chance.shuffle(copy)
            yield copy
            seed += 1

    return docs(), again(nli(folder, 1)), again(reading(folder, 2))


def placed(rows: list[Row]) -> Iterator[tuple[int, Row]]:
    """Each row with the place of its first token among the tokens of all."""
    at = 0
    for row in rows:
        yield at, row
        at += len(row.ids)


def loss_of(network: Network, rows: list[Row]) -> tuple[Tensor, dict[str, float]]:
    x = network.encode(*tensors(rows), frozen=FROZEN)
    parts: dict[str, Tensor] = {}
    claims = [(x[at + start], label, weight) for at, row in placed(rows) for start, label, weight in row.claims]
    if claims:
        logits = network.supports(torch.stack([c[0] for c in claims]))
        labels = torch.tensor([c[1] for c in claims])
        log = functional.log_softmax(logits, -1)
        either = torch.logsumexp(log[:, 1:], -1)
        chosen = torch.where(labels == 3, either, log.gather(1, labels.clamp(max=2)[:, None])[:, 0])
        # Kept apart or not, a lie is a lie: supported against the rest counts as well as the three outcomes.
        binary = torch.where(labels == 0, log[:, 0], either)
        weights = torch.tensor([c[2] for c in claims])
        parts["claims"] = -((0.5 * chosen + 0.5 * binary) * weights).sum() / weights.sum()
    asked = [(x[at + q[0]], q) for at, row in placed(rows) for q in row.questions]
    if asked:
        logits = network.answers(torch.stack([first for first, _ in asked]))
        wanted, weights = torch.tensor([[float(q[1]), q[2]] for _, q in asked]).T
        losses = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none") * weights
        parts["answers"] = losses.sum() / weights.sum() * 1.5
    total: Tensor = sum(parts.values(), torch.zeros(()))
    return total, {k: round(v.item(), 4) for k, v in parts.items()}


@torch.no_grad()
def outcomes(network: Network, rows: list[Row]) -> dict[str, list[tuple[bool, float]]]:
    """Claims, questions to passages and questions to parts, as (label, score)."""
    found: dict[str, list[tuple[bool, float]]] = {"claims": [], "questions": [], "parts": []}
    for row in rows:
        x = network.encode(*tensors([row]))
        for start, label, _ in row.claims:
            found["claims"].append((label == 0, network.supports(x[start]).softmax(-1)[0].item()))
        for start, answerable, _, part in row.questions:
            found["parts" if part else "questions"].append((answerable, network.answers(x[start]).item()))
    return found


def main(folder: Path, start: Path, out: Path) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    out.mkdir(parents=True, exist_ok=True)
    network = Network()
    load_cross_encoder(network, torch.load(start))
    heads = ("support", "claim_pooler", "pooler", "answer")
    named = [(n, p) for n, p in network.named_parameters() if n.split(".")[0] in heads or _trained(n)]
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for n, p in named if n.split(".")[0] not in heads], "peak": RATE},
            {"params": [p for n, p in named if n.split(".")[0] in heads], "peak": HEAD_RATE},
        ],
        weight_decay=0.01, betas=(0.9, 0.98), fused=True,
    )  # fmt: skip
    packer = Packer(Tokenizer.from_file(str(start.parent / "tokenizer.json")))
    streams = [endless(packer, r) for r in rounds(folder)]
    held = list(packer.rows(Documentation(folder).held_out()))
    step = 0
    if (out / "state.pt").exists():
        state = torch.load(out / "state.pt")
        network.load_state_dict(state["network"], strict=False)
        if "optimizer" in state:
            optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
    chance = random.Random(7)
    picked: list[Row] = []
    seen, began = 0, time.time()
    for number in range(STEPS):
        mixture = shares(number / STEPS)
        picked = [next(streams[chance.choices(range(3), mixture)[0]]) for _ in range(ROWS)]
        if number < step:
            continue  # the streams go on as they did before the run was cut off
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * min(1.0, (number + 1) / WARM) * max(0.03, 1 - number / STEPS)
        loss, parts = loss_of(network, picked)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for _, p in named], 1.0)
        optimizer.step()
        seen += sum(len(r.ids) for r in picked)
        if number % 10 == 9:
            note(out, {"step": number + 1, "tokens/s": round(seen / (time.time() - began)), **parts})
        if number % SAVE_EVERY == SAVE_EVERY - 1 or number == STEPS - 1:
            if number % (4 * SAVE_EVERY) == 4 * SAVE_EVERY - 1 or number == STEPS - 1:
                measured = {
                    name: round(auroc([p[1] for p in pairs], [p[0] for p in pairs]), 4)
                    for name, pairs in outcomes(network, held).items()
                }
                note(out, {"held": number + 1, **measured})
            save(out, {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "step": number + 1})


def _trained(name: str) -> bool:
    parts = name.split(".")
    return parts[0] == "layers" and int(parts[1]) >= FROZEN


def note(out: Path, entry: dict[str, float]) -> None:
    with (out / "log.jsonl").open("a") as file:
        file.write(json.dumps(entry) + "\n")


def save(out: Path, state: dict[str, object]) -> None:
    torch.save(state, out / "state.tmp")
    (out / "state.tmp").replace(out / "state.pt")


if __name__ == "__main__":
    main(*(Path(a) for a in sys.argv[1:4]))
