"""`citewell eval` as a person types it: what is wrong is said, and standard output stays clean."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from citewell.errors import CollectionNotFoundError, InvalidInputError
from citewell_evaluation import commands


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer(pretty_exceptions_enable=False)
    commands.add_to(made)
    return made


def test_every_evaluation_is_a_command() -> None:
    names = {command.name for command in commands.evaluations.registered_commands}
    assert names == {"retrieval", "answers", "support", "lines", "calibration", "book"}


def test_json_is_one_document_on_standard_output(app: typer.Typer, tmp_path: Path) -> None:
    data = tmp_path / "conflicts.jsonl"
    data.write_text(
        '{"question": "How tall?", "passages": ["It is 3 m tall.", "Few like it."], "conflicting": false}\n'
    )
    page, before = tmp_path / "report.html", tmp_path / "before.json"
    result = CliRunner().invoke(app, ["eval", "support", str(data), "--json", "--html", str(page)])
    assert json.loads(result.stdout)["kind"] == "support"
    assert page.read_text().startswith("<!doctype html>")
    before.write_text(result.stdout)
    again = CliRunner().invoke(app, ["eval", "support", str(data), "--json", "--against", str(before)])
    assert json.loads(again.stdout)["comparison"]["same"] == 1
    assert "Supported or not" in CliRunner().invoke(app, ["eval", "support", str(data)]).stdout


def test_data_of_an_unknown_form_is_named(app: typer.Typer, tmp_path: Path) -> None:
    data = tmp_path / "odd.jsonl"
    data.write_text('{"question": "Q?"}\n')
    result = CliRunner().invoke(app, ["eval", "answers", str(data)])
    assert isinstance(result.exception, InvalidInputError)
    assert "odd.jsonl" in str(result.exception)


def test_an_earlier_run_that_is_none_is_refused_before_the_work(app: typer.Typer, tmp_path: Path) -> None:
    earlier = tmp_path / "before.json"
    earlier.write_text("{}")
    result = CliRunner().invoke(app, ["eval", "book", str(tmp_path / "none.jsonl"), "--against", str(earlier)])
    assert isinstance(result.exception, InvalidInputError)
    assert "earlier run" in str(result.exception)
    assert result.stdout == ""


def test_a_book_that_was_not_ingested_is_named(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_DATA_DIR", str(tmp_path / "data"))
    golden = tmp_path / "golden.jsonl"
    golden.write_text('{"question": "Q?", "urls": ["/a"]}\n')
    result = CliRunner().invoke(app, ["eval", "book", str(golden), "--json"])
    assert isinstance(result.exception, CollectionNotFoundError)
    assert result.stdout == ""
