"""The questions to begin with, over HTTP."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from citewell.api.app import create_app
from citewell.api.options import ApiOptions, ApiParts
from citewell.values import PageEntry
from tests.support.api import UP, Notebook, ScriptedEngine, Shelf, in_process


@contextlib.asynccontextmanager
async def a_book_of_one_question() -> AsyncIterator[ApiParts]:
    shelf = Shelf([PageEntry("/docs/module-1-ros2/nodes", "What is a node?", "Module 1: ROS 2", 4)])
    yield ApiParts(engine=ScriptedEngine(), book=shelf, conversations=Notebook(), probes=UP)


async def test_a_reader_is_offered_questions_of_the_book() -> None:
    async with in_process(create_app(a_book_of_one_question)) as http:
        assert (await http.get("/book/questions")).json() == ["What is a node?"]


@pytest.mark.parametrize(("key", "status"), [(None, 401), ("wrong", 401), ("alpha", 200)])
async def test_the_questions_are_behind_the_key(key: str | None, status: int) -> None:
    app = create_app(a_book_of_one_question, ApiOptions(keys=("alpha",)))
    async with in_process(app) as http:
        reply = await http.get("/book/questions", headers={"x-api-key": key} if key else {})
        assert reply.status_code == status
