"""What a model has read, kept on disk: a second fit costs seconds, a new model one pass. Owns the cache file."""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from citewell.inference import Asked
from citewell.reader import QuestionModel


class KeptReadings:
    """Asks the model only what it was not asked before. One file for each model, by its name."""

    def __init__(self, model: QuestionModel, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._model = model
        self._file = sqlite3.connect(folder / f"{model.name}.sqlite3", isolation_level=None)
        self._file.execute("CREATE TABLE IF NOT EXISTS readings (key TEXT PRIMARY KEY, scores TEXT)")
        self.name = model.name

    async def warm(self) -> None:
        """Loads nothing: all may be known already."""

    async def read(
        self, question: str, texts: Sequence[str], units: Sequence[Sequence[tuple[int, int]]] = ()
    ) -> list[Asked]:
        asked = list(zip(texts, units or [()] * len(texts), strict=True))
        keys = [_key(question, text, places) for text, places in asked]
        known = {key: found for key in keys if (found := self._found(key)) is not None}
        missing = {key: one for key, one in zip(keys, asked, strict=True) if key not in known}
        if missing:
            fresh = await self._model.read(question, [t for t, _ in missing.values()], [u for _, u in missing.values()])
            known |= dict(zip(missing, fresh, strict=True))
            rows = [(key, json.dumps([known[key].answers, *known[key].units])) for key in missing]
            self._file.executemany("INSERT OR IGNORE INTO readings VALUES (?, ?)", rows)
        return [known[key] for key in keys]

    def _found(self, key: str) -> Asked | None:
        row = self._file.execute("SELECT scores FROM readings WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        answers, *units = json.loads(row[0])
        return Asked(answers, tuple(units))

    async def aclose(self) -> None:
        self._file.close()


def _key(question: str, text: str, places: Sequence[tuple[int, int]]) -> str:
    return hashlib.sha256(json.dumps([question, text, places]).encode()).hexdigest()
