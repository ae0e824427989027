"""`citewell eval retrieval`: how high the right documents come, by words, by meaning and by both, in one run.

The data set goes through the product's own index, embedder and retriever. Vectors are kept in the index's folder, so
that a second run embeds only what changed.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from citewell.embedding import Embedder
from citewell.index import Draft, IndexWriter, PassageIndex
from citewell.index.payload import content_hash
from citewell.retrieval import Retriever
from citewell.retrieval.reranking import SAY, Reranker, reranked
from citewell.values import Passage, ScoredPassage
from citewell_evaluation import Evaluation, Figure, FigureRow, FigureTable, Item, Progress, ShownPassage, quiet
from citewell_evaluation.datasets import Document, RetrievalQuery, RetrievalSet, fingerprint, read_retrieval
from citewell_evaluation.statistics import bootstrap, bootstrap_mean, ndcg, recall, reciprocal_rank

_BATCH = 64
_DEPTH = 100
_SPACE = uuid.UUID("6f1c9c53-3d1b-4c53-9d8e-6f3a2f9f5d10")

_PATIENCE = 120.0
_ALONE = 100.0
"""A say that outvotes the search."""

Ranking = Sequence[str]
"""Ids of documents, best first."""
RerankedFirst = tuple[Reranker, int]
"""Who orders the first so many anew."""


async def evaluate_retrieval(
    folder: Path,
    *,
    writer: IndexWriter,
    index: PassageIndex,
    embedder: Embedder,
    reranking: RerankedFirst | None = None,
    progress: Progress = quiet,
) -> Evaluation:
    """`writer` and `index` stand on one place of their own, never on the book's."""
    data = read_retrieval(folder)
    await ingest(data.documents, writer=writer, embedder=embedder, progress=progress)
    retriever = Retriever(index, embedder, seconds=_PATIENCE)
    asked = [
        await _ask(retriever, query, reranking, progress, (i, len(data.queries)))
        for i, query in enumerate(data.queries)
    ]
    tables = [_rankings_table(data, asked)]
    follow_ups = [answer for answer in asked if answer.query.history]
    if follow_ups:
        tables.append(_follow_up_table(follow_ups))
    return Evaluation(
        kind="retrieval",
        dataset=data.name,
        tables=tuple(tables),
        items=tuple(_item(answer) for answer in asked),
        main="ndcg@10",
        data_sha256=fingerprint(folder / "corpus.jsonl", folder / "queries.jsonl"),
        notes=(f"{len(data.documents)} documents, {len(data.queries)} queries, embedder {embedder.name}",),
    )


async def ingest(
    documents: Sequence[Document], *, writer: IndexWriter, embedder: Embedder, progress: Progress = quiet
) -> None:
    """An index that holds just these documents is left as it is: vectors written again differ in their last digit."""
    draft = await writer.begin(embedder=embedder.name, dimensions=embedder.dimensions)
    try:
        if await _holds(draft, documents):
            await draft.discard()
            return
        for first in range(0, len(documents), _BATCH):
            passages = [_passage(document) for document in documents[first : first + _BATCH]]
            known = dict(await draft.known_vectors([p.content_hash for p in passages]))
            new = {p.content_hash: p.embedded_text for p in passages if p.content_hash not in known}
            if new:
                known |= dict(zip(new, await embedder.embed_passages(list(new.values())), strict=True))
            await draft.add(passages, np.stack([known[p.content_hash] for p in passages]))
            progress(min(first + _BATCH, len(documents)), len(documents), "documents")
        await draft.publish()
    except BaseException:
        await draft.discard()
        raise


async def _holds(draft: Draft, documents: Sequence[Document]) -> bool:
    if {page.url for page in await draft.old_pages()} != {document.id for document in documents}:
        return False
    for first in range(0, len(documents), _BATCH):
        hashes = {_passage(document).content_hash for document in documents[first : first + _BATCH]}
        if hashes != (await draft.known_vectors(list(hashes))).keys():
            return False
    return True


def _passage(document: Document) -> Passage:
    made = Passage(
        id=str(uuid.uuid5(_SPACE, document.id)),
        url=document.id,
        page_title=document.title,
        text=document.text,
        chunk_index=0,
        char_start=0,
        char_end=len(document.text),
    )
    return replace(made, content_hash=content_hash(made))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query and the rankings it got. Of a follow-up: alone, with its history, and as a person rewrote it."""

    query: RetrievalQuery
    bm25: Ranking
    dense: Ranking
    hybrid: Ranking
    alone: Ranking
    with_history: Ranking
    reranked: Mapping[str, Ranking]
    """Where asked for: by search and model, and by the model alone."""
    shown: tuple[ScoredPassage, ...]
    elapsed_ms: float


async def _ask(
    retriever: Retriever,
    query: RetrievalQuery,
    reranking: RerankedFirst | None,
    progress: Progress,
    step: tuple[int, int],
) -> _Asked:
    standalone = await retriever.rank(query.rewritten or query.text, depth=_DEPTH)
    ranked = standalone.passages
    alone = with_history = ranked
    if query.history:
        alone = (await retriever.rank(query.text, depth=_DEPTH)).passages
        with_history = (await retriever.rank(query.text, depth=_DEPTH, history=query.history)).passages
    anew: dict[str, Ranking] = {}
    if reranking is not None:
        for name, say in (("hybrid and reader", SAY), ("reader", _ALONE)):
            text = query.rewritten or query.text
            anew[f"{name}, first {reranking[1]}"] = _ids(await reranked(reranking[0], text, ranked, reranking[1], say))
    progress(step[0] + 1, step[1], "queries")
    return _Asked(
        query,
        bm25=_ids(sorted((p for p in ranked if p.bm25 > 0), key=lambda p: (-p.bm25, p.passage.id))),
        dense=_ids(sorted(ranked, key=lambda p: (-p.dense, p.passage.id))),
        hybrid=_ids(ranked),
        alone=_ids(alone),
        with_history=_ids(with_history),
        reranked=anew,
        shown=ranked[:5],
        elapsed_ms=standalone.embedding_ms + standalone.search_ms,
    )


def _ids(ranked: Sequence[ScoredPassage]) -> Ranking:
    return [found.passage.url for found in ranked[:_DEPTH]]


def _rankings_table(data: RetrievalSet, asked: Sequence[_Asked]) -> FigureTable:
    ways: Mapping[str, list[Ranking]] = {
        "BM25": [a.bm25 for a in asked],
        "dense": [a.dense for a in asked],
        "hybrid": [a.hybrid for a in asked],
        **{name: [a.reranked[name] for a in asked] for name in (asked[0].reranked if asked else ())},
    }
    relevant = [a.query.relevant for a in asked]
    at_ten = {name: [ndcg(r, rel, 10) for r, rel in zip(rs, relevant, strict=True)] for name, rs in ways.items()}
    rows = [
        FigureRow(
            name,
            {
                "ndcg@10": bootstrap_mean(at_ten[name]),
                "recall@100": bootstrap_mean([recall(r, rel, 100) for r, rel in zip(rs, relevant, strict=True)]),
                "mrr": bootstrap_mean([reciprocal_rank(r, rel) for r, rel in zip(rs, relevant, strict=True)]),
            },
        )
        for name, rs in ways.items()
    ]
    better = max("BM25", "dense", key=lambda name: float(np.mean(at_ten[name])))
    gain = [both - one for both, one in zip(at_ten["hybrid"], at_ten[better], strict=True)]
    rows.append(FigureRow(f"hybrid - {better}", {"ndcg@10": bootstrap_mean(gain)}))
    note = "Goal: hybrid at least .015 nDCG@10 above the better of the two."
    if any(query.rewritten for query in data.queries):
        note += " Questions as a person rewrote them."
    return FigureTable(f"Ranking, {len(asked)} questions", tuple(rows), note)


def _follow_up_table(asked: Sequence[_Asked]) -> FigureTable:
    ways: Mapping[str, list[Ranking]] = {
        "as asked, alone": [a.alone for a in asked],
        "as asked, with history": [a.with_history for a in asked],
        "rewritten by a person": [a.hybrid for a in asked],
    }
    relevant = [a.query.relevant for a in asked]
    values = {
        name: {
            "recall@5": [recall(r, rel, 5) for r, rel in zip(rs, relevant, strict=True)],
            "ndcg@5": [ndcg(r, rel, 5) for r, rel in zip(rs, relevant, strict=True)],
        }
        for name, rs in ways.items()
    }
    rows = [
        FigureRow(name, {column: bootstrap_mean(scores) for column, scores in columns.items()})
        for name, columns in values.items()
    ]
    alone, ours, theirs = (values[name] for name in ways)
    rows.append(
        FigureRow("distance closed", {c: _closed(alone[c], ours[c], theirs[c]) for c in ("recall@5", "ndcg@5")})
    )
    return FigureTable(f"Follow-up turns, {len(asked)} questions", tuple(rows), "Goal: half of the distance closed.")


def _closed(alone: Sequence[float], ours: Sequence[float], theirs: Sequence[float]) -> Figure:
    def share(a: Sequence[float], o: Sequence[float], t: Sequence[float]) -> float:
        distance = float(np.mean(t) - np.mean(a))
        return float(np.mean(o) - np.mean(a)) / distance if distance > 0 else float("nan")

    return bootstrap(share, alone, ours, theirs)


def _item(asked: _Asked) -> Item:
    relevant = asked.query.relevant
    scores = {
        "ndcg@10": ndcg(asked.hybrid, relevant, 10),
        "mrr": reciprocal_rank(asked.hybrid, relevant),
        "ndcg@10 bm25": ndcg(asked.bm25, relevant, 10),
        "ndcg@10 dense": ndcg(asked.dense, relevant, 10),
    }
    if asked.query.history:
        scores |= {
            "ndcg@5 alone": ndcg(asked.alone, relevant, 5),
            "ndcg@5 history": ndcg(asked.with_history, relevant, 5),
        }
    return Item(
        id=asked.query.id,
        question=asked.query.rewritten or asked.query.text,
        scores=scores,
        expected=", ".join(relevant),
        passages=tuple(
            ShownPassage(p.passage.url, p.passage.text, p.score, relevant.get(p.passage.url, 0) > 0)
            for p in asked.shown
        ),
        elapsed_ms=asked.elapsed_ms,
    )
