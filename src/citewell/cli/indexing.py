"""`citewell ingest`, `search`, `index` and `validate`."""

import asyncio
import contextlib
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from citewell.cli.start import open_book
from citewell.cli.start import settings as read_settings
from citewell.text import content_stems, stem, words
from citewell.values import Generation, ScoredPassage

if TYPE_CHECKING:
    from citewell.ingest import IngestReport
    from citewell.retrieval import Found

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else")]


def ingest(
    source: Annotated[
        str, typer.Argument(help="A folder, a file (Markdown, HTML, PDF, EPUB) or the URL of a site or sitemap")
    ],
    base_url: Annotated[str, typer.Option(help="What the pages' addresses begin with")] = "",
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A host on a private address that may be read; repeat for more")
    ] = None,
    max_failures: Annotated[
        float, typer.Option(min=0, max=1, help="Share of pages that may fail before nothing is published")
    ] = 0.05,
    watch: Annotated[bool, typer.Option(help="Stay, and ingest again whenever the folder changes")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Read a book into a new index and publish it in one step. Unchanged text is not embedded again."""
    from citewell.cli.progress import IngestProgress

    async def run() -> None:
        async with open_book() as book:
            with IngestProgress() as progress:
                reading = book.watch(
                    source,
                    base_url=base_url,
                    allow_hosts=allow_host or (),
                    max_failure_share=max_failures,
                    progress=progress.show,
                )
                async with contextlib.aclosing(reading) as reports:
                    async for report in reports:
                        _print_report(report, as_json=as_json)
                        if not watch:
                            return

    asyncio.run(run())


def _print_report(report: "IngestReport", *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report.as_json(), indent=2, ensure_ascii=False), flush=True)
        return
    for line in report.remarks():
        print(line, file=sys.stderr)
    print(report.summary, flush=True)
    s = report.statistics
    if report.replaces_the_book:
        print(
            f"This replaces an index of {s.pages_before:,} pages, of which {s.pages_gone:,} are gone; "
            "`citewell index back` restores it. Each book needs a CITEWELL_DATA_DIR of its own.",
            flush=True,
        )


def search(
    query: Annotated[str, typer.Argument(help="What to look for")],
    top_k: Annotated[int, typer.Option(min=1, max=100, help="How many passages")] = 5,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Smallest similarity")] = None,
    filters: Annotated[list[str] | None, typer.Option("--filter", help="field=value; repeat for more")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show the passages that a question finds, with their scores."""
    given: dict[str, list[str]] = {}
    for pair in filters or ():
        key, _, value = pair.partition("=")
        given.setdefault(key, []).append(value)

    async def run() -> "Found":
        async with open_book() as book:
            return await book.search(query, top_k=top_k, score_threshold=threshold, filters=given)

    found = asyncio.run(run())
    if as_json:
        results = [_row(p) for p in found.passages]
        document = {"query": query, "results": results, "total_found": found.total_found}
        document["latency_ms"] = found.embedding_ms + found.search_ms
        document |= {"embedding_ms": found.embedding_ms, "search_ms": found.search_ms}
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _print_passages(query, found.passages, found.total_found)


def _row(found: ScoredPassage) -> dict[str, object]:
    passage = found.passage
    return {
        "id": passage.id,
        "score": round(found.score, 6),
        "dense": round(found.dense, 6),
        "bm25": round(found.bm25, 6),
        "fused": round(found.fused, 6),
        "chunk_text": passage.text,
        "source_url": passage.url,
        "section_url": passage.section_url,
        "page_title": passage.page_title,
        "section_heading": passage.section_heading,
        "heading_path": list(passage.heading_path),
        "module": passage.module,
        "chunk_index": passage.chunk_index,
    }


def _print_passages(query: str, passages: Sequence[ScoredPassage], total: int) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    if not passages:
        console.print("Nothing found.")
        return
    wanted = set(content_stems(query))
    for rank, found in enumerate(passages, 1):
        passage = found.passage
        console.print(Text(f"{rank}. {passage.place}", style="bold"))
        console.print(Text(f"   {passage.section_url}", style="cyan"))
        scores = (
            f"   similarity {found.score:.3f}  dense {found.dense:.3f}  bm25 {found.bm25:.2f}  fused {found.fused:.3f}"
        )
        console.print(Text(scores, style="dim"))
        shown = " ".join(passage.text.split())
        body = Text("   " + (shown if len(shown) <= 400 else shown[:399] + "…"))
        body.highlight_words([w for w in dict.fromkeys(words(shown)) if stem(w) in wanted], "bold yellow")
        console.print(body)
        console.print()
    console.print(Text(f"{len(passages)} of {total} passages", style="dim"))


def index(
    action: Annotated[
        Literal["list", "check", "back"],
        typer.Argument(help="list the generations, check the current one, or go back to the one before"),
    ] = "list",
    as_json: JsonFlag = False,
) -> None:
    """Show the generations of the index, check the current one, or go back."""
    from citewell.backends import make_writer

    async def run() -> dict[str, object]:
        async with contextlib.aclosing(make_writer(read_settings())) as writer:
            if action == "check":
                return (await writer.integrity()).as_json()
            if action == "back":
                await writer.go_back()
            current = await writer.current_id()
            return {"current": current, "generations": [_generation(g) for g in await writer.generations()]}

    found = asyncio.run(run())
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        _print_index(found)
    if found.get("sound") is False:
        raise typer.Exit(1)


def _generation(generation: Generation) -> dict[str, object]:
    return {
        "id": generation.id,
        "created_at": generation.created_at.isoformat(timespec="seconds"),
        "pages": generation.pages,
        "passages": generation.passages,
        "embedder": generation.embedder,
    }


def _print_index(found: dict[str, object]) -> None:
    generations = found.get("generations")
    if not isinstance(generations, list):
        print("\n".join(f"{key:22} {value}" for key, value in found.items()))
        return
    if not generations:
        print("No index yet. Make one with: citewell ingest PATH")
    for row in generations:
        mark = "*" if row["id"] == found["current"] else " "
        size = f"{row['pages']:>7,} pages {row['passages']:>9,} passages"
        print(f"{mark} {row['id']}  {row['created_at']}  {size}  {row['embedder']}")


def validate(as_json: JsonFlag = False) -> None:
    """Check the way to the passages: connectivity, collection, schema, retrieval."""
    from citewell.retrieval.validation import validate as run_checks

    async def run() -> list[dict[str, object]]:
        async with open_book() as book:
            parts = await book.searching()
            found = await run_checks(parts.index, parts.embedder)
        return [{"check": c.name, "status": c.status, "message": c.message} for c in found]

    checks = asyncio.run(run())
    if as_json:
        print(json.dumps({"checks": checks, "ok": all(c["status"] == "pass" for c in checks)}, indent=2))
    else:
        print("\n".join(f"{c['check']:14} {c['status']:6} {c['message']}" for c in checks))
    if any(c["status"] == "fail" for c in checks):
        raise typer.Exit(1)
