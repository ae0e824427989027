"""Nobody can stop the process with text: the gate's work grows with the text, not with its square.

Work is counted as calls, at two sizes, a character at a time. What is left to regular expressions has bounds in them.
"""

import asyncio
import sys
from collections.abc import Callable

import pytest

from citewell.gate import CitationGate
from citewell.gate.markers import normalised, safe, with_markers
from citewell.judge.quantities import Amounts, quantities
from citewell.values import Passage
from tests.support.judges import WordJudge

TEXT = "The costmap represents obstacles. It is updated at 5 Hz."
HOSTILE = {
    "brackets": "[",
    "short sentences": "a. a. a. ",
    "numbers": "1,",
    "quotes": '"a. ',
    "backticks": "`a `` ",
    "images": "![",
    "blanks": " ",
    "bars": "| a ",
    "signs of a quotation": "> ",
    "full stops": ".",
    "markers": "[1]",
    "tags": "<a ",
}


def work(run: Callable[[], object]) -> int:
    """Calls made, of functions in Python and in C."""
    count = 0

    def note(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


async def _gated(text: str) -> None:
    gate = CitationGate(WordJudge())
    gate.show(1, Passage("1", "/p", "", TEXT, 0, 0, len(TEXT)))
    for character in text:
        await gate.feed(character)
    await gate.finish()


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_gate_does_twice_the_work_for_twice_the_text(kind: str) -> None:
    size = 3000 // len(HOSTILE[kind])

    def run(times: int) -> int:
        return work(lambda: asyncio.run(_gated(HOSTILE[kind] * (size * times))))

    run(1)  # caches
    assert run(2) < 2.6 * run(1)


@pytest.mark.parametrize("kind", HOSTILE)
def test_marks_and_amounts_are_read_in_one_pass(kind: str) -> None:
    def run(times: int) -> int:
        text = HOSTILE[kind] * (2000 * times)
        return work(lambda: (normalised(text), safe(text, bool), with_markers(text, (1,)), quantities(text)))

    assert run(2) < 2.6 * run(1) + 50


def test_a_claim_of_many_numbers_is_looked_up_not_compared() -> None:
    def run(times: int) -> int:
        evidence = Amounts()
        evidence.add(quantities("17," * 1000 * times))
        return work(lambda: evidence.missing("17," * 500 * times))

    assert run(2) < 2.6 * run(1)
