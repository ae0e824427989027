"""Session ids."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.conversations import new_session_id, session_id_of
from citewell.errors import InvalidSessionError


@given(st.uuids(version=4))
def test_a_uuid_of_version_4_is_taken_in_either_case_and_kept_in_lower(value: uuid.UUID) -> None:
    assert session_id_of(str(value)) == session_id_of(str(value).upper()) == str(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "me",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",  # version 1
        "3f2504e0-4f89-71d3-9a0c-0305e82c3301",  # version 7
        "3f2504e0-4f89-41d3-ca0c-0305e82c3301",  # variant c
        "3f2504e04f8941d39a0c0305e82c3301",
        "{3f2504e0-4f89-41d3-9a0c-0305e82c3301}",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301\n",
        " 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "３f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "00000000-0000-0000-0000-000000000000",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidSessionError) as caught:
        session_id_of(text)
    assert caught.value.field == "session_id"


@pytest.mark.parametrize("text", ["550e8400-e29b-41d4-a716-446655440000", "550E8400-E29B-41D4-A716-446655440000"])
def test_the_example_of_the_documentation_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(InvalidSessionError, match=r"crypto\.randomUUID\(\)"):
        session_id_of(text)


def test_a_new_id_is_one_that_is_taken() -> None:
    assert session_id_of(made := new_session_id()) == made
