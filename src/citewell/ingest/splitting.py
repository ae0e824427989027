"""A page into passages: along headings, then blocks, then sentences, each within the embedder's limit. Pure.

A passage's text is exactly a slice of the page's. So that a table or code block larger than the limit can be cut
with its header repeated, the page is first divided: such a block becomes several whole ones in the page's own text.
"""

import hashlib
import uuid
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from citewell.document import Heading
from citewell.models import Page, Passage
from citewell.text import Block, blocks, is_signpost, sentences

NAMESPACE = uuid.UUID("6f0c9a52-3d0b-5d5e-9c64-2f8f3a1e7b40")
"""Of passage ids. To change it is to change every id."""
OVERLAP_SHARE = 8
"""The sentence that two passages of a section share is at most an eighth of the limit."""

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Limit:
    count: CountTokens
    tokens: int
    """Of the embedded text: heading path and passage."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Part of a page that is not cut: a block, or a sentence of one that is too large."""

    start: int
    end: int
    tokens: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Section:
    path: tuple[str, ...]
    anchor: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class _Measured:
    path: tuple[str, ...]
    anchor: str
    spare: int = 0
    """Tokens that the heading path leaves to the passage."""
    blocks: tuple[tuple[Block, int], ...] = ()
    whole: tuple[int, int] | None = None
    """The section as one passage, when it fits."""

    @property
    def too_large(self) -> list[Block]:
        """What must be divided: code and tables; prose is cut at sentences where it stands."""
        return [b for b, tokens in self.blocks if tokens > self.spare and b.kind in ("code", "table")]


def split(page: Page, limit: Limit) -> list[Passage]:
    """The passages of a page in reading order. A page with any text has at least one."""
    sections = [_measured(page, section, limit) for section in _telling(page)]
    if any(section.too_large for section in sections):
        page = _divided(page, sections, limit)
        sections = [_measured(page, section, limit) for section in _telling(page)]
    found: list[Passage] = []
    seen: dict[str, int] = {}
    for section in sections:
        for start, end in _spans(page, section, limit):
            end = start + len(page.text[start:end].rstrip())  # a line of code may end in blanks
            found.append(_passage(page, section, start, end, len(found), seen))
    return found


def _spans(page: Page, section: _Measured, limit: Limit) -> list[tuple[int, int]]:
    if section.whole is not None:
        return [section.whole]
    pieces = [p for block, tokens in section.blocks for p in _pieces(page.text, block, tokens, section.spare, limit)]
    return _within(page, section, pieces, limit)


def _within(page: Page, section: _Measured, pieces: Sequence[_Piece], limit: Limit) -> list[tuple[int, int]]:
    """Pack so that each embedded text is within the limit: not in every tokenizer do the parts add up to the whole."""
    spare = section.spare
    while True:
        packed = list(_packed(page.text, pieces, spare, limit))
        head = _path_text(page.title, section.path)
        if len(pieces) == len(packed) or spare < limit.tokens // 8:
            return packed
        if all(_is_within(head + page.text[start:end], limit) for start, end in packed):
            return packed
        spare = spare * 9 // 10


def _is_within(text: str, limit: Limit) -> bool:
    return len(text) <= limit.tokens or limit.count(text) <= limit.tokens


def _passage(page: Page, section: _Measured, start: int, end: int, index: int, seen: dict[str, int]) -> Passage:
    number = bisect_right(page.page_starts, start) or None if page.page_starts else None
    passage = Passage(
        id="",
        url=page.url,
        page_title=page.title,
        text=page.text[start:end],
        chunk_index=index,
        char_start=start,
        char_end=end,
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
    return all(b.kind == "paragraph" and is_signpost(page.text[b.start : b.end], titles) for b in section.blocks)


def _sections(page: Page) -> Iterator[_Section]:
    """Runs of blocks under one heading. A heading with nothing under it counts only when the page has nothing else."""
    by_start = {heading.start: heading for heading in page.headings}
    stack: list[Heading] = []
    body: list[Block] = []
    yielded = False
    all_blocks = blocks(page.text)
    for block in all_blocks:
        heading = by_start.get(block.start) if block.kind == "heading" else None
        if heading is None:
            body.append(block)
            continue
        if body:
            yield _section(page, stack, body)
            yielded, body = True, []
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
    if body or not yielded:
        yield _section(page, stack, body or all_blocks)


def _section(page: Page, stack: Sequence[Heading], body: Sequence[Block]) -> _Section:
    path = tuple(h.title for h in stack if not (h.level == 1 and h.title == page.title))
    return _Section(path, stack[-1].anchor if stack else "", tuple(body))


def _measured(page: Page, section: _Section, limit: Limit) -> _Measured:
    """The section with what it needs of the limit. Most fit whole, and are counted once."""
    path = section.path
    if not section.blocks:
        return _Measured(path, section.anchor)
    start, end = section.blocks[0].start, section.blocks[-1].end
    if limit.count(_path_text(page.title, path) + page.text[start:end]) <= limit.tokens:
        return _Measured(path, section.anchor, whole=(start, end))
    while True:
        spare = limit.tokens - limit.count(_path_text(page.title, path))
        if spare * 2 >= limit.tokens or not path:
            break
        path = path[1:]  # the outermost headings go while the path takes more than half
    counted = tuple((b, limit.count(page.text[b.start : b.end])) for b in section.blocks)
    return _Measured(path, section.anchor, max(spare, limit.tokens // 4), counted)


def _path_text(title: str, path: tuple[str, ...]) -> str:
    return " > ".join((title, *path)) + "\n"


def _pieces(text: str, block: Block, tokens: int, spare: int, limit: Limit) -> Iterator[_Piece]:
    if tokens <= spare:
        yield _Piece(block.start, block.end, tokens, block.kind)
        return
    if block.kind in ("code", "table"):
        spans = _line_spans(text, block)
    else:
        spans = [(s.start, s.end) for s in sentences(text[block.start : block.end], block.start)]
    for start, end in spans:
        yield from _words(text, start, end, spare, limit, block.kind)


def _line_spans(text: str, block: Block) -> list[tuple[int, int]]:
    spans = []
    start = block.start
    for line in text[block.start : block.end].split("\n"):
        if line.strip():
            spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def _words(text: str, start: int, end: int, spare: int, limit: Limit, kind: str) -> Iterator[_Piece]:
    """The last resort: halves of a sentence or line, cut between words where there are any."""
    tokens = limit.count(text[start:end])
    if tokens <= spare or end - start < 2:
        yield _Piece(start, end, tokens, kind)
        return
    middle = start + (end - start) // 2
    space = text.rfind(" ", start + 1, middle)
    cut = space if space > start + (end - start) // 4 else middle
    yield from _words(text, start, cut, spare, limit, kind)
    after = cut
    while after < end and text[after].isspace():
        after += 1
    if after < end:
        yield from _words(text, after, end, spare, limit, kind)


def _packed(text: str, pieces: Sequence[_Piece], spare: int, limit: Limit) -> Iterator[tuple[int, int]]:
    """Neighbours together, of about equal size, each passage within the limit."""
    if not pieces:
        return
    total = sum(piece.tokens for piece in pieces)
    wanted = -(-total // spare)
    target = total / wanted
    groups: list[list[_Piece]] = [[]]
    size = 0
    for piece in pieces:
        if groups[-1] and (size + piece.tokens > spare or size >= target):
            groups.append(_kept_with_next(text, groups[-1], piece, spare))
            size = sum(p.tokens for p in groups[-1])
        groups[-1].append(piece)
        size += piece.tokens
    for i, group in enumerate(groups):
        start, end = group[0].start, group[-1].end
        if i:
            start = _with_overlap(text, groups[i - 1][-1], group, spare, limit)
        yield start, end


def _kept_with_next(text: str, group: list[_Piece], piece: _Piece, spare: int) -> list[_Piece]:
    """A line that ends in a colon announces what follows: take it along."""
    last = group[-1]
    if len(group) > 1 and text[last.end - 1] == ":" and last.tokens + piece.tokens <= spare:
        return [group.pop()]
    return []


def _with_overlap(text: str, before: _Piece, group: Sequence[_Piece], spare: int, limit: Limit) -> int:
    """Where the passage begins when it repeats the sentence before it, if that is short prose and fits."""
    start = group[0].start
    if before.kind not in ("paragraph", "list_item"):
        return start
    last = sentences(text[before.start : before.end], before.start)[-1:]
    if not last or last[0].end != before.end:
        return start
    tokens = limit.count(last[0].text)
    if tokens > limit.tokens // OVERLAP_SHARE or tokens + sum(p.tokens for p in group) > spare:
        return start
    return last[0].start


def _divided(page: Page, sections: Sequence[_Measured], limit: Limit) -> Page:
    """The page with each table and code block that is larger than its limit made into several, header repeated."""
    parts: list[str] = []
    ends: list[int] = []
    growth = [0]
    at = 0
    for section in sections:
        for block in section.too_large:
            new = _divided_block(page.text[block.start : block.end], block.kind, section.spare, limit)
            parts += [page.text[at : block.start], new]
            at = block.end
            ends.append(at)
            growth.append(growth[-1] + len(new) - (block.end - block.start))
    parts.append(page.text[at:])

    def shifted(offset: int) -> int:
        return offset + growth[bisect_right(ends, offset)]

    return replace(
        page,
        text="".join(parts),
        blocks=tuple(replace(h, start=shifted(h.start)) for h in page.headings),
        page_starts=tuple(shifted(start) for start in page.page_starts),
    )


def _divided_block(block: str, kind: str, spare: int, limit: Limit) -> str:
    lines = block.split("\n")
    foot: list[str] = []
    if kind == "table":
        head, body = lines[:2], lines[2:]
    else:
        fence = lines[0].lstrip()
        mark = fence[: len(fence) - len(fence.lstrip(fence[0]))]
        head, body, foot = lines[:1], lines[1:-1] if lines[-1].strip() == mark else lines[1:], [mark]
    room = max(spare - limit.count("\n".join([*head, *foot])), spare // 2)
    groups: list[list[str]] = [[]]
    size = 0
    for line in body:
        tokens = limit.count(line) if line.strip() else 0
        if groups[-1] and size + tokens > room:
            groups.append([])
            size = 0
        groups[-1].append(line)
        size += tokens
    return "\n\n".join("\n".join([*head, *group, *foot]) for group in groups)
