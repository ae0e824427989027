from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from citewell.gate.surrogates import Surrogates

TEXT = "a🙂b\ud83dc\ude00d🤖"


def fed(parts: list[str]) -> str:
    surrogates = Surrogates()
    return "".join([*map(surrogates.feed, parts), surrogates.finish()])


@given(st.lists(st.integers(0, len(TEXT)), max_size=6))
def test_halves_are_put_together_wherever_the_text_is_cut(cuts: list[int]) -> None:
    halves = "".join(
        chr(unit) for c in TEXT for unit in memoryview(c.encode("utf-16-le", "surrogatepass")).cast("H").tolist()
    )
    at = [0, *sorted(cuts), len(halves)]
    assert fed([halves[a:b] for a, b in pairwise(at)]) == "a🙂b\ufffdc\ufffdd🤖"


def test_a_half_at_the_end_is_replaced() -> None:
    assert fed(["a", "\ud83d"]) == "a\ufffd"
