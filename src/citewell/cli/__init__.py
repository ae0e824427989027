"""The command line: parse, call, print. Each command imports what it needs when it runs."""

import sys
from typing import Annotated

import typer

from citewell import __version__
from citewell.errors import CitewellError

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


def main() -> None:
    """Run a command. What goes wrong is said in one line on standard error, and the status is 1."""
    from citewell.cli import answering, author, evaluating, indexing, serving

    for module in (indexing, answering, serving, author, evaluating):
        module.add_to(app)
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
