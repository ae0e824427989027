"""The built-in embedder, the memory of queries, and what is promised of every vector."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from citewell.embedding import BuiltinEmbedder, Embedder, RememberedQueries
from citewell.embedding.builtin import ASSETS, BuiltinTokenizer
from citewell.embedding.vectors import in_slices, unit_rows
from citewell.errors import ConfigurationError, EmbeddingError
from citewell.values import Vector

NODE = "A ROS 2 node is a process that computes one thing and talks to other nodes over topics."
PARIS = "Paris has been the capital of France since the tenth century, with a few interruptions."


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder(threads=2)


async def test_a_question_is_nearer_to_its_answer_than_to_another_subject(embedder: BuiltinEmbedder) -> None:
    question = await embedder.embed_query("What does a node do in ROS 2?")
    near, far = (await embedder.embed_passages([NODE, PARIS])) @ question
    assert near > 0.6
    assert far < 0.3


async def test_vectors_are_float32_and_of_length_one(embedder: BuiltinEmbedder) -> None:
    rows = await embedder.embed_passages([NODE, PARIS, "", " ", "🤖" * 40, "\ud800 half a pair"])
    assert rows.dtype == np.float32
    assert rows.shape == (6, embedder.dimensions)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


async def test_a_vector_is_the_same_alone_and_among_others(embedder: BuiltinEmbedder) -> None:
    """A second ingest with other neighbours must find the same passages unchanged."""
    others = [f"{PARIS} " * (n % 7) + f"Sentence {n}." for n in range(20)]
    among = await embedder.embed_passages([*others[:11], NODE, *others[11:]])
    alone = await embedder.embed_passages([NODE])
    assert np.array_equal(among[11], alone[0])
    assert np.array_equal(await embedder.embed_query(NODE), alone[0])


async def test_rows_come_in_the_order_of_the_texts(embedder: BuiltinEmbedder) -> None:
    texts = [
        f"Chapter {n} is about {word}." for n, word in enumerate("wheels arms maps legs eyes grippers".split() * 4)
    ]
    rows = await embedder.embed_passages(texts)
    one_by_one = [await embedder.embed_query(text) for text in texts]
    assert np.array_equal(rows, np.stack(one_by_one))


async def test_many_who_ask_at_once_get_what_each_would_get_alone(embedder: BuiltinEmbedder) -> None:
    questions = [f"How far does robot {n % 12} reach?" for n in range(50)]
    at_once = await asyncio.gather(*map(embedder.embed_query, questions))
    alone = {question: await embedder.embed_query(question) for question in set(questions)}
    assert all(np.array_equal(row, alone[question]) for row, question in zip(at_once, questions, strict=True))


async def test_no_texts_give_no_rows(embedder: BuiltinEmbedder) -> None:
    assert (await embedder.embed_passages([])).shape == (0, 384)


async def test_what_comes_after_512_tokens_does_not_count(embedder: BuiltinEmbedder) -> None:
    long = "robot " * 510
    first, second = await embedder.embed_passages([long, long + PARIS])
    assert np.array_equal(first, second)


def test_tokens_are_counted_without_a_limit(embedder: BuiltinEmbedder) -> None:
    assert embedder.count_tokens("") == 0
    assert embedder.count_tokens("robot " * 3000) == 3000
    assert embedder.count_tokens("nav2_bringup") > 1


TOKENIZER = BuiltinTokenizer()
TRICKY = st.sampled_from(
    (
        "running·nav2_bringup·[CLS]·x[SEP]y·[MASK·a\x0bb·a\x1cb·a\x85b·a\xa0b·é·e\u0301·日本語·a\u200bb·\ufffd·\x00·\u3000·"
        "don't·--ros-args·§1.2·🤖·\ud800·\t·\r\n· ·" + "x" * 101
    ).split("·")
)


@given(st.one_of(st.text(), st.lists(st.one_of(TRICKY, st.text(max_size=5)), max_size=30).map("".join)))
def test_a_count_by_words_is_the_count_of_the_whole(text: str) -> None:
    """Passages are cut by counts: one token too few, and the end of a passage is not embedded."""
    assert TOKENIZER.count(text) == len(TOKENIZER.encode(text))


def copied_assets(folder: Path) -> Path:
    """A copy of the small files; the model is a few bytes of something else."""
    for name in ("manifest.json", "tokenizer.json"):
        shutil.copy(ASSETS / name, folder)
    (folder / "model.onnx").write_bytes(b"not a model")
    return folder


async def test_a_damaged_model_is_named_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"^The built-in .*model\.onnx is damaged .* Install citewell again\.$"
    ):
        await BuiltinEmbedder(copied_assets(tmp_path)).embed_query("hello")


async def test_a_damaged_model_fails_a_bulk_with_the_same_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="damaged"):
        await BuiltinEmbedder(copied_assets(tmp_path)).embed_passages(["hello"] * 30)


def test_a_damaged_tokenizer_is_noticed(tmp_path: Path) -> None:
    assets = copied_assets(tmp_path)
    (assets / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json is damaged"):
        BuiltinEmbedder(assets).count_tokens("hello")


async def test_missing_files_are_a_broken_installation(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="not complete"):
        await BuiltinEmbedder(tmp_path).embed_query("hello")


def test_naming_an_embedder_loads_neither_onnxruntime_nor_tokenizers_nor_httpx() -> None:
    """Commands that embed nothing start without them."""
    code = (
        "import sys; from citewell.embedding import BuiltinEmbedder; BuiltinEmbedder()\n"
        "print([m for m in ('onnxruntime', 'tokenizers', 'httpx') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


class Counting:
    """An embedder that makes a vector from the text's length and remembers what it was asked."""

    name = "counting"
    dimensions = 2
    max_tokens = 10

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken = False

    def count_tokens(self, text: str) -> int:
        return len(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([await self.embed_query(text) for text in texts])

    async def embed_query(self, text: str) -> Vector:
        self.asked.append(text)
        if self.broken:
            raise EmbeddingError("broken")
        return unit_rows(np.array([len(text), 1.0]), source="counting")

    async def ping(self) -> None:
        self.asked.append("ping")

    async def aclose(self) -> None:
        pass


async def test_a_query_asked_again_is_not_embedded_again() -> None:
    inner = Counting()
    remembered: Embedder = RememberedQueries(inner)
    first = await remembered.embed_query("what is a node?")
    again = await remembered.embed_query("what is a node?")
    assert np.array_equal(first, again)
    assert inner.asked == ["what is a node?"]
    assert (remembered.name, remembered.dimensions, remembered.max_tokens) == ("counting", 2, 10)


async def test_the_query_asked_longest_ago_is_forgotten_first() -> None:
    inner = Counting()
    remembered = RememberedQueries(inner, size=2)
    for text in ("a", "bb", "a", "ccc", "a", "bb"):
        await remembered.embed_query(text)
    assert inner.asked == ["a", "bb", "ccc", "bb"]


async def test_a_failure_is_not_remembered() -> None:
    inner = Counting()
    remembered = RememberedQueries(inner)
    inner.broken = True
    with pytest.raises(EmbeddingError):
        await remembered.embed_query("a")
    inner.broken = False
    assert (await remembered.embed_query("a")).shape == (2,)


async def test_a_remembered_vector_cannot_be_changed_by_who_gets_it() -> None:
    vector = await RememberedQueries(Counting()).embed_query("a")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 5


@given(hnp.arrays(np.float64, (3, 4), elements=st.floats(-1e300, 1e300)))
def test_rows_are_of_length_one_or_refused(rows: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    try:
        unit = unit_rows(rows, source="it")
    except EmbeddingError:
        assert (np.abs(rows).max(axis=1) < 1e-6).any()
    else:
        assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(EmbeddingError, match="not finite"):
        unit_rows(np.array([[1.0, 2.0], [value, 1.0]]), source="it")


@given(count=st.integers(0, 40), size=st.integers(1, 9), at_once=st.integers(1, 5))
@settings(max_examples=40)
def test_slices_put_every_row_in_its_place(count: int, size: int, at_once: int) -> None:
    async def embed(texts: Sequence[str]) -> Vector:
        assert 1 <= len(texts) <= size
        await asyncio.sleep(0)
        return np.array([[float(text)] for text in texts], dtype=np.float32)

    texts = [str(n) for n in range(count)]
    rows = asyncio.run(in_slices(texts, embed, dimensions=1, size=size, at_once=at_once))
    assert rows[:, 0].tolist() == list(range(count))
