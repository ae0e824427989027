"""What is older than its days is purged while the server runs."""

import asyncio

import structlog

from citewell.conversations.store import ConversationStore
from citewell.errors import DatabaseError

log = structlog.get_logger(__name__)


async def purge_regularly(store: ConversationStore, *, days: int, every_seconds: float = 3600.0) -> None:
    """Purge now and then again, until cancelled. A database that is away is tried again the next time."""
    while True:
        try:
            if purged := await store.purge(days):
                log.info("conversations_purged", turns=purged, older_than_days=days)
        except DatabaseError as error:
            log.warning("purge_failed", error=str(error))
        await asyncio.sleep(every_seconds)
