"""Quotes with words left out: what may go, and what may not."""

import pytest

from citewell.document import Span
from citewell.judge.quotes import Quotes

SENTENCES = (
    "Vulnerability Advisor, a service of the platform, scans container images that are stored in the registry.",
    "If the alarm is raised, the server does not accept writes from any client until it is disarmed.",
    "The red pump must be oiled before the blue pump is started.",
)
TEXT = " ".join(SENTENCES)
QUOTES = Quotes(TEXT, [Span(TEXT.index(s), TEXT.index(s) + len(s)) for s in SENTENCES])


@pytest.mark.parametrize(
    "said",
    [
        "Vulnerability Advisor scans container images stored in the registry.",
        "- The Vulnerability Advisor service scans the container images in the registry",
        "The red pump must be oiled before the blue pump.",
    ],
)
def test_a_sentence_with_words_left_out_is_a_quote(said: str) -> None:
    place = QUOTES.find_abridged(said)
    assert place is not None
    assert TEXT[place[0] : place[1]] in SENTENCES


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("The blue pump must be oiled before the red pump is started.", id="order"),
        pytest.param("The red pump must be oiled after the blue pump is started.", id="another small word"),
        pytest.param("If the alarm is raised, the server accepts writes from any client.", id="negation left out"),
        pytest.param("The server does not accept writes from any client.", id="condition left out"),
        pytest.param("Vulnerability Advisor scans and repairs container images stored in the registry.", id="added"),
        pytest.param("Vulnerability Advisor scans container images before the blue pump.", id="of two sentences"),
        pytest.param("The red pump.", id="too little"),
    ],
)
def test_a_sentence_that_says_something_else_is_none(said: str) -> None:
    assert QUOTES.find_abridged(said) is None
