"""API keys, from `X-API-Key` or as a bearer token."""

import hashlib
import hmac
from collections.abc import Iterable

from starlette.datastructures import Headers

from citewell.api.http_errors import Unauthorized

OWNER_LENGTH = 32
"""Hexadecimal digits of a key's digest that stand for its owner: enough never to meet, too few to be the digest."""


class ApiKeys:
    """Compared by digest and in constant time, all of them, whichever fits."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._digests = [_digest(key) for key in keys]

    def check(self, headers: Headers) -> str:
        """Whose key it is: a digest, the same whichever header brought it; empty where no keys are asked for.

        Raises Unauthorized. A client of the OpenAI protocol sends its key as a bearer token.
        """
        if not self._digests:
            return ""
        bearer = headers.get("authorization", "")
        given = headers.get("x-api-key") or (bearer[7:] if bearer[:7].lower() == "bearer " else "")
        digest = _digest(given)
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        if not given or not any(matches):
            raise Unauthorized("A valid key is required in the header X-API-Key.")
        return digest.hex()[:OWNER_LENGTH]


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
