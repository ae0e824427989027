"""A real small model through the same path, on request: CITEWELL_TEST_MODEL_URL names an OpenAI-compatible server.

bench/real_model_server.py serves one; bench/real_model.py prints its figures on the demo book.
"""

import os
import re
from pathlib import Path

import pytest

from citewell.answering.engine import EngineOptions
from citewell.answering.hosted_model import HostedModel
from citewell.judge import Claim, Shown
from citewell.settings import Settings
from citewell.wiring import open_judging
from tests.support.toy_book import PASSAGES, a_question, toy_book

URL = os.environ.get("CITEWELL_TEST_MODEL_URL")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not URL, reason="CITEWELL_TEST_MODEL_URL is not set: no real model to ask"),
]


async def test_every_sentence_of_a_real_model_stands_on_a_passage(tmp_path: Path) -> None:
    hosted = HostedModel("local", URL or "", "none", seconds=600.0)
    options = EngineOptions(total_seconds=660.0)
    async with (
        open_judging(Settings()) as judging,
        toy_book(tmp_path, model=hosted, model_deadline=600.0, options=options) as book,
    ):
        shown = Shown(judging.judge)
        for number, passage in enumerate(PASSAGES, start=1):
            shown.show(number, passage)
        for text in ("What is inverse kinematics?", "How long does the battery last?", "Who invented the robot?"):
            answer = await book.engine.answer(a_question(text, history=()))
            if answer.status == "refused":
                assert answer.citations == ()
                continue
            for sentence in re.split(r"(?<=\])\s+", answer.text):
                plain = re.sub(r"\s*\[\d+\]", "", sentence).strip()
                [finding] = await shown.find([Claim(plain)])
                assert finding.supported or len(plain.split()) < 4, sentence
