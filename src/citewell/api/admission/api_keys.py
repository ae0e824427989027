"""API keys, from `X-API-Key` or as a bearer token: secret ones, and publishable ones that a public site may show."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping

from starlette.datastructures import Headers

from citewell.api.http_errors import Unauthorized

OWNER_LENGTH = 32
"""Hexadecimal digits of a key's digest that stand for its owner: enough never to meet, too few to be the digest."""


class ApiKeys:
    """Compared by digest and in constant time, all of them, whichever fits."""

    def __init__(self, keys: Iterable[str], publishable: Mapping[str, frozenset[str]] | None = None) -> None:
        """`publishable` are keys with the origins that they are bound to."""
        self._digests = [_digest(key) for key in keys]
        self._publishable = {_digest(key): origins for key, origins in (publishable or {}).items()}

    def check(self, headers: Headers) -> str:
        """Whose key it is: a digest, the same whichever header brought it; empty where no keys are asked for.

        Raises Unauthorized for all but a secret key. A client of the OpenAI protocol sends it as a bearer token.
        """
        if not self._digests and not self._publishable:
            return ""
        given = _given(headers)
        digest = _digest(given)
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        if self._bound_to(digest) is not None:
            raise Unauthorized("This key is publishable: it may ask, search and give feedback, nothing else.")
        if not given or not any(matches):
            raise Unauthorized("A valid key is required in the header X-API-Key.")
        return digest.hex()[:OWNER_LENGTH]

    def check_reader(self, headers: Headers) -> str:
        """As `check`, for what a reader does: a publishable key is good too, from an origin that it is bound to."""
        digest = _digest(_given(headers))
        origins = self._bound_to(digest)
        if origins is None:
            return self.check(headers)
        if headers.get("origin") not in origins:
            raise Unauthorized("This key is bound to other origins: PUBLISHABLE_KEYS lists them.")
        return digest.hex()[:OWNER_LENGTH]

    def _bound_to(self, digest: bytes) -> frozenset[str] | None:
        found = [origins for known, origins in self._publishable.items() if hmac.compare_digest(digest, known)]
        return found[0] if found else None


def _given(headers: Headers) -> str:
    bearer = headers.get("authorization", "")
    return headers.get("x-api-key") or (bearer[7:] if bearer[:7].lower() == "bearer " else "")


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
