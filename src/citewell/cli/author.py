"""What the book's author and the operator look after: what readers ask, and how long it is kept."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from citewell.conversations.author_report import Report
    from citewell.conversations.store import ConversationStore
    from citewell.settings import Settings

Result = TypeVar("Result")


def conversations(
    days: Annotated[int, typer.Option(min=1, max=3650, help="How far to look back")] = 30,
    html: Annotated[Path | None, typer.Option(help="Write a page with plots here")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else")] = False,
) -> None:
    """Show what readers ask, what was refused and what was voted down."""
    from citewell.conversations.author_report import report_of, tables_of
    from citewell.conversations.author_report_page import page_of

    async def look(store: "ConversationStore", settings: "Settings") -> "Report":
        until = datetime.now(UTC)
        since = until - timedelta(days=days)
        return report_of(
            [entry async for entry in store.entries(since=since)],
            since=since,
            until=until,
            model_days=await store.model_days(since=since),
            model_budget=(settings.model_calls_per_day, settings.model_tokens_per_day),
        )

    report = _with_store(look)
    if html is not None:
        html.write_text(page_of(report), "utf-8")
    tables = tables_of(report)
    if as_json:
        document = {t.title: [dict(zip(t.columns, row, strict=True)) for row in t.rows] for t in tables}
        print(json.dumps(document, indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for table in tables:
        shown = Table(*table.columns, title=table.title, title_justify="left")
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)
    if html is not None:
        console.print(f"The report is in {html}.")


def export(session: Annotated[str, typer.Option(help="The session's id")]) -> None:
    """Print a session's turns as JSON lines, oldest first."""
    from citewell.conversations.export import turn_line

    async def lines(store: "ConversationStore", _: "Settings") -> None:
        async for turn in store.turns(session):
            print(turn_line(turn))

    _with_store(lines)


def purge(
    days: Annotated[int | None, typer.Option(min=0, help="Older than this, not CONVERSATION_RETENTION_DAYS")] = None,
) -> None:
    """Delete conversations that are older than the retention time."""

    async def delete(store: "ConversationStore", settings: "Settings") -> int:
        return await store.purge(settings.conversation_retention_days if days is None else days)

    print(f"{_with_store(delete):,} turns deleted.")


def _with_store(work: "Callable[[ConversationStore, Settings], Awaitable[Result]]") -> Result:
    from citewell.cli.start import settings as read_settings
    from citewell.wiring import migrate_conversations, open_conversations

    async def run() -> Result:
        settings = read_settings()
        await migrate_conversations(settings)
        async with open_conversations(settings) as store:
            return await work(store, settings)

    return asyncio.run(run())
