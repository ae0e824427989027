"""`check`: every sentence of a text, in order, with its outcome and its exact place."""

from citewell.judge import check, check_with, passage_of
from citewell.values import Passage
from tests.support.judges import WordJudge

PUMP, ROOF = "The pump needs oil every month. It is red.", "The roof needs paint."


async def test_every_sentence_is_answered_with_its_place() -> None:
    text = "# Care\n\nThe pump needs oil [1]. The moon needs cheese.\n\n- The roof needs paint. [2]\n"
    checked = await check(text, [passage_of(PUMP, 1), passage_of(ROOF, 2)], WordJudge())
    assert [text[s.start : s.end] == s.text for s in checked] == [True] * 4
    assert [s.outcome for s in checked] == ["not_stated", "supported", "not_stated", "supported"]
    assert [s.passage for s in checked[1::2]] == [1, 2]
    assert PUMP[checked[1].quote_start : checked[1].quote_end] == "The pump needs oil every month."


async def test_a_lead_in_stands_with_what_it_announces() -> None:
    lead, item = await check("It needs:\n\n- oil every month for the pump\n", [passage_of(PUMP, 1)], WordJudge())
    assert (lead.outcome, lead.reason, item.outcome) == ("supported", "a lead-in", "supported")


async def test_the_book_is_searched_for_each_sentence() -> None:
    asked: list[str] = []

    async def search(sentence: str) -> list[Passage]:
        asked.append(sentence)
        return [passage_of(ROOF, 1)]

    checked = await check_with(search, "Roofs need paint. Snow is white.", WordJudge())
    assert asked == ["Roofs need paint.", "Snow is white."]
    assert [s.outcome for s in checked.sentences] == ["supported", "not_stated"]
    assert [p.text for p in checked.passages] == [ROOF]
