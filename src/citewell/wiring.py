"""The only place where concrete classes are chosen. Everything heavy is imported here, when it is needed."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.agent import BookAgent, HostedModel
from citewell.config import Settings
from citewell.conversations import Address, address_of
from citewell.embedding import Embedder
from citewell.engine import Engine, EngineOptions
from citewell.index import IndexWriter, PassageIndex
from citewell.retrieval import Retriever
from citewell.retrieval.library import open_with

if TYPE_CHECKING:  # importing it for real takes a second
    from citewell.conversations.store import ConversationStore


@dataclass(frozen=True, slots=True)
class Parts:
    """The open parts of a running Citewell."""

    settings: Settings
    engine: Engine
    agent: BookAgent
    retriever: Retriever
    index: PassageIndex
    embedder: Embedder
    conversations: "ConversationStore"


def make_embedder(settings: Settings) -> Embedder:
    from citewell.embedding import BuiltinEmbedder, RememberedQueries

    match settings.embedder:
        case "builtin":
            return RememberedQueries(BuiltinEmbedder())
        case "cohere":
            from citewell.embedding.hosted import CohereEmbedder

            assert settings.cohere_api_key is not None  # noqa: S101 Settings checked it
            return RememberedQueries(
                CohereEmbedder(api_key=settings.cohere_api_key.get_secret_value(), base_url=settings.cohere_base_url)
            )
        case "openai":
            from citewell.embedding.hosted import OpenAIEmbedder

            assert settings.embedding_base_url is not None  # noqa: S101 Settings checked it
            assert settings.embedding_model is not None  # noqa: S101 Settings checked it
            key = settings.embedding_api_key.get_secret_value() if settings.embedding_api_key else None
            return RememberedQueries(
                OpenAIEmbedder(
                    base_url=settings.embedding_base_url,
                    model=settings.embedding_model,
                    dimensions=settings.embedding_dimensions,
                    api_key=key,
                )
            )


def make_index(settings: Settings) -> PassageIndex:
    if settings.qdrant_url is None:
        from citewell.index.edge import EdgeIndex

        return EdgeIndex(settings.citewell_data_dir / "index")
    from citewell.index.server import ServerIndex

    return ServerIndex(settings.qdrant_url, _qdrant_key(settings), settings.qdrant_collection_name)


def make_writer(settings: Settings) -> IndexWriter:
    if settings.qdrant_url is None:
        from citewell.index.edge import EdgeWriter

        return EdgeWriter(settings.citewell_data_dir / "index")
    from citewell.index.server import ServerWriter

    return ServerWriter(settings.qdrant_url, _qdrant_key(settings), settings.qdrant_collection_name)


def _qdrant_key(settings: Settings) -> str | None:
    return settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None


def make_agent(settings: Settings) -> BookAgent:
    if settings.gemini_api_key is None:
        return BookAgent()
    return BookAgent(
        HostedModel(settings.gemini_model, settings.gemini_base_url, settings.gemini_api_key.get_secret_value())
    )


@contextlib.asynccontextmanager
async def open_retriever(settings: Settings) -> AsyncIterator[Retriever]:
    """Search without an agent or a database."""
    async with contextlib.AsyncExitStack() as stack:
        embedder = make_embedder(settings)
        stack.push_async_callback(embedder.aclose)
        index = make_index(settings)
        stack.push_async_callback(index.aclose)
        yield Retriever(index, embedder)


def conversations_address(settings: Settings) -> Address:
    return address_of(
        settings.database_url.get_secret_value() if settings.database_url else None, settings.citewell_data_dir
    )


async def migrate_conversations(settings: Settings) -> None:
    """Bring the database to the newest schema. Raises DatabaseError while it is away."""
    from citewell.conversations.migrations import migrate

    await migrate(conversations_address(settings))


@contextlib.asynccontextmanager
async def open_conversations(settings: Settings) -> AsyncIterator["ConversationStore"]:
    """The conversations, on a database that `migrate_conversations` has prepared."""
    from citewell.conversations.store import ConversationStore
    from citewell.conversations.transactions import Bounds

    address = conversations_address(settings)
    # A file cannot freeze as a server can: who waits for it stands in line behind others, and may wait longer.
    bounds = Bounds(call=25.0) if address.kind == "sqlite" else Bounds()
    async with ConversationStore.open(address, bounds) as store:
        yield store


@contextlib.asynccontextmanager
async def open_parts(settings: Settings) -> AsyncIterator[Parts]:
    """Open everything that answering needs, and close it in reverse order."""
    from citewell.confidence import Confidence
    from citewell.grounding import BuiltinJudge

    async with contextlib.AsyncExitStack() as stack:
        embedder = make_embedder(settings)
        stack.push_async_callback(embedder.aclose)
        index = make_index(settings)
        stack.push_async_callback(index.aclose)
        conversations = await stack.enter_async_context(open_conversations(settings))
        retriever = Retriever(index, embedder)
        agent = make_agent(settings)
        engine = Engine(
            retriever=retriever,
            agent=agent,
            judge=BuiltinJudge(),
            confidence=Confidence.load(),
            conversations=conversations,
            options=EngineOptions(
                history_messages=settings.max_conversation_history,
                sources_when_model_fails=settings.agent_fallback == "sources",
            ),
        )
        yield Parts(settings, engine, agent, retriever, index, embedder, conversations)


async def _configured_retriever() -> Retriever:
    settings = Settings.from_environment()
    return Retriever(make_index(settings), make_embedder(settings))


# The library interface (`citewell.retrieval.retrieve`) is below this module and asks for it by this hook.
open_with(_configured_retriever)
