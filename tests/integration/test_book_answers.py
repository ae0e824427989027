from pathlib import Path

import pytest

from tests.support.book_answers import REVIEWED, answers


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_the_answers_to_the_golden_questions_are_those_that_were_reviewed(tmp_path: Path) -> None:
    """A change that alters an answer shows here: read the difference, then run python -m tests.support.book_answers."""
    assert await answers(tmp_path) == REVIEWED.read_text("utf-8")
