"""The demo book's golden questions and what the built-in model answers, as one reviewed file.

`python -m tests.support.book_answers` writes it again; the difference is what a reader would notice.
"""

import asyncio
import json
import tempfile
from pathlib import Path

import citewell
from citewell.settings import Settings

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "examples" / "book"
REVIEWED = BOOK / "answers.md"


async def answers(folder: Path) -> str:
    """Ingest the book into `folder` and answer every golden question, in Markdown."""
    parts = ["# What the built-in model answers to the demo book's golden questions", ""]
    async with citewell.open(settings=Settings(citewell_data_dir=folder, _env_file=None)) as book:
        await book.ingest(BOOK)
        for line in (BOOK / "golden.jsonl").read_text("utf-8").splitlines():
            golden = json.loads(line)
            answer = await book.ask(golden["question"])
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
