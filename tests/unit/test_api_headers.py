"""Request ids, versions, keys, origins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from citewell.api.admission.api_keys import ApiKeys
from citewell.api.admission.rate_limits import RateLimitStatus, rate_limit_headers
from citewell.api.headers import (
    Origins,
    check_version,
    request_id_of,
    traceparent_of,
)
from citewell.api.http_errors import NotAcceptable, Unauthorized
from citewell.api.options import ApiOptions
from citewell.errors import ConfigurationError


@pytest.mark.parametrize("given_id", ["abc", "550e8400-e29b-41d4-a716-446655440000", "trace:1/2.3_4", "a" * 128])
def test_a_harmless_request_id_is_taken_over(given_id: str) -> None:
    assert request_id_of(Headers({"x-request-id": given_id})) == given_id


@pytest.mark.parametrize("given_id", ["", " ", "a b", "a" * 129, "<script>", '"', "-x", "é", "a\tb"])
def test_any_other_is_replaced(given_id: str) -> None:
    made = request_id_of(Headers({"x-request-id": given_id}))
    assert made != given_id
    assert len(made) == 36


def test_a_trace_context_is_passed_on_only_when_it_is_one() -> None:
    good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    assert traceparent_of(Headers({"traceparent": good})) == good
    for bad in ("", "00-" + "0" * 32 + "-b7ad6b7169203331-01", good + "\r\nx: y", good.upper()):
        assert traceparent_of(Headers({"traceparent": bad})) is None


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "application/json",
        "text/event-stream",
        "application/vnd.api.v1+json",
        "application/vnd.api.v9+json, application/json",
        "application/vnd.api.v9+json, application/vnd.api.v1+json",
        "text/html",
    ],
)
def test_what_this_version_can_answer_is_accepted(accept: str) -> None:
    check_version(Headers({"accept": accept}))


@pytest.mark.parametrize(
    "accept", ["application/vnd.api.v9+json", "application/vnd.api.v2+json; q=0.9", "APPLICATION/vnd.api.v0+json"]
)
def test_a_pinned_version_that_is_not_ours_is_not_acceptable(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="version 1"):
        check_version(Headers({"accept": accept}))


def test_without_keys_nobody_needs_one() -> None:
    ApiKeys(()).check(Headers({}))


@pytest.mark.parametrize("headers", [{"x-api-key": "beta"}, {"authorization": "Bearer alpha"}])
def test_any_of_the_keys_opens(headers: dict[str, str]) -> None:
    ApiKeys(("alpha", "beta")).check(Headers(headers))


@pytest.mark.parametrize(
    "headers", [{}, {"x-api-key": ""}, {"x-api-key": "alph"}, {"x-api-key": "alpha "}, {"authorization": "alpha"}]
)
def test_a_wrong_or_missing_key_does_not(headers: dict[str, str]) -> None:
    with pytest.raises(Unauthorized):
        ApiKeys(("alpha", "beta")).check(Headers(headers))


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=40))
def test_no_header_value_breaks_the_comparison(key: str) -> None:
    if key != "alpha":
        with pytest.raises(Unauthorized):
            ApiKeys(("alpha",)).check(Headers(raw=[(b"x-api-key", key.encode("latin-1"))]))


SITE = "https://docs.example.com"


def test_a_listed_origin_is_named_and_gets_no_credentials() -> None:
    headers = Origins([SITE]).headers(Headers({"origin": SITE}))
    assert headers["access-control-allow-origin"] == SITE
    assert headers["vary"] == "Origin"
    assert "access-control-allow-credentials" not in headers


@pytest.mark.parametrize(
    "origin", ["https://evil.example", SITE + ".evil.example", "http://docs.example.com", "null", SITE + "/"]
)
def test_another_origin_gets_nothing(origin: str) -> None:
    assert "access-control-allow-origin" not in Origins([SITE]).headers(Headers({"origin": origin}))
    assert "access-control-allow-methods" not in Origins([SITE]).preflight(Headers({"origin": origin}), "/chat")


def test_a_preflight_says_what_the_seed_says() -> None:
    headers = Origins([SITE]).preflight(Headers({"origin": SITE}), "/chat/stream")
    assert headers["access-control-allow-methods"] == "POST, GET, OPTIONS"
    assert headers["access-control-allow-headers"] == (
        "Content-Type, X-API-Key, Authorization, Idempotency-Key, X-Request-ID, traceparent"
    )
    assert headers["access-control-max-age"] == "86400"


def test_every_origin_is_allowed_only_without_keys() -> None:
    assert Origins(["*"]).headers(Headers({"origin": SITE}))["access-control-allow-origin"] == "*"
    with pytest.raises(ConfigurationError, match="ALLOWED_ORIGINS"):
        ApiOptions(origins=("*",), keys=("k",))


def test_a_trusted_proxy_that_is_no_network_stops_the_start() -> None:
    with pytest.raises(ConfigurationError, match="TRUSTED_PROXIES"):
        ApiOptions(trusted_proxies=("the-proxy",))


def test_limits_are_told_in_the_form_of_the_draft() -> None:
    headers = rate_limit_headers([RateLimitStatus("address", 60, 59, 59.2), RateLimitStatus("session", 20, 0, 3)])
    assert headers == {
        "ratelimit-policy": '"address";q=60;w=60, "session";q=20;w=60',
        "ratelimit": '"address";r=59;t=60, "session";r=0;t=3',
    }
