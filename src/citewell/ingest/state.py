"""Incremental ingest: what one run leaves for the next, the generation it made and what the site said of each page.

A small JSON file. Lost or damaged, it costs time and nothing else.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from citewell import __version__
from citewell.ingest.sources import Validators

READING = 5
"""Grows when pages are read or split in another way: then nothing is taken over unread. So does a new version."""
_NAME = "ingest-state.json"


@dataclass(frozen=True, slots=True)
class State:
    generation: str = ""
    embedder: str = ""
    digest: str = ""
    """Of every passage and every page in order."""
    fingerprint: str = ""
    """Of the source; empty when a page of it failed, so that it is tried again."""
    pages: int = 0
    passages: int = 0
    validators: Mapping[str, Validators] = field(default_factory=dict)


def load_state(folder: Path | None) -> State:
    if folder is None:
        return State()
    try:
        data = json.loads((folder / _NAME).read_text("utf-8"))
        if data.pop("reading") != _reading():
            return State()
        validators = {url: Validators(**given) for url, given in data.pop("validators").items()}
        return State(**data, validators=validators)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return State()


def save_state(folder: Path | None, state: State) -> None:
    """Best effort: a disk that is full does not undo a run that was published."""
    if folder is None:
        return
    data = {"reading": _reading(), **asdict(state)}
    part = folder / f"{_NAME}.{os.getpid()}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(data), "utf-8")
        part.replace(folder / _NAME)
    except OSError:
        part.unlink(missing_ok=True)


def _reading() -> str:
    return f"{__version__} {READING}"
