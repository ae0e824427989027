"""`citewell ask` and `citewell verify`."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.start import open_book, text_of
from citewell.values import Answer, Completed, TextReleased

if TYPE_CHECKING:
    from citewell.book import Asking, Book
    from citewell.contracts import DeterminismRecord


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know")],
    selected_text: Annotated[
        Path | None, typer.Option(help="Answer only from this file; - reads standard input")
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, max=20, help="Passages to retrieve")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else")] = False,
) -> None:
    """Answer a question from the book, as it is made, and list the sources."""
    answer = asyncio.run(_ask(question, _asking(selected_text, top_k), quiet=as_json))
    if as_json:
        from citewell.api.dialects.query import QUERY_DIALECT

        sys.stdout.write(QUERY_DIALECT.reply(answer).decode() + "\n")


async def _ask(question: str, how: "Asking", *, quiet: bool) -> Answer:
    async with open_book() as book:
        return await (book.ask(question, **how) if quiet else answered(book, question, how))


async def answered(book: "Book", question: str, how: "Asking") -> Answer:
    """Print the answer as it is made, and its sources."""
    async with contextlib.aclosing(book.stream(question, **how)) as events:
        async for event in events:
            match event:
                case TextReleased(text):
                    sys.stdout.write(text)
                    sys.stdout.flush()
                case Completed(answer):
                    if answer.status == "refused":
                        sys.stdout.write(answer.text)
                    _print_sources(answer)
                    return answer
    raise AssertionError("a stream ends with Completed or raises")


def _print_sources(answer: Answer) -> None:
    lines = ["", ""]
    if answer.citations:
        lines.append("Sources")
    if answer.related:
        lines.append("Places to look")
        lines += [f"  {place.title}  {place.url}\n    {place.first_line}" for place in answer.related]
    for citation in sorted(answer.citations, key=lambda c: c.number):
        passage = citation.passage
        span = (
            f"characters {citation.span.char_start}–{citation.span.char_end}" if citation.span else passage.section_url
        )
        lines.append(f"  [{citation.number}] {passage.place}  {span}")
    if answer.dropped_sentences:
        many = answer.dropped_sentences > 1
        lines.append(
            f"{answer.dropped_sentences} {'sentences were' if many else 'sentence was'} not supported and "
            f"{'are' if many else 'is'} not shown."
        )
    if answer.status == "success":
        lines.append(f"Confidence {answer.confidence_level} ({answer.confidence:.2f})")
    print("\n".join(lines))


def _asking(selected: Path | None, top_k: int) -> "Asking":
    return {"top_k": top_k} if selected is None else {"top_k": top_k, "selected_text": text_of(selected)}


def verify(
    question: Annotated[str, typer.Argument(help="A question to answer afresh")],
    selected_text: Annotated[Path | None, typer.Option(help="Answer only from this file")] = None,
) -> None:
    """Answer afresh and print whether the same input gave the same output."""

    async def run() -> "DeterminismRecord":
        async with open_book() as book:
            return await book.verify(question, **_asking(selected_text, 5))

    record = asyncio.run(run())
    print(json.dumps(record, indent=2))
    if not record["consistent"]:
        raise typer.Exit(1)
