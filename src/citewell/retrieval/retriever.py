"""The retriever, hybrid search: a question into ranked passages. Knows no Qdrant and no model, only their seams."""

import asyncio
import statistics
import time
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import stamina

from citewell.deadline import Deadline
from citewell.document import ASIDE, Heading, Part, asked_parts
from citewell.document.language import language_of
from citewell.embedding import Embedder
from citewell.errors import CitewellError, SchemaValidationError
from citewell.index import Hit, PassageIndex
from citewell.retrieval.followup import mixed, pull_of
from citewell.retrieval.fusion import fused_scores, has_unknown_word, with_best_meaning
from citewell.retrieval.reranking import Reranking
from citewell.retrieval.selection import shown
from citewell.retrieval.spelling import Vocabulary
from citewell.values import NO_FILTERS, Filters, Generation, Message, Page, PageEntry, Passage, ScoredPassage, Vector

CANDIDATES = 100
"""Taken from each ranking before fusion."""
WEAKEST_SCORE = 0.3
"""Passages below are left out unless the request names its own threshold."""
_CROWD = 20
_USUAL = 0.2
"""Fewer candidates than a crowd, in a book of a page or two, are mostly those that answer: the rest are taken to be as
similar as strangers usually are with the built-in embedder."""
SECONDS = 5.0
REMEMBERED = 256
_Asked = tuple[str, int, float | None, tuple[tuple[str, tuple[str, ...]], ...], tuple[Message, ...]]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found. `query` is the question as it was searched, after its history was taken into account."""

    passages: tuple[ScoredPassage, ...]
    total_found: int
    """How many candidates passed filters and threshold, before the cut to `top_k`."""
    generation: str
    embedding_ms: float
    search_ms: float
    query: str
    background: float = 0.0
    """The median similarity of the candidates: what a passage of this index has without answering."""
    reranked: bool | None = None
    """Whether the reading model had its say; False when there was no time for it, None when it was not to have one."""

    def _repr_markdown_(self) -> str:
        """For notebooks: where to look, best first."""
        places = ((found.passage, found.score) for found in self.passages)
        return "\n".join(f"{i}. [{p.place}]({p.section_url}) {s:.2f}" for i, (p, s) in enumerate(places, 1))


class Retriever:
    def __init__(
        self,
        index: PassageIndex,
        embedder: Embedder,
        *,
        seconds: float = SECONDS,
        remembered: int = REMEMBERED,
        reranking: Reranking | None = None,
    ) -> None:
        """`seconds` bound a search with all its retries; as many searches as `remembered` are not made again."""
        self._index = index
        self._embedder = embedder
        self._seconds = seconds
        self._most_remembered = remembered
        self._reranking = reranking
        self._remembered: OrderedDict[_Asked, Found] = OrderedDict()
        """Searches made last. What they found is good as long as its generation is the current one."""
        self._vocabulary: tuple[str, Vocabulary] | None = None
        self._gathering = asyncio.Lock()

    async def search(
        self,
        query: str,
        *,
        top_k: int = 5,
        score_threshold: float | None = None,
        filters: Filters = NO_FILTERS,
        history: Sequence[Message] = (),
        retries: int = 3,
    ) -> Found:
        """The best `top_k` passages, best first; equals stand in the order of their ids.

        What can pass is tried again. Raises RetrievalError, EmbeddingError, or DeadlineError after 5 seconds.
        """
        async with Deadline.after(self._seconds).kept(f"The search took longer than {self._seconds:g} s."):
            async for attempt in stamina.retry_context(
                on=_can_pass, attempts=retries + 1, timeout=None, wait_initial=0.1, wait_max=1.0, wait_jitter=0.2
            ):
                with attempt:
                    return await self._search(query, top_k, score_threshold, filters, history)
        raise AssertionError("the last attempt returns or raises")

    async def _search(
        self, query: str, top_k: int, score_threshold: float | None, filters: Filters, history: Sequence[Message]
    ) -> Found:
        asked = (query, top_k, score_threshold, tuple(sorted(filters.items())), tuple(history))
        generation = (await self._index.current()).id
        if (known := self._remembered.get(asked)) is not None and known.generation == generation:
            self._remembered.move_to_end(asked)
            return replace(known, embedding_ms=0.0, search_ms=0.0)
        ranked = await self.rank(query, depth=top_k, filters=filters, history=history)
        if has_unknown_word(query, ranked.passages):
            spelt = await self._spelt(query, generation)
            if spelt != query:
                ranked = await self.rank(spelt, depth=top_k, filters=filters, history=history)
        if self._reranking is not None:
            anew = await self._reranking.order(ranked.query, ranked.passages)
            ranked = replace(ranked, passages=tuple(anew or ranked.passages), reranked=anew is not None)
        threshold = WEAKEST_SCORE if score_threshold is None else score_threshold
        strong = [found for found in ranked.passages if found.score >= threshold]
        found = replace(ranked, passages=tuple(shown(strong, limit=top_k)), total_found=len(strong))
        if found.reranked is False:
            return found  # with more time it will be another order
        self._remembered[asked] = found
        if len(self._remembered) > self._most_remembered:
            self._remembered.popitem(last=False)
        return found

    async def _spelt(self, query: str, generation: str) -> str:
        """As the book spells; as it is when its words cannot be gathered in time."""
        try:
            async with asyncio.timeout(self._seconds / 2):
                return await asyncio.to_thread((await self._words_of(generation)).corrected, query)
        except TimeoutError:
            return query

    async def _words_of(self, generation: str) -> Vocabulary:
        """The book's own words, gathered once for each generation, when a question first has one that it lacks."""
        async with self._gathering:
            if self._vocabulary is None or self._vocabulary[0] != generation:
                pages = [await self._index.page(entry.url) for entry in await self._index.pages()]
                texts = [f"{page.title}\n{page.text}" for page in pages if page is not None]
                self._vocabulary = generation, await asyncio.to_thread(Vocabulary.of, texts)
            return self._vocabulary[1]

    async def warm(self) -> None:
        """Load the embedding model, so that the first question does not wait for it."""
        await self._embedder.embed_query("warm up")

    async def passages_of(self, url: str) -> list[Passage]:
        """All passages of a page in reading order."""
        return await self._index.passages_of(url)

    async def rank(
        self, query: str, *, depth: int, filters: Filters = NO_FILTERS, history: Sequence[Message] = ()
    ) -> Found:
        """Every candidate in order, at least `depth` of each ranking: no threshold, no cut, one try."""
        generation = await self._index.current()
        check_embedder(generation, self._embedder)
        pull = pull_of(query, history)
        started = time.perf_counter()
        vector = await self._embedder.embed_query(query)
        if pull.meaning:
            vector = mixed(vector, await self._embedder.embed_query(pull.meaning))
        embedded = time.perf_counter()
        limit = max(CANDIDATES, depth)
        hits = await self._index.candidates(query, vector, limit=limit, filters=filters, hints=pull.hints)
        spoken = "" if "language" in filters else _spoken(query, hits)
        if spoken:
            own = {**filters, "language": (spoken,)}
            found = await self._index.candidates(query, vector, limit=limit, filters=own, hints=pull.hints)
            hits = list({hit.passage.id: hit for hit in (*found, *hits)}.values())
        ranked = _ranked(query, hits)
        if spoken:
            ranked.sort(key=lambda scored: scored.passage.language != spoken)
        aside = ASIDE - asked_parts(query)
        ranked.sort(key=lambda scored: _stands_aside(scored.passage, aside))
        finished = time.perf_counter()
        return Found(
            passages=tuple(ranked),
            total_found=len(ranked),
            generation=generation.id,
            embedding_ms=(embedded - started) * 1000,
            search_ms=(finished - embedded) * 1000,
            query=query,
            background=_background([found.score for found in ranked]),
        )

    async def embed_query(self, query: str) -> Vector:
        return await self._embedder.embed_query(query)

    async def page(self, url: str) -> Page | None:
        return await self._index.page(url)

    async def pages(self) -> list[PageEntry]:
        return await self._index.pages()


def _spoken(query: str, hits: Sequence[Hit]) -> str:
    """The language of the question, when the book has several and this is one of them; empty when that is not so."""
    languages = Counter(hit.passage.language for hit in hits)
    return language_of(query, sorted(languages)) if len(languages) > 1 else ""


def _stands_aside(passage: Passage, aside: frozenset[Part]) -> bool:
    """A changelog has every word of the book, and says how nothing is done; a quiz asks and does not tell."""
    told = {block.part for block in passage.blocks if not isinstance(block, Heading)}
    return bool(told) and told <= aside


def _background(scores: list[float]) -> float:
    return statistics.median(scores + [_USUAL] * (_CROWD - len(scores)))


def _ranked(query: str, hits: Sequence[Hit]) -> list[ScoredPassage]:
    scored = [
        ScoredPassage(hit.passage, min(1.0, max(0.0, hit.dense)), hit.dense, hit.bm25, fused)
        for hit, fused in zip(hits, fused_scores(hits), strict=True)
    ]
    return with_best_meaning(query, sorted(scored, key=lambda found: (-found.fused, found.passage.id)))


def check_embedder(generation: Generation, embedder: Embedder) -> None:
    """An index of another maker does not say who embedded it; then the dimensions must do."""
    if generation.embedder and generation.embedder != embedder.name:
        raise SchemaValidationError(
            f"The index was made with the embedder {generation.embedder}; this process has {embedder.name}. "
            "Ingest the book again, or configure the embedder that made the index."
        )
    if generation.dimensions != embedder.dimensions:
        raise SchemaValidationError(
            f"The index holds vectors of {generation.dimensions} dimensions; {embedder.name} makes "
            f"{embedder.dimensions}. Ingest the book again."
        )


def _can_pass(error: Exception) -> bool:
    return isinstance(error, CitewellError) and error.can_pass
