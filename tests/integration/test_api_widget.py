"""What a site that carries the widget needs of the server: files, search, origins, publishable keys, shared answers."""

import asyncio
import base64
import hashlib
import re

import httpx
import pytest

from citewell.api.book_contents import BookContents
from citewell.api.options import ApiOptions
from citewell.api.widget import WidgetFiles
from citewell.values import PageEntry
from tests.support.api import ANSWER, SESSION, Notebook, ScriptedEngine, Shelf, a_turn, an_app, in_process, listening

SITE = "https://docs.example.com"
ALLOWED = ApiOptions(origins=(SITE,))
KEYED = ApiOptions(keys=("secret",), publishable=(("pk", SITE), ("pk", "https://blog.example.com")))
ASK = {"message": "What is a ROS 2 node?", "session_id": SESSION}


async def test_the_script_is_offered_with_a_short_life_and_under_its_hash_for_ever() -> None:
    async with in_process(an_app(options=ALLOWED)) as client:
        script = await client.get("/widget.js", headers={"Origin": SITE})
        hashed = await client.get(f"/{WidgetFiles().hashed_name}", headers={"Origin": SITE})
    assert script.status_code == hashed.status_code == 200
    assert script.content == hashed.content
    assert script.headers["content-type"].startswith("text/javascript")
    assert script.headers["cache-control"] == "public, max-age=300"
    assert "immutable" in hashed.headers["cache-control"]
    assert script.headers["access-control-allow-origin"] == SITE


async def test_the_panel_that_the_script_names_is_there_and_has_the_digest_that_it_names() -> None:
    async with in_process(an_app()) as client:
        script = (await client.get("/widget.js")).text
        name, digest = re.findall(r'"(widget-panel-\w+\.js)"[^}]*"(sha384-[^"]+)"', script)[0]
        panel = await client.get(f"/{name}")
        german = await client.get("/widget/de.json")
        missing = await client.get("/widget-panel-000000000000.js")
    assert panel.status_code == german.status_code == 200
    assert missing.status_code == 404
    assert digest == "sha384-" + base64.b64encode(hashlib.sha384(panel.content).digest()).decode()
    assert german.json()["close"] == "Schließen"


async def test_a_search_gives_sections_once_with_words_and_address() -> None:
    async with in_process(an_app()) as client:
        reply = await client.get("/search", params={"q": "node", "limit": "5"})
        empty = await client.get("/search", params={"q": " "})
        wrong = await client.get("/search", params={"q": "node", "limit": "x"})
    results = reply.json()["results"]
    assert len({hit["url"] for hit in results}) == len(results) > 0
    assert set(results[0]) == {"title", "section", "url", "text"}
    assert empty.status_code == wrong.status_code == 400
    assert empty.json()["details"]["field"] == "q"


async def test_a_preflight_allows_the_headers_that_the_docs_name() -> None:
    asked = {"Origin": SITE, "Access-Control-Request-Method": "POST"}
    async with in_process(an_app(options=ALLOWED)) as client:
        reply = await client.options("/chat/stream", headers=asked)
    allowed = reply.headers["access-control-allow-headers"].lower().split(", ")
    assert {"content-type", "x-api-key", "authorization", "idempotency-key", "x-request-id", "traceparent"} == set(
        allowed
    )


async def test_an_error_that_the_server_makes_below_the_app_can_be_read_by_a_site() -> None:
    async with listening(an_app(options=ALLOWED)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 40_000 + b"\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
    assert head.startswith(b"HTTP/1.1 431")
    assert b"access-control-allow-origin: *" in head


async def test_an_origin_that_is_refused_is_logged_once_with_the_remedy(caplog: pytest.LogCaptureFixture) -> None:
    async with in_process(an_app(options=ALLOWED)) as client:
        for _ in range(2):
            await client.get("/book/pages", headers={"Origin": "https://elsewhere.example"})
        await client.get("/book/pages", headers={"Origin": "http://citewell.test"})
    told = [line for line in caplog.messages if "refused the origin" in line]
    assert len(told) == 1
    assert "https://elsewhere.example" in told[0]
    assert "ALLOWED_ORIGINS" in told[0]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/chat/run", 200),
        ("GET", "/search?q=node", 200),
        ("GET", "/book/pages", 200),
        ("GET", f"/answers/{ANSWER.id}", 200),
        ("POST", f"/sessions/{SESSION}/turns/{ANSWER.id}/feedback", 204),
        ("GET", f"/sessions/{SESSION}", 401),
        ("DELETE", f"/sessions/{SESSION}", 401),
        ("GET", "/metrics", 401),
        ("POST", "/v1/chat/completions", 401),
    ],
)
async def test_a_publishable_key_may_do_what_a_reader_does_and_nothing_else(
    method: str, path: str, status: int
) -> None:
    body = {"rating": "up"} if path.endswith("feedback") else ASK
    headers = {"X-API-Key": "pk", "Origin": SITE}
    async with in_process(an_app(options=KEYED, conversations=Notebook([a_turn()]))) as client:
        reply = await client.request(method, path, headers=headers, json=body if method == "POST" else None)
    assert reply.status_code == status
    assert reply.headers["access-control-allow-origin"] == SITE


@pytest.mark.parametrize("origin", [None, "https://elsewhere.example"])
async def test_a_publishable_key_is_good_from_its_own_origins_only(origin: str | None) -> None:
    headers = {"X-API-Key": "pk"} | ({"Origin": origin} if origin else {})
    async with in_process(an_app(options=KEYED)) as client:
        refused = await client.post("/chat/run", json=ASK, headers=headers)
        other = await client.post("/chat/run", json=ASK, headers=headers | {"Origin": "https://blog.example.com"})
        unknown = await client.post("/chat/run", json=ASK, headers={"X-API-Key": "no", "Origin": SITE})
    assert (refused.status_code, other.status_code, unknown.status_code) == (401, 200, 401)
    assert "bound to other origins" in refused.json()["detail"]


async def test_a_shared_answer_says_nothing_of_its_conversation() -> None:
    async with in_process(an_app(conversations=Notebook([a_turn()]))) as client:
        reply = await client.get(f"/answers/{ANSWER.id}")
        gone = await client.get("/answers/7f9f3c1e-52c4-4f0a-8a59-6cf1f2f1a001")
    assert reply.json()["response"] == ANSWER.text
    assert reply.json()["question"] == "What is a ROS 2 node?"
    assert SESSION not in reply.text
    assert gone.status_code == 404


async def test_a_reader_can_filter() -> None:
    engine = ScriptedEngine()
    async with in_process(an_app(engine)) as client:
        good = await client.post("/chat/run", json={**ASK, "filters": {"version": "2.0", "language": ["de"]}})
        wrong = await client.post("/chat/run", json={**ASK, "filters": {"colour": "red"}})
    assert engine.questions[0].filters == {"version": ("2.0",), "language": ("de",)}
    assert (good.status_code, wrong.status_code) == (200, 400)


async def test_only_listed_origins_may_frame_the_page() -> None:
    async with in_process(an_app(options=ApiOptions(embed_origins=(SITE,)))) as client:
        framed = (await client.get("/")).headers["content-security-policy"]
        reply = (await client.get("/health/live")).headers["content-security-policy"]
    async with in_process(an_app()) as client:
        closed = (await client.get("/")).headers["content-security-policy"]
    assert framed.endswith(f"frame-ancestors {SITE}")
    assert closed.endswith("frame-ancestors 'none'")
    assert reply.endswith("frame-ancestors 'none'")


async def test_an_unknown_address_is_a_page_for_a_browser_and_json_for_a_program() -> None:
    async with in_process(an_app()) as client:
        page = await client.get("/no/such/page", headers={"Accept": "text/html,*/*;q=0.8"})
        data = await client.get("/no/such/page")
    assert page.status_code == data.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert data.json()["error_code"] == "not_found"


async def test_completions_cite_absolute_addresses_and_responses_are_pointed_to_them() -> None:
    body = {"model": "citewell", "messages": [{"role": "user", "content": "What is a node?"}]}
    async with in_process(an_app(options=ApiOptions(public_url="https://answers.example.com"))) as client:
        reply = await client.post("/v1/chat/completions", json=body)
        stream = await client.post("/v1/chat/completions", json=body | {"stream": True})
        other = await client.post("/v1/responses", json={"input": "What is a node?"})
    url = reply.json()["choices"][0]["message"]["annotations"][0]["url_citation"]["url"]
    assert url == "https://answers.example.com/docs/module-1-ros2/nodes#in-one-sentence"
    assert url in stream.text
    assert other.status_code == 404
    assert "/v1/chat/completions" in other.json()["error"]["message"]


@pytest.mark.parametrize(
    ("pages", "name"),
    [
        ([("/intro", ""), ("/a", "Part 1"), ("/b", "Part 1")], "/intro"),
        ([("/a", ""), ("/b", "")], ""),
        ([("/a", ""), ("/", ""), ("/b", "Part 1")], "/"),
        ([], ""),
    ],
)
async def test_a_book_without_a_title_is_named_by_its_front_page(pages: list[tuple[str, str]], name: str) -> None:
    shelf = Shelf([PageEntry(url, url, module, 1) for url, module in pages])
    assert await BookContents(shelf).root_title() == name


async def test_the_book_has_a_name() -> None:
    async with in_process(an_app(options=ApiOptions(book_title="The Robot Book"))) as client:
        reply: httpx.Response = await client.get("/book")
    assert reply.json()["name"] == "The Robot Book"
    assert reply.json()["pages"] > 0
