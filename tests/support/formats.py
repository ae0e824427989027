"""The small books in `tests/fixtures/formats`, read as a user's folder is."""

from collections import Counter
from pathlib import Path

from citewell.document import Table, prose, type_name
from citewell.ingest import Failure, IngestOptions, LeftOut, PageRead, source_of
from citewell.values import Page

FORMATS = Path(__file__).parents[1] / "fixtures" / "formats"


class Book:
    """What a folder or file gave: its pages by address, remarks, and what was left out."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.problems: list[Failure] = []
        self.left_out: dict[str, str] = {}

    def kinds(self, url: str) -> dict[str, int]:
        """How many blocks of each kind a page has; rows are those of tables, without headers."""
        page = self.pages[url]
        found = Counter(type_name(block) for block in page.blocks)
        rows = sum(len(block.rows) for block in page.blocks if isinstance(block, Table))
        return {**found, **({"row": rows} if rows else {})}

    def texts(self, url: str, kind: str) -> list[str]:
        page = self.pages[url]
        return [prose(page.text, block) for block in page.blocks if type_name(block) == kind]


async def read_book(place: Path | str, base_url: str = "") -> Book:
    book = Book()
    where = FORMATS / place if isinstance(place, str) else place
    async for outcome in source_of(str(where), IngestOptions(base_url=base_url)).read({}):
        match outcome:
            case PageRead(page, problems):
                book.pages[page.url] = page
                book.problems.extend(problems)
                check_whole(page)
            case LeftOut(place, rule):
                book.left_out[place] = rule
            case Failure():
                book.problems.append(outcome)
            case _:
                raise AssertionError(outcome)
    return book


def check_whole(page: Page) -> None:
    """Blocks stand in order, do not overlap, and leave nothing but blank space out."""
    at = 0
    for block in page.blocks:
        assert block.start >= at, (page.url, block)
        assert not page.text[at : block.start].strip(), (page.url, page.text[at : block.start])
        at = block.end
    assert not page.text[at:].strip(), (page.url, page.text[at:])
