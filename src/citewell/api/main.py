"""The app over the configured stack: what `citewell serve` serves, in every worker."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial

from citewell.errors import DatabaseError, MissingExtraError

try:
    from fastapi import FastAPI
except ModuleNotFoundError as error:
    raise MissingExtraError("server", error) from error

from citewell.api.app import create_app
from citewell.api.options import ApiOptions, ApiParts, Probe
from citewell.book import open as open_book
from citewell.logs import configure, log
from citewell.settings import Settings
from citewell.values import ServiceStatus
from citewell.wiring import Parts, migrate_conversations

PURGE_SECONDS = 3600.0
MIGRATE_AGAIN_SECONDS = 3.0
BUILT_IN = "extractive model, built in"


def app_of(settings: Settings, workers: int = 1) -> FastAPI:
    """Called in each worker; nothing is opened before the app's lifespan."""
    configure(settings.log_level, secrets=settings.secrets)
    return create_app(partial(_opened, settings), ApiOptions.of(settings, workers))


@contextlib.asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[ApiParts]:
    if settings.database_url is None:
        await migrate_conversations(settings)  # a file is there or can be made; a server may come up later
    async with open_book(settings=settings) as book, asyncio.TaskGroup() as group:
        parts = await book.parts()
        upkeep = group.create_task(_keep_conversations(parts))
        yield ApiParts(
            engine=parts.engine,
            book=parts.retriever,
            conversations=parts.conversations,
            probes=_probes(parts),
            check=book.check,
            generation=parts.index.current,
            budget=parts.agent.budget if parts.agent else None,
            warm_up=parts.engine.warm,
        )
        upkeep.cancel()


async def _keep_conversations(parts: Parts) -> None:
    """Migrate as soon as the database can be reached, then purge what is too old, now and every hour."""
    while True:
        try:
            await migrate_conversations(parts.settings)
            break
        except DatabaseError as error:
            log("startup", "the database cannot be migrated yet", level="warning", error=str(error))
            await asyncio.sleep(MIGRATE_AGAIN_SECONDS)
    while True:
        with contextlib.suppress(DatabaseError):  # health tells; the next round catches up
            await parts.conversations.purge(parts.settings.conversation_retention_days)
        await asyncio.sleep(PURGE_SECONDS)


def _probes(parts: Parts) -> Mapping[str, Probe]:
    """One for each key of the health reply. What a setting replaces says in `message` what serves instead."""
    settings = parts.settings
    embedder = {"builtin": f"{parts.embedder.name}, built in", "openai": parts.embedder.name, "cohere": None}
    return {
        "qdrant": partial(_probed, parts.index.ping, None if settings.qdrant_url else "Qdrant Edge, in process"),
        "cohere": partial(_probed, parts.embedder.ping, embedder[settings.embedder]),
        "gemini": partial(_probed, parts.agent.ping, None) if parts.agent else partial(_probed, _nothing, BUILT_IN),
        "database": partial(_probed, parts.conversations.ping, None if settings.database_url else "SQLite, in process"),
    }


async def _nothing() -> None:
    """What is built in is there."""


async def _probed(look: Callable[[], Awaitable[object]], instead: str | None) -> ServiceStatus:
    await look()
    return ServiceStatus("up", None, instead)
