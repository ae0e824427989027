"""One test for each sentence of the seeds and of CONTRACT that can be tried over HTTP.

F is seed 000 (readers), M seed 001 (data model), S seed 003 (specification), C is CONTRACT. The sentence is the name.
The engine is the real one, over a book of a few passages, with the built-in model; failures come from a script.
"""

import asyncio
import contextlib
import re
import uuid
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from citewell import errors
from citewell.api.app import create_app
from citewell.api.options import ApiOptions, ApiParts
from citewell.errors import CitewellError
from citewell.values import Completed, Failed, ServiceStatus
from tests.support.api import PATIENT, SESSION, UP, Event, ScriptedEngine, an_app, answering, events_of, in_process
from tests.support.golden import SOURCES_ONLY
from tests.support.toy_book import toy_book

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASKED = "What is a ROS 2 node?"
UNKNOWN = "What is the capital of France?"
SELECTED = "The drill has two speeds.\nIts torque limit is 60 newton metres. 🤖"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """The API over a real book."""
    folder: Path = tmp_path_factory.mktemp("book")
    async with toy_book(folder) as book:

        @contextlib.asynccontextmanager
        async def open_parts() -> AsyncIterator[ApiParts]:
            yield ApiParts(book.engine, book.retriever, book.conversations, UP)

        async with in_process(create_app(open_parts, PATIENT)) as client:
            yield client


def new_session() -> str:
    return str(uuid.uuid4())


async def ask(http: httpx.AsyncClient, query: str = ASKED, **more: object) -> dict[str, Any]:
    reply = await http.post("/chat", json={"query": query, **more})
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    return body


async def run(http: httpx.AsyncClient, message: str = ASKED, **more: object) -> dict[str, Any]:
    reply = await http.post("/chat/run", json={"message": message, "session_id": new_session(), **more})
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    return body


async def stream(http: httpx.AsyncClient, **body: object) -> list[Event]:
    reply = await http.post("/chat/stream", json=body)
    assert reply.status_code == 200, reply.text
    return events_of(reply.text)


async def status_of(http: httpx.AsyncClient, path: str, body: Mapping[str, object]) -> tuple[int, dict[str, Any]]:
    reply = await http.post(path, json=body)
    return reply.status_code, reply.json()


# --- F: POST /chat/run ------------------------------------------------------------------------------------------------


async def test_F_valid_request_returns_200_with_response_confidence_sources(http: httpx.AsyncClient) -> None:
    session = new_session()
    reply = await run(http, session_id=session)
    assert "process" in reply["response"]
    assert 0 <= reply["confidence"] <= 1
    assert reply["confidence_level"] in ("high", "medium", "low")
    assert reply["session_id"] == session
    assert reply["should_answer"] is True
    assert "refusal_reason" not in reply


async def test_F_a_source_has_the_fields_of_the_schema(http: httpx.AsyncClient) -> None:
    source = (await run(http))["sources"][0]
    assert isinstance(source["chunk_text"], str)
    assert 0 <= source["similarity_score"] <= 1
    assert source["chapter"] == "Nodes"
    assert source["section"] == "About nodes"
    assert source["url"] == "/docs/nodes#about-nodes"
    assert isinstance(source["chunk_index"], int)


async def test_F_low_confidence_returns_should_answer_false(http: httpx.AsyncClient) -> None:
    reply = await run(http, UNKNOWN)
    assert reply["response"] == ""
    assert reply["confidence"] < 0.4
    assert reply["confidence_level"] == "insufficient"
    assert reply["sources"] == []
    assert reply["should_answer"] is False
    assert reply["refusal_reason"]


@pytest.mark.parametrize("message", ["", "   ", "x" * 1001])
async def test_F_invalid_message_empty_or_too_long_returns_400(http: httpx.AsyncClient, message: str) -> None:
    status, body = await status_of(http, "/chat/run", {"message": message, "session_id": new_session()})
    assert status == 400
    assert body["detail"].startswith("Validation error: message")
    assert body["code"] == "VALIDATION_ERROR"


async def test_F_validation_error_message_exceeds_maximum_length_of_1000_characters(http: httpx.AsyncClient) -> None:
    _, body = await status_of(http, "/chat/run", {"message": "x" * 1001, "session_id": new_session()})
    assert "message exceeds maximum length of 1000 characters" in body["detail"]


async def test_F_missing_session_id_returns_400(http: httpx.AsyncClient) -> None:
    status, body = await status_of(http, "/chat/run", {"message": ASKED})
    assert status == 400
    assert "session_id" in body["detail"]


@pytest.mark.parametrize("session_id", ["x", "", "550e8400-e29b-11d4-a716-446655440000", 5])
async def test_F_session_id_is_a_uuid_v4(http: httpx.AsyncClient, session_id: object) -> None:
    assert (await status_of(http, "/chat/run", {"message": ASKED, "session_id": session_id}))[0] == 400


async def test_F_context_has_0_to_5000_characters(http: httpx.AsyncClient) -> None:
    asked = {"message": ASKED, "session_id": new_session()}
    assert (await status_of(http, "/chat/run", {**asked, "context": ""}))[0] == 200
    assert (await status_of(http, "/chat/run", {**asked, "context": "x" * 5001}))[0] == 400


async def test_F_history_has_0_to_10_messages(http: httpx.AsyncClient) -> None:
    asked = {"message": ASKED, "session_id": new_session()}
    turn = {"role": "user", "content": "What is a topic?"}
    assert (await status_of(http, "/chat/run", {**asked, "history": [turn] * 10}))[0] == 200
    assert (await status_of(http, "/chat/run", {**asked, "history": [turn] * 11}))[0] == 400


async def test_F_send_question_with_context_assert_context_influences_response(http: httpx.AsyncClient) -> None:
    reply = await run(http, "What is the torque limit of the drill?", context=SELECTED)
    assert "60 newton metres" in reply["response"]
    source = reply["sources"][0]
    assert SELECTED[source["char_start"] : source["char_end"]] == source["chunk_text"]
    assert "url" not in source


async def test_F_send_malformed_json_assert_400_response(http: httpx.AsyncClient) -> None:
    reply = await http.post("/chat/run", content=b'{"message": ', headers={"content-type": "application/json"})
    assert reply.status_code == 400
    assert set(reply.json()) <= {"detail", "code", "trace_id"}


async def test_F_rate_limit_returns_429_with_retry_after() -> None:
    async with in_process(an_app(options=ApiOptions())) as http:
        body = {"message": ASKED, "session_id": new_session()}
        codes = [(await http.post("/chat/run", json=body)).status_code for _ in range(21)]
        assert codes == [200] * 20 + [429]  # per session: 20 requests a minute
        last = await http.post("/chat/run", json=body)
    assert last.json()["code"] == "RATE_LIMIT_EXCEEDED"
    assert last.json()["retry_after"] == int(last.headers["retry-after"])


async def test_F_send_100_requests_rapidly_assert_429_handling_works() -> None:
    async with in_process(an_app(options=ApiOptions())) as http:
        codes = [
            (await http.post("/chat/run", json={"message": ASKED, "session_id": new_session()})).status_code
            for _ in range(100)
        ]
    assert codes == [200] * 60 + [429] * 40  # per address: 60 requests a minute


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.EmbeddingError(""), 503, "SERVICE_UNAVAILABLE"),
        (errors.DatabaseError(""), 503, "DATABASE_ERROR"),
        (errors.RetrievalError(""), 500, "RETRIEVAL_FAILED"),
        (errors.ModelError(""), 502, "OPENAI_ERROR"),
        (errors.DeadlineError(""), 504, "TIMEOUT"),
    ],
)
async def test_F_common_error_codes(error: CitewellError, status: int, code: str) -> None:
    async with in_process(an_app(ScriptedEngine([Failed(error)]))) as http:
        found, body = await status_of(http, "/chat/run", {"message": ASKED, "session_id": SESSION})
    assert (found, body["code"]) == (status, code)
    assert body["detail"]
    assert "retry_after" not in body  # 429 only


async def test_F_source_ranking_sources_ordered_by_similarity_score_descending(http: httpx.AsyncClient) -> None:
    reply = await run(http, "How do nodes and topics carry messages between publishers and subscribers?")
    scores = [source["similarity_score"] for source in reply["sources"]]
    assert scores == sorted(scores, reverse=True)


async def test_F_session_persistence_backend_saves_conversation(http: httpx.AsyncClient) -> None:
    session = new_session()
    await run(http, session_id=session)
    turns = (await http.get(f"/sessions/{session}")).json()["turns"]
    assert [turn["query"] for turn in turns] == [ASKED]


async def test_F_requests_with_same_session_id_maintain_conversation_context(http: httpx.AsyncClient) -> None:
    session = new_session()
    await run(http, "What is inverse kinematics?", session_id=session)
    await run(http, "What is a ROS 2 node?", session_id=session)
    turns = (await http.get(f"/sessions/{session}")).json()["turns"]
    assert [turn["query"] for turn in turns] == ["What is inverse kinematics?", "What is a ROS 2 node?"]


# --- F: POST /chat/stream ---------------------------------------------------------------------------------------------


async def test_F_valid_request_opens_sse_stream(http: httpx.AsyncClient) -> None:
    reply = await http.post("/chat/stream", json={"message": ASKED, "session_id": new_session()})
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/event-stream"  # the client compares it, so exactly this


async def test_F_stream_emits_tool_call_retrieval_content_done_events_in_order(http: httpx.AsyncClient) -> None:
    names = [event.name for event in await stream(http, message=ASKED, session_id=new_session())]
    assert names[:2] == ["tool_call", "retrieval"]
    assert set(names[2:-1]) == {"content"}
    assert names[-1] == "done"


async def test_F_tool_call_has_tool_name_and_arguments(http: httpx.AsyncClient) -> None:
    event = (await stream(http, message=ASKED, session_id=new_session()))[0]
    arguments: Any = event.data["arguments"]
    assert event.data["tool_name"] == "search_documentation"
    assert arguments["query"] == ASKED


async def test_F_retrieval_has_query_and_results(http: httpx.AsyncClient) -> None:
    event = (await stream(http, message=ASKED, session_id=new_session()))[1]
    results: Any = event.data["results"]
    assert event.data["query"] == ASKED
    assert {"chunk_text", "similarity_score", "chapter", "section", "url", "chunk_index"} <= set(results[0])


async def test_F_content_deltas_are_incremental_no_duplicates(http: httpx.AsyncClient) -> None:
    events = await stream(http, message=ASKED, session_id=new_session())
    deltas = [str(event.data["delta"]) for event in events if event.name == "content"]
    assert "".join(deltas).strip() == events[-1].data["response"]


async def test_F_done_event_includes_complete_response_and_metadata(http: httpx.AsyncClient) -> None:
    session = new_session()
    done = (await stream(http, message=ASKED, session_id=session))[-1].data
    assert {"response", "confidence", "confidence_level", "sources", "session_id"} <= set(done)
    assert done["session_id"] == session
    assert done["sources"]


async def test_F_error_event_terminates_stream_immediately() -> None:
    script = [*answering()[:4], Failed(errors.RetrievalError("")), *answering()[4:]]
    async with in_process(an_app(ScriptedEngine(script))) as http:
        events = await stream(http, message=ASKED, session_id=SESSION)
    assert [event.name for event in events][-2:] == ["content", "error"]
    assert events[-1].data["code"] == "RETRIEVAL_FAILED"
    assert events[-1].data["error"]


async def test_F_each_event_ends_with_two_newlines(http: httpx.AsyncClient) -> None:
    text = (await http.post("/chat/stream", json={"message": ASKED, "session_id": new_session()})).text
    blocks = text.split("\n\n")
    assert blocks[-1] == ""
    for block in blocks[:-1]:
        assert re.fullmatch(r"id: \d+\nevent: (tool_call|retrieval|content|done|error)\ndata: [^\n]+", block)


# --- F: health, headers, errors ---------------------------------------------------------------------------------------


async def test_F_health_returns_200_with_status_healthy_when_operational(http: httpx.AsyncClient) -> None:
    reply = await http.get("/health")
    assert reply.status_code == 200
    assert reply.json()["status"] == "healthy"
    assert reply.json()["version"]


async def test_F_health_returns_503_when_backend_is_unhealthy() -> None:
    async def down() -> ServiceStatus:
        raise errors.DatabaseError("")

    async with in_process(an_app(probes={**UP, "database": down})) as http:
        reply = await http.get("/health")
    assert reply.status_code == 503
    assert reply.json()["status"] == "unhealthy"
    assert reply.json()["reason"] == "Database connection failed"


async def test_F_backend_must_respond_with_cors_headers() -> None:
    origin = "https://book.example.com"
    headers = {"origin": origin, "access-control-request-method": "POST", "access-control-request-headers": "x-api-key"}
    async with in_process(an_app(options=ApiOptions(origins=(origin,)))) as http:
        reply = await http.options("/chat/stream", headers=headers)
    assert reply.headers["access-control-allow-origin"] == origin
    assert reply.headers["access-control-allow-methods"] == "POST, GET, OPTIONS"
    allowed = "Content-Type, X-API-Key, Authorization, Idempotency-Key, X-Request-ID, traceparent"
    assert reply.headers["access-control-allow-headers"] == allowed
    assert reply.headers["access-control-max-age"] == "86400"


async def test_F_content_type_application_json_is_a_required_header(http: httpx.AsyncClient) -> None:
    reply = await http.post("/chat/run", content=b"{}", headers={"content-type": "text/plain"})
    assert reply.status_code == 400
    assert "Content-Type" in reply.json()["detail"]


async def test_F_frontend_may_specify_accept_application_vnd_api_v1_json(http: httpx.AsyncClient) -> None:
    body = {"message": ASKED, "session_id": new_session()}
    reply = await http.post("/chat/run", json=body, headers={"accept": "application/vnd.api.v1+json"})
    assert reply.status_code == 200


async def test_F_optional_api_key_via_x_api_key_header(http: httpx.AsyncClient) -> None:
    reply = await http.post("/chat", json={"query": ASKED}, headers={"x-api-key": "not needed"})
    assert reply.status_code == 200


# --- M and S: POST /chat ----------------------------------------------------------------------------------------------


async def test_S_story_1_1_an_answer_plus_citations_with_source_url_page_title_section_heading(
    http: httpx.AsyncClient,
) -> None:
    reply = await ask(http)
    assert "process" in reply["answer"]
    source = reply["sources"][0]
    assert source["source_url"] == "/docs/nodes"
    assert source["page_title"] == "Nodes"
    assert source["section_heading"] == "About nodes"


async def test_S_story_1_3_the_answer_is_consistent_with_the_retrieved_chunks(http: httpx.AsyncClient) -> None:
    reply = await ask(http)
    for sentence in re.split(r"\s*\[\d+\]\s*", reply["answer"]):
        assert any(sentence in source["chunk_text"] for source in reply["sources"])


async def test_S_story_1_4_content_not_in_the_book_gets_the_safe_sentence(http: httpx.AsyncClient) -> None:
    reply = await ask(http, UNKNOWN)
    assert reply["answer"] in (
        "I don't have information about that in the available documentation.",
        "I couldn't find relevant information in the documentation for your question.",
    )
    assert reply["sources"] == []
    assert reply["metadata"]["status"] == "refused"


async def test_S_story_2_1_an_answer_in_the_selection_cites_selected_text(http: httpx.AsyncClient) -> None:
    reply = await ask(http, "What is the torque limit of the drill?", mode="selected_text", selected_text=SELECTED)
    assert "60 newton metres" in reply["answer"]
    assert reply["mode"] == "selected_text"
    source = next(source for source in reply["sources"] if "60 newton metres" in source["chunk_text"])
    assert (source["source_url"], source["page_title"]) == ("selected_text", "User Selection")
    assert source["section_heading"] == "Selected text"
    assert source["relevance_score"] == 1.0
    assert SELECTED[source["char_start"] : source["char_end"]] == source["chunk_text"]
    assert (source["line_start"], source["line_end"]) == (2, 2)


async def test_S_story_2_2_an_answer_not_in_the_selection_says_so_with_the_topic(http: httpx.AsyncClient) -> None:
    reply = await ask(http, "What is inverse kinematics?", mode="selected_text", selected_text=SELECTED)
    assert re.fullmatch(
        r"The provided selection does not contain information about .*kinematics.*\. "
        r"Would you like me to search the full documentation\?",
        reply["answer"],
    )
    assert reply["sources"] == []


async def test_S_story_2_3_selected_text_mode_does_not_query_the_index(http: httpx.AsyncClient) -> None:
    reply = await ask(http, "What is a ROS 2 node?", mode="selected_text", selected_text=SELECTED)
    assert reply["metadata"]["chunks_retrieved"] == 0
    assert "/docs/" not in str(reply["sources"])


@pytest.mark.parametrize("selected", [None, "", "  "])
async def test_S_story_2_4_empty_selected_text_returns_an_error(http: httpx.AsyncClient, selected: str | None) -> None:
    status, body = await status_of(http, "/chat", {"query": ASKED, "mode": "selected_text", "selected_text": selected})
    assert status == 400
    assert "selected_text is required" in body["message"]


async def test_S_story_3_1_the_response_streams_as_sse_with_partial_content_chunks(http: httpx.AsyncClient) -> None:
    events = await stream(http, query=ASKED)
    assert {event.data["type"] for event in events} == {"chunk", "sources", "done"}
    assert all(event.name is None for event in events)
    assert events[0].data["type"] == "chunk"


async def test_S_story_3_2_the_final_event_includes_the_complete_sources(http: httpx.AsyncClient) -> None:
    events = await stream(http, query=ASKED)
    assert [event.data["type"] for event in events[-2:]] == ["sources", "done"]
    assert events[-2].data["sources"] == events[-1].data["sources"] != []


async def test_S_story_3_3_the_standard_endpoint_gives_a_single_json_payload(http: httpx.AsyncClient) -> None:
    reply = await http.post("/chat", json={"query": ASKED})
    assert reply.headers["content-type"] == "application/json"
    assert set(reply.json()) >= {"answer", "sources", "mode", "metadata"}


async def test_S_story_4_1_up_to_top_k_chunks_are_retrieved(http: httpx.AsyncClient) -> None:
    for count in (1, 2, 4):
        reply = await ask(http, top_k=count, score_threshold=0)
        assert reply["metadata"]["chunks_retrieved"] == count


async def test_S_story_4_2_only_chunks_with_similarity_at_or_above_the_threshold_are_used(
    http: httpx.AsyncClient,
) -> None:
    assert (await ask(http, score_threshold=1.0))["metadata"]["chunks_retrieved"] == 0
    reply = await ask(http, score_threshold=0.5)
    assert all(source["relevance_score"] >= 0.5 for source in reply["sources"])


async def test_S_story_4_3_only_chunks_matching_the_filter_are_considered(http: httpx.AsyncClient) -> None:
    reply = await ask(http, "What is a topic?", filters={"source_url": ["/docs/topics"]})
    assert {source["source_url"] for source in reply["sources"]} == {"/docs/topics"}
    other = await ask(http, "What is a topic?", filters={"source_url": "/docs/battery"})
    assert "/docs/topics" not in {source["source_url"] for source in other["sources"]}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.QdrantConnectionError(""), 503, "retrieval_unavailable"),
        (errors.EmbeddingError(""), 503, "embedding_failed"),
        (errors.ModelError(""), 503, "agent_unavailable"),
        (RuntimeError(""), 500, "internal_error"),
    ],
)
async def test_S_error_taxonomy(error: Exception, status: int, code: str) -> None:
    step = Failed(error) if isinstance(error, CitewellError) else error
    async with in_process(an_app(ScriptedEngine([step]))) as http:
        found, body = await status_of(http, "/chat", {"query": ASKED})
    assert (found, body["error_code"]) == (status, code)
    assert body["message"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": "x" * 2001}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x", "mode": "selected_text", "selected_text": "x" * 10_001}, "selected_text"),
        ({"query": "x", "top_k": 0}, "top_k"),
        ({"query": "x", "top_k": 21}, "top_k"),
        ({"query": "x", "score_threshold": 1.1}, "score_threshold"),
        ({"query": "x", "score_threshold": -0.1}, "score_threshold"),
        ({"query": "x", "session_id": "x"}, "session_id"),
        ({"query": "x", "mode": "other"}, "mode"),
    ],
)
async def test_S_input_constraints_return_400_with_a_validation_message(
    http: httpx.AsyncClient, body: dict[str, object], field: str
) -> None:
    status, reply = await status_of(http, "/chat", body)
    assert status == 400
    assert reply["error_code"] == "validation_error"
    assert reply["details"]["field"] == field
    assert field in reply["message"]


async def test_S_selected_text_too_long_suggests_to_shorten_it(http: httpx.AsyncClient) -> None:
    body = {"query": "x", "mode": "selected_text", "selected_text": "x" * 10_001}
    assert "shorten" in (await status_of(http, "/chat", body))[1]["message"]


async def test_S_malformed_json_request_returns_400_with_parsing_details(http: httpx.AsyncClient) -> None:
    reply = await http.post("/chat", content=b'{"query": oops}', headers={"content-type": "application/json"})
    assert reply.status_code == 400
    assert "line 1, column 11" in reply.json()["message"]


async def test_S_rate_limit_exceeded_returns_429_with_retry_after_header() -> None:
    async with in_process(an_app(options=ApiOptions(address_limit=1))) as http:
        await http.post("/chat", json={"query": ASKED})
        reply = await http.post("/chat", json={"query": ASKED})
    assert reply.status_code == 429
    assert reply.json()["error_code"] == "rate_limited"
    assert reply.headers["retry-after"] == str(reply.json()["retry_after"])


async def test_S_not_found_404_endpoint_not_found(http: httpx.AsyncClient) -> None:
    status, body = await status_of(http, "/nowhere", {})
    assert (status, body["error_code"]) == (404, "not_found")


async def test_S_FR_005_source_citations_hold_a_snippet_of_at_most_500_characters(http: httpx.AsyncClient) -> None:
    for source in (await ask(http))["sources"]:
        assert 0 < len(source["chunk_text"]) <= 500


async def test_S_FR_009_health_verifies_qdrant_cohere_gemini_and_database(http: httpx.AsyncClient) -> None:
    body = (await http.get("/health")).json()
    assert set(body["services"]) == {"qdrant", "cohere", "gemini", "database"}
    for service in body["services"].values():
        assert service["status"] in ("up", "down", "degraded")
        assert set(service) == {"status", "latency_ms", "message"}
    assert body["timestamp"].endswith("Z")


async def test_S_FR_012_openapi_documentation_at_docs(http: httpx.AsyncClient) -> None:
    page = await http.get("/docs")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert (await http.get("/openapi.json")).json()["openapi"].startswith("3.")


async def test_S_FR_013_conversation_history_is_stored_by_session(http: httpx.AsyncClient) -> None:
    session = new_session()
    reply = await ask(http, session_id=session)
    (turn,) = (await http.get(f"/sessions/{session}")).json()["turns"]
    assert turn["answer"] == reply["answer"]
    assert turn["sources"] == reply["sources"]
    assert turn["mode"] == "general"


async def test_S_SC_003_all_cited_sources_appear_in_retrieved_chunks(http: httpx.AsyncClient) -> None:
    events = await stream(http, message=ASKED, session_id=new_session())
    retrieved: Any = events[1].data["results"]
    cited: Any = events[-1].data["sources"]
    assert {source["url"] for source in cited} <= {found["url"] for found in retrieved}


async def test_S_SC_010_ten_simultaneous_requests_are_handled(http: httpx.AsyncClient) -> None:
    replies = await asyncio.gather(*(http.post("/chat", json={"query": ASKED}) for _ in range(10)))
    assert [reply.status_code for reply in replies] == [200] * 10


async def test_M_metadata_has_query_time_ms_chunks_retrieved_and_model(http: httpx.AsyncClient) -> None:
    metadata = (await ask(http))["metadata"]
    assert metadata["query_time_ms"] > 0
    assert metadata["chunks_retrieved"] >= 1
    assert metadata["model"] == "citewell-extractive"


async def test_M_error_response_has_error_code_message_details_and_trace_id(http: httpx.AsyncClient) -> None:
    _, body = await status_of(http, "/chat", {})
    assert set(body) == {"error_code", "message", "details", "trace_id", "retry_after"}


async def test_M_a_section_without_a_heading_is_called_introduction() -> None:
    async with in_process(an_app()) as http:
        events = await stream(http, message=ASKED, session_id=SESSION)
    results: Any = events[1].data["results"]
    assert results[1]["section"] == "Introduction"


# --- CONTRACT ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [{"query": "x", "message": "x"}, {"session_id": SESSION}])
async def test_C_both_or_neither_is_a_validation_error_that_says_so(
    http: httpx.AsyncClient, body: dict[str, object]
) -> None:
    status, reply = await status_of(http, "/chat/stream", body)
    assert (status, reply["error_code"]) == (400, "validation_error")
    assert "exactly one" in reply["message"]


async def test_C_a_body_that_cannot_be_parsed_gets_the_developers_error_shape(http: httpx.AsyncClient) -> None:
    reply = await http.post("/chat/stream", content=b"{", headers={"content-type": "application/json"})
    assert reply.json()["error_code"] == "validation_error"


async def test_C_session_id_in_lower_or_upper_case_is_stored_in_lower_case(http: httpx.AsyncClient) -> None:
    session = new_session()
    assert (await ask(http, session_id=session.upper()))["metadata"]["session_id"] == session
    assert len((await http.get(f"/sessions/{session}")).json()["turns"]) == 1


async def test_C_unknown_fields_are_ignored_but_a_misspelt_filter_is_refused_with_the_known_keys(
    http: httpx.AsyncClient,
) -> None:
    await ask(http, temperature=0.3)
    status, body = await status_of(http, "/chat", {"query": ASKED, "filters": {"sorce_url": "x"}})
    assert status == 400
    for key in ("source_url", "page_title", "section_heading", "module", "chapter"):
        assert key in body["message"]


async def test_C_a_context_that_does_not_hold_the_answer_is_a_hint_and_the_book_serves(http: httpx.AsyncClient) -> None:
    reply = await run(http, context=SELECTED)
    assert reply["sources"][0]["url"] == "/docs/nodes#about-nodes"


async def test_C_every_marker_of_an_answer_is_the_number_of_a_source(http: httpx.AsyncClient) -> None:
    reply = await ask(http)
    markers = {int(marker) for marker in re.findall(r"\[(\d+)\]", reply["answer"])}
    assert markers == {source["number"] for source in reply["sources"]}
    assert markers


async def test_C_source_url_is_without_an_anchor_and_section_url_has_it(http: httpx.AsyncClient) -> None:
    source = (await ask(http))["sources"][0]
    assert "#" not in source["source_url"]
    assert source["section_url"] == "/docs/nodes#about-nodes"


async def test_C_the_developers_metadata_adds_ten_fields(http: httpx.AsyncClient) -> None:
    assert set((await ask(http))["metadata"]) >= {
        "session_id",
        "status",
        "confidence",
        "confidence_level",
        "low_confidence",
        "conflicting_info",
        "dropped_sentences",
        "input_hash",
        "output_hash",
        "deterministic",
    }


async def test_C_the_same_input_gives_the_same_output_byte_for_byte(http: httpx.AsyncClient) -> None:
    first, second = [await ask(http, session_id=new_session()) for _ in range(2)]
    assert first["answer"] == second["answer"]
    assert first["sources"] == second["sources"]
    for field in ("input_hash", "output_hash"):
        assert first["metadata"][field] == second["metadata"][field]
        assert re.fullmatch("[0-9a-f]{64}", first["metadata"][field])


@pytest.mark.parametrize(("path", "asks"), [("/chat", "query"), ("/chat/run", "message")])
async def test_C_body_larger_than_64_kib_is_413(http: httpx.AsyncClient, path: str, asks: str) -> None:
    status, body = await status_of(http, path, {asks: ASKED, "session_id": new_session(), "x": "x" * 65_536})
    assert status == 413
    assert str(body.get("error_code") or body["code"]).lower() == "payload_too_large"


async def test_C_with_fallback_sources_a_model_failure_is_200_with_answer_null_and_the_sources() -> None:
    async with in_process(an_app(ScriptedEngine([*answering()[:2], Completed(SOURCES_ONLY)]))) as http:
        reply = await ask(http)
    assert reply["answer"] is None
    assert reply["fallback_message"] == "AI summarization unavailable"
    assert reply["sources"]


async def test_C_every_reply_carries_the_requests_id(http: httpx.AsyncClient) -> None:
    for path, body in (("/chat", {"query": ASKED}), ("/chat", {}), ("/nowhere", {})):
        reply = await http.post(path, json=body, headers={"x-request-id": "mine"})
        assert reply.headers["x-request-id"] == "mine"
        if reply.status_code >= 400:
            assert reply.json()["trace_id"] == "mine"


async def test_C_no_session_id_a_new_one_is_made_and_returned_in_the_metadata(http: httpx.AsyncClient) -> None:
    session = (await ask(http))["metadata"]["session_id"]
    assert len((await http.get(f"/sessions/{session}")).json()["turns"]) == 1


async def test_C_saved_before_the_replys_last_byte(http: httpx.AsyncClient) -> None:
    session = new_session()
    await stream(http, query=ASKED, session_id=session)
    assert len((await http.get(f"/sessions/{session}")).json()["turns"]) == 1


async def test_C_a_session_can_be_read_back_and_deleted_by_its_id(http: httpx.AsyncClient) -> None:
    session = new_session()
    turn = (await ask(http, session_id=session))["metadata"]["turn_id"]
    rated = await http.post(f"/sessions/{session}/turns/{turn}/feedback", json={"rating": "down"})
    assert rated.status_code == 204
    assert (await http.get(f"/sessions/{session}")).json()["turns"][0]["rating"] == "down"
    assert (await http.delete(f"/sessions/{session}")).json() == {"deleted_turns": 1}
    assert (await http.get(f"/sessions/{session}")).json()["turns"] == []


async def test_C_health_live_says_only_that_the_process_runs(http: httpx.AsyncClient) -> None:
    assert (await http.get("/health/live")).json() == {"status": "alive"}


async def test_C_the_readers_url_is_the_sections(http: httpx.AsyncClient) -> None:
    assert (await run(http))["sources"][0]["url"].endswith("#about-nodes")


async def test_C_text_is_trimmed(http: httpx.AsyncClient) -> None:
    assert (await ask(http, f"  {ASKED} \n"))["metadata"]["input_hash"] == (await ask(http))["metadata"]["input_hash"]
