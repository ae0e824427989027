"""`citewell check`: any text against passages or against the book."""

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.start import open_book
from citewell.errors import CitewellError, InvalidInputError

if TYPE_CHECKING:
    from citewell.book import Book
    from citewell.judge import Checked


def add_to(app: typer.Typer) -> None:
    app.command("check")(check)


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
    given = [_read(path) for path in passages] if passages else None
    checked = asyncio.run(_check(_read(text or Path("-")), given))
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
        for line in _read(path).splitlines():
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
        for line in _quoted(sentence.passage, sentence.quote_start, sentence.quote_end, checked):
            print(f"          {line}")
        if sentence.reason:
            print(f"          ({sentence.reason})")
    count = sum(sentence.outcome == "supported" for sentence in checked.sentences)
    print(f"{count} of {len(checked.sentences)} sentences are supported.")


def _quoted(number: int | None, start: int | None, end: int | None, checked: "Checked") -> Iterator[str]:
    if number is not None and start is not None:
        passage = checked.passages[number - 1]
        where = passage.section_url or f"passage {number}"
        yield f"{where}: {' '.join(passage.text[start:end].split())}"


def _read(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path} cannot be read: {error}.") from error
