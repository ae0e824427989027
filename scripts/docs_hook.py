"""Pages of the docs that are made, not written: the commands from their own help, the list of decisions.

MkDocs calls `on_pre_build` before each build. The files are not in the repository.
"""

from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

DOCS = Path(__file__).parents[1] / "docs"


def on_pre_build(**_: object) -> None:
    for page, text in {"reference/commands.md": commands(), "decisions/index.md": decisions()}.items():
        path = DOCS / page
        if not path.exists() or path.read_text("utf-8") != text:  # else the server would build for ever
            path.write_text(text, "utf-8")


def commands() -> str:
    from citewell.cli import add_commands

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    add_commands(app)
    group: Any = get_command(app)
    parts = ["# Commands", "", "`citewell COMMAND --help` prints the same.", ""]
    for name, command in group.commands.items():
        parts += [f"## citewell {name}", "", (command.help or "").strip(), ""]
        rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
        if rows:
            parts += ["| | |", "|---|---|", *rows, ""]
    return "\n".join(parts)


def _row(parameter: Any) -> str:
    text = parameter.help or ""
    if parameter.param_type_name != "option":
        return f"| `{parameter.human_readable_name}` | {text} |"
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    if parameter.default not in (None, False, True, (), ""):
        text += f" (`{parameter.default}`)"
    return f"| {names} | {text} |"


def decisions() -> str:
    found = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    titles = (page.read_text("utf-8").partition("\n")[0].removeprefix("# ") for page in found)
    lines = [f"- [{title}]({page.name})" for page, title in zip(found, titles, strict=True)]
    return "\n".join(
        ["# Decisions", "", "What was decided, what was tried before, and what follows from it.", "", *lines, ""]
    )


if __name__ == "__main__":
    on_pre_build()
