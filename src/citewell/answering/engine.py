"""The answering pipeline: the steps of a question in order. Knows no HTTP, no settings and no concrete index.

The steps run in a task of their own, which says its events into a queue: what is below are plain coroutines under one
deadline, and the stream is what a reader takes out of the queue.
"""

import asyncio
import contextlib
import hashlib
import json
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell import __version__
from citewell.answering.agent import BookAgent
from citewell.answering.citations import Sources
from citewell.answering.composition import Composer, Composition, statements_of
from citewell.answering.confidence import ANSWER_FROM, Confidence, level_of
from citewell.answering.evidence import Cited, Evidence
from citewell.answering.hosted_model import PROMPT_HASH, Task
from citewell.answering.refusals import refusal_of, related_to
from citewell.answering.talk import Host
from citewell.contracts import DeterminismRecord, RetrievedContent, retrieved_content
from citewell.conversations import HISTORY_TOKENS, last_turns
from citewell.deadline import Deadline
from citewell.errors import CitewellError, EndlessAnswerError, ModelError
from citewell.gate import CitationGate
from citewell.judge import Conflict, Conflicts, Judge
from citewell.reader import RULES, Reader, parts_of, sides_of
from citewell.retrieval import Found, Retriever, standing_alone
from citewell.values import (
    Answer,
    AnswerEvent,
    Completed,
    Failed,
    Filters,
    Message,
    PassagesFound,
    Question,
    SearchStarted,
    TextReleased,
)

if TYPE_CHECKING:  # importing it for real takes a second
    from citewell.conversations.store import ConversationStore

BUILT_IN = "citewell-extractive"
LOW_SIMILARITY = 0.5
SURELY_COMPARED = 0.6
"""Below this a comparison is shown side by side, when the book says what each side is."""


@dataclass(frozen=True, slots=True)
class EngineOptions:
    total_seconds: float = 30.0
    history_messages: int = 10
    sources_when_model_fails: bool = False


@dataclass(slots=True)
class _QuestionRun:
    """What one question has gathered so far."""

    question: Question
    gate: CitationGate
    deadline: Deadline = field(default_factory=lambda: Deadline(0.0))
    history: tuple[Message, ...] = ()
    asked: str = ""
    """The question as it is searched: standing alone, and spelt as the book spells."""
    forms: tuple[str, ...] = ()
    """The ways to ask it without what went before, likeliest first."""
    parts: Sequence[str] = ()
    """The questions in the question."""
    sides: Sequence[str] = ()
    """Of a comparison: what each side is."""
    started: float = field(default_factory=time.perf_counter)
    events: asyncio.Queue[AnswerEvent | None] = field(default_factory=asyncio.Queue)
    """What the reader sees; None after the last."""
    evidence: Evidence = field(default_factory=Evidence)
    sources: Sources = field(init=False)
    shown: str = ""
    """The text that the reader has."""
    confined: bool = False
    background: float = 0.0
    """The similarity of passages that do not answer."""
    reranked: bool | None = None
    composition: Composition | None = None
    conflict: Conflict | None = None
    input_hash: str = ""

    def __post_init__(self) -> None:
        self.asked = self.question.text
        self.forms = (self.asked,)
        self.sources = Sources(self.evidence)

    def say(self, event: AnswerEvent) -> None:
        self.events.put_nowait(event)

    def release(self, text: str) -> None:
        """Text that may leave: checked, or the engine's own."""
        if text:
            self.shown += text
            self.say(TextReleased(text))

    async def check(self, text: str, *, last: bool = False) -> None:
        """Text on its way through the gate."""
        released = await self.gate.feed(text)
        if last:
            released += await self.gate.finish()
        self.release(self.sources.renumbered(released))

    async def show_all(self) -> None:
        """Let the gate take the evidence, now that there is text to check."""
        for number, item in self.evidence.numbered():
            await asyncio.to_thread(self.gate.show, number, item.passage)

    @property
    def probability(self) -> float:
        return self.composition.probability if self.composition else 0.0


class Engine:
    """Questions in, events out. The same events serve every dialect, the command line and the MCP tools."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        reader: Reader,
        judge: Judge,
        confidence: Confidence,
        conversations: "ConversationStore",
        conflicts: Conflicts | None = None,
        agent: BookAgent | None = None,
        options: EngineOptions | None = None,
    ) -> None:
        """`agent` runs a hosted model; without one the built-in model answers. Without `conflicts` none are sought."""
        self._retriever = retriever
        self._reader = reader
        self._judge = judge
        self._conflicts = conflicts
        self._confidence = confidence
        self._conversations = conversations
        self._agent = agent
        self._options = options or EngineOptions()
        self._composer = Composer(retriever, reader, confidence)
        self._host = Host(retriever)
        self._warm = False

    @property
    def model(self) -> str:
        return self._agent.model if self._agent else BUILT_IN

    async def warm(self) -> None:
        """Load what answering needs, once. Takes seconds: no clock of a question runs meanwhile."""
        if not self._warm:
            await self._reader.warm()
            await self._retriever.warm()
            if self._agent:  # what the built-in model says is quoted, and needs no judge
                await self._judge.warm()
                await asyncio.to_thread(self._agent.warm_up)
            self._warm = True

    async def answer(self, question: Question) -> Answer:
        """The collected stream. Raises the error that the stream ended with."""
        async with contextlib.aclosing(self.stream(question)) as events:
            async for event in events:
                match event:
                    case Completed(answer):
                        return answer
                    case Failed(error):
                        raise error
        raise EndlessAnswerError

    async def stream(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """Events in order; the last is always Completed, with the answer saved, or Failed. Closing it stops the run."""
        run = self._begin(question)
        work = asyncio.create_task(self._work(run))
        try:
            while (event := await run.events.get()) is not None:
                yield event
            await work  # an error that is nobody's fault but ours
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work

    async def verify(self, question: Question) -> DeterminismRecord:
        """Answer afresh, past the store of finished answers, and compare with what is stored, or with a second try."""
        first = await self._afresh(question)
        other = await self._conversations.finished(first.input_hash) or await self._afresh(question)
        return {
            "input_hash": first.input_hash,
            "output_hash": first.output_hash,
            "consistent": other.output_hash == first.output_hash,
            "validation_timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    async def _afresh(self, question: Question) -> Answer:
        run = self._begin(question)
        async with self._clock(run):
            await self._find(run)
            return await self._answer(run)

    def _begin(self, question: Question) -> _QuestionRun:
        run = _QuestionRun(question, CitationGate(self._judge, question.text, ahead=self._agent is not None))
        run.history = self._recent(question.history or ())
        return run

    def _recent(self, history: tuple[Message, ...]) -> tuple[Message, ...]:
        return last_turns(history, limit_messages=self._options.history_messages, limit_tokens=HISTORY_TOKENS)

    @contextlib.asynccontextmanager
    async def _clock(self, run: _QuestionRun) -> AsyncIterator[None]:
        """The time that a question has. It begins when all that is needed is loaded."""
        await self.warm()
        run.deadline = Deadline.after(self._options.total_seconds)
        async with run.deadline.kept(f"No answer within {self._options.total_seconds:g} s."):
            yield

    async def _work(self, run: _QuestionRun) -> None:
        """All steps, and the end of the events whatever happens."""
        try:
            async with self._clock(run):
                answer = await self._saved(run)
            run.say(Completed(answer))
        except CitewellError as error:
            run.say(Failed(error))
        finally:
            run.events.put_nowait(None)

    async def _saved(self, run: _QuestionRun) -> Answer:
        """The answer, saved before anybody hears that it is whole; what a leaving reader had seen is saved too."""
        question = run.question
        if question.history is None:
            limit = self._options.history_messages
            stored = await self._conversations.history(question.session_id, owner=question.owner, limit_messages=limit)
            run.history = self._recent(stored)
        if (reply := await self._host.reply(question, run.history)) is not None:
            run.release(reply)
            answer = self._by_host(run)
            await asyncio.shield(self._conversations.save(question, answer))
            return answer
        await self._find(run)
        if known := await self._given_again(run):
            if known.status == "success":
                run.release(known.text)
            return known
        done = False
        try:
            answer = await self._answer(run)
            done = True  # from here on the store decides, also when the reader leaves meanwhile
            await asyncio.shield(self._conversations.save(question, answer))
            return answer
        finally:
            if not done and run.shown:
                await self._save_what_was_shown(run)

    async def _given_again(self, run: _QuestionRun) -> Answer | None:
        """A finished answer to the very same input, saved as a turn of this session, also when the reader leaves."""
        if not run.evidence.shown:
            return None
        return await asyncio.shield(
            self._conversations.save_again(run.question, run.input_hash, elapsed_ms=_elapsed(run))
        )

    async def _save_what_was_shown(self, run: _QuestionRun) -> None:
        """Best effort while the reader is gone already: a failure here has nobody to be told."""
        answer = self._finished(run, run.shown, run.gate.cited)
        with contextlib.suppress(CitewellError):
            await asyncio.shield(self._conversations.save(run.question, answer, complete=False))

    # Evidence

    async def _find(self, run: _QuestionRun) -> None:
        """The evidence, and with it the hash of all that the answer depends on."""
        question = run.question
        if question.selection:
            item = await asyncio.to_thread(run.evidence.add_selection, question.selection)
            run.composition = await self._composer.of_selection(question.text, item)
            run.confined = question.mode == "selected_text" or run.composition.probability >= ANSWER_FROM
        if not run.confined:
            run.composition = None
            run.forms = standing_alone(question.text, run.history)
            run.asked = await self._searched(run, run.forms[0])
            run.parts = _alone(parts_of(run.asked))
            run.sides = sides_of(run.asked) if len(run.parts) == 1 else ()
            further = run.parts[1:] or [*run.forms[1:], *run.sides]
            for query in further:
                await self._searched(run, query)
        run.input_hash = self._input_hash(run)

    async def _searched(self, run: _QuestionRun, query: str) -> str:
        """One search of the engine's own. Returns the query as it was searched, spelt as the book spells."""
        question = run.question
        run.say(SearchStarted(query, question.top_k, question.filters))
        found = await self._search(run, query, question.top_k, question.filters)
        run.evidence.add(found.passages)
        run.background = run.background or found.background
        run.reranked = found.reranked if run.reranked is None else run.reranked and found.reranked
        run.say(PassagesFound(found.query, found.passages))
        return found.query

    async def _search(self, run: _QuestionRun, query: str, top_k: int, filters: Filters) -> Found:
        history = run.history
        if run.question.selection:
            history = (*history, Message("user", run.question.selection[:600]))
        return await self._retriever.search(
            query,
            top_k=top_k,
            score_threshold=run.question.score_threshold,
            filters=filters or run.question.filters,
            history=history,
        )

    # Answers

    async def _answer(self, run: _QuestionRun) -> Answer:
        """An answer from the evidence, or a refusal."""
        if run.composition is None:
            found = [item for _, item in run.evidence.of_book]
            run.composition = await self._composer.of_book(run.parts, found, run.background)
            for other in run.forms[1:]:
                if run.composition.probability < ANSWER_FROM:
                    run.composition = await self._composer.of_book([other], found, run.background)
                    run.asked = other
            if run.sides and run.composition.probability < SURELY_COMPARED:
                compared = await self._composer.of_book(run.sides, found, run.background)
                if compared.probability >= ANSWER_FROM and not compared.unanswered:
                    run.composition = compared
            if self._conflicts is not None and (self._agent is not None or run.probability >= ANSWER_FROM):
                run.conflict = await self._conflicts.find(statements_of(run.composition.readings))
        if not run.evidence.shown:
            return self._refused(run)
        if self._agent is not None:
            return await self._by_model(run, self._agent)
        if run.probability < ANSWER_FROM:
            return self._refused(run)
        return await self._composed(run)

    async def _composed(self, run: _QuestionRun) -> Answer:
        """The built-in model's answer: whole blocks of the evidence, word for word."""
        composition = run.composition
        assert composition is not None  # noqa: S101 read before anything is composed
        if run.asked not in run.forms:
            run.release(f"Showing results for “{run.asked}”.\n\n")
        text = await asyncio.to_thread(composition.text, run.evidence, run.conflict)
        await run.show_all()
        await run.check(text, last=True)
        if not run.gate.cited:
            return self._refused(run)
        for part in composition.unanswered:
            run.release(f"\n\n{part}")
        return self._finished(run, run.shown, run.gate.cited)

    async def _by_model(self, run: _QuestionRun, agent: BookAgent) -> Answer:
        """A hosted model's text, checked sentence by sentence; what the gate leaves nothing of is composed instead."""
        await run.show_all()
        if run.conflict:
            await run.check(_notice(run.conflict, [number for number, _ in run.evidence.of_book]))
        said, task = False, self._task(run)
        try:
            async with contextlib.aclosing(agent.run(task, run.deadline)) as deltas:
                async for delta in deltas:
                    said = said or bool(delta)
                    await run.check(delta)
            await run.check("", last=True)
        except ModelError:
            if run.shown or not self._options.sources_when_model_fails:
                raise
            return self._sources_only(run)
        finally:
            if task.use.calls:
                with contextlib.suppress(CitewellError):  # what it cost is for the author, and no reason to fail
                    used = self._conversations.add_model_use(task.owner, calls=task.use.calls, tokens=task.use.tokens)
                    await asyncio.shield(used)
        if run.gate.cited:
            return self._finished(run, run.shown, run.gate.cited)
        if said and run.probability >= ANSWER_FROM:
            dropped, reasons = run.gate.dropped, run.gate.reasons
            run.gate = CitationGate(self._judge, run.question.text)
            return replace(await self._composed(run), dropped_sentences=dropped, drop_reasons=reasons)
        return self._refused(run)

    def _task(self, run: _QuestionRun) -> Task:
        async def search(query: str, top_k: int, filters: Filters) -> RetrievedContent:
            run.say(SearchStarted(query, top_k, filters))
            found = await self._search(run, query, top_k, filters)
            run.say(PassagesFound(found.query, found.passages))
            numbered = run.evidence.add(found.passages)
            for number, item in numbered:
                run.gate.show(number, item.passage)
            return retrieved_content(numbered, conflicting=False)

        first = retrieved_content(run.evidence.of_book, conflicting=run.conflict is not None)
        return Task(
            question=run.asked,
            history=run.history,
            selection=run.question.selection,
            confined=run.confined,
            first_result=None if run.confined else first,
            search=None if run.confined else search,
            owner=run.question.owner,
        )

    # Ends

    def _input_hash(self, run: _QuestionRun) -> str:
        question = run.question
        parts = [
            question.text,
            run.asked,
            question.mode,
            question.selection,
            [[m.role, m.content] for m in run.history],
            [[s.passage.id, s.passage.content_hash] for s in run.evidence.shown],
            sorted((key, sorted(values)) for key, values in question.filters.items()),
            PROMPT_HASH,
            self.model,
            self._reader.name,
            self._judge.name,
            RULES,
            self._confidence.digest,
            __version__,
        ]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()

    def _finished(self, run: _QuestionRun, text: str, cited: Cited) -> Answer:
        kept = len(run.gate.supports)
        share = kept / (kept + run.gate.dropped) if kept else 0.0
        confidence = round(max(ANSWER_FROM, run.probability * (0.5 + 0.5 * share)), 4)
        return Answer(
            id=str(uuid.uuid4()),
            session_id=run.question.session_id,
            mode=run.question.mode,
            text=text.strip(),
            status="success",
            citations=run.sources.citations(cited),
            confidence=confidence,
            confidence_level=level_of(confidence),
            model=self.model,
            chunks_retrieved=len(run.evidence.of_book),
            elapsed_ms=_elapsed(run),
            low_confidence=max((s.score for s in run.evidence.shown), default=0.0) < LOW_SIMILARITY,
            conflicting_info=run.conflict is not None,
            dropped_sentences=run.gate.dropped,
            drop_reasons=run.gate.reasons,
            input_hash=run.input_hash,
            output_hash=_output_hash(text.strip()),
            searched_for="" if run.asked == run.question.text else run.asked,
            reranked=run.reranked,
        )

    def _refused(self, run: _QuestionRun) -> Answer:
        text, reason = refusal_of(run.question, found=bool(run.evidence.shown))
        confidence = round(min(run.probability, ANSWER_FROM - 0.01), 4)
        related = related_to(run.composition.readings) if run.composition and not run.confined else ()
        return replace(
            self._finished(run, text, {}),
            status="refused",
            refusal_reason=reason,
            confidence=confidence,
            confidence_level=level_of(confidence),
            conflicting_info=False,
            related=related,
        )

    def _by_host(self, run: _QuestionRun) -> Answer:
        """Small talk and the table of contents: nothing was searched, and it is as sure as the index."""
        return replace(
            self._finished(run, run.shown, {}), confidence=1.0, confidence_level="high", low_confidence=False
        )

    def _sources_only(self, run: _QuestionRun) -> Answer:
        """R6: the model is away; what was found is still worth showing."""
        everything = {number: ((0, len(s.passage.text)),) for number, s in run.evidence.numbered()}
        return replace(
            self._finished(run, "", everything),
            status="error",
            confidence=0.0,
            confidence_level="insufficient",
            fallback_message="AI summarization unavailable",
            deterministic=False,
        )


def _alone(parts: Sequence[str]) -> list[str]:
    """The parts of a question, each of which stands alone: "and what is its default?" has the first one's subject."""
    first = Message("user", parts[0])
    return [parts[0], *(standing_alone(part, [first])[0] for part in parts[1:])]


def _elapsed(run: _QuestionRun) -> float:
    return round((time.perf_counter() - run.started) * 1000, 2)


def _output_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _notice(conflict: Conflict, numbers: Sequence[int]) -> str:
    """What is said before a hosted model's answer. A conflict counts the passages of the book, from 0."""
    first, second = numbers[conflict.first], numbers[conflict.second]
    return f"The sources disagree.\n\n{conflict.first_sentence} [{first}]\n\n{conflict.second_sentence} [{second}]\n\n"
