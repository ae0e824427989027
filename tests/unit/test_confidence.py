"""Confidence: the fitted model, its levels, and how it is fitted."""

import contextlib
import json
import math
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.answering.confidence import ANSWER_FROM, FEATURE_NAMES, Confidence, Features, Logistic, level_of
from citewell.errors import ConfigurationError, InvalidInputError
from citewell.retrieval import Found
from citewell.values import ConfidenceLevel, Message, Passage, ScoredPassage
from citewell_evaluation.answers import evaluate_answers, refused_at
from citewell_evaluation.asked import Sets
from citewell_evaluation.calibrating import evaluate_calibration
from citewell_evaluation.calibration import (
    NEAR_WORTH,
    WEIGHED,
    WORTH,
    Example,
    balanced,
    calibrate,
    calibrated,
    fit,
    tempered,
)
from citewell_evaluation.datasets import Document
from citewell_evaluation.json_form import to_json, without_times
from tests.support.word_reader import WordReader


@pytest.mark.parametrize(
    ("probability", "level"),
    [
        (1.0, "high"),
        (0.8, "high"),
        (0.79, "medium"),
        (0.6, "medium"),
        (0.59, "low"),
        (0.4, "low"),
        (0.39, "insufficient"),
    ],
)
def test_levels_are_those_of_the_contract(probability: float, level: ConfidenceLevel) -> None:
    assert level_of(probability) == level


@given(st.lists(st.floats(-1e6, 1e6), min_size=len(FEATURE_NAMES), max_size=len(FEATURE_NAMES)), st.booleans())
def test_a_probability_is_one_whatever_the_features(values: list[float], confined: bool) -> None:
    features = Features(**dict(zip(FEATURE_NAMES, values, strict=True)))
    assert 0 <= Confidence.load().probability(features, confined=confined) <= 1


def test_without_passages_the_shipped_model_refuses() -> None:
    assert Confidence.load().probability(Features(), confined=False) < ANSWER_FROM


def test_a_file_of_ones_own_is_loaded_and_known_by_its_digest(tmp_path: Path) -> None:
    part = {"intercept": 2.0, "weights": {"answers": 0.0}}
    path = tmp_path / "confidence.json"
    path.write_text(json.dumps({"general": part, "confined": part}), "utf-8")
    own = Confidence.load(path)
    assert own.probability(Features(), confined=False) == pytest.approx(0.8808, abs=1e-4)
    assert own.digest != Confidence.load().digest
    with pytest.raises(ConfigurationError, match="CONFIDENCE_FILE"):
        Confidence.load(tmp_path / "missing.json")


def test_a_model_without_a_part_is_named() -> None:
    with pytest.raises(ConfigurationError, match="confined"):
        Confidence.parse('{"general": {"intercept": 0, "weights": {}}}')


def test_a_weight_for_an_unknown_feature_is_named() -> None:
    part = {"intercept": 0, "weights": {"luck": 1.0}}
    with pytest.raises(ConfigurationError, match="luck"):
        Confidence.parse(json.dumps({"general": part, "confined": part}))


def test_what_is_weighed_are_features() -> None:
    assert all(set(names) <= set(FEATURE_NAMES) for names in WEIGHED.values())


def _examples(count: int = 400) -> list[Example]:
    """The truth follows `gap` through a known logistic function; nothing else matters."""
    examples = []
    for i in range(count):
        best = (i * 0.618034) % 1
        truth = (i * 0.414214) % 1 < 1 / (1 + math.exp(-(8 * best - 4)))
        examples.append(Example(Features(gap=best, words=(i % 7) / 7), truth, f"question {i}", source="made up"))
    return examples


def test_the_fit_finds_the_function_behind_the_data() -> None:
    model = fit(_examples(), "general", penalty=0.01)
    assert model.weights["gap"] == pytest.approx(8, abs=1.6)
    assert abs(model.weights["words"]) < 1
    assert model.probability(Features(gap=0.5, words=0.5)) == pytest.approx(0.5, abs=0.1)


def test_a_good_fit_is_calibrated_on_what_it_did_not_see() -> None:
    result = calibrated(_examples(), "general")
    assert result.ece < 0.08
    assert result.auroc > 0.85
    assert result.diagram.startswith("<svg")


def test_what_is_stated_as_high_is_right_often_enough_on_sets_that_were_left_out() -> None:
    sure = [(0.95, i % 10 < 9) for i in range(20)]
    unsure = [(0.82, i % 2 == 0) for i in range(20)]
    assert tempered(sure) == (1.0, (20, 0.9))
    factor, high = tempered([*sure, *unsure])
    assert factor < 1
    assert high == (20, 0.9)


def test_questions_of_one_sort_cannot_calibrate() -> None:
    with pytest.raises(InvalidInputError, match="both sorts"):
        fit([Example(Features(relevance=0.5), True, "a"), Example(Features(relevance=0.2), True, "b")], "general")


def test_a_new_part_leaves_the_other_alone() -> None:
    current = json.dumps({part: {"intercept": 1.0, "weights": {"relevance": 2.0}} for part in ("general", "confined")})
    merged = json.loads(calibrated(_examples(), "general").merged(current, "made up"))
    assert merged["confined"] == {"intercept": 1.0, "weights": {"relevance": 2.0}}
    assert merged["general"]["fit"]["data"] == "made up"


def test_every_set_counts_the_same_and_near_misses_less() -> None:
    few = [Example(Features(), True, str(i), source="few") for i in range(4)]
    many = [Example(Features(), True, str(i), source="many", near=True) for i in range(50)]
    weights: dict[str, float] = {}
    for example in balanced([*few, *many], "general"):
        weights[example.source] = weights.get(example.source, 0.0) + example.weight
    assert weights["few"] == pytest.approx(WORTH)
    assert weights["many"] == pytest.approx(NEAR_WORTH * WORTH)


def test_a_set_is_also_measured_by_a_model_that_did_not_see_it() -> None:
    examples = [Example(e.features, e.truth, e.group, source="ab"[i % 2]) for i, e in enumerate(_examples())]
    found = calibrated(examples, "general")
    assert [one.source for one in found.sets] == ["a", "b"]
    assert all(one.ece_left_out is not None and one.ece_left_out < 0.15 for one in found.sets)
    assert all(0 < one.chance < 0.1 for one in found.sets)
    assert calibrated(_examples(), "general").sets[0].ece_left_out is None


class Everything:
    """A search that knows a few documents and finds those that share a word with the question."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents

    async def search(self, query: str, *, top_k: int, history: Sequence[Message] = ()) -> Found:
        asked = {word.strip("?").lower() for word in query.split()}
        shared = [(len(asked & set(d.text.lower().replace(".", "").split())) / len(asked), d) for d in self._documents]
        best = sorted((pair for pair in shared if pair[0] > 0), key=lambda pair: (-pair[0], pair[1].id))[:top_k]
        found = tuple(
            ScoredPassage(Passage(d.id, d.id, d.title, d.text, 0, 0, len(d.text)), score, score, 10 * score, score)
            for score, d in best
        )
        return Found(found, len(found), "one", 0.0, 0.0, query)

    async def passages_of(self, url: str) -> list[Passage]:
        return []


@contextlib.asynccontextmanager
async def over(name: str, documents: Sequence[Document]) -> AsyncIterator[Everything]:
    yield Everything(documents)


def _write_selections(path: Path) -> Path:
    lines: list[dict[str, object]] = []
    for i in range(30):
        passage = f"Town {i} lies on the river Vist{i}. It has {i + 2} old bridges. The people of the town sell glass."
        for question, answers in (
            (f"How many old bridges has Town {i}?", [str(i + 2)]),
            ("Who wrote the Zauberberg?", []),
        ):
            known = {"id": f"{i}{len(answers)}", "title": f"t{i}", "passage": passage, "question": question}
            lines.append({**known, "answerable": bool(answers), "answers": answers})
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def _write_corpus(folder: Path) -> Path:
    folder.mkdir()
    documents = [{"id": f"d{i}", "title": "", "text": f"The valve v{i} opens at {i + 3} bar."} for i in range(20)]
    questions = [
        {"id": f"{i}<::>1", "question": f"When opens the valve v{i}?", "answerability": "answerable"}
        | {"passages": [f"d{i}"]}
        for i in range(20)
    ]
    questions += [
        {"id": f"u{i}<::>1", "question": f"Who paints the roof of house {i} red?", "answerability": "unanswerable"}
        for i in range(20)
    ]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    return folder / "questions.jsonl"


SETS = Sets(WordReader(), None, over)
SHIPPED = json.dumps({part: {"intercept": 0, "weights": {}} for part in ("general", "confined")})


async def test_a_set_of_selections_fits_the_confined_part_and_is_measured(tmp_path: Path) -> None:
    path = _write_selections(tmp_path / "questions.jsonl")
    (result,), model = await calibrate([path], SETS, current=SHIPPED)
    assert result.part == "confined"
    evaluation = await evaluate_answers(path, sets=SETS, confidence=Confidence.parse(model))
    words, decision, _ = (table.rows[0].figures for table in evaluation.tables)
    assert words["two sentences"].value == words["composed"].value == 1
    assert decision["AUROC"].value > 0.95
    assert Logistic(0, {}).probability(Features()) == 0.5


async def test_several_sets_fit_both_parts_and_twice_the_same_bytes(tmp_path: Path) -> None:
    paths = [_write_corpus(tmp_path / "valves"), _write_selections(tmp_path / "questions.jsonl")]
    runs = [await calibrate(paths, SETS, current=SHIPPED) for _ in range(2)]
    assert [result.part for result in runs[0][0]] == ["general", "confined"]
    assert runs[0][1] == runs[1][1]
    fitted = json.loads(runs[0][1])["general"]["fit"]
    assert list(fitted["sets"]) == ["valves/questions", f"{tmp_path.name}/questions"]
    model = Confidence.parse(runs[0][1])
    known = await evaluate_answers(paths[0], sets=SETS, confidence=model)
    assert known.tables[0].rows[0].figures["others refused"].value == 1


async def test_near_misses_alone_do_not_fit_the_general_part(tmp_path: Path) -> None:
    path = tmp_path / "listed.jsonl"
    path.write_text('{"id": "1", "question": "Q?", "passages": ["T: x"], "answerable": true}\n', encoding="utf-8")
    with pytest.raises(InvalidInputError, match="golden set"):
        await calibrate([path], SETS, current=SHIPPED)


async def test_evaluations_give_the_same_bytes_twice_apart_from_times(tmp_path: Path) -> None:
    selections = _write_selections(tmp_path / "questions.jsonl")
    turns = _write_corpus(tmp_path / "valves")
    model = Confidence.load()

    async def run() -> list[str]:
        evaluations = [
            await evaluate_answers(selections, sets=SETS, confidence=model),
            await evaluate_answers(turns, sets=SETS, confidence=model),
            await evaluate_calibration(selections, sets=SETS, confidence=model),
            await evaluate_calibration(turns, sets=SETS, confidence=model),
        ]
        return [without_times(to_json(evaluation)) for evaluation in evaluations]

    assert await run() == await run()


def test_refusals_are_compared_at_the_same_share_of_answers() -> None:
    assert refused_at([0.9, 0.8, 0.7, 0.2], [0.1, 0.75, 0.6], 0.5) == pytest.approx(2 / 3)
    assert refused_at([], [0.1], 0.85) == 0
