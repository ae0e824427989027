"""The network: a BERT that reads a passage once and lets many sentences ask it.

A passage attends to itself alone. A sentence (a question or a claim) attends to itself and to the passages it may see,
in every layer. So a passage is encoded once, whoever asks, and a sentence costs its own few tokens.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, DEEP = 384, 12, 1536


class Look(NamedTuple):
    """Tokens `start` to `end` look at tokens `first` to `end`, where the mask (None: everywhere) is True."""

    start: int
    end: int
    first: int
    mask: Tensor | None = None


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.joined = nn.Linear(WIDTH, WIDTH)
        self.first_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up, self.down = nn.Linear(WIDTH, DEEP), nn.Linear(DEEP, WIDTH)
        self.second_norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x: Tensor, looks: list[Look]) -> Tensor:
        """Over tokens [tokens, width] of many examples: what looks at nothing costs nothing."""
        query, key, value = (
            made(x).unflatten(1, (HEADS, WIDTH // HEADS)).transpose(0, 1) for made in (self.query, self.key, self.value)
        )
        seen = [
            _attended(query[:, look.start : look.end], *(t[:, look.first : look.end] for t in (key, value)), look.mask)
            for look in looks
        ]
        x = self.first_norm(x + self.joined(torch.cat(seen, 1).transpose(0, 1).flatten(1)))
        fed: Tensor = self.second_norm(x + self.down(functional.gelu(self.up(x))))
        return fed


def _attended(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Each [heads, tokens, width of a head]."""
    query, key = query * (WIDTH // HEADS) ** -0.5, key.transpose(1, 2)
    if mask is None:
        return torch.bmm(torch.bmm(query, key).softmax(-1), value)
    hidden = torch.zeros_like(mask, dtype=query.dtype).masked_fill(~mask, -30000.0)
    return torch.bmm(torch.baddbmm(hidden.expand(HEADS, -1, -1), query, key).softmax(-1), value)


class Network(nn.Module):
    """Heads: `answers` (one logit: does what the question sees answer it?) and `support` (three)."""

    def __init__(self, layers: int, words: int = 30522, places: int = 512) -> None:
        super().__init__()
        self.words, self.places, self.kinds = (
            nn.Embedding(words, WIDTH),
            nn.Embedding(places, WIDTH),
            nn.Embedding(2, WIDTH),
        )
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.pooler, self.answer = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        self.claim_pooler, self.support = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 3)

    def embed(self, ids: Tensor, places: Tensor, kinds: Tensor) -> Tensor:
        embedded: Tensor = self.norm(self.words(ids) + self.places(places) + self.kinds(kinds))
        return embedded

    def encode(self, ids: Tensor, places: Tensor, kinds: Tensor, looks: list[Look], frozen: int = 0) -> Tensor:
        """All tokens of packed rows [tokens]; no gradient flows through the `frozen` lowest layers."""
        with torch.no_grad():
            x = self.embed(ids, places, kinds)
            for layer in self.layers[:frozen]:
                x = layer(x, looks)
        for layer in self.layers[frozen:]:
            x = layer(x, looks)
        return x

    def answers(self, first: Tensor) -> Tensor:
        return self.answer(torch.tanh(self.pooler(first))).squeeze(-1)

    def supports(self, first: Tensor) -> Tensor:
        verdict: Tensor = self.support(torch.tanh(self.claim_pooler(first)))
        return verdict


def cross_encoder(state: dict[str, Tensor], layers: int) -> Network:
    """The lowest layers of ms-marco-MiniLM-L-12-v2; the head that it has not begins from its pooler."""
    network = Network(layers)
    own = network.state_dict()
    for number in range(layers):
        own |= _layer(state, number)
    for kind in ("weight", "bias"):
        own[f"norm.{kind}"] = state[f"bert.embeddings.LayerNorm.{kind}"]
        own[f"pooler.{kind}"] = own[f"claim_pooler.{kind}"] = state[f"bert.pooler.dense.{kind}"]
        own[f"answer.{kind}"] = state[f"classifier.{kind}"]
    own["words.weight"] = state["bert.embeddings.word_embeddings.weight"]
    own["places.weight"] = state["bert.embeddings.position_embeddings.weight"]
    own["kinds.weight"] = state["bert.embeddings.token_type_embeddings.weight"]
    network.load_state_dict(own)
    return network


def restored(state: dict[str, Tensor]) -> Network:
    """A network that was saved, as deep as it was."""
    network = Network(len({name.split(".")[1] for name in state if name.startswith("layers.")}))
    network.load_state_dict(state)
    return network


def deepened(network: Network, state: dict[str, Tensor], layers: int) -> Network:
    """The cross-encoder's own upper layers and heads on top of those that were trained."""
    deeper = cross_encoder(state, layers)
    trained = ("layers", "words", "places", "kinds", "norm")
    kept = {name: value for name, value in network.state_dict().items() if name.split(".")[0] in trained}
    deeper.load_state_dict(deeper.state_dict() | kept)
    return deeper


def _layer(state: dict[str, Tensor], number: int) -> dict[str, Tensor]:
    names = {
        "attention.self.query": "query",
        "attention.self.key": "key",
        "attention.self.value": "value",
        "attention.output.dense": "joined",
        "attention.output.LayerNorm": "first_norm",
        "intermediate.dense": "up",
        "output.dense": "down",
        "output.LayerNorm": "second_norm",
    }
    return {
        f"layers.{number}.{ours}.{kind}": state[f"bert.encoder.layer.{number}.{theirs}.{kind}"]
        for theirs, ours in names.items()
        for kind in ("weight", "bias")
    }
