"""The models as they ship: what holds whatever their weights are, and what they must at least be able to tell."""

import asyncio
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from citewell.errors import ConfigurationError
from citewell.inference import LargerModel, MeanModel, ReadingModel, Support
from citewell.inference.mean_model import LIKELIEST
from citewell.inference.model_files import ASSETS
from citewell.judge.trained import Read, SupportModel
from citewell.reader import QuestionModel
from tests.support.judges import LARGER

PASSAGE = "The timeout is 30 seconds. Set `timeout=None` to wait for ever. Retries are off unless you ask for them."
OTHER = "Cookies are kept between requests of one client. Use `client.cookies.clear()` to forget them."


@pytest.fixture(scope="module")
def model() -> ReadingModel:
    return ReadingModel()


@pytest.fixture(scope="module")
def larger() -> LargerModel:
    return LargerModel(LARGER)


@pytest.fixture(scope="module")
def both(model: ReadingModel, larger: LargerModel) -> MeanModel:
    return MeanModel(model, larger)


@pytest.mark.parametrize("kind", [ReadingModel, LargerModel])
async def test_the_same_text_gets_the_same_numbers_whatever_runs_beside_it(
    kind: type[ReadingModel | LargerModel],
) -> None:
    async def states(model: ReadingModel | LargerModel, *texts: str) -> list[NDArray[np.float32]]:
        return [encoded.states for encoded in await model.encode(texts)]

    assets = ASSETS / "reading" if kind is ReadingModel else LARGER
    model = kind(assets)
    (alone,) = await states(kind(assets, threads=1), PASSAGE)
    crowd = await asyncio.gather(*(states(model, f"{PASSAGE} {n}", PASSAGE) for n in range(6)))
    assert all(np.array_equal(beside[1], alone) for beside in crowd)


QUESTION = "How long is the timeout?"
SECOND, THIRD = PASSAGE.index("Set"), PASSAGE.index("Retries")
PLACES = [(0, SECOND), (SECOND, THIRD), (THIRD, len(PASSAGE))]


@pytest.fixture(params=["model", "larger", "both"])
def reads(request: pytest.FixtureRequest) -> QuestionModel:
    found: QuestionModel = request.getfixturevalue(request.param)
    return found


async def test_a_question_points_at_the_sentence_that_answers(reads: QuestionModel) -> None:
    [asked] = await reads.read(QUESTION, [PASSAGE], [PLACES])
    assert max(asked.units) == asked.units[0]


async def test_asking_for_units_changes_no_verdict_on_the_whole(reads: QuestionModel) -> None:
    [whole] = await reads.read(QUESTION, [PASSAGE], [[(0, len(PASSAGE))]])
    [alone] = await reads.read(QUESTION, [PASSAGE])
    assert whole.answers == pytest.approx(alone.answers, abs=0.5)


async def test_a_question_mark_makes_no_difference(reads: QuestionModel) -> None:
    plain, marked = [await reads.read(f"How long is the timeout{mark}", [PASSAGE], [PLACES]) for mark in ("", " ?")]
    assert plain == marked


async def test_the_passage_that_answers_scores_above_one_that_does_not(reads: QuestionModel) -> None:
    right, wrong = await reads.read(QUESTION, [PASSAGE, OTHER])
    assert right.answers > wrong.answers


async def test_two_models_read_as_one_and_the_larger_only_what_the_smaller_finds_likeliest(
    model: ReadingModel, larger: LargerModel, both: MeanModel
) -> None:
    places = [*PLACES, (0, len(PASSAGE)), (SECOND, len(PASSAGE))]
    [one], [mean] = [await reads.read(QUESTION, [PASSAGE], [places]) for reads in (model, both)]
    ranked = sorted(range(len(places)), key=lambda number: -one.units[number])
    # The same as the mean asks: which are asked together moves the last digits.
    [other] = await larger.read(QUESTION, [PASSAGE], [[places[number] for number in ranked[:LIKELIEST]]])
    assert min(one.answers, other.answers) <= mean.answers <= max(one.answers, other.answers)
    for number, score in zip(ranked, other.units, strict=False):
        assert mean.units[number] == pytest.approx((one.units[number] + score) / 2)
    for number in ranked[LIKELIEST:]:
        assert mean.units[number] == one.units[number]


async def told(model: SupportModel[Read], claim: str, *evidence: str) -> Support:
    [found] = await model.support_all([(claim, await model.encode(evidence or (PASSAGE, OTHER)))])
    return found


async def test_support_is_a_distribution_over_three_outcomes(model: ReadingModel, larger: LargerModel) -> None:
    claim = "The timeout is 30 seconds."
    for found in (await told(model, claim), await told(larger, claim), await told(MeanModel(model, larger), claim)):
        assert found.supported + found.contradicted + found.not_stated == pytest.approx(1.0)


async def test_two_models_as_one_lie_between_them(model: ReadingModel, larger: LargerModel) -> None:
    claim = "The timeout is 30 seconds."
    one, other = await told(model, claim), await told(larger, claim)
    mean = await told(MeanModel(model, larger), claim)
    assert min(one.supported, other.supported) <= mean.supported <= max(one.supported, other.supported)


async def test_what_a_passage_says_is_likelier_supported_than_what_it_denies_or_leaves_out(larger: LargerModel) -> None:
    said, denied, unsaid = [
        (await told(larger, claim)).supported
        for claim in (
            "Requests time out after 30 seconds.",
            "Requests are tried again by default.",
            "Redirects are followed by default.",
        )
    ]
    assert said > denied
    assert said > unsaid


async def test_other_evidence_beside_it_leaves_a_true_claim_true(larger: LargerModel) -> None:
    alone, beside = [await told(larger, "The timeout is 30 seconds.", *seen) for seen in ([PASSAGE], [OTHER, PASSAGE])]
    assert beside.supported == pytest.approx(alone.supported, abs=0.2)


async def test_thousands_of_units_cost_no_more_than_those_that_can_be_read(model: ReadingModel) -> None:
    """Attention over a copy of the question for each of them would take all memory."""
    text = "- a\n" * 2490
    (passage,) = await model.encode([text])
    asked = await model.ask("What is a?", passage, [(at, at + 4) for at in range(0, len(text), 4)])
    assert len(asked.units) == 2490
    assert asked.units[0] > asked.units[-1] == -20.0


async def test_what_lies_behind_the_place_where_reading_stopped_answers_nothing(reads: QuestionModel) -> None:
    text = "word " * 2000
    [asked] = await reads.read("What is the word?", [text], [[(0, 10), (len(text) - 10, len(text))]])
    assert asked.units[0] > asked.units[1] == -20.0


@pytest.mark.parametrize("text", ["", " \n", "\ud800 half a surrogate", "🙂" * 600, "\x00"])
async def test_no_text_breaks_them(model: ReadingModel, larger: LargerModel, text: str) -> None:
    for each in (model, larger):
        [asked] = await each.read(text or "?", [text])
        assert np.isfinite(asked.answers)
        assert np.isfinite((await told(each, text, text)).supported)


@pytest.mark.parametrize("kind", [ReadingModel, LargerModel])
async def test_a_damaged_file_is_said_in_one_line(kind: type[ReadingModel | LargerModel], tmp_path: Path) -> None:
    shutil.copytree(ASSETS / "reading" if kind is ReadingModel else LARGER, tmp_path / "model")
    manifest = tmp_path / "model" / "manifest.json"
    content = json.loads(manifest.read_bytes())
    content["files"]["model.onnx"]["sha256"] = "0" * 64
    manifest.write_text(json.dumps(content))
    with pytest.raises(ConfigurationError, match=r"model\.onnx is damaged.*Install citewell again"):
        await kind(tmp_path / "model").warm()


def test_the_lines_were_fitted_to_the_weights_that_ship(model: ReadingModel, larger: LargerModel) -> None:
    """A new file under an old line would pass other lies than were counted."""
    assert json.loads((ASSETS / "judge.json").read_bytes())["model_sha256"] == model.sha256
    assert json.loads((LARGER / "judge.json").read_bytes())["model_sha256"] == larger.sha256
