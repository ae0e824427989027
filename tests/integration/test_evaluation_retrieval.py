"""`citewell eval retrieval` on a tiny data set, through the real index and retriever."""

import json
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.text import content_stems
from citewell.values import Vector
from citewell_evaluation.retrieval import evaluate_retrieval

DOCUMENTS = [
    {"id": "d1", "title": "Balance", "text": "The zero moment point keeps a walking robot upright."},
    {"id": "d2", "title": "Plans", "text": "The free plan has a limit of one gigabyte."},
    {"id": "d3", "title": "Plans", "text": "The paid plan has no limit."},
    {"id": "d4", "title": "Cooking", "text": "Boil the pasta for ten minutes."},
]
QUERIES: list[dict[str, object]] = [
    {"id": "q1", "text": "What keeps a robot upright?", "relevant": {"d1": 1}},
    {
        "id": "q2",
        "text": "And is there a limit on that?",
        "rewritten": "Is there a limit on the free plan?",
        "history": [
            {"role": "user", "content": "Tell me about the free plan"},
            {"role": "assistant", "content": "The free plan costs nothing."},
        ],
        "relevant": {"d2": 1},
    },
]


class CountingEmbedder:
    """Texts with common words are near each other; counts the passages it was given."""

    name = "counting"
    dimensions = 128
    max_tokens = 256

    def __init__(self) -> None:
        self.passages = 0

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed_query(self, text: str) -> Vector:
        vector = np.full(self.dimensions, 1e-3, dtype=np.float32)
        for stem in content_stems(text):
            vector[zlib.crc32(stem.encode()) % self.dimensions] += 1
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.passages += len(texts)
        return np.stack([await self.embed_query(text) for text in texts])

    async def ping(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "tiny"
    data.mkdir()
    (data / "corpus.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    (data / "queries.jsonl").write_text("\n".join(map(json.dumps, QUERIES)))
    return data


async def test_rankings_and_follow_ups_are_measured_side_by_side(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "index"
    found = await evaluate_retrieval(
        folder, writer=EdgeWriter(place), index=EdgeIndex(place), embedder=CountingEmbedder()
    )
    ranking, follow_ups = found.tables
    assert [row.name for row in ranking.rows][:3] == ["BM25", "dense", "hybrid"]
    assert ranking.rows[2].figures["ndcg@10"].value == 1.0
    rows = {row.name: row.figures for row in follow_ups.rows}
    assert rows["as asked, with history"]["ndcg@5"].value == 1.0
    assert found.items[1].expected == "d2"
    assert found.dataset == "tiny"


async def test_a_second_run_embeds_nothing_anew_and_gives_the_same_figures(folder: Path, tmp_path: Path) -> None:
    embedder, place = CountingEmbedder(), tmp_path / "index"
    runs = [
        await evaluate_retrieval(folder, writer=EdgeWriter(place), index=EdgeIndex(place), embedder=embedder)
        for _ in range(2)
    ]
    assert embedder.passages == len(DOCUMENTS)
    assert len(await EdgeWriter(place).generations()) == 1
    assert repr(runs[0].tables) == repr(runs[1].tables)  # a share of no distance is NaN, which equals nothing
