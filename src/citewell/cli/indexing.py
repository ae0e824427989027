"""`citewell ingest`, `search`, `index` and `validate`."""

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from citewell.errors import InvalidInputError
from citewell.models import Generation, ScoredPassage, filters_of
from citewell.text import content_stems, stem, words

if TYPE_CHECKING:
    from citewell.ingest import IngestReport

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else")]


def add_to(app: typer.Typer) -> None:
    app.command("ingest")(ingest)
    app.command("search")(search)
    app.command("index")(index)
    app.command("validate")(validate)


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
    from citewell.cli.start import settings as read_settings
    from citewell.ingest import IngestOptions, changes, source_of
    from citewell.ingest import ingest as run_ingest
    from citewell.wiring import make_embedder, make_writer

    settings = read_settings()
    options = IngestOptions(
        base_url=base_url,
        allow_hosts=frozenset(allow_host or ()),
        max_failure_share=max_failures,
        state_dir=settings.citewell_data_dir,
    )
    where = source_of(source, options)

    async def once() -> None:
        writer, embedder = make_writer(settings), make_embedder(settings)
        try:
            with IngestProgress() as progress:
                report = await run_ingest(where, writer, embedder, options, progress.show)
        finally:
            await embedder.aclose()
            await writer.aclose()
        _print_report(report, as_json=as_json)

    async def forever() -> None:
        await once()
        async for _ in changes(where):
            await once()

    asyncio.run(forever() if watch else once())


def _print_report(report: "IngestReport", *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report.as_json(), indent=2, ensure_ascii=False), flush=True)
        return
    for failure in report.failures:
        print(f"failed  {failure.url}: {failure.error_message}", file=sys.stderr)
    s = report.statistics
    print(
        f"{s.urls_successful:,} pages, {s.chunks_created:,} passages "
        f"({s.vectors_upserted:,} embedded, {s.vectors_unchanged:,} unchanged) in {report.duration_seconds:.1f} s."
        + (f" {s.urls_failed:,} pages failed." if s.urls_failed else ""),
        flush=True,
    )
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
    from citewell.cli.start import settings as read_settings
    from citewell.wiring import open_retriever

    if not query.strip() or len(query) > 2000:
        raise InvalidInputError(f"The query has {len(query.strip()):,} characters; it needs 1 to 2,000.")
    given: dict[str, list[str]] = {}
    for pair in filters or ():
        key, _, value = pair.partition("=")
        given.setdefault(key, []).append(value)

    async def run() -> tuple[tuple[ScoredPassage, ...], int, float, float]:
        async with open_retriever(read_settings()) as retriever:
            found = await retriever.search(query, top_k=top_k, score_threshold=threshold, filters=filters_of(given))
        return found.passages, found.total_found, found.embedding_ms, found.search_ms

    passages, total, embedding_ms, search_ms = asyncio.run(run())
    if as_json:
        results = [_row(p) for p in passages]
        document = {"query": query, "results": results, "total_found": total}
        document |= {"latency_ms": embedding_ms + search_ms, "embedding_ms": embedding_ms, "search_ms": search_ms}
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _print_passages(query, passages, total)


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
        where = " › ".join(dict.fromkeys((passage.page_title, *passage.heading_path)))
        console.print(Text(f"{rank}. {where}", style="bold"))
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
    from citewell.cli.start import settings as read_settings
    from citewell.wiring import make_writer

    async def run() -> dict[str, object]:
        writer = make_writer(read_settings())
        try:
            if action == "check":
                return (await writer.integrity()).as_json()
            if action == "back":
                await writer.go_back()
            current = await writer.current_id()
            return {"current": current, "generations": [_generation(g) for g in await writer.generations()]}
        finally:
            await writer.aclose()

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
    from citewell.cli.start import settings as read_settings
    from citewell.retrieval.validation import validate as run_checks
    from citewell.wiring import make_embedder, make_index

    async def run() -> list[dict[str, object]]:
        settings = read_settings()
        index, embedder = make_index(settings), make_embedder(settings)
        try:
            return [
                {"check": c.name, "status": c.status, "message": c.message} for c in await run_checks(index, embedder)
            ]
        finally:
            await embedder.aclose()
            await index.aclose()

    checks = asyncio.run(run())
    if as_json:
        print(json.dumps({"checks": checks, "ok": all(c["status"] == "pass" for c in checks)}, indent=2))
    else:
        print("\n".join(f"{c['check']:14} {c['status']:6} {c['message']}" for c in checks))
    if any(c["status"] == "fail" for c in checks):
        raise typer.Exit(1)
