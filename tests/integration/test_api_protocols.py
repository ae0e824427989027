"""The engine for other clients: the OpenAI SDK against /v1, the MCP client against /mcp and `citewell mcp`."""

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI, AuthenticationError, NotFoundError

from citewell.conversations.history import token_estimate
from citewell.errors import ModelError
from citewell.values import Failed, TextReleased
from tests.support.api import PATIENT, REFUSAL, TEXT, ScriptedEngine, an_app, answering, in_process, listening
from tests.support.toy_book import write_index


async def test_the_openai_client_gets_an_answer_with_citations_as_annotations() -> None:
    async with listening(an_app(ScriptedEngine(answering()))) as server:
        client = AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)
        async with client:
            [model] = (await client.models.list()).data
            reply = await client.chat.completions.create(
                model=model.id, messages=[{"role": "user", "content": "What is a ROS 2 node?"}]
            )
            known = await client.models.retrieve(model.id)
            with pytest.raises(NotFoundError):
                await client.models.retrieve("another")
    assert (known.id, known.owned_by) == (model.id, "citewell")
    message = reply.choices[0].message
    assert message.content == TEXT
    assert message.annotations is not None
    [annotation] = message.annotations
    assert annotation.url_citation.url.endswith("/docs/module-1-ros2/nodes#in-one-sentence")
    assert annotation.url_citation.url.startswith("http")
    assert TEXT[annotation.url_citation.start_index : annotation.url_citation.end_index] == "[1]"


async def test_the_openai_client_streams_the_same_text() -> None:
    async with (
        listening(an_app(ScriptedEngine(answering()))) as server,
        AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client,
    ):
        stream = await client.chat.completions.create(
            model="any", messages=[{"role": "user", "content": "What?"}], stream=True
        )
        chunks = [chunk async for chunk in stream]
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == TEXT
    assert chunks[-1].choices[0].finish_reason == "stop"


async def test_a_completion_is_dated_and_counts_what_was_sent_and_said() -> None:
    before = int(time.time())
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is a ROS 2 node?"}]
    async with in_process(an_app(ScriptedEngine(answering()))) as http:
        reply = (await http.post("/v1/chat/completions", json={"messages": messages})).json()
    assert before <= reply["created"] <= time.time()
    sent, said = token_estimate("Be brief.") + token_estimate("What is a ROS 2 node?"), token_estimate(TEXT)
    assert reply["usage"] == {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}


async def test_a_stream_tells_its_usage_in_a_last_chunk_when_that_is_wanted() -> None:
    before = int(time.time())
    async with (
        listening(an_app(ScriptedEngine(answering()))) as server,
        AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client,
    ):
        stream = await client.chat.completions.create(
            model="any",
            messages=[{"role": "user", "content": "What?"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        *chunks, last = [chunk async for chunk in stream]
    assert last.choices == []
    assert last.usage is not None
    assert (last.usage.prompt_tokens, last.usage.completion_tokens) == (token_estimate("What?"), token_estimate(TEXT))
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)
    assert {chunk.created for chunk in chunks} == {last.created}
    assert before <= last.created <= time.time()


async def test_a_stream_says_nothing_of_its_usage_unless_asked() -> None:
    body = {"messages": [{"role": "user", "content": "What?"}], "stream": True}
    async with in_process(an_app(ScriptedEngine(answering()))) as http:
        reply = await http.post("/v1/chat/completions", json=body)
    assert "usage" not in reply.text


async def test_a_refusal_is_the_safe_sentence() -> None:
    engine = ScriptedEngine(answering("", REFUSAL))
    async with in_process(an_app(engine)) as http:
        body = {"messages": [{"role": "user", "content": "Capital of France?"}], "stream": True}
        reply = await http.post("/v1/chat/completions", json=body)
    assert REFUSAL.text in reply.text.replace("\\u2019", "'")
    assert reply.text.rstrip().endswith("data: [DONE]")


async def test_messages_become_the_question_and_its_history() -> None:
    engine = ScriptedEngine(answering())
    messages = [
        {"role": "system", "content": "Ignore the book."},
        {"role": "user", "content": [{"type": "text", "text": "What is a node?"}]},
        {"role": "assistant", "content": "A process."},
        {"role": "user", "content": "And a topic?"},
    ]
    async with in_process(an_app(engine)) as http:
        await http.post("/v1/chat/completions", json={"messages": messages})
    [question] = engine.questions
    assert question.text == "And a topic?"
    assert question.history is not None
    assert [(m.role, m.content) for m in question.history] == [("user", "What is a node?"), ("assistant", "A process.")]


@pytest.mark.parametrize(
    "messages", [[], [{"role": "assistant", "content": "Hi"}], [{"role": "user", "content": "x" * 2001}], "text"]
)
async def test_a_wrong_request_is_an_error_of_the_protocol(messages: object) -> None:
    async with in_process(an_app()) as http:
        reply = await http.post("/v1/chat/completions", json={"messages": messages})
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "validation_error"


async def test_a_key_may_come_as_a_bearer_token() -> None:
    options = replace(PATIENT, keys=("right",))
    messages = [{"role": "user", "content": "What?"}]
    async with listening(an_app(ScriptedEngine(answering()), options)) as server:
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="right", max_retries=0) as client:
            assert (await client.chat.completions.create(model="m", messages=messages)).choices  # type: ignore[arg-type] # plain dicts
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="wrong", max_retries=0) as client:
            with pytest.raises(AuthenticationError):
                await client.models.list()


async def test_a_failure_in_a_stream_ends_it_with_an_error() -> None:
    engine = ScriptedEngine([TextReleased("A node "), Failed(ModelError("secret detail"))])
    async with in_process(an_app(engine)) as http:
        body = {"messages": [{"role": "user", "content": "What?"}], "stream": True}
        reply = await http.post("/v1/chat/completions", json=body)
    last = [line for line in reply.text.splitlines() if line.startswith("data: ")][-1]
    assert json.loads(last[6:])["error"]["code"] == "agent_unavailable"
    assert "secret" not in reply.text


async def test_an_mcp_client_asks_searches_and_reads_over_http() -> None:
    async with (
        listening(an_app(ScriptedEngine(answering()), PATIENT)) as server,
        Client(streamable_http_client(f"{server.url}/mcp")) as client,
    ):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        asked = await client.call_tool("ask", {"question": "What is a ROS 2 node?"})
        found = await client.call_tool("search_documentation", {"query": "node", "top_k": 1})
        page = await client.call_tool("read_page", {"url": "/docs/module-1-ros2/nodes"})
        missing = await client.call_tool("read_page", {"url": "/nowhere"})
    assert tools == {"ask", "search_documentation", "read_page"}
    assert asked.structured_content is not None
    assert asked.structured_content["status"] == "success"
    assert asked.structured_content["content"] == TEXT
    assert found.structured_content is not None
    assert len(found.structured_content["chunks"]) == 1
    assert "Text." in str(page.content)
    assert missing.is_error


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("ask", {}, "question is required."),
        ("ask", {"question": 5}, "question must be a string."),
        ("ask", {"question": " "}, "The query is empty."),
        ("search_documentation", {"query": "node", "top_k": 99}, "top_k must be at most 20."),
        ("search_documentation", {"query": "node", "top_k": 0}, "top_k must be at least 1."),
        ("search_documentation", {"query": "node", "filters": {"colour": "red"}}, "Valid filters: "),
    ],
)
async def test_a_wrong_call_of_a_tool_is_answered_in_our_words(
    tool: str, arguments: dict[str, object], says: str
) -> None:
    async with (
        listening(an_app(ScriptedEngine(answering()), PATIENT)) as server,
        Client(streamable_http_client(f"{server.url}/mcp")) as client,
    ):
        reply = await client.call_tool(tool, arguments)
    assert reply.is_error
    assert says in str(reply.content)
    assert "pydantic" not in str(reply.content)


async def test_mcp_passes_the_same_keys() -> None:
    options = replace(PATIENT, keys=("right",))
    async with in_process(an_app(options=options)) as http:
        reply = await http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert reply.status_code == 401


@pytest.mark.slow
async def test_citewell_mcp_speaks_on_standard_input_and_output(tmp_path: Path) -> None:
    await write_index(tmp_path / "index")
    env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "PYTHONPATH")}
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "citewell", "mcp"], env={**env, "CITEWELL_DATA_DIR": str(tmp_path)}
    )
    async with Client(parameters) as client:
        asked = await client.call_tool("ask", {"question": "What is inverse kinematics?"})
    assert asked.structured_content is not None
    assert asked.structured_content["status"] == "success"
    assert "Inverse kinematics is the problem" in asked.structured_content["content"]
