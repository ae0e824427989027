"""Chunking, a page into passages: whole blocks of one section together, each passage within the embedder's limit. Pure.

A passage's text is exactly a slice of the page's. A block that is larger than the limit is divided between its rows,
lines or sentences, and each piece knows which of how many it is.
"""

import hashlib
import uuid
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from citewell.document import (
    Admonition,
    Block,
    Code,
    Definition,
    Heading,
    Paragraph,
    Row,
    Table,
    announces,
    moved,
    sentences,
    table_row,
)
from citewell.text import is_signpost
from citewell.values import Page, Passage

NAMESPACE = uuid.UUID("6f0c9a52-3d0b-5d5e-9c64-2f8f3a1e7b40")
"""Of passage ids. To change it is to change every id."""
_LONGEST_LABEL = 80

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Limit:
    count: CountTokens
    tokens: int
    """Of the embedded text: heading path and passage."""


@dataclass(frozen=True, slots=True)
class _Section:
    """Blocks that follow each other under one heading, or in one definition that has an anchor of its own."""

    path: tuple[str, ...]
    anchor: str
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class _UncutPart:
    """Part of a page that is not cut: a block, or a row, line or sentence of one that is too large."""

    block: int
    start: int
    end: int
    tokens: int


def split(page: Page, limit: Limit) -> list[Passage]:
    """The passages of a page in reading order. A page with any text has at least one."""
    found: list[Passage] = []
    seen: dict[str, int] = {}
    for section in _telling(page):
        path, groups = _groups(page, section, limit)
        pieces = Counter(number for group in groups for number in {unit.block for unit in group})
        piece = Counter[int]()
        for group in groups:
            piece.update({unit.block for unit in group})
            blocks = [
                _piece(page, group, number, (piece[number], pieces[number]))
                for number in dict.fromkeys(unit.block for unit in group)
            ]
            found.append(_passage(page, replace(section, path=path, first=group[0].block), blocks, len(found), seen))
    return found


def _piece(page: Page, group: Sequence[_UncutPart], number: int, divided: tuple[int, int]) -> Block:
    """What the group has of a block: all of it, or a piece."""
    block = page.blocks[number]
    if divided[1] == 1:
        return block
    own = [unit for unit in group if unit.block == number]
    start, end = own[0].start, own[-1].end
    if isinstance(block, Table):
        rows = tuple(_clipped(page.text, row, start, end) for row in block.rows if row.start < end and row.end > start)
        return replace(block, start=start, end=end, rows=rows, divided=divided)
    return replace(block, start=start, end=end, divided=divided)


def _clipped(text: str, row: Row, start: int, end: int) -> Row:
    if start <= row.start and row.end <= end:
        return row
    start, end = max(start, row.start), min(end, row.end)
    return Row((text[start:end].strip(" |"),), start, end)


def _passage(page: Page, section: _Section, blocks: Sequence[Block], index: int, seen: dict[str, int]) -> Passage:
    start, end = blocks[0].start, blocks[-1].end
    number = bisect_right(page.page_starts, start) or None if page.page_starts else None
    passage = Passage(
        id="",
        url=page.url,
        page_title=page.title,
        text=page.text[start:end],
        chunk_index=index,
        char_start=start,
        char_end=end,
        blocks=tuple(moved(block, -start) for block in blocks),
        first_block=section.first,
        heading_path=section.path,
        anchor=f"page={number}" if number else section.anchor,  # readers of PDF open a link at its page
        module=page.module,
        language=page.language,
        version=page.version,
        page_number=number,
    )
    digest = hashlib.sha256(passage.embedded_text.encode("utf-8", "surrogatepass")).hexdigest()
    nth = seen[digest] = seen.get(digest, -1) + 1
    return replace(passage, id=str(uuid.uuid5(NAMESPACE, f"{page.url}\n{digest}\n{nth}")), content_hash=digest)


def _telling(page: Page) -> list[_Section]:
    """The sections that say something. A trail of links or a picture's title alone would be found before the text."""
    every = list(_sections(page))
    return [section for section in every if not _is_signpost(page, section)] or every


def _is_signpost(page: Page, section: _Section) -> bool:
    titles = (page.title, *section.path)
    return all(
        isinstance(b, Paragraph | Admonition) and is_signpost(page.text[b.start : b.end], titles)
        for b in page.blocks[section.first : section.end]
    )


def _sections(page: Page) -> Iterator[_Section]:
    """A heading with nothing under it counts only when the page has nothing else."""
    stack: list[Heading] = []
    places = _own_places(page.blocks)
    path: tuple[str, ...] = ()
    placed: list[tuple[int, tuple[int, tuple[str, ...]]]] = []
    """The number of each block that is no heading, and that of the heading above with the path to the block."""
    above = 0
    for number, block in enumerate(page.blocks):
        if isinstance(block, Heading):
            while stack and stack[-1].level >= block.level:
                stack.pop()
            stack.append(block)
            path, above = _path(page, stack), number
        else:
            terms = [i for i in (*block.within, number) if i in places] if places else []
            placed.append((number, (max([above, *terms]), (*path, *(places[i] for i in terms)))))
    for (_, path_below), run in groupby(placed, itemgetter(1)):
        numbers = [number for number, _ in run]
        yield _Section(path_below, page.blocks[numbers[0]].anchor, numbers[0], numbers[-1] + 1)
    if page.blocks and not placed:
        yield _Section(path, page.blocks[0].anchor, 0, len(page.blocks))


def _path(page: Page, stack: Sequence[Heading]) -> tuple[str, ...]:
    return tuple(h.title for h in stack if not (h.level == 1 and h.title == page.title))


def _own_places(blocks: Sequence[Block]) -> dict[int, str]:
    """The definitions that can be linked to, each with its term as a label: a function's name without its arguments."""
    places: dict[int, str] = {}
    above = ""
    for number, block in enumerate(blocks):
        if isinstance(block, Heading):
            above = block.anchor
        elif isinstance(block, Definition):
            around = blocks[block.within[-1]].anchor if block.within else above
            if block.anchor and block.anchor != around:
                label = block.term.partition("(")[0].strip() or block.term
                places[number] = label[:_LONGEST_LABEL].rstrip()
    return places


def _groups(page: Page, section: _Section, limit: Limit) -> tuple[tuple[str, ...], list[list[_UncutPart]]]:
    """What goes together into a passage, and the path that leaves room for it. Most sections fit whole."""
    path = section.path
    numbers = range(section.first, section.end)
    whole = [_UncutPart(i, page.blocks[i].start, page.blocks[i].end, 0) for i in numbers]
    if limit.count(_path_text(page.title, path) + page.text[whole[0].start : whole[-1].end]) <= limit.tokens:
        return path, [whole]
    while True:
        spare = limit.tokens - limit.count(_path_text(page.title, path))
        if spare * 2 >= limit.tokens or not path:
            break
        path = path[1:]  # the outermost headings go while the path takes more than half
    spare = max(spare, limit.tokens // 4)
    counted = [(i, limit.count(page.text[page.blocks[i].start : page.blocks[i].end])) for i in numbers]
    headers = [_header_tokens(page.blocks[i], limit) for i, tokens in counted if tokens > spare]
    spare = max(spare - max(headers, default=0), limit.tokens // 4)
    units = [unit for i, tokens in counted for unit in _units(page, i, tokens, spare, limit)]
    return path, _within(page, path, units, spare, limit)


def _header_tokens(block: Block, limit: Limit) -> int:
    """Each piece of a table is embedded under its header."""
    return limit.count(table_row(block.header)) if isinstance(block, Table) else 0


def _within(
    page: Page, path: tuple[str, ...], units: list[_UncutPart], spare: int, limit: Limit
) -> list[list[_UncutPart]]:
    """Pack so that each embedded text is within the limit: not in every tokenizer do the parts add up to the whole."""
    head = _path_text(page.title, path)
    while True:
        packed = _packed(page, units, spare)
        if len(units) == len(packed) or spare < limit.tokens // 8:
            return packed
        if all(_is_within(head + page.text[group[0].start : group[-1].end], limit) for group in packed):
            return packed
        spare = spare * 9 // 10


def _is_within(text: str, limit: Limit) -> bool:
    return len(text) <= limit.tokens or limit.count(text) <= limit.tokens


def _path_text(title: str, path: tuple[str, ...]) -> str:
    return " > ".join((title, *path)) + "\n"


def _units(page: Page, number: int, tokens: int, spare: int, limit: Limit) -> Iterator[_UncutPart]:
    block = page.blocks[number]
    if tokens <= spare:
        yield _UncutPart(number, block.start, block.end, tokens)
        return
    ends = [span.end for span in sentences(page.text, block)]
    start = block.start
    for end in (*ends[:-1], block.end):  # the first takes the header or fence along, the last the closing fence
        yield from _words(page.text, _UncutPart(number, start, end, limit.count(page.text[start:end])), spare, limit)
        start = _next_line(page.text, end, block) if isinstance(block, Code | Table) else _next_word(page.text, end)


def _next_line(text: str, at: int, block: Block) -> int:
    """Where the next line that says something begins, with its indentation."""
    word = _next_word(text, at)
    return max(text.rfind("\n", at, word) + 1, min(at, block.end))


def _next_word(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _words(text: str, unit: _UncutPart, spare: int, limit: Limit) -> Iterator[_UncutPart]:
    """The last resort: halves of a sentence or line, cut between words where there are any."""
    start, end = unit.start, unit.end
    if unit.tokens <= spare or end - start < 2:
        yield unit
        return
    middle = start + (end - start) // 2
    space = text.rfind(" ", start + 1, middle)
    cut = space if space > start + (end - start) // 4 else middle
    after = min(_next_word(text, cut), end)
    for first, last in ((start, cut), (after, end)):
        if first < last:
            yield from _words(text, _UncutPart(unit.block, first, last, limit.count(text[first:last])), spare, limit)


def _packed(page: Page, units: Sequence[_UncutPart], spare: int) -> list[list[_UncutPart]]:
    """Neighbours together, of about equal size, each passage within the limit; if it can be, a container is not cut."""
    total = sum(unit.tokens for unit in units)
    target = total / -(-total // spare)
    groups: list[list[_UncutPart]] = [[]]
    size = 0
    for unit in units:
        full = size + unit.tokens > spare
        if groups[-1] and (full or (size >= target and not _is_held(page, unit, groups[-1]))):
            groups.append(_kept_with_next(page, groups[-1], unit, spare))
            size = sum(u.tokens for u in groups[-1])
        groups[-1].append(unit)
        size += unit.tokens
    return groups


def _is_held(page: Page, unit: _UncutPart, group: Sequence[_UncutPart]) -> bool:
    """By a block of the group: a step keeps its code."""
    held = page.blocks[unit.block].within
    return bool(held) and held[-1] >= group[0].block


def _kept_with_next(page: Page, group: list[_UncutPart], unit: _UncutPart, spare: int) -> list[_UncutPart]:
    """What is taken along from the end of a full group: the step that holds the unit, the line that announces it."""
    wanted = page.blocks[unit.block].within
    cut = next((i for i, other in enumerate(group) if i and other.block in wanted), len(group))
    if cut > 1 and announces(page.text, page.blocks[group[cut - 1].block]):
        cut -= 1
    if sum(u.tokens for u in group[cut:]) + unit.tokens > spare:
        return []
    kept = group[cut:]
    del group[cut:]
    return kept
