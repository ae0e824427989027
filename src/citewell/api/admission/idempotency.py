"""The idempotency store: a finished answer is given again instead of being made again, to the same caller only.

Bounded in number and time, in this process or for all workers on Redis; a failed or abandoned question is not kept.
"""

import hashlib
import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from citewell.api.admission.shared import RedisAway, SharedState
from citewell.api.http_errors import KeyConflict
from citewell.errors import InvalidInputError
from citewell.values import AnswerEvent, Completed, PassagesFound, SearchStarted, TextReleased

Events = tuple[AnswerEvent, ...]
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(slots=True)
class KeptAnswer:
    """What is known of a key: the body it came with and, once finished, the events."""

    fingerprint: str
    since: float
    events: Events | None = None

    def given(self, fingerprint: str) -> Events:
        """Raises KeyConflict when the key came with another body, or its answer is still being made."""
        if self.fingerprint != fingerprint:
            raise KeyConflict("This Idempotency-Key was used with another body.")
        if self.events is None:
            raise KeyConflict("The answer for this Idempotency-Key is still being made.", retry_after=2)
        return self.events


@dataclass(frozen=True, slots=True)
class KeyClaim:
    """A key that this request makes the answer for."""

    name: str
    fingerprint: str
    is_shared: bool


class IdempotencyStore:
    """Finished answers by caller and Idempotency-Key."""

    def __init__(
        self,
        *,
        most: int,
        seconds: float,
        claim_seconds: float = 60.0,
        shared: SharedState | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """On Redis a claim whose worker died is free again after `claim_seconds`."""
        self._most = most
        self._seconds = seconds
        self._claim_seconds = claim_seconds
        self._shared = shared
        self._clock = clock
        self._kept: OrderedDict[str, KeptAnswer] = OrderedDict()

    async def begin(self, caller: str, key: str, body: bytes) -> KeyClaim | Events:
        """The events of the finished answer, or a claim when this request will make it. Raises KeyConflict."""
        if not _KEY.fullmatch(key):
            raise InvalidInputError(
                "The header Idempotency-Key takes 1 to 255 visible ASCII characters.", field="Idempotency-Key"
            )
        name = "reply:" + hashlib.sha256(f"{caller}\n{key}".encode()).hexdigest()
        fingerprint = hashlib.sha256(body).hexdigest()
        if self._shared is not None:
            with suppress(RedisAway):
                claimed = json.dumps([fingerprint, None])
                found = await self._shared.claim(name, claimed, seconds=self._claim_seconds)
                if found is None:
                    return KeyClaim(name, fingerprint, is_shared=True)
                known, events = json.loads(found)
                return KeptAnswer(known, 0.0, None if events is None else _adapter().validate_json(events)).given(
                    fingerprint
                )
        self._forget()
        kept = self._kept.get(name)
        if kept is not None:
            return kept.given(fingerprint)
        self._kept[name] = KeptAnswer(fingerprint, self._clock())
        return KeyClaim(name, fingerprint, is_shared=False)

    async def end(self, claim: KeyClaim, seen: Sequence[AnswerEvent]) -> None:
        """Keep a finished answer; forget the key of one that did not finish, which can then be asked for again."""
        events = tuple(seen) if seen and isinstance(seen[-1], Completed) else None
        if claim.is_shared and self._shared is not None:
            with suppress(RedisAway):
                if events is None:
                    await self._shared.remove(claim.name)
                else:
                    kept = json.dumps([claim.fingerprint, _adapter().dump_json(events).decode()])
                    await self._shared.put(claim.name, kept, seconds=self._seconds)
        elif events is None:
            self._kept.pop(claim.name, None)
        else:
            self._kept[claim.name].events = events

    def _forget(self) -> None:
        oldest = self._clock() - self._seconds
        for name, kept in list(self._kept.items()):
            if kept.since > oldest and len(self._kept) < self._most:
                break
            if kept.events is not None:
                del self._kept[name]


@cache
def _adapter() -> TypeAdapter[Events]:
    """Finished answers as JSON and back. What failed is never kept."""
    return TypeAdapter(tuple[SearchStarted | PassagesFound | TextReleased | Completed, ...])
