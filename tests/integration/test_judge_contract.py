"""The seam of the judge, on the judge that ships and on a hosted one (a loopback server plays the model)."""

import contextlib
import json
from collections.abc import AsyncIterator

import pytest

from citewell.errors import ModelError
from citewell.inference import LargerModel, MeanModel, ReadingModel
from citewell.judge import Judge, Lines, TrainedJudge
from citewell.judge.hosted_judge import HostedJudge
from tests.support.judges import LARGER
from tests.support.model_server import ModelServer, Play, Raw, Refuse

PAIRS = [("The arm lifts 5 kg.", ("The arm has a payload of 5 kg.",)), ("The moon is cheese.", ("A", "B"))]


def reply(content: str) -> Raw:
    body = {"choices": [{"message": {"role": "assistant", "content": content}}]}
    return Raw(json.dumps(body).encode(), "application/json")


@contextlib.asynccontextmanager
async def hosted(*plays: Play) -> AsyncIterator[tuple[HostedJudge, ModelServer]]:
    async with ModelServer(plays).running() as server, contextlib.aclosing(HostedJudge("m", server.url)) as judge:
        yield judge, server


@contextlib.asynccontextmanager
async def opened(kind: str) -> AsyncIterator[Judge]:
    if kind == "hosted":
        async with hosted(reply('```json\n["supported", "not stated"]\n```')) as (judge, _):
            yield judge
        return
    async with contextlib.aclosing(ReadingModel()) as one, contextlib.aclosing(LargerModel(LARGER)) as other:
        yield TrainedJudge(MeanModel(one, other), Lines(supported=0.5, conflict=0.5))


@pytest.mark.parametrize("kind", ["trained", "hosted"])
async def test_there_is_a_verdict_for_each_pair_in_their_order(kind: str) -> None:
    async with opened(kind) as judge:
        judge.prepare([window for _, windows in PAIRS for window in windows])
        found = await judge.judge(PAIRS)
        assert len(found) == 2
        assert all(0 <= verdict.score <= 1 and 0 <= verdict.contradicted <= 1 for verdict in found)
        assert found[0].score > found[1].score
        assert await judge.judge([]) == []


async def test_the_trained_judge_says_the_same_alone_and_among_others() -> None:
    async with opened("trained") as judge:
        together = await judge.judge(PAIRS)
        assert [(await judge.judge([pair]))[0] for pair in PAIRS] == together


async def test_a_hosted_judge_gets_an_answer_in_one_call_with_each_passage_once() -> None:
    async with hosted(reply('["supported", "contradicted", "maybe"]')) as (judge, server):
        found = await judge.judge([("One.", ("P",)), ("Two.", ("P",)), ("Three.", ("P", "Q"))])
    assert [verdict.outcome for verdict in found] == ["supported", "contradicted", "not_stated"]
    assert len(server.requests) == 1
    sent = json.loads(server.requests[0]["messages"][1]["content"])
    assert [p["text"] for p in sent["passages"]] == ["P", "Q"]
    assert [s["passages"] for s in sent["sentences"]] == [[1], [1], [1, 2]]


@pytest.mark.parametrize(
    "play", [Refuse(500), Refuse(401), Raw(b"<html>", "text/html"), reply("Sure!"), reply('["supported"]'), reply("[1")]
)
async def test_a_judge_that_fails_is_a_model_error_and_passes_nothing(play: Play) -> None:
    async with hosted(play) as (judge, _):
        with pytest.raises(ModelError) as caught:
            await judge.judge(PAIRS)
    assert "html" not in str(caught.value)
