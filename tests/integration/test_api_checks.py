"""POST /check: any text against passages or the book."""

from typing import Any

import pytest

from tests.support.api import an_app, in_process


async def test_each_sentence_comes_back_with_its_outcome_and_places() -> None:
    body = {"text": "The pump needs oil. The moon needs cheese.", "passages": ["The pump needs oil every month."]}
    async with in_process(an_app()) as client:
        reply = await client.post("/check", json=body)
    assert reply.status_code == 200
    found = reply.json()
    assert [s["outcome"] for s in found["sentences"]] == ["supported", "not_stated"]
    assert (found["supported"], found["contradicted"], found["not_stated"]) == (1, 0, 1)
    first = found["sentences"][0]
    assert body["text"][first["char_start"] : first["char_end"]] == first["text"] == "The pump needs oil."
    assert first["quote"]["text"] == "The pump needs oil every month."
    assert found["passages"] == [{"number": 1, "source_url": None, "title": None}]


async def test_without_passages_the_book_is_asked() -> None:
    async with in_process(an_app()) as client:
        reply = await client.post("/check", json={"text": "A node is a process."})
    assert reply.json()["supported"] == 1


@pytest.mark.parametrize(
    "body",
    [{}, {"text": ""}, {"text": "  "}, {"text": 5}, {"text": "A", "passages": []}, {"text": "A", "passages": ["  "]},
     {"text": "A", "passages": "B"}, {"text": "A", "passages": ["B"] * 51}, {"text": "A" * 50_001}],
)  # fmt: skip
async def test_what_cannot_be_checked_is_refused_in_the_developers_shape(body: dict[str, Any]) -> None:
    async with in_process(an_app()) as client:
        reply = await client.post("/check", json=body)
    assert reply.status_code == 400
    assert reply.json()["error_code"] == "validation_error"
