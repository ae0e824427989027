"""For all tests: Hypothesis looks for wrong results, not for slow machines, and tries the same examples every time.

`--faults` (`make faults`) runs the tests with a `fault` marker, those too that are too long for every day, and prints
a table: row, promise, held or not, figure.
"""

from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("citewell", deadline=None, derandomize=True)
settings.load_profile("citewell")

FIGURE = "figure"
Rows = dict[tuple[str, str], list[pytest.TestReport]]
_ROWS = pytest.StashKey[Rows]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--faults", action="store_true", help="the fault suite alone and whole, with its table")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--faults"):
        unbounded = pytest.mark.skip(reason="too long for every day: make faults")
        for item in items:
            if item.get_closest_marker("unbounded"):
                item.add_marker(unbounded)
        return
    kept = [item for item in items if item.get_closest_marker("fault")]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
    config.stash[_ROWS] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marker = item.get_closest_marker("fault")
    rows = item.config.stash.get(_ROWS, None)
    if marker and rows is not None and (report.when == "call" or report.outcome != "passed"):
        rows.setdefault((marker.args[0], marker.args[1]), []).append(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    rows = config.stash.get(_ROWS, None)
    if not rows:
        return
    terminalreporter.section("faults")
    for (row, promise), reports in rows.items():
        failed = sum(report.failed for report in reports)
        skipped = [report for report in reports if report.skipped]
        held = f"BROKEN ({failed} of {len(reports)})" if failed else "held"
        if skipped and len(skipped) == len(reports):
            held = f"not tested here: {_reason(skipped[0])}"
        figures = [str(value) for report in reports for name, value in report.user_properties if name == FIGURE]
        figure = "; ".join(figures) or f"{len(reports)} cases, {sum(r.duration for r in reports):.1f} s"
        terminalreporter.write_line(f"{row:34} | {promise:72} | {held:10} | {figure}")


def _reason(report: pytest.TestReport) -> str:
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else "skipped"
