"""A hosted model that does everything wrong, over a real socket: each question ends, within four calls."""

from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.answering.engine import EngineOptions
from citewell.answering.hosted_model import HostedModel
from citewell.errors import CitewellError
from tests.support.model_server import CallTool, Drip, ModelServer, Play, Raw, Refuse, Say, Stall
from tests.support.toy_book import a_question, toy_book

QUESTION = "What is inverse kinematics?"
MOST_CALLS = 4
TRUE = "Inverse kinematics is the problem of finding the joint angles that put the hand at a wanted pose. [1]"
PLAYS: dict[str, list[Play]] = {
    "refuses the key": [Refuse(401)],
    "is overloaded": [Refuse(429)],
    "fails": [Refuse(500)],
    "freezes": [Stall()],
    "freezes after a word": [Stall("Inverse")],
    "is cut": [Say(TRUE, finish=None)],
    "sends nonsense": [Raw(b"data: {not json\n\n")],
    "sends another protocol": [Raw(b"<html>Bad gateway</html>", "text/html")],
    "sends nothing": [Raw(b"")],
    "sends half a surrogate": [Raw(b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n' * 3)],
    "sends 50 MB": [Raw(b"data: " + b"x" * 50_000_000 + b"\n\n")],
    "only searches": [CallTool('{"query": "pose"}')],
    "calls a tool that is not there": [CallTool("{}", name="delete_everything")],
    "sends bad arguments": [CallTool("{{{")],
    "says nothing": [Say("")],
    "sends a byte a second": [Drip(TRUE, 1.0)],
    "writes brackets": [Say("[" * 1900, size=1)],
}


@pytest.mark.fault("hosted model misbehaves", "each question ends, in at most four calls")
@pytest.mark.parametrize("name", PLAYS)
async def test_a_question_ends_whatever_the_model_does(
    name: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    async with ModelServer(PLAYS[name]).running() as server:
        model = HostedModel("m", server.url, "sk-secret")
        options = EngineOptions(total_seconds=20.0)
        async with toy_book(tmp_path, model=model, options=options, model_deadline=4.0) as book:
            ended: str
            try:
                ended = (await book.engine.answer(a_question(QUESTION))).status
            except CitewellError as error:
                ended = error.code
    record_property("figure", f"{name}: {ended}, {len(server.requests)} calls")
    assert ended in ("success", "refused", "agent_unavailable", "timeout")
    assert len(server.requests) <= MOST_CALLS


@pytest.mark.fault("a surrogate of a model", "mended, the answer stands")
async def test_a_character_in_two_halves_is_put_together_and_a_lone_half_is_no_ones_fault(tmp_path: Path) -> None:
    def chunk(content: str, finish: str = "null") -> bytes:
        choice = f'{{"index":0,"delta":{{"role":"assistant","content":"{content}"}},"finish_reason":{finish}}}'
        head = '"id":"x","object":"chat.completion.chunk","created":0,"model":"m"'
        return f'data: {{{head},"choices":[{choice}]}}\n\n'.encode()

    body = chunk(TRUE[:-4] + " ") + chunk("\\ud83e") + chunk("\\udd16 [1]") + chunk("\\ud800") + chunk("", '"stop"')
    async with (
        ModelServer([Raw(body + b"data: [DONE]\n\n")]).running() as server,
        toy_book(tmp_path, model=HostedModel("m", server.url, "key"), model_deadline=10.0) as book,
    ):
        answer = await book.engine.answer(a_question(QUESTION))
    assert answer.status == "success"
    answer.text.encode("utf-8")
