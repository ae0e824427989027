"""Reports: JSON that is the same bytes for the same run, a page that needs nothing else, and honest comparisons."""

import json
import math
import re
from xml.etree import ElementTree

import pytest

from citewell.errors import InvalidInputError
from citewell_evaluation import Evaluation, Figure, FigureRow, FigureTable, Item, ShownPassage
from citewell_evaluation.compare import compare
from citewell_evaluation.html_page import to_html
from citewell_evaluation.json_form import from_json, to_json, without_times
from citewell_evaluation.plots import Series, axis_over, histogram, line_chart, reliability_diagram
from citewell_evaluation.statistics import reliability
from citewell_evaluation.tables import figure_text


def run(scores: dict[str, float], *, elapsed: float = 3.0, kind: str = "book") -> Evaluation:
    items = tuple(
        Item(
            id=name,
            question=f"What is {name}?",
            scores={"right": score},
            answer=f"{name} is <b>bold</b> [1].",
            expected="/docs/a",
            passages=(ShownPassage("https://book.example.com/a#b", "<script>alert(1)</script>", 0.8, True),),
            probability=0.25 + score / 2,
            truth=score > 0.5,
            elapsed_ms=elapsed,
        )
        for name, score in scores.items()
    )
    table = FigureTable(
        "Answers", (FigureRow("all", {"right": Figure(2 / 3, 0.5, 0.8), "p50_ms": Figure(elapsed)}),), "a note"
    )
    return Evaluation(kind, "golden", (table,), items, "right", "abc")


def test_json_comes_back_as_it_went() -> None:
    evaluation = run({"a": 1.0, "b": 0.0})
    text = to_json(evaluation)
    assert to_json(from_json(text)) == text


def test_two_runs_differ_in_their_times_only() -> None:
    fast, slow = to_json(run({"a": 1.0}, elapsed=1.0)), to_json(run({"a": 1.0}, elapsed=9.0))
    assert fast != slow
    assert without_times(fast) == without_times(slow)


def test_a_figure_that_could_not_be_measured_is_null_and_not_nan() -> None:
    table = FigureTable("t", (FigureRow("r", {"AUROC": Figure(math.nan)}),))
    text = to_json(Evaluation("support", "d", (table,), (), "right"))
    assert json.loads(text)["tables"][0]["rows"][0]["figures"]["AUROC"]["value"] is None
    assert math.isnan(from_json(text).tables[0].rows[0].figures["AUROC"].value)
    assert figure_text(Figure(math.nan)) == "–"


def test_something_else_is_not_taken_for_an_earlier_run() -> None:
    for text in ("", "[]", "{}", '{"kind": "book"}'):
        with pytest.raises(InvalidInputError, match="earlier run"):
            from_json(text)


def test_the_page_runs_no_script_and_fetches_nothing() -> None:
    page = to_html(run({"a": 0.0}))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert not re.findall(r'(?:src|<link)[= ]["\']?http', page)


def test_the_page_shows_the_worst_question_first_with_its_passages() -> None:
    page = to_html(run({"good": 1.0, "bad": 0.0}))
    assert page.index("What is bad?") < page.index("What is good?")
    assert 'href="https://book.example.com/a#b"' in page
    assert "Reliability" in page
    assert "Latency" in page
    assert "Precision and recall" in page


def test_a_link_that_is_no_web_address_is_not_made_one() -> None:
    passage = ShownPassage("javascript:alert(1)", "text", 0.5)
    item = Item("1", "Q?", {"right": 0.0}, passages=(passage,))
    assert "href" not in to_html(Evaluation("book", "d", (), (item,), "right"))


def test_a_comparison_tells_better_worse_and_same_apart() -> None:
    found = compare(run({"a": 0.0, "b": 1.0, "c": 1.0, "gone": 1.0}), run({"a": 1.0, "b": 0.0, "c": 1.0, "new": 1.0}))
    assert [c.id for c in found.better] == ["a"]
    assert [c.id for c in found.worse] == ["b"]
    assert found.same == 1
    assert (found.only_before, found.only_after) == (("gone",), ("new",))
    assert found.verdict == "no difference beyond chance"


def test_a_difference_on_every_question_is_beyond_chance() -> None:
    names = [f"q{i}" for i in range(20)]
    found = compare(run(dict.fromkeys(names, 0.0)), run(dict.fromkeys(names, 1.0)))
    assert found.verdict == "better"
    assert "better" in to_html(run({"a": 1.0}), found)
    assert json.loads(to_json(run({"a": 1.0}), found))["comparison"]["verdict"] == "better"


def test_runs_of_different_kinds_are_not_compared() -> None:
    with pytest.raises(InvalidInputError, match="cannot be compared"):
        compare(run({"a": 1.0}), run({"a": 1.0}, kind="support"))


def test_plots_are_well_formed_and_named() -> None:
    series = [Series("ours & theirs", [(1, 2.0), (10, 4.0), (100, math.nan)])]
    x, y = axis_over("passages", [1, 100], logarithmic=True), axis_over("ms", [2.0, 4.0])
    for svg in (
        line_chart("Growth <1>", x, y, series, dots=True),
        histogram("Latency", "ms", [1.0, 2.0, 50.0]),
        reliability_diagram(reliability([0.1, 0.9], [False, True]), 0.1),
    ):
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert root.get("aria-label")
