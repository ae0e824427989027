"""The idempotency store: a finished answer is given again instead of being made again.

Kept in this process, bounded in number and time; a failed or abandoned question is not kept, so it can be asked again.
"""

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from citewell.api.http_errors import Conflict
from citewell.errors import InvalidInputError
from citewell.models import AnswerEvent, Completed

_KEY = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(slots=True)
class KeptAnswer:
    """What is known of a key: the body it came with and, once finished, the events."""

    fingerprint: bytes
    since: float
    events: tuple[AnswerEvent, ...] | None = None


class IdempotencyStore:
    """Finished answers by caller and Idempotency-Key."""

    def __init__(self, *, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], KeptAnswer] = OrderedDict()

    def begin(self, caller: str, key: str, fingerprint: bytes) -> tuple[AnswerEvent, ...] | None:
        """The events of the finished answer, or None when it is this request that will make it.

        Raises Conflict when the key came with another body, or its answer is still being made.
        """
        if not _KEY.fullmatch(key):
            raise InvalidInputError(
                "The header Idempotency-Key takes 1 to 255 visible ASCII characters.", field="Idempotency-Key"
            )
        self._forget()
        kept = self._kept.get((caller, key))
        if kept is None:
            self._kept[caller, key] = KeptAnswer(fingerprint, self._clock())
            return None
        if kept.fingerprint != fingerprint:
            raise Conflict("This Idempotency-Key was used with another body.")
        if kept.events is None:
            raise Conflict("The answer for this Idempotency-Key is still being made.", retry_after=2)
        return kept.events

    def end(self, caller: str, key: str, events: Sequence[AnswerEvent]) -> None:
        """Keep a finished answer; forget the key of one that did not finish."""
        if events and isinstance(events[-1], Completed):
            self._kept[caller, key].events = tuple(events)
        else:
            del self._kept[caller, key]

    def _forget(self) -> None:
        oldest = self._clock() - self._seconds
        for name, kept in list(self._kept.items()):
            if kept.since > oldest and len(self._kept) < self._most:
                break
            if kept.events is not None:
                del self._kept[name]
