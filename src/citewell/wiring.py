"""The composition root: the parts that answer, put together here alone. What is heavy is imported when needed."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.answering.agent import BookAgent
from citewell.answering.budget import Allowance, ModelBudget
from citewell.answering.engine import Engine, EngineOptions
from citewell.answering.hosted_model import HostedModel
from citewell.backends import make_embedder, make_index, make_writer
from citewell.conversations import Address, address_of
from citewell.embedding import Embedder
from citewell.errors import ConfigurationError
from citewell.index import IndexWriter, PassageIndex
from citewell.judge import Conflicts, Judge, Lines, TrainedJudge
from citewell.reader import Reader, TrainedReader
from citewell.retrieval import Retriever
from citewell.retrieval.reranking import Reranking
from citewell.settings import Settings

if TYPE_CHECKING:  # importing it for real takes a second
    from citewell.conversations.store import ConversationStore
    from citewell.inference import MeanModel, ReadingModel
    from citewell.reader import QuestionModel


@dataclass(frozen=True, slots=True)
class Seams:
    """What a program brings along in place of what the settings name. It stays the program's to close."""

    embedder: Embedder | None = None
    index: PassageIndex | None = None
    writer: IndexWriter | None = None
    judge: Judge | None = None
    reader: Reader | None = None
    model: HostedModel | None = None


NO_SEAMS = Seams()


@dataclass(frozen=True, slots=True)
class Searching:
    """The open parts that searching and ingesting need: no agent and no database."""

    retriever: Retriever
    index: PassageIndex
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Models:
    """What reads passages; each model loads when it is first used."""

    reading: "ReadingModel"
    both: "MeanModel | None" = None
    """With the larger model, where it is installed."""
    larger: Path | None = None
    """Where that lies, with what was fitted to both."""

    @property
    def questions(self) -> "QuestionModel":
        return self.both or self.reading

    @property
    def judge(self) -> Judge:
        return TrainedJudge(self.both, self.lines) if self.both else TrainedJudge(self.reading, self.lines)

    @property
    def lines(self) -> Lines:
        return Lines.load(self.larger) if self.larger else Lines.load()

    @property
    def confidence(self) -> Path | None:
        """The file that was fitted to what these read; None for the one that ships with Citewell."""
        return self.larger / "confidence.json" if self.larger else None


@dataclass(frozen=True, slots=True)
class Judging:
    models: Models
    judge: Judge


@dataclass(frozen=True, slots=True)
class Parts:
    """The open parts of a running Citewell."""

    settings: Settings
    engine: Engine
    agent: BookAgent | None
    retriever: Retriever
    index: PassageIndex
    embedder: Embedder
    conversations: "ConversationStore"


@contextlib.asynccontextmanager
async def open_searching(settings: Settings, seams: Seams = NO_SEAMS) -> AsyncIterator[Searching]:
    async with contextlib.AsyncExitStack() as stack:
        embedder, index = seams.embedder, seams.index
        if embedder is None:
            embedder = make_embedder(settings)
            stack.push_async_callback(embedder.aclose)
        if index is None:
            index = make_index(settings)
            stack.push_async_callback(index.aclose)
        yield Searching(Retriever(index, embedder), index, embedder)


@contextlib.asynccontextmanager
async def open_writer(settings: Settings, seams: Seams = NO_SEAMS) -> AsyncIterator[IndexWriter]:
    if seams.writer is not None:
        yield seams.writer
        return
    if seams.index is not None:
        raise ConfigurationError("This book was opened with an index of its own; to write to it, pass `writer=` too.")
    async with contextlib.aclosing(make_writer(settings)) as writer:
        yield writer


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
async def open_models(*, alone: bool = False) -> AsyncIterator[Models]:
    """The models of the process; `alone`: without the larger one, though it is installed."""
    from citewell.inference import LargerModel, MeanModel, ReadingModel, larger_assets

    async with contextlib.AsyncExitStack() as stack:
        reading = await stack.enter_async_context(contextlib.aclosing(ReadingModel()))
        assets = None if alone else larger_assets()
        if assets is None:
            yield Models(reading)
            return
        larger = await stack.enter_async_context(contextlib.aclosing(LargerModel(assets)))
        yield Models(reading, MeanModel(reading, larger), assets)


@contextlib.asynccontextmanager
async def open_judging(settings: Settings, seams: Seams = NO_SEAMS) -> AsyncIterator[Judging]:
    """The models, and the judge: given, hosted, or built in."""
    async with contextlib.AsyncExitStack() as stack:
        models = await stack.enter_async_context(open_models())
        judge = seams.judge
        if judge is None and settings.judge_model is not None:
            from citewell.judge.hosted_judge import HostedJudge

            key = settings.judge_api_key.get_secret_value() if settings.judge_api_key else None
            hosted = HostedJudge(settings.judge_model, settings.judge_base_url, api_key=key)
            judge = await stack.enter_async_context(contextlib.aclosing(hosted))
        yield Judging(models, judge or models.judge)


@contextlib.asynccontextmanager
async def open_parts(settings: Settings, seams: Seams, searching: Searching, judging: Judging) -> AsyncIterator[Parts]:
    """Open what answering needs beside the search, and close it in reverse order."""
    from citewell.answering.confidence import Confidence

    async with open_conversations(settings) as conversations:
        models = judging.models
        hosted = seams.model or _hosted_model(settings)
        agent = BookAgent(hosted, budget=_budget(settings)) if hosted else None
        retriever = searching.retriever
        if settings.rerank:
            reranking = Reranking(TrainedReader(models.reading), settings.rerank)
            retriever = Retriever(searching.index, searching.embedder, reranking=reranking)
        engine = Engine(
            retriever=retriever,
            reader=seams.reader or TrainedReader(models.questions),
            agent=agent,
            judge=judging.judge,
            conflicts=Conflicts(TrainedJudge(models.reading, Lines.load())),
            confidence=Confidence.load(settings.confidence_file or models.confidence),
            conversations=conversations,
            options=EngineOptions(
                history_messages=settings.max_conversation_history,
                sources_when_model_fails=settings.agent_fallback == "sources",
            ),
        )
        yield Parts(settings, engine, agent, retriever, searching.index, searching.embedder, conversations)


def _budget(settings: Settings) -> ModelBudget:
    in_all = Allowance(
        settings.model_calls_per_minute,
        settings.model_calls_per_day,
        settings.model_tokens_per_minute,
        settings.model_tokens_per_day,
    )
    by_key = Allowance(
        settings.model_key_calls_per_minute,
        settings.model_key_calls_per_day,
        settings.model_key_tokens_per_minute,
        settings.model_key_tokens_per_day,
    )
    return ModelBudget(in_all, by_key)


def _hosted_model(settings: Settings) -> HostedModel | None:
    if settings.gemini_api_key is None:
        return None
    return HostedModel(settings.gemini_model, settings.gemini_base_url, settings.gemini_api_key.get_secret_value())
