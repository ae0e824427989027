"""A whole exchange in process: both dialects, every failure before and after the first event, limits, keys, CORS."""

import asyncio
import json
import re
from dataclasses import replace

import httpx
import pytest

from citewell import errors
from citewell.api.http_errors import failure_of
from citewell.api.options import ApiOptions
from citewell.errors import CitewellError
from citewell.values import Completed, Failed, ServiceStatus, TextReleased
from tests.support.api import (
    ANSWER,
    SESSION,
    TEXT,
    UP,
    Notebook,
    ScriptedEngine,
    a_turn,
    an_app,
    answering,
    events_of,
    in_process,
)

QUERY: dict[str, object] = {"query": "What is a ROS 2 node?"}
MESSAGE: dict[str, object] = {"message": "What is a ROS 2 node?", "session_id": SESSION}
ASKING = [("/chat", QUERY), ("/chat/run", MESSAGE), ("/chat/stream", QUERY), ("/chat/stream", MESSAGE)]
FAILURES: list[CitewellError] = [
    errors.QdrantConnectionError("secret"),
    errors.CollectionNotFoundError("secret"),
    errors.EmbeddingError("secret"),
    errors.ModelError("secret"),
    errors.DatabaseError("secret"),
    errors.DeadlineError("secret"),
    errors.IngestError("secret"),
]


def expected(body: dict[str, object], error: CitewellError) -> tuple[int, str]:
    row = failure_of(error).row
    return (row.reader_status, row.reader_code) if "message" in body else (row.status, row.code)


def code_of(reply: dict[str, object]) -> object:
    return reply.get("code") or reply.get("error_code")


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(("path", "body"), ASKING)
async def test_a_failure_before_the_first_event_is_a_real_status(
    path: str, body: dict[str, object], error: CitewellError
) -> None:
    async with in_process(an_app(ScriptedEngine([answering()[0], Failed(error)]))) as http:
        reply = await http.post(path, json=body)
    assert (reply.status_code, code_of(reply.json())) == expected(body, error)
    assert "secret" not in reply.text
    assert reply.headers["content-type"] == "application/json"


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("body", [QUERY, MESSAGE])
async def test_a_failure_after_the_first_event_is_the_last_event(body: dict[str, object], error: CitewellError) -> None:
    async with in_process(an_app(ScriptedEngine([*answering()[:4], Failed(error)]))) as http:
        reply = await http.post("/chat/stream", json=body)
    assert reply.status_code == 200
    last = events_of(reply.text)[-1]
    assert code_of(last.data) == expected(body, error)[1]
    assert last.name == "error" or last.data["type"] == "error"
    assert "secret" not in reply.text


@pytest.mark.parametrize(("path", "body"), ASKING)
async def test_a_bug_is_an_internal_error_that_shows_nothing(path: str, body: dict[str, object]) -> None:
    async with in_process(an_app(ScriptedEngine([RuntimeError("secret")]))) as http:
        reply = await http.post(path, json=body)
    assert reply.status_code == 500
    assert str(code_of(reply.json())).lower() == "internal_error"
    assert "secret" not in reply.text


@pytest.mark.parametrize("body", [QUERY, MESSAGE])
async def test_a_bug_in_the_middle_of_a_stream_ends_it_with_an_error(body: dict[str, object]) -> None:
    async with in_process(an_app(ScriptedEngine([*answering()[:4], RuntimeError("secret")]))) as http:
        reply = await http.post("/chat/stream", json=body)
    assert str(code_of(events_of(reply.text)[-1].data)).lower() == "internal_error"
    assert "secret" not in reply.text


@pytest.mark.parametrize("body", [QUERY, MESSAGE])
async def test_an_engine_that_stops_without_an_end_is_an_error(body: dict[str, object]) -> None:
    async with in_process(an_app(ScriptedEngine(answering()[:4]))) as http:
        reply = await http.post("/chat/stream", json=body)
    assert str(code_of(events_of(reply.text)[-1].data)).lower() == "internal_error"


@pytest.mark.parametrize(("path", "body"), ASKING)
async def test_an_engine_that_hangs_is_given_up(path: str, body: dict[str, object]) -> None:
    options = ApiOptions(answer_seconds=0.05)
    async with in_process(an_app(ScriptedEngine([asyncio.Event()]), options)) as http:
        reply = await http.post(path, json=body)
    assert reply.status_code == 504


@pytest.mark.parametrize("path", ["/chat", "/chat/run"])
async def test_where_the_path_names_the_dialect_the_others_fields_are_unknown_and_ignored(path: str) -> None:
    engine = ScriptedEngine(answering())
    body = {
        "query": "Asked?",
        "message": "Asked?",
        "session_id": SESSION,
        "mode": 5 if path == "/chat/run" else "general",
    }
    async with in_process(an_app(engine)) as http:
        assert (await http.post(path, json=body)).status_code == 200
    assert [question.text for question in engine.questions] == ["Asked?"]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([], "filters.module must have at least 1 entry."),
        ("", "filters.module must not be empty."),
        (5, "filters.module must be a string."),
        ([5], "filters.module.0 must be a string."),
        ([""], "filters.module.0 must not be empty."),
    ],
)
async def test_what_is_wrong_with_a_filter_is_said_of_what_was_sent(value: object, says: str) -> None:
    async with in_process(an_app()) as http:
        reply = await http.post("/chat", json={"query": "Asked?", "filters": {"module": value}})
    assert (reply.status_code, reply.json()["message"]) == (400, says)


async def test_stream_tells_the_dialects_apart_and_refuses_both_or_neither() -> None:
    async with in_process(an_app()) as http:
        bodies: list[object] = [{**QUERY, **MESSAGE}, {"session_id": SESSION}, [], "query"]
        for body in bodies:
            reply = await http.post("/chat/stream", json=body)
            assert reply.status_code == 400
            assert reply.json()["error_code"] == "validation_error"
            assert "query and message" in reply.json()["message"]


async def test_chat_streams_when_asked_to() -> None:
    async with in_process(an_app()) as http:
        reply = await http.post("/chat", json={**QUERY, "stream": True})
    assert reply.headers["content-type"] == "text/event-stream"
    assert events_of(reply.text)[-1].data["type"] == "done"


async def test_a_stream_has_the_headers_that_proxies_and_the_seeds_client_need() -> None:
    async with in_process(an_app()) as http:
        reply = await http.post("/chat/stream", json=MESSAGE)
    assert reply.headers["content-type"] == "text/event-stream"
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["x-accel-buffering"] == "no"


async def test_line_separators_in_an_answer_do_not_break_the_lines_of_a_stream() -> None:
    text = "One\u2028two\u2029three\u0085four\nfive\r\nsix"
    script = [*answering()[:2], TextReleased(text), Completed(replace(ANSWER, text=text))]
    async with in_process(an_app(ScriptedEngine(script))) as http:
        reply = await http.post("/chat/stream", json=QUERY)
    assert reply.text.isascii()
    assert events_of(reply.text)[0].data["content"] == text


async def test_a_new_session_is_made_for_a_developer_without_one() -> None:
    async with in_process(an_app()) as http:
        first, second = [(await http.post("/chat", json=QUERY)).json()["metadata"]["session_id"] for _ in range(2)]
    assert first != second
    assert first[14] == "4"


@pytest.mark.parametrize(("path", "body"), ASKING)
async def test_a_request_id_is_in_the_reply_in_errors_and_in_the_question(path: str, body: dict[str, object]) -> None:
    engine = ScriptedEngine()
    async with in_process(an_app(engine)) as http:
        reply = await http.post(path, json=body, headers={"x-request-id": "mine-1"})
        assert reply.headers["x-request-id"] == "mine-1"
        assert engine.questions[0].request_id == "mine-1"
        failed = await http.post(path, json={}, headers={"x-request-id": "mine-2"})
        assert failed.json()["trace_id"] == "mine-2"


@pytest.mark.parametrize(("path", "body"), ASKING)
async def test_a_key_is_asked_for_in_the_dialect_that_asks(path: str, body: dict[str, object]) -> None:
    options = ApiOptions(keys=("alpha",))
    async with in_process(an_app(options=options)) as http:
        refused = await http.post(path, json=body)
        assert refused.status_code == 401
        assert ("detail" in refused.json()) == ("message" in body)
        assert (await http.post(path, json=body, headers={"x-api-key": "wrong"})).status_code == 401
        assert (await http.post(path, json=body, headers={"x-api-key": "alpha"})).status_code == 200
        assert (await http.get("/health")).status_code == 200
        for guarded in ("/book/pages", "/metrics", f"/sessions/{SESSION}"):
            assert (await http.get(guarded)).status_code == 401


@pytest.mark.parametrize(("path", "body"), ASKING)
async def test_an_unknown_version_is_not_acceptable(path: str, body: dict[str, object]) -> None:
    async with in_process(an_app()) as http:
        reply = await http.post(path, json=body, headers={"accept": "application/vnd.api.v9+json"})
        assert reply.status_code == 406
        assert str(code_of(reply.json())).lower() == "not_acceptable"
        pinned = await http.post(path, json=body, headers={"accept": "application/vnd.api.v1+json"})
        assert pinned.status_code == 200


@pytest.mark.parametrize(("path", "body"), ASKING)
async def test_one_address_has_its_limit(path: str, body: dict[str, object]) -> None:
    async with in_process(an_app(options=ApiOptions(address_limit=2, session_limit=100))) as http:
        replies = [await http.post(path, json=body) for _ in range(3)]
    assert [reply.status_code for reply in replies] == [200, 200, 429]
    assert replies[0].headers["ratelimit-policy"] == '"address";q=2;w=60, "session";q=100;w=60'
    assert '"address";r=1;' in replies[0].headers["ratelimit"]
    assert '"address";r=0;' in replies[2].headers["ratelimit"]
    assert replies[2].headers["retry-after"] == str(replies[2].json()["retry_after"])
    assert 1 <= replies[2].json()["retry_after"] <= 60
    assert code_of(replies[2].json()) == ("RATE_LIMIT_EXCEEDED" if "message" in body else "rate_limited")


@pytest.mark.parametrize(("path", "body"), [("/chat/run", MESSAGE), ("/chat", {**QUERY, "session_id": SESSION})])
async def test_one_session_has_its_limit_and_another_is_free(path: str, body: dict[str, object]) -> None:
    async with in_process(an_app(options=ApiOptions(session_limit=2))) as http:
        replies = [await http.post(path, json=body) for _ in range(3)]
        other = {**body, "session_id": "8b9a5b0e-3d0f-4a6e-8f3e-1d2c3b4a5f60"}
        free = await http.post(path, json=other)
    assert [reply.status_code for reply in replies] == [200, 200, 429]
    assert "session" in replies[2].text
    assert free.status_code == 200


async def test_forwarded_addresses_count_only_from_a_trusted_proxy() -> None:
    options = ApiOptions(address_limit=1, trusted_proxies=("192.0.2.0/24",))
    async with in_process(an_app(options=options)) as http:
        first = await http.post("/chat", json=QUERY, headers={"x-forwarded-for": "198.51.100.1"})
        second = await http.post("/chat", json=QUERY, headers={"x-forwarded-for": "6.6.6.6, 198.51.100.1"})
        third = await http.post("/chat", json=QUERY, headers={"x-forwarded-for": "198.51.100.2"})
    assert [first.status_code, second.status_code, third.status_code] == [200, 429, 200]
    async with in_process(an_app(options=ApiOptions(address_limit=1))) as http:
        codes = [
            (await http.post("/chat", json=QUERY, headers={"x-forwarded-for": f"198.51.100.{i}"})).status_code
            for i in range(2)
        ]
    assert codes == [200, 429]


@pytest.mark.parametrize(("path", "body"), ASKING)
async def test_ten_at_once_are_served_and_the_eleventh_is_told_to_wait(path: str, body: dict[str, object]) -> None:
    go = asyncio.Event()
    engine = ScriptedEngine([go, *answering()])
    async with in_process(an_app(engine)) as http, asyncio.TaskGroup() as group:
        ten = [group.create_task(http.post(path, json=body)) for _ in range(10)]
        for _ in range(10):
            await engine.busy.acquire()
        eleventh = await http.post(path, json=body)
        assert eleventh.status_code == 429
        assert eleventh.headers["retry-after"] == "1"
        assert str(code_of(eleventh.json())).lower() in ("rate_limited", "rate_limit_exceeded")
        go.set()
        assert [(await task).status_code for task in ten] == [200] * 10
        assert (await http.post(path, json=body)).status_code == 200


@pytest.mark.parametrize("script", [[RuntimeError()], [Failed(errors.ModelError("x"))], answering()[:3]])
@pytest.mark.parametrize(("path", "body"), ASKING)
async def test_a_slot_is_freed_however_a_question_ends(path: str, body: dict[str, object], script: list) -> None:  # type: ignore[type-arg] # steps of a script
    engine = ScriptedEngine(script)
    async with in_process(an_app(engine, ApiOptions(at_once=1))) as http:
        for _ in range(3):
            assert (await http.post(path, json=body)).status_code != 429
    assert engine.started == engine.finished == 3


SITE = "https://docs.example.com"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/chat", QUERY, 200),
        ("POST", "/chat/stream", MESSAGE, 200),
        ("POST", "/chat", {}, 400),
        ("POST", "/nowhere", {}, 404),
        ("GET", "/chat", None, 405),
        ("GET", "/health", None, 200),
    ],
)
async def test_a_listed_origin_can_read_every_reply(
    method: str, path: str, body: dict[str, object] | None, status: int
) -> None:
    async with in_process(an_app(options=ApiOptions(origins=(SITE,)))) as http:
        reply = await http.request(method, path, json=body, headers={"origin": SITE})
        assert reply.status_code == status
        assert reply.headers["access-control-allow-origin"] == SITE
        other = await http.request(method, path, json=body, headers={"origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


async def test_even_a_bug_can_be_read_by_a_listed_origin() -> None:
    app = an_app(ScriptedEngine([RuntimeError()]), ApiOptions(origins=(SITE,)))
    async with in_process(app) as http:
        reply = await http.post("/chat", json=QUERY, headers={"origin": SITE})
    assert reply.status_code == 500
    assert reply.headers["access-control-allow-origin"] == SITE


async def test_a_preflight_needs_no_key() -> None:
    headers = {"origin": SITE, "access-control-request-method": "POST"}
    async with in_process(an_app(options=ApiOptions(origins=(SITE,), keys=("k",)))) as http:
        reply = await http.options("/chat/stream", headers=headers)
    assert reply.status_code == 204
    assert reply.headers["access-control-allow-headers"].startswith("Content-Type, X-API-Key, ")


@pytest.mark.parametrize(("path", "body"), ASKING)
async def test_a_kept_answer_is_given_again_without_asking_the_engine(path: str, body: dict[str, object]) -> None:
    engine = ScriptedEngine()
    async with in_process(an_app(engine)) as http:
        first = await http.post(path, json=body, headers={"idempotency-key": "k-1"})
        again = await http.post(path, json=body, headers={"idempotency-key": "k-1"})
        other = await http.post(path, json={**body, "x": 1}, headers={"idempotency-key": "k-1"})
    assert engine.started == 1
    assert first.text == again.text
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert other.status_code == 409
    assert str(code_of(other.json())).lower() == "conflict"


async def test_a_reader_whose_stream_broke_gets_the_same_answer_from_run() -> None:
    engine = ScriptedEngine()
    async with in_process(an_app(engine)) as http:
        await http.post("/chat/stream", json=MESSAGE, headers={"idempotency-key": "k-1"})
        reply = await http.post("/chat/run", json=MESSAGE, headers={"idempotency-key": "k-1"})
    assert reply.json()["response"] == TEXT
    assert engine.started == 1


async def test_while_an_answer_is_made_its_key_is_a_conflict_with_a_wait() -> None:
    go = asyncio.Event()
    engine = ScriptedEngine([go, *answering()])
    async with in_process(an_app(engine)) as http, asyncio.TaskGroup() as group:
        first = group.create_task(http.post("/chat", json=QUERY, headers={"idempotency-key": "k-1"}))
        await engine.busy.acquire()
        second = await http.post("/chat", json=QUERY, headers={"idempotency-key": "k-1"})
        assert second.status_code == 409
        assert second.json()["retry_after"] == 2
        go.set()
        assert (await first).status_code == 200


async def test_a_failed_question_is_not_kept() -> None:
    engine = ScriptedEngine([Failed(errors.ModelError("x"))])
    async with in_process(an_app(engine)) as http:
        for _ in range(2):
            reply = await http.post("/chat", json=QUERY, headers={"idempotency-key": "k-1"})
            assert reply.status_code == 503
    assert engine.started == 2


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("POST", "/nowhere", 404, "not_found"),
        ("GET", "/chat/", 404, "not_found"),
        ("GET", "/chat", 405, "method_not_allowed"),
        ("GET", "/chat/run", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/chat/stream", 405, "method_not_allowed"),
        ("GET", "/chat/run/x", 404, "NOT_FOUND"),
        ("POST", "/health", 405, "method_not_allowed"),
        ("GET", "/page/../../pyproject.toml", 404, "not_found"),
        ("GET", "/page/%2e%2e/%2e%2e/models.py", 404, "not_found"),
        ("GET", "/apidocs/..%2f..%2fmodels.py", 404, "not_found"),
    ],
)
async def test_unknown_paths_and_wrong_methods(method: str, path: str, status: int, code: str) -> None:
    async with in_process(an_app()) as http:
        reply = await http.request(method, path)
    assert (reply.status_code, code_of(reply.json())) == (status, code)
    assert ("allow" in reply.headers) == (status == 405)


async def test_a_session_is_read_back_rated_and_deleted() -> None:
    notebook = Notebook([a_turn()])
    async with in_process(an_app(conversations=notebook)) as http:
        session = (await http.get(f"/sessions/{SESSION.upper()}")).json()
        assert session["session_id"] == SESSION
        (turn,) = session["turns"]
        assert turn["query"] == "What is a ROS 2 node?"
        assert turn["answer"] == TEXT
        assert turn["sources"][0]["source_url"] == "/docs/module-1-ros2/nodes"
        rated = await http.post(
            f"/sessions/{SESSION}/turns/{turn['turn_id']}/feedback", json={"rating": "up", "comment": " Good. "}
        )
        assert rated.status_code == 204
        assert notebook.votes == [(SESSION, ANSWER.id, "up", "Good.")]
        missing = await http.post(f"/sessions/{SESSION}/turns/nothing/feedback", json={"rating": "up"})
        assert missing.status_code == 404
        wrong = await http.post(f"/sessions/{SESSION}/turns/{turn['turn_id']}/feedback", json={"rating": "five"})
        assert wrong.status_code == 400
        assert wrong.json()["message"] == "rating must be 'up', 'down' or null."
        assert (await http.delete(f"/sessions/{SESSION}")).json() == {"deleted_turns": 1}
        assert (await http.get(f"/sessions/{SESSION}")).json()["turns"] == []


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "limit=-1", "limit=1e2", "limit=٣"])
async def test_a_page_of_turns_has_a_limit(query: str) -> None:
    async with in_process(an_app()) as http:
        reply = await http.get(f"/sessions/{SESSION}?{query}")
    assert reply.status_code == 400
    assert reply.json()["details"] == {"field": "limit"}
    assert reply.json()["message"].startswith("limit must be ")


async def test_a_session_id_in_a_path_is_checked() -> None:
    async with in_process(an_app()) as http:
        assert (await http.get("/sessions/not-a-uuid")).status_code == 400
        assert (await http.delete("/sessions/550e8400-e29b-41d4-a716-446655440000")).status_code == 400


async def test_the_book_can_be_listed_and_read() -> None:
    async with in_process(an_app()) as http:
        pages = (await http.get("/book/pages")).json()
        assert pages[0] == {"url": "/docs/module-1-ros2/nodes", "title": "Nodes", "module": "Module 1: ROS 2"}
        page = (await http.get("/book/page", params={"url": pages[0]["url"]})).json()
        markdown = f"# {pages[0]['url']}\n\nText."
        assert page.pop("blocks") == [
            {"type": "heading", "start": 0, "end": 27, "text": pages[0]["url"], "level": 1, "title": pages[0]["url"]},
            {"type": "paragraph", "start": 29, "end": 34, "text": "Text."},
        ]
        names = {"url": pages[0]["url"], "title": "Nodes", "module": "Module 1: ROS 2", "language": "en"}
        assert page == names | {"markdown": markdown}
        by_path = await http.get("/book/page", params={"url": "/docs/intro"})
        assert by_path.json()["title"] == "Introduction"
        assert (await http.get("/book/page", params={"url": "/docs/none"})).status_code == 404
        assert (await http.get("/book/page")).status_code == 400


async def test_health_is_503_only_when_the_index_or_the_database_is_down() -> None:
    async def down() -> ServiceStatus:
        raise errors.DatabaseError("x")

    async with in_process(an_app(probes={**UP, "database": down})) as http:
        reply = await http.get("/health")
        assert reply.status_code == 503
        assert reply.json()["status"] == "unhealthy"
        assert reply.json()["reason"] == "Database connection failed"
        assert (await http.get("/health/ready")).status_code == 503
        assert (await http.get("/health/live")).json() == {"status": "alive"}
    async with in_process(an_app(probes={**UP, "gemini": down})) as http:
        reply = await http.get("/health")
        assert (reply.status_code, reply.json()["status"]) == (200, "degraded")
        assert "reason" not in reply.json()


async def test_metrics_count_what_the_issue_lists() -> None:
    engine = ScriptedEngine(answering(answer=replace(ANSWER, dropped_sentences=2)))
    async with in_process(an_app(engine, ApiOptions(address_limit=2))) as http:
        for _ in range(3):
            await http.post("/chat", json=QUERY)
        text = (await http.get("/metrics")).text
    for line in (
        'citewell_requests_total{method="POST",route="/chat",status="200"} 2.0',
        'citewell_requests_total{method="POST",route="/chat",status="429"} 1.0',
        'citewell_request_seconds_count{route="/chat"} 3.0',
        'citewell_first_text_seconds_count{dialect="developer"} 2.0',
        "citewell_retrieval_seconds_count 2.0",
        "citewell_model_seconds_count 2.0",
        'citewell_answers_total{dialect="developer",outcome="success"} 2.0',
        "citewell_dropped_sentences_total 4.0",
        'citewell_limited_total{policy="address"} 1.0',
        "citewell_open_questions 0.0",
    ):
        assert line in text


async def test_the_documentation_is_a_page_of_our_own_with_a_strict_policy() -> None:
    async with in_process(an_app()) as http:
        page = await http.get("/docs")
        assert page.status_code == 200
        assert "OpenAPI" in page.text
        assert "script-src 'self'" in page.headers["content-security-policy"]
        for part in ("/apidocs/apidocs.js", "/apidocs/apidocs.css"):
            assert part in page.text
            assert (await http.get(part)).status_code == 200
        assert "http://" not in page.text
        assert "https://" not in page.text


@pytest.mark.parametrize("path", ["/", "/docs/module-1-ros2/nodes", "/docs/module-1-ros2/nodes/", "/docs/intro"])
async def test_the_page_is_served_at_home_and_at_every_url_of_the_book(path: str) -> None:
    async with in_process(an_app(options=ApiOptions(keys=("k",)))) as http:
        page = await http.get(path)
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "unsafe" not in page.headers["content-security-policy"]
        for part in re.findall(r'(?:src|href)="(/page/[^"]+)"', page.text):
            assert (await http.get(part)).status_code == 200
        assert (await http.post(path)).status_code in (404, 405)


async def test_head_is_answered_where_get_is() -> None:
    async with in_process(an_app()) as http:
        assert (await http.head("/health/live")).status_code == 200
        assert (await http.head("/chat")).status_code == 405


async def test_the_parts_are_warmed_up_after_the_start() -> None:
    warmed = asyncio.Event()

    async def warm_up() -> None:
        warmed.set()

    async with in_process(an_app(warm_up=warm_up)) as http:
        waiting = await http.get("/health/ready")
        await warmed.wait()
    assert waiting.status_code == 503
    assert waiting.json()["reason"] == "The server is warming up"


async def test_replies_are_not_kept_by_caches_and_cannot_be_framed() -> None:
    async with in_process(an_app()) as http:
        reply: httpx.Response = await http.post("/chat", json=QUERY)
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]


async def test_a_question_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    secret = "What about qzxjqzxj?"
    with caplog.at_level("INFO"):
        async with in_process(an_app()) as http:
            await http.post("/chat", json={"query": secret, "session_id": SESSION})
            await http.post("/chat", content=json.dumps({"query": secret})[:-1])
    assert caplog.records
    assert "qzxj" not in caplog.text
    assert SESSION not in caplog.text


@pytest.mark.fault("another caller's key", "no reply and no session of somebody else")
async def test_a_kept_reply_is_given_only_to_the_key_that_asked_whichever_header_brings_it() -> None:
    engine = ScriptedEngine()
    options = ApiOptions(keys=("alpha", "beta"))
    async with in_process(an_app(engine, options)) as http:
        first = await http.post("/chat", json=QUERY, headers={"idempotency-key": "k", "authorization": "Bearer alpha"})
        again = await http.post("/chat", json=QUERY, headers={"idempotency-key": "k", "x-api-key": "alpha"})
        other = await http.post("/chat", json=QUERY, headers={"idempotency-key": "k", "authorization": "Bearer beta"})
    assert again.json()["metadata"]["session_id"] == first.json()["metadata"]["session_id"]
    assert other.json()["metadata"]["session_id"] != first.json()["metadata"]["session_id"]
    assert len({question.owner for question in engine.questions}) == 2


@pytest.mark.fault("wrong keys", "limited")
@pytest.mark.parametrize("path", ["/chat", "/book/pages", "/metrics"])
async def test_wrong_keys_are_limited_too(path: str) -> None:
    options = ApiOptions(keys=("alpha",), address_limit=2, pages_for_each=1)
    async with in_process(an_app(options=options)) as http:
        method = "POST" if path == "/chat" else "GET"
        replies = [await http.request(method, path, json=QUERY, headers={"x-api-key": str(n)}) for n in range(3)]
    assert [reply.status_code for reply in replies] == [401, 401, 429]


async def test_reading_pages_is_limited_apart_from_questions() -> None:
    options = ApiOptions(address_limit=1, pages_for_each=3)
    async with in_process(an_app(options=options)) as http:
        pages = [(await http.get("/book/pages")).status_code for _ in range(4)]
        question = await http.post("/chat", json=QUERY)
    assert pages == [200, 200, 200, 429]
    assert question.status_code == 200
