"""Headers in and out: request ids, trace context, API version, CORS, security. Pure."""

import re
import uuid
from collections.abc import Sequence

from starlette.datastructures import Headers

from citewell.api.http_errors import NotAcceptable

VERSION = 1
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~:+/=-]{0,127}")
_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_PINNED = re.compile(r"application/vnd\.api\.v(\d{1,9})\+json", re.IGNORECASE)

API_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
ALLOWED = "Content-Type, X-API-Key, Authorization, Idempotency-Key, X-Request-ID, traceparent"
EXPOSED = "X-Request-ID, RateLimit, RateLimit-Policy, Retry-After, Idempotency-Replayed"


def page_policy(embed_origins: Sequence[str] = ()) -> str:
    """The content security policy of the page; the origins may show it in a frame."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors " + (" ".join(embed_origins) or "'none'")
    )


def request_id_of(headers: Headers) -> str:
    """The client's own id when it is harmless, else a new one."""
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else str(uuid.uuid4())


def traceparent_of(headers: Headers) -> str | None:
    given = headers.get("traceparent", "").strip()
    return given if _TRACEPARENT.fullmatch(given) else None


def check_version(headers: Headers) -> None:
    """Raises NotAcceptable when every acceptable type pins a version that is not ours."""
    ranges = [part.strip() for part in ",".join(headers.getlist("accept")).split(",") if part.strip()]
    pinned = [match for part in ranges if (match := _PINNED.match(part))]
    if pinned and len(pinned) == len(ranges) and all(int(match.group(1)) != VERSION for match in pinned):
        raise NotAcceptable(f"This server speaks version {VERSION}: Accept: application/vnd.api.v{VERSION}+json.")


class Origins:
    """CORS for the listed origins, exactly. No credentials, ever: a key is sent by the page itself."""

    def __init__(self, origins: Sequence[str]) -> None:
        self._any = "*" in origins
        self._origins = frozenset(origins)

    def headers(self, request: Headers) -> dict[str, str]:
        """What every reply carries, an error too; without these a browser shows only a network failure."""
        origin = request.get("origin")
        if not self._origins:
            return {}
        if self._any:
            return {"access-control-allow-origin": "*", "access-control-expose-headers": EXPOSED}
        if origin not in self._origins:
            return {"vary": "Origin"}
        return {"access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED, "vary": "Origin"}

    def refused(self, request: Headers) -> str | None:
        """The origin of another site that may not read the reply."""
        origin = request.get("origin")
        if origin is None or self._any or origin in self._origins:
            return None
        return None if origin.partition("://")[2] == request.get("host") else origin

    def preflight(self, request: Headers, path: str) -> dict[str, str]:
        headers = self.headers(request)
        if "access-control-allow-origin" not in headers:
            return headers
        methods = "POST, GET, DELETE, OPTIONS" if path.startswith("/sessions/") else "POST, GET, OPTIONS"
        return headers | {
            "access-control-allow-methods": methods,
            "access-control-allow-headers": ALLOWED,
            "access-control-max-age": "86400",
        }
