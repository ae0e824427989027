"""The demo book's golden questions and what the built-in model answers, as one reviewed file.

`python -m tests.support.book_answers` writes it again; the difference is what a reader would notice.
"""

import asyncio
import json
import tempfile
from pathlib import Path

from citewell.config import Settings
from citewell.conversations import new_session_id
from citewell.ingest import IngestOptions, ingest, source_of
from citewell.models import Question
from citewell.wiring import make_embedder, make_writer, migrate_conversations, open_parts

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "examples" / "book"
REVIEWED = BOOK / "answers.md"


async def answers(folder: Path) -> str:
    """Ingest the book into `folder` and answer every golden question, in Markdown."""
    settings = Settings(citewell_data_dir=folder, _env_file=None)
    options = IngestOptions(state_dir=folder)
    writer, embedder = make_writer(settings), make_embedder(settings)
    await ingest(source_of(str(BOOK), options), writer, embedder, options, lambda _: None)
    await writer.aclose()
    await embedder.aclose()
    await migrate_conversations(settings)
    parts = ["# What the built-in model answers to the demo book's golden questions", ""]
    async with open_parts(settings) as opened:
        for line in (BOOK / "golden.jsonl").read_text("utf-8").splitlines():
            golden = json.loads(line)
            question = Question(text=golden["question"], session_id=new_session_id(), history=())
            answer = await opened.engine.answer(question)
            sources = ", ".join(sorted({c.passage.section_url for c in answer.citations}))
            parts += [
                f"## {golden['question']}",
                "",
                answer.text,
                "",
                f"({answer.status}; {sources or 'no sources'})",
                "",
            ]
    return "\n".join(parts)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as data:
        REVIEWED.write_text(asyncio.run(answers(Path(data))), "utf-8")
