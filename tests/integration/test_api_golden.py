"""What goes over the wire is what the golden files say, byte for byte in streams."""

import json

import pytest

from tests.support.api import events_of
from tests.support.golden import CASES, FOLDER, files_of, produced


@pytest.mark.parametrize("name", CASES)
async def test_an_exchange_is_as_its_golden_files_say(name: str) -> None:
    request, reply = await produced(CASES[name])
    request_file, reply_file = files_of(name)
    assert request == request_file.read_text("utf-8")
    assert reply == reply_file.read_text("utf-8")


def test_there_is_no_golden_file_without_a_case() -> None:
    assert {path.name.split(".")[0] for path in FOLDER.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", [name for name in CASES if files_of(name)[1].suffix == ".txt"])
def test_a_golden_stream_is_ascii_numbered_and_has_one_end(name: str) -> None:
    text = files_of(name)[1].read_text("ascii")
    events = events_of(text)
    assert text.endswith("\n\n")
    assert [event.id for event in events] == [str(i + 1) for i in range(len(events))]
    kinds = [event.name or event.data["type"] for event in events]
    assert kinds[-1] in ("done", "error")
    assert not {"done", "error"} & set(kinds[:-1])
    assert all("\n" not in json.dumps(event.data) for event in events)
