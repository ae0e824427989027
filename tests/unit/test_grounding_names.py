"""Names in other spellings: what a passage has of a name, and what stays foreign to it."""

import pytest

from citewell.grounding.claims import read
from citewell.grounding.evidence import prepared
from citewell.grounding.names import missing_names

HELD = [
    ("Artificial intelligence (AI) helps doctors.", "Doctors are helped by artificial intelligence."),
    ("The IMU drifts.", "The inertial measurement unit drifts."),
    ("The driver was written in Britain.", "A British team wrote the driver."),
    ("A URDF-based model is loaded.", "The model is loaded from URDF."),
    ("Deregulation raises the speed.", "The speed rises."),
]
FOREIGN = [
    ("Isaac runs on one CPU.", "Isaac runs on one GPU and can use several parallel robots."),
    ("The driver was written in Norway.", "A British team wrote the driver."),
    ("The controller (PID) is stable.", "The controller is stable."),
]


@pytest.mark.parametrize(("claim", "passage"), HELD)
def test_a_name_in_another_form_is_not_missing(claim: str, passage: str) -> None:
    assert not missing_names(read(claim), prepared(passage))


@pytest.mark.parametrize(("claim", "passage"), FOREIGN)
def test_a_name_that_the_passage_does_not_have_is_missing(claim: str, passage: str) -> None:
    assert missing_names(read(claim), prepared(passage))
