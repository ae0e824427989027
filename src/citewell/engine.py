"""The one place where the steps of a question stand in order. Knows no HTTP, no settings and no concrete index."""

import asyncio
import contextlib
import hashlib
import json
import time
import uuid
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell import __version__
from citewell.agent import NOT_FOUND, PROMPT_HASH, BookAgent, Task
from citewell.confidence import ANSWER_FROM, Confidence, level_of
from citewell.contracts import DeterminismRecord, RetrievedContent, retrieved_content
from citewell.conversations import HISTORY_TOKENS, last_turns
from citewell.errors import CitewellError, DeadlineError, ModelError
from citewell.evidence import Evidence
from citewell.extractive import Numbered, Reading, compose, read, topic, unfinished
from citewell.gate import CitationGate
from citewell.grounding import Conflict, contradictions
from citewell.judge import Judge
from citewell.models import (
    SELECTION_URL,
    Answer,
    AnswerEvent,
    Completed,
    Failed,
    Filters,
    Message,
    PassagesFound,
    Question,
    ScoredPassage,
    SearchStarted,
    TextReleased,
)
from citewell.retrieval import Found, Retriever

if TYPE_CHECKING:  # importing it for real takes a second
    from citewell.conversations.store import ConversationStore

NOT_IN_BOOK = "I don't have information about that in the available documentation."
NOTHING_FOUND = "I couldn't find relevant information in the documentation for your question."
NOT_IN_SELECTION = (
    "The provided selection does not contain information about {}. Would you like me to search the full documentation?"
)
LOW_SIMILARITY = 0.5
_ITSELF = 0.9
"""For "explain this": the text itself is the answer, and no question of the fit is like it."""


@dataclass(frozen=True, slots=True)
class EngineOptions:
    total_seconds: float = 30.0
    retrieval_seconds: float = 5.0
    history_messages: int = 10
    sources_when_model_fails: bool = False


@dataclass(slots=True)
class _Run:
    """What one question has gathered so far."""

    question: Question
    history: tuple[Message, ...]
    gate: CitationGate
    started: float = field(default_factory=time.perf_counter)
    evidence: Evidence = field(default_factory=Evidence)
    events: deque[AnswerEvent] = field(default_factory=deque)
    """Events of the model's own searches, waiting to be yielded."""
    confined: bool = False
    reading: Reading | None = None
    """Of the selection, if there is one."""
    background: float = 0.0
    """The similarity of passages that do not answer."""
    conflict: Conflict | None = None
    probability: float = 0.0
    input_hash: str = ""

    def show(self, numbered: Sequence[tuple[int, ScoredPassage]]) -> None:
        """Let the gate take these as evidence. It prepares them for checking, so only when there is text to check."""
        for number, item in numbered:
            self.gate.show(number, item.passage)

    def read(self, *, selection: bool = False) -> Reading:
        """The selection, or what was searched because there is none or because it does not answer."""
        passages = [
            Numbered(n, s.passage.text, s.passage.page_title, s.passage.heading_path, s.score, s.bm25, s.fused)
            for n, s in self.evidence.in_reading_order()
            if (s.passage.url == SELECTION_URL) == selection
        ]
        earlier = next((m.content for m in reversed(self.history) if m.role == "user"), "")
        if selection:
            return read(self.question.text, passages, earlier=earlier)
        return read(self.question.text, passages, earlier=earlier, background=self.background)


class Engine:
    """Questions in, events out. The same events serve every dialect, the command line and the MCP tools."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        agent: BookAgent,
        judge: Judge,
        confidence: Confidence,
        conversations: "ConversationStore",
        options: EngineOptions | None = None,
    ) -> None:
        self._retriever = retriever
        self._agent = agent
        self._judge = judge
        self._confidence = confidence
        self._conversations = conversations
        self._options = options or EngineOptions()

    async def answer(self, question: Question) -> Answer:
        """The collected stream. Raises the error that the stream ended with."""
        async with contextlib.aclosing(self.stream(question)) as events:
            async for event in events:
                match event:
                    case Completed(answer):
                        return answer
                    case Failed(error):
                        raise error
        raise ModelError("The answer has no end.")

    async def stream(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """Events in order; the last is always Completed, with the answer saved, or Failed. Closing it stops the run."""
        ends = asyncio.get_running_loop().time() + self._options.total_seconds
        async with contextlib.aclosing(self._saved(question)) as events:
            while True:
                try:
                    async with asyncio.timeout_at(ends):
                        event = await anext(events)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    yield Failed(DeadlineError(f"No answer within {self._options.total_seconds:g} s."))
                    return
                except CitewellError as error:
                    yield Failed(error)
                    return
                yield event

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
        run = self._begin(question, question.history or ())
        for steps in (self._find, self._answer):
            async with contextlib.aclosing(steps(run)) as events:
                async for event in events:
                    if isinstance(event, Completed):
                        return event.answer
        raise ModelError("The answer has no end.")

    def _begin(self, question: Question, history: tuple[Message, ...]) -> _Run:
        recent = last_turns(history, limit_messages=self._options.history_messages, limit_tokens=HISTORY_TOKENS)
        return _Run(question, recent, CitationGate(self._judge))

    async def _saved(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """The steps, with the answer saved before its last event; what a leaving reader had seen is saved too."""
        run = self._begin(question, question.history or ())
        if question.history is None:
            run.history = await self._conversations.history(
                question.session_id, owner=question.owner, limit_messages=self._options.history_messages
            )
        async with contextlib.aclosing(self._find(run)) as events:
            async for event in events:
                yield event
        if answer := await self._given_again(run):
            if answer.status == "success":
                yield TextReleased(answer.text)
            yield Completed(answer)
            return
        done = False
        try:
            async with contextlib.aclosing(self._answer(run)) as events:
                async for event in events:
                    if isinstance(event, Completed):
                        done = True  # from here on the store decides, also when the reader leaves meanwhile
                        await asyncio.shield(self._conversations.save(question, event.answer))
                    yield event
        finally:
            if not done and run.gate.released:
                await self._save_what_was_shown(run)

    async def _given_again(self, run: _Run) -> Answer | None:
        """A finished answer to the very same input, saved as a turn of this session, also when the reader leaves."""
        if not run.evidence.shown:
            return None
        return await asyncio.shield(
            self._conversations.save_again(run.question, run.input_hash, elapsed_ms=_elapsed(run))
        )

    async def _save_what_was_shown(self, run: _Run) -> None:
        """Best effort while the reader is gone already: a failure here has nobody to be told."""
        answer = self._finished(run, run.gate.released)
        with contextlib.suppress(CitewellError):
            await asyncio.shield(self._conversations.save(run.question, answer, complete=False))

    async def _find(self, run: _Run) -> AsyncGenerator[AnswerEvent, None]:
        """The evidence, and with it the hash of all that the answer depends on."""
        question = run.question
        run.reading = self._read_selection(run)
        if not run.confined:
            yield SearchStarted(question.text, question.top_k, question.filters)
            found = await self._search(run, question.text, question.top_k, question.filters)
            run.evidence.add(found.passages)
            run.background = found.background
            yield PassagesFound(question.text, found.passages)
        run.input_hash = self._input_hash(run)

    async def _answer(self, run: _Run) -> AsyncGenerator[AnswerEvent, None]:
        """An answer from the evidence, or a refusal."""
        reading = run.reading if run.confined else await self._read_found(run)
        if reading is None or run.probability < ANSWER_FROM:
            yield Completed(self._refused(run))
            return
        try:
            async with contextlib.aclosing(self._generate(run, reading)) as events:
                async for event in events:
                    yield event
        except ModelError:
            if run.gate.released or not self._options.sources_when_model_fails:
                raise
            yield Completed(self._sources_only(run))
            return
        yield Completed(self._finished(run, run.gate.released) if run.gate.cited else self._refused(run))

    async def _read_found(self, run: _Run) -> Reading | None:
        """What the passages say to the question, how likely that answers it, and whether they contradict each other."""
        reading = run.read()
        if not reading.passages:
            run.probability = 0.0
            return None
        run.probability = self._confidence.probability(reading.features, confined=False)
        reading = await self._whole_steps(run, reading)
        run.conflict = contradictions(run.question.text, [p.text for p in reading.passages])
        return reading

    def _read_selection(self, run: _Run) -> Reading | None:
        """Show the selection, if there is one, and decide whether it alone answers.

        In selected-text mode it is all there is. A reader's context confines too when it holds the answer, and is
        only a hint for the search when it does not.
        """
        selection = run.question.selection
        run.confined = run.question.mode == "selected_text"
        if not selection:
            return None
        run.evidence.add_selection(selection)
        reading = run.read(selection=True)
        if reading.inquiry.about_text:
            run.probability = _ITSELF
        else:
            run.probability = self._confidence.probability(reading.features, confined=True)
        run.confined = run.confined or run.probability >= ANSWER_FROM
        return reading

    async def _search(self, run: _Run, query: str, top_k: int, filters: Filters) -> Found:
        history = run.history
        if run.question.selection:
            history = (*history, Message("user", run.question.selection[:600]))
        try:
            async with asyncio.timeout(self._options.retrieval_seconds):
                return await self._retriever.search(
                    query,
                    top_k=top_k,
                    score_threshold=run.question.score_threshold,
                    filters=filters or run.question.filters,
                    history=history,
                )
        except TimeoutError as error:
            raise DeadlineError(f"The search took longer than {self._options.retrieval_seconds:g} s.") from error

    async def _whole_steps(self, run: _Run, reading: Reading) -> Reading:
        """Show the neighbours of passages that hold only a part of the steps that answer, and read again."""
        for _ in range(2):
            cut = [run.evidence.shown[number - 1] for number in unfinished(reading)]
            known = len(run.evidence.shown)
            if cut and run.probability >= ANSWER_FROM:
                run.evidence.add(await self._retriever.neighbours(cut))
            if len(run.evidence.shown) == known:
                break
            reading = run.read()
        return reading

    async def _generate(self, run: _Run, reading: Reading) -> AsyncGenerator[AnswerEvent, None]:
        """The model's text, checked sentence by sentence."""

        async def search(query: str, top_k: int, filters: Filters) -> RetrievedContent:
            run.events.append(SearchStarted(query, top_k, filters))
            found = await self._search(run, query, top_k, filters)
            run.events.append(PassagesFound(query, found.passages))
            numbered = run.evidence.add(found.passages)
            run.show(numbered)
            return retrieved_content(numbered, conflicting=False)

        task = Task(
            question=run.question.text,
            history=run.history,
            selection=run.question.selection,
            confined=run.confined,
            first_result=None
            if run.confined
            else retrieved_content(
                [(n, s) for n, s in run.evidence.numbered() if s.passage.url != "selected_text"],
                conflicting=run.conflict is not None,
            ),
            search=None if run.confined else search,
            draft=lambda: compose(reading, conflict=run.conflict),
        )
        run.show(run.evidence.numbered())
        if (
            run.conflict
            and not self._agent.built_in
            and (notice := await run.gate.feed(_notice(run.conflict, reading)))
        ):
            yield TextReleased(notice)
        said = ""
        held = True
        async with contextlib.aclosing(self._agent.run(task)) as deltas:
            async for delta in deltas:
                while run.events:
                    yield run.events.popleft()
                said += delta
                if held and _may_be_not_found(said):
                    continue
                if text := await run.gate.feed(said if held else delta):
                    yield TextReleased(text)
                held = False
        if not held and (text := await run.gate.finish()):
            yield TextReleased(text)

    def _input_hash(self, run: _Run) -> str:
        question = run.question
        parts = [
            question.text,
            question.mode,
            question.selection,
            [[m.role, m.content] for m in run.history],
            [[s.passage.id, s.passage.content_hash] for s in run.evidence.shown],
            sorted((key, sorted(values)) for key, values in question.filters.items()),
            PROMPT_HASH,
            self._agent.model,
            __version__,
        ]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()

    def _finished(self, run: _Run, text: str) -> Answer:
        kept = len(run.gate.supports)
        share = kept / (kept + run.gate.dropped) if kept else 0.0
        confidence = round(max(ANSWER_FROM, run.probability * (0.5 + 0.5 * share)), 4)
        return Answer(
            id=str(uuid.uuid4()),
            session_id=run.question.session_id,
            mode=run.question.mode,
            text=text.strip(),
            status="success",
            citations=run.evidence.citations(run.gate.cited),
            confidence=confidence,
            confidence_level=level_of(confidence),
            model=self._agent.model,
            chunks_retrieved=sum(s.passage.url != "selected_text" for s in run.evidence.shown),
            elapsed_ms=_elapsed(run),
            low_confidence=max((s.score for s in run.evidence.shown), default=0.0) < LOW_SIMILARITY,
            conflicting_info=run.conflict is not None,
            dropped_sentences=run.gate.dropped,
            input_hash=run.input_hash,
            output_hash=_output_hash(text.strip()),
        )

    def _refused(self, run: _Run) -> Answer:
        if run.question.mode == "selected_text":
            text = NOT_IN_SELECTION.format(topic(run.question.text))
            reason = "The selection does not contain the answer"
        elif not run.evidence.shown:
            text, reason = NOTHING_FOUND, "No relevant content found"
        else:
            text, reason = NOT_IN_BOOK, "No relevant content found with sufficient confidence"
        confidence = round(min(run.probability, ANSWER_FROM - 0.01), 4)
        return replace(
            self._finished(run, text),
            status="refused",
            refusal_reason=reason,
            citations=(),
            confidence=confidence,
            confidence_level=level_of(confidence),
            conflicting_info=False,
        )

    def _sources_only(self, run: _Run) -> Answer:
        """R6: the model is away; what was found is still worth showing."""
        everything = {number: ((0, len(s.passage.text)),) for number, s in run.evidence.numbered()}
        return replace(
            self._finished(run, ""),
            status="error",
            citations=run.evidence.citations(everything),
            confidence=0.0,
            confidence_level="insufficient",
            fallback_message="AI summarization unavailable",
            deterministic=False,
        )


def _elapsed(run: _Run) -> float:
    return round((time.perf_counter() - run.started) * 1000, 2)


def _output_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _may_be_not_found(said: str) -> bool:
    """Whether the model may be on the way to saying that the book does not know, and nothing else."""
    plain = said.strip().strip("\"'`*").rstrip(".").lower()
    return NOT_FOUND.startswith(plain)


def _notice(conflict: Conflict, reading: Reading) -> str:
    """What is said before a hosted model's answer. A conflict counts the passages in the order they were read."""
    first, second = reading.passages[conflict.first].number, reading.passages[conflict.second].number
    return f"The sources disagree.\n\n{conflict.first_sentence} [{first}]\n\n{conflict.second_sentence} [{second}]\n\n"
