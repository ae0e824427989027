"""The larger network: all-mpnet-base-v2, in which a passage is read once and every claim and question looks at it.

The lowest layers read each text alone, as they were made to; in the others a sentence attends to itself and to the
passages it may see, a passage to itself. What comes out is a sentence's first token, so the last layer is that token's.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, DEEP, LAYERS, ALONE = 768, 12, 3072, 12, 5
BUCKETS, FAR, PLACES = 32, 128, 512
HIDDEN = -30000.0


@dataclass(frozen=True, slots=True)
class Look:
    """Tokens `start` to `end` look at tokens `first` to `end`. With no `mask` they are one text."""

    start: int
    end: int
    first: int
    mask: Tensor | None = None
    """[tokens, seen]: whether a token may look there."""
    across: Tensor | None = None
    """[tokens, seen]: whether that is another text."""
    places: Tensor | None = None
    """[tokens, seen]: how far it is, within the same text."""


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.joined = nn.Linear(WIDTH, WIDTH)
        self.first_norm = nn.LayerNorm(WIDTH, eps=1e-5)
        self.up, self.down = nn.Linear(WIDTH, DEEP), nn.Linear(DEEP, WIDTH)
        self.second_norm = nn.LayerNorm(WIDTH, eps=1e-5)

    def heads(self, made: nn.Linear, x: Tensor) -> Tensor:
        return made(x).unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(0, 1)

    def forward(self, x: Tensor, looks: list[tuple[Look, Tensor]]) -> Tensor:
        """Over tokens [tokens, width] of many examples; each look with its bias [heads, tokens, seen]."""
        query, key, value = (_parts(self.heads(made, x), looks) for made in (self.query, self.key, self.value))
        seen = [
            _attended(query[place], _seen(key, looks, place), _seen(value, looks, place), bias)
            for place, (_, bias) in enumerate(looks)
        ]
        return self.fed(x, torch.cat(seen, 1))

    def last(self, x: Tensor, looks: list[tuple[Look, Tensor, Tensor]]) -> Tensor:
        """The same for the first tokens of sentences alone: which they are in a look, and their bias."""
        key, value = (self.heads(made, x) for made in (self.key, self.value))
        firsts = torch.cat([k.start + at for k, at, _ in looks])
        query, done, seen = self.heads(self.query, x[firsts]), 0, []
        for k, at, bias in looks:
            asked = query[:, done : done + len(at)]
            seen.append(_attended(asked, key[:, k.first : k.end], value[:, k.first : k.end], bias))
            done += len(at)
        return self.fed(x[firsts], torch.cat(seen, 1))

    def fed(self, x: Tensor, seen: Tensor) -> Tensor:
        x = self.first_norm(x + self.joined(seen.transpose(0, 1).flatten(1)))
        made: Tensor = self.second_norm(x + self.down(functional.gelu(self.up(x))))
        return made


def _parts(x: Tensor, looks: list[tuple[Look, Tensor]]) -> tuple[Tensor, ...]:
    """The tokens of each look; together they are all there are. (The gradient of a split is one join.)"""
    return x.split([look.end - look.start for look, _ in looks], 1)


def _seen(parts: tuple[Tensor, ...], looks: list[tuple[Look, Tensor]], place: int) -> Tensor:
    """What the tokens of a look attend to: its own, and those of the looks before it from its first on."""
    begin = place
    while looks[begin][0].start > looks[place][0].first:
        begin -= 1
    return parts[place] if begin == place else torch.cat(parts[begin : place + 1], 1)


def _attended(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    scores = torch.baddbmm(bias.to(query.dtype), query * (WIDTH // HEADS) ** -0.5, key.transpose(1, 2))
    return torch.bmm(scores.softmax(-1), value)


class Network(nn.Module):
    def __init__(self, words: int = 30527, places: int = PLACES + 2) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, WIDTH), nn.Embedding(places, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-5)
        self.near = nn.Embedding(BUCKETS, HEADS)
        self.across = nn.Parameter(torch.zeros(HEADS), requires_grad=False)
        """What attention to another text gains: learnt in the first two stages, kept since."""
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.pooler, self.support = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 3)
        self.asked_pooler, self.answer = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)

    def embed(self, ids: Tensor, places: Tensor) -> Tensor:
        embedded: Tensor = self.norm(self.words(ids) + self.places(places + 2))
        return embedded

    def biases(self) -> Tensor:
        """[heads, from, to] for one text."""
        at = torch.arange(PLACES)
        table: Tensor = self.near(buckets(at[None] - at[:, None])).permute(2, 0, 1)
        return table

    def firsts(self, ids: Tensor, places: Tensor, alone: list[Look], looks: list[Look], firsts: list[Tensor]) -> Tensor:
        """What stands for each sentence. `firsts`: for each look, which of its tokens sentences begin with."""
        with torch.no_grad():
            table = self.biases()
            x = self.embed(ids, places)
            own = [(k, table[:, : k.end - k.start, : k.end - k.start]) for k in alone]
            for layer in self.layers[:ALONE]:
                x = layer(x, own)
        half = torch.is_autocast_enabled("cpu")
        seen = [(k, bias.bfloat16() if half else bias) for k in looks for bias in (self._bias(k, table),)]
        for layer in self.layers[ALONE:-1]:
            x = layer(x, seen)
        asked = [(k, at, bias[:, at]) for (k, bias), at in zip(seen, firsts, strict=True) if len(at)]
        return self.layers[-1].last(x, asked)

    def told(self, first: Tensor) -> Tensor:
        """The three logits of each claim."""
        told: Tensor = self.support(torch.tanh(self.pooler(first)))
        return told

    def answers(self, first: Tensor) -> Tensor:
        """Of each question: whether what it sees answers it."""
        return self.answer(torch.tanh(self.asked_pooler(first))).squeeze(-1)

    def _bias(self, look: Look, table: Tensor) -> Tensor:
        if look.mask is None:
            return table[:, : look.end - look.start, : look.end - look.start]
        assert look.across is not None
        assert look.places is not None
        with torch.no_grad():
            near = self.near(buckets(look.places)).permute(2, 0, 1)
            across = self.across[:, None, None]
            return torch.where(look.across, across, near).masked_fill(~look.mask, HIDDEN).contiguous()


def buckets(far: Tensor) -> Tensor:
    """MPNet's: near places one by one, far ones by the logarithm, those before apart from those after."""
    half = BUCKETS // 2
    exact = half // 2
    size = far.abs()
    large = exact + (torch.log(size.clamp(min=1).float() / exact) / math.log(FAR / exact) * (half - exact)).long()
    return (far > 0) * half + torch.where(size < exact, size, large.clamp(max=half - 1))


def pretrained(state: dict[str, Tensor]) -> Network:
    network = Network()
    own = network.state_dict()
    names = {
        "attention.attn.q": "query", "attention.attn.k": "key", "attention.attn.v": "value",
        "attention.attn.o": "joined", "attention.LayerNorm": "first_norm", "intermediate.dense": "up",
        "output.dense": "down", "output.LayerNorm": "second_norm",
    }  # fmt: skip
    for kind in ("weight", "bias"):
        own[f"norm.{kind}"] = state[f"embeddings.LayerNorm.{kind}"]
        own[f"pooler.{kind}"] = own[f"asked_pooler.{kind}"] = state[f"pooler.dense.{kind}"]
        for number in range(LAYERS):
            for theirs, ours in names.items():
                own[f"layers.{number}.{ours}.{kind}"] = state[f"encoder.layer.{number}.{theirs}.{kind}"]
    own["words.weight"] = state["embeddings.word_embeddings.weight"]
    own["places.weight"] = state["embeddings.position_embeddings.weight"]
    own["near.weight"] = state["encoder.relative_attention_bias.weight"]
    own["across"] = own["near.weight"][-1]  # as far behind as can be told
    network.load_state_dict(own)
    return network
