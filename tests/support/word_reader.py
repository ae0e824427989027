"""A reader that follows a rule everybody can check: what shares the question's words answers it."""

from collections.abc import Sequence

from citewell.reader import PassageReading, Unit
from citewell.reader.reading import by_words
from citewell.values import ScoredPassage


class WordReader:
    """A passage or unit with all words of the question answers for sure; with none it does not."""

    name = "words"

    async def warm(self) -> None:
        pass

    async def read(self, question: str, found: Sequence[ScoredPassage]) -> list[PassageReading]:
        return [self._read(question, item) for item in found]

    def _read(self, question: str, item: ScoredPassage) -> PassageReading:
        read = by_words(question, item)
        units = tuple(tuple(Unit(u.start, u.end, min(0.99, u.score)) for u in block) for block in read.units)
        return PassageReading(item.passage, max((u.score for block in units for u in block), default=0.0), units)
