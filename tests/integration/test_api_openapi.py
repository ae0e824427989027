"""The description is complete and true: Schemathesis finds nothing against it, and a generated client works."""

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from tests.support.api import ANSWER, SESSION, Notebook, a_turn, an_app, events_of, in_process, listening


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server in a thread of its own."""
    started = threading.Event()
    found: list[str] = []
    stops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        stop = asyncio.Event()
        async with listening(an_app(conversations=Notebook([a_turn()]))) as server:
            found.append(server.url)
            stops.append((asyncio.get_running_loop(), stop))
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    started.wait()
    yield found[0]
    loop, stop = stops[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join()


config = schemathesis.Config.from_dict(
    {
        "generation": {"allow-x00": False, "codec": "utf-8"},
        # A body can be wrong by being too large.
        "checks": {"negative_data_rejection": {"expected-statuses": ["400", "404", "409", "413", "431"]}},
        # No schema can say that the last entry of a list is the user's, or that a text shows anything.
        "operations": [
            {
                "include-path": ["/v1/chat/completions", "/chat", "/chat/run", "/chat/stream"],
                "checks": {
                    "positive_data_acceptance": {"expected-statuses": ["2xx", "400", "401", "409", "429", "5xx"]}
                },
            }
        ],
    }
)
schema = schemathesis.openapi.from_dict(an_app().openapi(), config=config)


@pytest.mark.slow
@schema.parametrize()
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_input_breaks_the_description(case: schemathesis.Case[Any], address: str) -> None:
    case.call_and_validate(base_url=address, timeout=600)


async def test_every_route_is_described_and_every_operation_has_all_its_parts() -> None:
    async with in_process(an_app()) as http:
        described = (await http.get("/openapi.json")).json()
    assert set(described["paths"]) >= {
        "/chat",
        "/chat/run",
        "/chat/stream",
        "/health",
        "/health/live",
        "/health/ready",
        "/metrics",
        "/sessions/{session_id}",
        "/sessions/{session_id}/turns/{turn_id}/feedback",
        "/book/pages",
        "/book/page",
        "/book/questions",
    }
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            name = f"{method} {path}"
            assert operation["summary"], name
            assert operation["operationId"], name
            assert "500" in operation["responses"], name
            for status, reply in operation["responses"].items():
                assert reply["description"], f"{name} {status}"
                assert "X-Request-ID" in reply["headers"], f"{name} {status}"
                if int(status) >= 400 and "error_code" in json.dumps(reply):
                    assert reply["content"]["application/json"]["examples"], f"{name} {status}"
            if method == "post":
                assert operation["requestBody"]["content"]["application/json"]["examples"], name
                assert {"400", "401", "406", "408", "413", "429"} <= set(operation["responses"]), name


async def test_both_bodies_of_stream_are_shown_with_examples() -> None:
    body = an_app().openapi()["paths"]["/chat/stream"]["post"]["requestBody"]["content"]["application/json"]
    assert [choice["$ref"].rsplit("/", 1)[1] for choice in body["schema"]["oneOf"]] == ["ChatRequest", "ChatRunRequest"]
    assert {next(iter(example["value"])) for example in body["examples"].values()} == {"query", "message"}


async def test_every_example_of_a_question_runs() -> None:
    app = an_app()
    async with in_process(app) as http:
        for path in ("/chat", "/chat/run", "/chat/stream"):
            content = app.openapi()["paths"][path]["post"]["requestBody"]["content"]["application/json"]
            for name, example in content["examples"].items():
                assert (await http.post(path, json=example["value"])).status_code == 200, f"{path} {name}"


@pytest.mark.slow
def test_a_generated_client_works(address: str, tmp_path: Path) -> None:
    description = tmp_path / "openapi.json"
    description.write_text(json.dumps(an_app().openapi()), "utf-8")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", str(description), "--meta", "none"]
    made = subprocess.run([*command, "--output-path", str(tmp_path / "book_client")], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    script = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from book_client import Client
from book_client.api.questions import chat, chat_run
from book_client.api.health import health
from book_client.api.sessions import session
from book_client.models import ChatRequest, ChatRunRequest, ErrorResponse
client = Client(base_url={address!r})
reply = chat.sync(client=client, body=ChatRequest(query="What is a ROS 2 node?"))
assert reply.answer == {ANSWER.text!r}, reply
assert reply.sources[0].relevance_score == 0.8912
assert reply.metadata.confidence_level.value == "high"
shown = chat_run.sync(client=client, body=ChatRunRequest(message="What is a ROS 2 node?", session_id={SESSION!r}))
assert shown.should_answer is True
wrong = chat.sync(client=client, body=ChatRequest(query=""))
assert isinstance(wrong, ErrorResponse) and wrong.error_code == "validation_error", wrong
assert health.sync(client=client).status.value == "healthy"
assert session.sync({SESSION!r}, client=client).turns[0].query == "What is a ROS 2 node?"
print("works")
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout == "works\n", run.stderr


@pytest.mark.slow
def test_openapi_typescript_takes_the_calls_of_the_readme(tmp_path: Path) -> None:
    """The bodies of the README's own calls, given to the types that it makes."""
    repo = Path(__file__).parents[2]
    tools = repo / "widget" / "node_modules" / ".bin"
    if not (tools / "openapi-typescript").exists():
        pytest.skip("make browser installs openapi-typescript, where Node is")
    calls = re.findall(
        r"localhost:8000(/\S+).*?-d (['\"])(\{.*?\})\2$",
        (repo / "README.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert {path for path, _, _ in calls} == {"/chat", "/chat/stream"}
    (tmp_path / "openapi.json").write_text(json.dumps(an_app().openapi()), "utf-8")
    body = 'paths["{path}"]["post"]["requestBody"]["content"]["application/json"]'
    lines = ['import type { paths } from "./api";']
    for number, (path, _, sent) in enumerate(calls):
        given = re.sub(r"\$\(.*?\)", SESSION, sent.replace('\\"', '"'))
        lines.append(f"export const body{number}: {body.format(path=path)} = {given};")
    (tmp_path / "calls.ts").write_text("\n".join(lines), "utf-8")
    for command in (
        ["openapi-typescript", "openapi.json", "-o", "api.ts"],
        ["tsc", "--strict", "--noEmit", "calls.ts"],
    ):
        ran = subprocess.run([tools / command[0], *command[1:]], cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr


def described() -> dict[str, Any]:
    """As a client gets it."""
    schema: dict[str, Any] = json.loads(json.dumps(an_app().openapi()))
    return schema


def checked(value: object, schema: dict[str, Any], whole: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator({**schema, "components": whole["components"]}).validate(value)


async def test_what_the_server_sends_is_what_the_description_says() -> None:
    """Every reply against its schema; and no field is sent that the schema does not name."""
    whole = described()
    asked = {"query": "What is a ROS 2 node?"}
    message = {"message": "What is a ROS 2 node?", "session_id": SESSION}
    session, turn = "/sessions/{session_id}", a_turn()
    feedback = f"{session}/turns/{{turn_id}}/feedback"
    voted = f"/sessions/{SESSION}/turns/{turn.id}/feedback"
    calls: list[tuple[str, str, str, object]] = [
        ("post", "/chat", "/chat", asked),
        ("post", "/chat", "/chat", {}),
        ("post", "/chat/run", "/chat/run", message),
        ("post", "/chat/run", "/chat/run", {"message": ""}),
        ("post", "/v1/chat/completions", "/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi?"}]}),
        ("post", "/v1/chat/completions", "/v1/chat/completions", {"messages": []}),
        ("get", "/v1/models", "/v1/models", None),
        ("get", "/v1/models/{model}", "/v1/models/citewell", None),
        ("get", "/v1/models/{model}", "/v1/models/other", None),
        ("get", "/health", "/health", None),
        ("get", "/health/live", "/health/live", None),
        ("get", "/health/ready", "/health/ready", None),
        ("get", session, f"/sessions/{SESSION}", None),
        ("get", session, "/sessions/x", None),
        ("get", "/book/pages", "/book/pages", None),
        ("get", "/book/questions", "/book/questions", None),
        ("get", "/book/page", "/book/page?url=/docs/module-1-ros2/nodes", None),
        ("get", "/book/page", "/book/page?url=/nowhere", None),
        ("get", "/book/page", "/book/page", None),
        ("get", "/book", "/book", None),
        ("get", "/search", "/search?q=node", None),
        ("get", "/search", "/search", None),
        ("post", "/check", "/check", {"text": "A node is a process.", "passages": ["A node is a process."]}),
        ("post", "/check", "/check", {}),
        ("get", "/answers/{turn_id}", f"/answers/{turn.id}", None),
        ("get", "/answers/{turn_id}", "/answers/none", None),
        ("post", feedback, voted, {"vote": "up"}),
        ("post", feedback, voted, {"vote": "sideways"}),
        ("get", "/metrics", "/metrics", None),
        ("delete", session, f"/sessions/{SESSION}", None),
    ]
    described_ones = {(method, path) for path, methods in whole["paths"].items() for method in methods}
    streamed = {("post", "/chat/stream")}  # its events have a test of their own
    assert {(method, path) for method, path, _, _ in calls} | streamed == described_ones
    async with in_process(an_app(conversations=Notebook([turn]))) as http:
        for method, path, address, body in calls:
            reply = await http.request(method, address, json=body)
            content = whole["paths"][path][method]["responses"][str(reply.status_code)].get("content", {})
            if "application/json" not in content:
                assert reply.headers.get("content-type", "").partition(";")[0] in ("", *content), f"{method} {path}"
                continue
            schema = content["application/json"]["schema"]
            checked(reply.json(), schema, whole)
            assert not unnamed(reply.json(), schema, whole), f"{method} {path} {reply.status_code}"


def unnamed(value: object, schema: dict[str, Any], whole: dict[str, Any]) -> set[str]:
    """Fields of a reply that its schema does not have, at any depth."""
    if "$ref" in schema:
        schema = whole["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return min((unnamed(value, choice, whole) for choice in schema[union]), key=len)
    if isinstance(value, list):
        return {name for item in value for name in unnamed(item, schema.get("items", {}), whole)}
    if not isinstance(value, dict):
        return set()
    named = schema.get("properties", {})
    free = schema.get("additionalProperties")
    found = {name for name in value if name not in named and not isinstance(free, dict)}
    for name, inner in value.items():
        found |= unnamed(inner, named.get(name, free if isinstance(free, dict) else {}), whole)
    return found


@pytest.mark.parametrize(
    "body", [{"query": "What is a ROS 2 node?"}, {"message": "What is it?", "session_id": SESSION}]
)
async def test_every_event_of_a_stream_is_one_that_the_description_has(body: dict[str, object]) -> None:
    whole = described()
    content = whole["paths"]["/chat/stream"]["post"]["responses"]["200"]["content"]["text/event-stream"]
    schema = content["itemSchema"]["properties"]["data"]["contentSchema"]
    async with in_process(an_app()) as http:
        events = events_of((await http.post("/chat/stream", json=body)).text)
    assert len(events) > 2
    for event in events:
        checked(event.data, schema, whole)


def test_every_example_is_valid_against_its_schema() -> None:
    whole = described()
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            contents = [(s, r.get("content", {})) for s, r in operation["responses"].items()]
            contents.append(("body", operation.get("requestBody", {}).get("content", {})))
            for status, content in contents:
                found = content.get("application/json", {})
                for name, example in found.get("examples", {}).items():
                    if "$ref" in example:
                        example = whole["components"]["examples"][example["$ref"].rsplit("/", 1)[1]]
                    try:
                        checked(example["value"], found["schema"], whole)
                    except jsonschema.ValidationError as error:
                        pytest.fail(f"{method} {path} {status} {name}: {error.message}")


def test_only_what_a_question_needs_is_required_of_it() -> None:
    """A generator of clients takes a field with a default for one that must be given (openapi-typescript does)."""
    schemas = described()["components"]["schemas"]
    assert schemas["ChatRequest"]["required"] == ["query"]
    assert schemas["ChatRunRequest"]["required"] == ["message", "session_id"]
    assert schemas["CompletionRequest"]["required"] == ["messages"]
    for name, schema in schemas.items():
        for field, of_field in schema.get("properties", {}).items():
            assert "default" not in of_field, f"{name}.{field}"


def test_the_description_promises_no_422() -> None:
    whole = described()
    assert all("422" not in operation["responses"] for path in whole["paths"].values() for operation in path.values())
    assert not {"HTTPValidationError", "ValidationError"} & set(whole["components"]["schemas"])
