"""`citewell ask` and `citewell verify`."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from citewell.contracts import DeterminismRecord
from citewell.errors import InvalidInputError
from citewell.models import Answer, Completed, Failed, Question, TextReleased

MAX_QUESTION = 2000
MAX_SELECTION = 10_000


def add_to(app: typer.Typer) -> None:
    app.command("ask")(ask)
    app.command("verify")(verify)


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know")],
    selected_text: Annotated[
        Path | None, typer.Option(help="Answer only from this file; - reads standard input")
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, max=20, help="Passages to retrieve")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else")] = False,
) -> None:
    """Answer a question from the book, as it is made, and list the sources."""
    answer = asyncio.run(_ask(_question(question, selected_text, top_k), echo=not as_json))
    if as_json:
        from citewell.api.query_dialect import QUERY_DIALECT

        sys.stdout.write(QUERY_DIALECT.reply(answer).decode() + "\n")
    else:
        _print_sources(answer)


async def _ask(question: Question, *, echo: bool) -> Answer:
    from citewell.cli.start import settings as read_settings
    from citewell.wiring import migrate_conversations, open_parts

    settings = read_settings()
    await migrate_conversations(settings)
    async with (
        open_parts(settings) as parts,
        contextlib.aclosing(parts.engine.stream(question)) as events,
    ):
        async for event in events:
            match event:
                case TextReleased(text) if echo:
                    sys.stdout.write(text)
                    sys.stdout.flush()
                case Completed(answer):
                    if echo and answer.status == "refused":
                        sys.stdout.write(answer.text)
                    return answer
                case Failed(error):
                    raise error
    raise AssertionError("a stream ends with Completed or Failed")


def _print_sources(answer: Answer) -> None:
    lines = ["", ""]
    if answer.citations:
        lines.append("Sources")
    for citation in sorted(answer.citations, key=lambda c: c.number):
        passage = citation.passage
        where = " › ".join(dict.fromkeys((passage.page_title, *passage.heading_path)))
        span = (
            f"characters {citation.span.char_start}–{citation.span.char_end}" if citation.span else passage.section_url
        )
        lines.append(f"  [{citation.number}] {where}  {span}")
    if answer.status == "success":
        lines.append(f"Confidence {answer.confidence_level} ({answer.confidence:.2f})")
    print("\n".join(lines))


def _question(text: str, selected: Path | None, top_k: int) -> Question:
    from citewell.conversations import new_session_id

    text = text.strip()
    if not 1 <= len(text) <= MAX_QUESTION:
        raise InvalidInputError(f"The question has {len(text):,} characters; it needs 1 to {MAX_QUESTION:,}.")
    selection = _selection(selected) if selected else None
    return Question(
        text=text,
        session_id=new_session_id(),
        mode="selected_text" if selection else "general",
        selection=selection,
        history=(),
        top_k=top_k,
    )


def _selection(path: Path) -> str:
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"The selected text cannot be read from {path}: {error}.") from error
    if not 1 <= len(text.strip()) <= MAX_SELECTION:
        raise InvalidInputError(
            f"The selected text has {len(text.strip()):,} characters; it needs 1 to {MAX_SELECTION:,}."
        )
    return text


def verify(
    question: Annotated[str, typer.Argument(help="A question to answer afresh")],
    selected_text: Annotated[Path | None, typer.Option(help="Answer only from this file")] = None,
) -> None:
    """Answer afresh and print whether the same input gave the same output."""
    from citewell.cli.start import settings as read_settings
    from citewell.wiring import migrate_conversations, open_parts

    async def run() -> DeterminismRecord:
        settings = read_settings()
        await migrate_conversations(settings)
        async with open_parts(settings) as parts:
            return await parts.engine.verify(_question(question, selected_text, 5))

    record = asyncio.run(run())
    print(json.dumps(record, indent=2))
    if not record["consistent"]:
        raise typer.Exit(1)
