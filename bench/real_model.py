"""A real small model through the gate: python -m bench.real_model URL [QUESTIONS].

Asks golden questions of the demo book (ingested in CITEWELL_DATA_DIR), and some that it cannot answer, and prints how
many sentences were dropped, how many answers were kept, and how many questions were refused.
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from citewell.answering.agent import BookAgent
from citewell.answering.confidence import Confidence
from citewell.answering.engine import Engine, EngineOptions
from citewell.answering.hosted_model import HostedModel
from citewell.conversations import address_of, new_session_id
from citewell.conversations.migrations import migrate
from citewell.conversations.store import ConversationStore
from citewell.document import split_sentences
from citewell.errors import CitewellError
from citewell.reader import TrainedReader
from citewell.settings import Settings
from citewell.values import Question
from citewell.wiring import open_judging, open_searching

GOLDEN = Path(__file__).parent.parent / "examples" / "book" / "golden.jsonl"


async def main(url: str, count: int) -> None:
    lines = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]
    known = [line for line in lines if not line.get("not_in_book")]
    unknown = [line for line in lines if line.get("not_in_book")]
    asked = known[:: max(1, len(known) // count)][:count] + unknown[:: max(1, 3 * len(unknown) // count)][: count // 3]
    tally = dict.fromkeys(("answered", "refused", "failed", "kept", "dropped", "right", "with_text"), 0)
    agent = BookAgent(HostedModel("local", url, "none", seconds=600.0), seconds=600.0)
    options = EngineOptions(total_seconds=660.0)
    with tempfile.TemporaryDirectory() as folder:
        address = address_of(None, Path(folder))
        await migrate(address)
        settings = Settings.from_environment()
        async with (
            open_searching(settings) as parts,
            open_judging(settings) as judging,
            ConversationStore.open(address) as store,
        ):
            engine = Engine(
                retriever=parts.retriever,
                agent=agent,
                reader=TrainedReader(judging.models.questions),
                judge=judging.judge,
                confidence=Confidence.load(judging.models.confidence),
                conversations=store,
                options=options,
            )
            for line in asked:
                await ask(engine, line, tally)
    print(json.dumps({"questions": len(asked), "in_book": count, **tally}, indent=2))


async def ask(engine: Engine, line: dict[str, str], tally: dict[str, int]) -> None:
    begun = time.perf_counter()
    question = Question(text=line["question"], session_id=new_session_id(), history=(), top_k=3)
    try:
        answer = await engine.answer(question)
    except CitewellError as error:
        tally["failed"] += 1
        print(f"failed   {line['question']}: {error}", file=sys.stderr)
        return
    tally["answered" if answer.status == "success" else "refused"] += 1
    tally["dropped"] += answer.dropped_sentences
    if answer.status == "success":
        tally["kept"] += len(split_sentences(answer.text))
    if line.get("answer") and answer.status == "success":
        tally["with_text"] += 1
        tally["right"] += line["answer"].lower() in answer.text.lower()
    took = time.perf_counter() - begun
    print(
        f"{answer.status:8} {took:5.0f} s  -{answer.dropped_sentences}  {line['question']}\n{answer.text}\n",
        file=sys.stderr,
    )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 12))
