"""`citewell check`: any text against passages or against the book."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.start import open_book, text_of
from citewell.errors import CitewellError, InvalidInputError

if TYPE_CHECKING:
    from citewell.book import Book
    from citewell.judge import Checked


def check(
    text: Annotated[Path | None, typer.Argument(help="A file with the text; - reads standard input")] = None,
    passages: Annotated[
        list[Path] | None, typer.Option("--passage", help="A file to hold it against; the book when none is given")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else")] = False,
    jsonl: Annotated[
        Path | None,
        typer.Option(help="JSON lines with `text` and `passages` instead; prints a line for each, in their order"),
    ] = None,
) -> None:
    """Tell for each sentence of a text whether passages, or the book, support, contradict or do not state it."""
    if (text is None) == (jsonl is None):
        raise InvalidInputError("Name a file with the text, or --jsonl FILE.")
    if jsonl is not None:
        asyncio.run(_check_lines(jsonl))
        return
    given = [text_of(path) for path in passages] if passages else None
    checked = asyncio.run(_check(text_of(text or Path("-")), given))
    if as_json:
        print(json.dumps(_document(checked), ensure_ascii=True))
    else:
        _print(checked)
    if any(sentence.outcome != "supported" for sentence in checked.sentences):
        raise typer.Exit(2)


async def _check(text: str, passages: list[str] | None) -> "Checked":
    async with open_book() as book:
        return await book.check(text, passages)


async def _check_lines(path: Path) -> None:
    """A line that cannot be checked is answered with its error: as many lines come out as went in."""
    async with open_book() as book:
        for line in text_of(path).splitlines():
            if line.strip():
                print(json.dumps(await _checked_line(book, line), ensure_ascii=True), flush=True)


async def _checked_line(book: "Book", line: str) -> Mapping[str, object]:
    known: Mapping[str, object] = {}
    try:
        row = json.loads(line)
        known = {"id": row["id"]} if isinstance(row, dict) and "id" in row else {}
        match row:
            case {"text": str(text), "passages": list(passages)} if all(isinstance(p, str) for p in passages):
                return {**known, **_document(await book.check(text, passages))}
            case {"text": str(text)} if "passages" not in row:
                return {**known, **_document(await book.check(text))}
        return {**known, "error": "A line needs `text`, and may have `passages`, a list of texts."}
    except ValueError as error:
        return {"error": f"Not JSON: {error}."}
    except CitewellError as error:
        return {**known, "error": str(error)}


def _document(checked: "Checked") -> Mapping[str, object]:
    from citewell.api.dialects.checked import check_reply

    document: Mapping[str, object] = json.loads(check_reply(checked))
    return document


def _print(checked: "Checked") -> None:
    marks = {"supported": "+", "contradicted": "-", "not_stated": "?"}
    for sentence in checked.sentences:
        print(f"{marks[sentence.outcome]} {sentence.score:.2f}  {' '.join(sentence.text.split())}")
        if sentence.passage is not None and sentence.quote_start is not None:
            passage = checked.passages[sentence.passage - 1]
            quote = passage.text[sentence.quote_start : sentence.quote_end]
            print(f"          {passage.section_url or f'passage {sentence.passage}'}: {' '.join(quote.split())}")
        if sentence.reason:
            print(f"          ({sentence.reason})")
    count = sum(sentence.outcome == "supported" for sentence in checked.sentences)
    print(f"{count} of {len(checked.sentences)} sentences are supported.")
