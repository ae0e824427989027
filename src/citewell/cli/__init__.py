"""The command line: parse, call, print. Each command imports what it needs when it runs."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from citewell import __version__
from citewell.errors import CitewellError, MissingExtraError

app = typer.Typer(
    name="citewell",
    help="Questions answered from your book, every sentence checked and cited.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"citewell {__version__}")
        raise typer.Exit


@app.callback()
def _every_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave")
    ] = False,
) -> None:
    del version


def _add_evaluation(app: typer.Typer) -> None:
    """`eval` and `calibrate` are commands of another distribution, which few readers of a book need."""
    try:
        from citewell_evaluation.commands import add_to
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "citewell_evaluation":
            raise
        for name in ("eval", "calibrate"):
            app.command(name, context_settings={"ignore_unknown_options": True})(_evaluation_is_missing)
    else:
        add_to(app)


def _evaluation_is_missing(arguments: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Measure on labelled data (comes with citewell-evaluation)."""
    del arguments
    raise MissingExtraError("eval", ModuleNotFoundError(name="citewell-evaluation"))


def add_commands(app: typer.Typer) -> None:
    """All of Citewell's own; the evaluation's come from its distribution."""
    from citewell.cli.ask import ask, verify
    from citewell.cli.author import conversations, export, purge
    from citewell.cli.check import check
    from citewell.cli.demo import demo
    from citewell.cli.indexing import index, ingest, search, validate
    from citewell.cli.serving import mcp, serve, widget

    of_the_book: list[Callable[..., None]] = [demo, ingest, search, index, validate, ask, verify, check]
    of_the_server: list[Callable[..., None]] = [serve, widget, mcp, conversations, export, purge]
    for command in of_the_book + of_the_server:
        app.command()(command)


def main() -> None:
    """Run a command. What goes wrong is said in one line on standard error, and the status is 1."""
    add_commands(app)
    _add_evaluation(app)
    try:
        app()
    except CitewellError as error:
        print(f"citewell: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("citewell: stopped.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # `citewell search … | head`
        sys.stderr.close()
        sys.exit(141)
