"""The engine at 10,000 passages, with the built-in model: time to first text, whole answer, and what the gate adds.

python bench/engine.py build DATA_DIR     the corpus with its real vectors, filled up with varied copies
python bench/engine.py ask DATA_DIR
"""

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from measuring import (
    BASE_URL,
    MODEL,
    OUT,
    RememberingEmbedder,
    StubEmbedder,
    corpus,
    made_up,
    peak_memory_mb,
    questions,
    spread,
)

import citewell
from citewell.document import split_sentences
from citewell.embedding import BuiltinEmbedder
from citewell.gate import CitationGate
from citewell.index.edge import EdgeWriter
from citewell.ingest.folder import FolderSource
from citewell.ingest.sources import PageRead
from citewell.ingest.splitting import Limit, split
from citewell.judge import Judge
from citewell.settings import Settings
from citewell.values import Answer, Completed, Failed, Passage, TextReleased
from citewell.wiring import open_judging

PASSAGES = 10_000
DELTA = 12
"""Characters at a time, as a hosted model sends them."""


async def _corpus_passages() -> list[Passage]:
    limit = Limit(StubEmbedder().count_tokens, StubEmbedder.max_tokens)
    found: list[Passage] = []
    async for outcome in FolderSource(corpus(), BASE_URL).read({}):
        if isinstance(outcome, PageRead):
            found += split(outcome.page, limit)
    return found


def _varied(base: Sequence[Passage], count: int) -> Iterator[Passage]:
    """The corpus over and over up to `count` passages, without its first copy; each copy has words of its own."""
    for number in range(len(base), count):
        copy, passage = number // len(base), base[number % len(base)]
        words = passage.text.split(" ")
        words[::7] = [f"{word}{copy}" for word in words[::7]]
        name = str(uuid5(NAMESPACE_URL, f"{passage.id}-{copy}"))
        yield replace(passage, id=name, text=" ".join(words), url=f"{passage.url}-{copy}", content_hash=name)


async def build(data: Path) -> dict[str, float]:
    real = await _corpus_passages()
    embedder = RememberingEmbedder(OUT / f"vectors-{MODEL}.npz")
    vectors = await embedder.embed_passages([p.embedded_text for p in real])
    embedder.keep()
    writer = EdgeWriter(data / "index")
    draft = await writer.begin(embedder=BuiltinEmbedder.name, dimensions=BuiltinEmbedder.dimensions)
    await draft.add(real, vectors)
    rest = list(_varied(real, PASSAGES))
    for start in range(0, len(rest), 1000):
        batch = rest[start : start + 1000]
        await draft.add(batch, np.stack([made_up(p.text) for p in batch]))
    generation = await draft.publish()
    await writer.aclose()
    return {"passages": generation.passages}


async def ask(data: Path) -> dict[str, float]:
    settings = Settings(citewell_data_dir=data)
    first, whole, answers = [], [], []
    async with citewell.open(settings=settings) as book:
        await book.ask("What is a warm-up?")
        for text in questions():
            start = time.perf_counter()
            shown = None
            async with contextlib.aclosing(book.stream(text)) as events:
                async for event in events:
                    match event:
                        case TextReleased() if shown is None:
                            shown = (time.perf_counter() - start) * 1000
                        case Completed(answer):
                            whole.append((time.perf_counter() - start) * 1000)
                            answers.append(answer)
                        case Failed(error):
                            raise error
            if shown is not None:
                first.append(shown)
    async with open_judging(settings) as judging:
        gate = await gate_times(answers, judging.judge)
    return (
        spread(first, "first_text_")
        | spread(whole, "answer_")
        | gate
        | {
            "questions": len(whole),
            "answered": sum(a.status == "success" for a in answers),
            "peak_memory_mb": peak_memory_mb(),
        }
    )


async def gate_times(answers: list[Answer], judge: Judge) -> dict[str, float]:
    """The gate alone, over the answers again: milliseconds for each sentence."""
    times = []
    for answer in answers:
        count = len(split_sentences(answer.text))
        if answer.status != "success" or not count:
            continue
        gate = CitationGate(judge)
        for citation in answer.citations:
            gate.show(citation.number, citation.passage)
        start = time.perf_counter()
        for place in range(0, len(answer.text), DELTA):
            await gate.feed(answer.text[place : place + DELTA])
        await gate.finish()
        times.append((time.perf_counter() - start) * 1000 / count)
    return spread(times, "gate_per_sentence_") if times else {}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["build", data]:
            print(json.dumps(asyncio.run(build(Path(data)))))
        case ["ask", data]:
            print(json.dumps(asyncio.run(ask(Path(data)))))
        case _:
            sys.exit(__doc__)
