"""Foreign text costs what its length costs: the CPU of four times the text is compared with four times the CPU."""

import gc
import time
from collections.abc import Callable

import pytest

from tests.faults.readers import READERS

SHORT = 1_500
TIMES = 4
MOST = 9
"""Times the CPU of the short text: 4 is linear, 16 quadratic. What is between is noise and the size of caches."""
FREE = 0.02
"""Seconds of CPU for the long text that are never asked about."""
UNITS = [
    "1,", "[", "![", "a. ", "`", "``a` ", "*a_", "$", "<", "<a ", "{", "|a|\n", "> ", "- a\n", "  - ", "[^1]", "&",
    "\\", "“", "\n:::note\n", "```\n", "<!--", "# a\n", "=\n", "[a](", '"', "(", "\u200b", "1. ",
    "e.g. ", "[1] ", "your answer ", "| a | b |\n|---|---|\n", "1. a\n", "<table><tr><td>", "<ul><li>", "> - ",
    "日本語。", "robto ", "10 ms, ", "a\n\n", ".. a::\n", "`a`_ ", "== a\n", "|===\n", "term:: a\n",
]  # fmt: skip


def cpu(read: Callable[[bytes], object], text: bytes, times: int = 1) -> float:
    """The least of so many, without the garbage collector."""
    took = []
    gc.disable()
    for _ in range(times):
        begun = time.thread_time()
        read(text)
        took.append(time.thread_time() - begun)
    gc.enable()
    return min(took)


def growth(read: Callable[[bytes], object], unit: bytes, largest: int) -> float:
    """How many times the CPU a text takes that is longer. Cheap ones are made longer still, up to `largest`; a bad
    look is taken again."""
    short, ratio = unit * (SHORT // len(unit)), 0.0
    long = cpu(read, short * TIMES)
    while long <= FREE and len(short) * TIMES**2 <= largest:
        short *= TIMES
        long = cpu(read, short * TIMES)
    for times in (1, 3):
        ratio = long / max(cpu(read, short, times), FREE / TIMES / MOST) if long > FREE else 0.0
        if ratio <= MOST:
            break
        long = cpu(read, short * TIMES, 3)
    return ratio


@pytest.mark.timeout(1200)
@pytest.mark.fault("text of any kind", "costs what its length costs")
@pytest.mark.parametrize("name", [name for name in READERS if name != "conf.py"])  # Python itself parses that one
def test_the_cost_of_foreign_text_grows_with_its_length(
    name: str, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    read, largest = READERS[name], 100_000 if request.config.getoption("--faults") else 4 * SHORT
    ratios = {unit: growth(read, unit.encode(), largest) for unit in UNITS}
    where, worst = max(ratios.items(), key=lambda found: found[1])
    record_property("figure", f"{name} ×{worst:.1f}")
    assert worst <= MOST, f"{name}: {TIMES} times {where!r} costs {worst:.1f} times as much"
