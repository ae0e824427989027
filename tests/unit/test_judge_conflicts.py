"""Two passages contradict each other on what was asked when each side's words contradict the other's passage."""

from collections.abc import Mapping, Sequence

from citewell.judge import Conflicts, Lines, Pair, Statement, Verdict
from citewell.values import Passage
from tests.support.toy_book import passage

FIVE, TEN = passage("timeouts", "The default is 5 s."), passage("pools", "The default is 10 s.")
ISSUE = passage("issues", "Similar issues: #1424.")


class ToldJudge:
    """Takes for contradicted what the test says: a sentence, and the passage that contradicts it."""

    at_once = False
    name = "told"

    def __init__(self, told: Mapping[tuple[str, Passage], float]) -> None:
        self._told = {(sentence, against.embedded_text): how for (sentence, against), how in told.items()}

    async def warm(self) -> None:
        """There is nothing to load."""

    def prepare(self, windows: Sequence[str]) -> None: ...

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [Verdict("not_stated", 0.0, self._told.get((said, windows[0]), 0.0)) for said, windows in pairs]


def conflicts(told: Mapping[tuple[str, Passage], float]) -> Conflicts:
    return Conflicts(ToldJudge(told), Lines(supported=0.7, conflict=0.8))


def statement(place: int, said: Passage) -> Statement:
    return Statement(place, said, 0.9, (said.text,))


async def test_what_contradicts_each_other_is_told_with_both_sentences() -> None:
    finder = conflicts({(FIVE.text, TEN): 0.95, (TEN.text, FIVE): 0.9})
    found = await finder.find([statement(0, FIVE), statement(2, TEN)])
    assert found is not None
    assert (found.first, found.first_sentence) == (0, FIVE.text)
    assert (found.second, found.second_sentence) == (2, TEN.text)


async def test_a_contradiction_seen_from_one_side_only_is_none() -> None:
    finder = conflicts({(ISSUE.text, TEN): 0.99, (TEN.text, ISSUE): 0.3})
    assert await finder.find([statement(0, ISSUE), statement(1, TEN)]) is None


async def test_the_likeliest_of_several_is_told() -> None:
    finder = conflicts({
        (FIVE.text, TEN): 0.85, (TEN.text, FIVE): 0.85, (FIVE.text, ISSUE): 0.95, (ISSUE.text, FIVE): 0.9,
    })  # fmt: skip
    found = await finder.find([statement(0, FIVE), statement(1, TEN), statement(2, ISSUE)])
    assert found is not None
    assert (found.first, found.second) == (0, 2)


async def test_parts_of_one_section_add_to_each_other() -> None:
    finder = conflicts({(FIVE.text, FIVE): 0.99})
    assert await finder.find([statement(0, FIVE), statement(1, FIVE)]) is None


async def test_one_passage_alone_contradicts_nothing() -> None:
    assert await conflicts({}).find([statement(0, FIVE)]) is None
    assert await conflicts({}).find([]) is None
