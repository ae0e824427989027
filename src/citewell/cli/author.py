"""What the book's author and the operator look after: conversations and their end."""

import asyncio
import json
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    app.command("purge")(purge)
    app.command("export")(export)


def purge(
    days: Annotated[
        int | None, typer.Option(min=0, help="Older than this; CONVERSATION_RETENTION_DAYS if not given")
    ] = None,
) -> None:
    """Delete conversations that are older than the retention time."""
    from citewell.cli.start import settings as read_settings
    from citewell.wiring import migrate_conversations, open_conversations

    async def run() -> int:
        settings = read_settings()
        await migrate_conversations(settings)
        async with open_conversations(settings) as store:
            return await store.purge(settings.conversation_retention_days if days is None else days)

    print(f"{asyncio.run(run()):,} turns deleted.")


def export(
    session: Annotated[str, typer.Option(help="The session's id")],
) -> None:
    """Print a session's turns as JSON lines, oldest first."""
    from citewell.cli.start import settings as read_settings
    from citewell.wiring import migrate_conversations, open_conversations

    async def run() -> None:
        settings = read_settings()
        await migrate_conversations(settings)
        async with open_conversations(settings) as store:
            async for turn in store.turns(session):
                print(json.dumps({"question": turn.question, "answer": turn.answer.text}, ensure_ascii=False))

    asyncio.run(run())
