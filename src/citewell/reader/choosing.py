"""Answer selection: the reader's scores say which blocks answer, the structure what belongs to them. Pure.

What announces something brings it along; items, rows and steps come whole or not at all; prose comes by sentences.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from citewell.document import (
    Caption,
    Code,
    Definition,
    Formula,
    Heading,
    ListItem,
    Paragraph,
    Row,
    Span,
    Table,
    announces,
    sentences,
)
from citewell.reader.asking import Inquiry
from citewell.reader.reading import ANSWERING, PassageReading, log_odds
from citewell.reader.spread import Piece, Spread
from citewell.text import content_stems
from citewell.values import SELECTION_URL, Passage

PASSAGE = 0.5
"""What the passage's log-odds count beside those of the unit."""
WORDS = 1.0
"""What it counts that all of the question's words stand in the unit."""
LATER = 1.0
"""What each place further down in the search takes."""
NAMED = 3.0
"""What it counts that an option or setting which the question names stands in the block, in what holds it or above."""
CODE = 1.5
"""What code gains when it is asked for, and loses when it is not: its many names meet many questions."""
SHOWN = 0.7
"""What code gains when it is asked how something is done."""
DEFINES = 4.0
"""What a sentence gains that begins with the thing that is to be defined."""
NEAR = 4.0
"""How far below the best something further may lie."""
FURTHER = 0.1
"""How relevant it must be for itself."""
LIKE = 0.8
"""Share of the best item's score from which another one answers as well."""
RELATED = 0.25
"""Relevance at which what stands after a sentence is taken to go with it, though nothing announces it."""
BARE = 3
"""Words up to which a lead-in is taken to say nothing itself."""
SHORT = 75
"""Words up to which a paragraph is quoted whole."""
ENOUGH = 110
"""Words after which nothing further is added."""
FILLED = 60
"""Words up to which what was found best is filled with what stands around it in its section."""
MOST = 260
"""Words that one list, table or run of steps may have; longer ones come by what is relevant in them."""
GROUPS = 4
_TRIED = 24
"""Blocks, best first, that are tried: what lies behind them in a list of thousands is not looked at."""
_FEWEST, _MOST_SECTIONS = 2, 12
_NEAR_CODE = 4
"""Blocks after a sentence that tells how, among which its example is looked for."""
_COUNTED = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|these|following|below)\b",
    re.IGNORECASE,
)
_TOLD_NEXT = re.compile(r"\b(?:two|three|four|five|six|several) (?:[\w-]+ ){0,2}[\w-]+s\W*$", re.IGNORECASE)
"""How a sentence ends that leaves what it counts to the paragraphs after it: "… results in one of two behaviors."."""
_LEANS = re.compile(
    r"(?:it|its|this|that|these|those|they|their|such|however|but|so|thus|otherwise|instead)\b|.{0,60}\btherefore\b",
    re.IGNORECASE,
)
"""A sentence that says nothing without the one before it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What is quoted of one block: all of it, some of its sentences, or some of its rows."""

    piece: Piece
    spans: tuple[Span, ...]
    """Places in the passage's text, in order."""
    label: str = ""
    """The heading of the section that the quote stands for, where headings are the list that was asked for."""

    @property
    def words(self) -> int:
        return sum(len(self.piece.passage.text[start:end].split()) for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class _Candidate:
    score: float
    spread: int
    piece: Piece


def choose(
    inquiry: Inquiry, readings: Sequence[PassageReading], pages: Mapping[str, Sequence[Passage]]
) -> list[list[Quote]]:
    """Groups of quotes in the order in which they are shown; empty when nothing is relevant.

    `readings` are in the order of the search, which counts too. `pages` has all passages of those pages that may be
    quoted beyond what was found.
    """
    spreads = _spreads(readings, pages)
    ranked = _ranked(inquiry, spreads, {reading.passage.id: place for place, reading in enumerate(readings)})
    if listed := _sections_listed(inquiry, spreads, ranked):
        return [listed]
    return _in_reading_order(_collected(inquiry, spreads, ranked))


def _collected(inquiry: Inquiry, spreads: Sequence[Spread], ranked: Sequence[_Candidate]) -> list[list[Quote]]:
    """The best block with all that belongs to it, and what is near it, while there is room."""
    wholes = [_Wholes(spread, inquiry) for spread in spreads]
    chosen: list[tuple[int, list[Quote]]] = []
    for candidate in ranked[:_TRIED]:
        if len(chosen) == GROUPS or candidate.score < ranked[0].score - NEAR:
            break
        if group := _fresh(candidate, wholes[candidate.spread], chosen):
            chosen.append((candidate.spread, group))
    groups = [group for _, group in chosen]
    if groups and _may_be_filled(inquiry, groups[0]):
        best = chosen[0][0]
        quoted = {quote.piece.at for spread, group in chosen if spread == best for quote in group}
        groups[0] = wholes[best].filled(groups[0], FILLED - _size(groups), quoted)
    return groups


def _fresh(candidate: _Candidate, wholes: "_Wholes", chosen: Sequence[tuple[int, list[Quote]]]) -> list[Quote]:
    """The block with all that belongs to it and is not quoted yet; empty when it adds nothing or has no room."""
    groups = [group for _, group in chosen]
    taken = {quote.piece.at for spread, group in chosen if spread == candidate.spread for quote in group}
    if candidate.piece.at in taken or (chosen and _best([candidate.piece]) < FURTHER):
        return []
    group = [quote for quote in wholes.group(candidate.piece) if quote.piece.at not in taken and quote.spans]
    is_too_long = bool(chosen) and _size([*groups, group]) > ENOUGH
    return [] if is_too_long or _repeats(group, groups) else group


def _size(groups: Iterable[Sequence[Quote]]) -> int:
    return sum(quote.words for group in groups for quote in group)


def _may_be_filled(inquiry: Inquiry, group: Sequence[Quote]) -> bool:
    """A definition is its sentence, rows and items are what was meant, and of a selection only what answers counts."""
    exact = any(quote.label or isinstance(quote.piece.block, Table | ListItem | Definition) for quote in group)
    return not exact and not inquiry.thing and group[0].piece.passage.url != SELECTION_URL


def _spreads(readings: Sequence[PassageReading], pages: Mapping[str, Sequence[Passage]]) -> list[Spread]:
    by_id = {reading.passage.id: reading for reading in readings}
    by_url: dict[str, dict[str, Passage]] = {}
    for reading in readings:
        url = reading.passage.url
        if url not in by_url:
            by_url[url] = {p.id: p for p in pages.get(url, ())}
        by_url[url].setdefault(reading.passage.id, reading.passage)
    return [Spread(list(passages.values()), by_id) for passages in by_url.values()]


def _ranked(inquiry: Inquiry, spreads: Sequence[Spread], places: Mapping[str, int]) -> list[_Candidate]:
    """Blocks by their best unit, best first. What is not the body of the book counts only when it is asked for."""
    found = [
        _Candidate(
            _score(inquiry, piece) + NAMED * inquiry.named(_told(spread, piece)) - LATER * places[piece.passage.id],
            number,
            piece,
        )
        for number, spread in enumerate(spreads)
        for piece in spread.pieces
        if piece.units and not isinstance(piece.block, Caption) and piece.block.part in inquiry.parts
    ]
    return sorted(found, key=lambda c: (-c.score, c.spread, c.piece.at))


def _told(spread: Spread, piece: Piece) -> str:
    """A block with what says what it is about: the headings above it, the item or term that holds it."""
    holder = spread.holder(piece, (ListItem, Definition))
    around = holder.text if holder is not None else ""
    return "\n".join((*piece.passage.heading_path, around, piece.text))


def _score(inquiry: Inquiry, piece: Piece) -> float:
    """In log-odds: the best unit and its passage, and how the piece fits what is asked for."""
    text = piece.passage.text
    best = max(log_odds(unit.score) + _fit(inquiry, text[unit.start : unit.end]) for unit in piece.units)
    if isinstance(piece.block, Code | Formula):
        best += CODE * (inquiry.shows - (not inquiry.code)) + SHOWN * inquiry.steps
    return best + PASSAGE * log_odds(piece.answers)


def _fit(inquiry: Inquiry, said: str) -> float:
    return WORDS * inquiry.share(said) + (DEFINES if inquiry.opens(said) else 0.0)


def _repeats(group: Sequence[Quote], groups: Iterable[Sequence[Quote]]) -> bool:
    """Whether every word of it stands in the answer already: pages repeat their warnings."""
    said = {quote.piece.text.casefold() for other in groups for quote in other}
    return all(quote.piece.text.casefold() in said for quote in group)


def _in_reading_order(groups: Sequence[list[Quote]]) -> list[list[Quote]]:
    """Page by page, as they stand on it: first the best one, or what is quoted of the running text it stands in."""
    rank: dict[str, int] = {}
    for group in groups:
        rank.setdefault(group[0].piece.passage.url, len(rank))

    def place(group: list[Quote]) -> tuple[int, bool, int]:
        piece, best = group[0].piece, groups[0][0].piece
        runs = all(isinstance(one.block, Paragraph | Code | Formula) for one in (piece, best))
        beside = group is groups[0] or (runs and piece.passage.heading_path == best.passage.heading_path)
        return rank[piece.passage.url], not beside, piece.at

    return sorted(groups, key=place)


def _sections_listed(inquiry: Inquiry, spreads: Sequence[Spread], ranked: Sequence[_Candidate]) -> list[Quote]:
    """Where several things are asked for and a heading names them, the headings below it are the list."""
    surest = max((_best([candidate.piece]) * candidate.piece.answers for candidate in ranked), default=1.0)
    if not inquiry.several or inquiry.some or surest >= ANSWERING:
        return []
    for spread in spreads:
        paths = dict.fromkeys(
            (piece.passage.page_title, *(piece.passage.heading_path if piece.units else ())) for piece in spread.pieces
        )
        titles = dict.fromkeys(path[: depth + 1] for path in paths for depth in range(len(path)))
        for path in titles:
            if inquiry.asks_for(path[-1]) and (quotes := _below(spread, path[1:])):
                return quotes
    return []


def _below(spread: Spread, path: tuple[str, ...]) -> list[Quote]:
    """The first sentence of each section below a heading, under the section's own heading."""
    quotes: dict[str, Quote] = {}
    for piece in spread.pieces:
        heading = piece.passage.heading_path
        label = " › ".join(heading[len(path) :])
        if heading[: len(path)] != path or not label or label in quotes or not isinstance(piece.block, Paragraph):
            continue
        first = next(iter(sentences(piece.passage.text, piece.block)), None)
        if first is not None and piece.block.part == "body":
            quotes[label] = Quote(piece, (first,), label)
    words = sum(quote.words for quote in quotes.values())
    return list(quotes.values()) if _FEWEST <= len(quotes) <= _MOST_SECTIONS and words <= MOST else []


class _Wholes:
    """A block with all that belongs to it."""

    def __init__(self, spread: Spread, inquiry: Inquiry) -> None:
        self._spread = spread
        self._inquiry = inquiry
        self._lists: dict[int, tuple[int, int]] = {}

    def group(self, piece: Piece) -> list[Quote]:
        holder = self._spread.holder(piece, (ListItem, Definition))
        if holder is None:
            return self._block(piece)
        if holder.number != piece.number and self._is_long(holder):
            # What is described at length is a text of its own: the block by itself, under what it is said of.
            return [_all(holder), *self._block(piece)]
        return self._item(holder)

    def _block(self, piece: Piece) -> list[Quote]:
        match piece.block:
            case Table():
                return self._with_lead(piece, self._table(piece))
            case Code() | Formula():
                return self._with_lead(piece, [*self._captions(piece), *map(_all, self._spread.whole(piece))])
            case Paragraph() | Caption():
                return self._prose(piece)
            case _:
                return []

    def filled(self, group: Sequence[Quote], room: int, quoted: set[int]) -> list[Quote]:
        """With the rest of its paragraphs, and with what stands right after or before it, the likelier first.

        What answers seldom stands in one sentence, and what stands around it is about the same thing."""
        found: list[Quote] = []
        for quote in group:
            whole = quote.piece.words <= quote.words + room
            found.append(_all(quote.piece) if whole else quote)
            room -= found[-1].words - quote.words
        while beside := [pieces for pieces in self._around(found, quoted) if _words(pieces) <= room]:
            best = max(beside, key=_best)
            room -= _words(best)
            found = sorted([*found, *map(_all, best)], key=lambda quote: quote.piece.at)
        return found

    def _around(self, group: Sequence[Quote], quoted: set[int]) -> Iterator[list[Piece]]:
        """The paragraph, list, table or code that follows in the section, and the one before."""
        places = [quote.piece.at for quote in group]
        for edge, step in ((max(places), 1), (min(places), -1)):
            if not 0 <= edge + step < len(self._spread.pieces):
                continue
            here, piece = self._spread.pieces[edge], self._spread.pieces[edge + step]
            if isinstance(piece.block, Heading) or here.block.part != piece.block.part:
                continue
            pieces = self._spread.unit(piece)
            known = quoted.union(places)
            if self._spread.same_section(here, piece) and known.isdisjoint(one.at for one in pieces):
                yield pieces

    # Prose

    def _prose(self, piece: Piece) -> list[Quote]:
        quotes = [_sentences(piece, whole=piece.words <= SHORT)]
        if quotes[0].spans[-1:] and quotes[0].spans[-1].end >= piece.block.end:
            quotes += self._announced(piece)
        if self._inquiry.steps and len(quotes) == 1:
            quotes += self._example(piece)
        return quotes

    def _example(self, piece: Piece) -> list[Quote]:
        """For "how do I": the code that follows in the section, with the sentence before it."""
        for after in self._spread.pieces[piece.at + 1 : piece.at + 1 + _NEAR_CODE]:
            if not self._spread.same_section(piece, after):
                break
            if isinstance(after.block, Code) and not after.block.within:
                return [
                    q
                    for q in self._with_lead(after, [_all(p) for p in self._spread.whole(after)])
                    if q.piece is not piece
                ]
        return []

    def _announced(self, piece: Piece) -> list[Quote]:
        """The list, table, code or formula after a paragraph that waits for it, or that answers with it."""
        after = self._spread.after(piece)
        last = _last_sentence(piece)
        if after is None:
            waits = announces(piece.passage.text, piece.block)
            told = _TOLD_NEXT.search(last) is not None
            return _below(self._spread, piece.passage.heading_path) if waits else self._next(piece) if told else []
        waits = announces(piece.passage.text, piece.block) or last.endswith(("...", "…", ",", "(", "-", "–"))
        counted = isinstance(after.block, ListItem | Table | Definition) and _COUNTED.search(last) is not None
        shown = isinstance(after.block, Code) and self._inquiry.code
        related = _best(self._spread.thing(after)) >= (ANSWERING if isinstance(after.block, Code) else RELATED)
        if not (waits or counted or shown or related):
            return []
        return self._thing(after)

    def _next(self, piece: Piece) -> list[Quote]:
        """The paragraphs that follow in the section, while there is room."""
        found: list[Quote] = []
        for after in self._spread.pieces[piece.at + 1 :]:
            room = ENOUGH - piece.words - sum(quote.words for quote in found)
            same = isinstance(after.block, Paragraph) and self._spread.same_section(piece, after)
            if not same or after.words > room:
                break
            found.append(_all(after))
        return found

    def _thing(self, piece: Piece) -> list[Quote]:
        match piece.block:
            case ListItem() | Definition():
                return self._items(self._spread.siblings(piece))
            case Table():
                return self._table(piece)
            case _:
                return list(map(_all, self._spread.whole(piece)))

    def _with_lead(self, piece: Piece, quotes: list[Quote]) -> list[Quote]:
        """With the sentence that stands before it: code without a word about it explains nothing."""
        lead = self._spread.lead(self._spread.whole(piece)[0])
        if lead is None or not isinstance(lead.block, Paragraph) or lead.block.part != piece.block.part:
            return quotes
        told = _sentences(lead, whole=lead.words <= SHORT)
        if announces(lead.passage.text, lead.block) and lead.words > SHORT:
            told = _last(lead)
        leads = announces(lead.passage.text, lead.block)
        bare = isinstance(piece.block, Code | Formula | Paragraph)
        if not told.spans or not (bare or leads or _best([lead]) >= RELATED):
            return quotes
        # "For example:" says nothing of what the example is for.
        return self._with_lead(lead, [told, *quotes]) if leads and lead.words <= BARE else [told, *quotes]

    def _captions(self, piece: Piece) -> list[Quote]:
        before = self._spread.pieces[piece.at - 1] if piece.at else None
        return [_all(before)] if before and isinstance(before.block, Caption) else []

    # Lists

    def _is_long(self, item: Piece) -> bool:
        return _words(self._spread.held(item)) > ENOUGH * 2

    def _item(self, item: Piece) -> list[Quote]:
        """The list, or the one item with what it holds; under the sentence that announces the list."""
        siblings = self._spread.siblings(item)
        lead = self._spread.lead(siblings[0])
        if lead is not None and not (announces(lead.passage.text, lead.block) or isinstance(lead.block, Definition)):
            lead = None
        if len(siblings) > 1 and self._wants_all(siblings, announced=lead is not None):
            return [*([_last(lead)] if lead else []), *self._items(siblings)]
        held = self._spread.whole(item) if self._is_long(item) else self._spread.held(item)
        return [*([_all(lead)] if lead and lead.words <= SHORT else []), *map(_all, held), *self._shown_after(held[-1])]

    def _shown_after(self, item: Piece) -> list[Quote]:
        """The code, table or formula that an item waits for, though it stands behind the list."""
        after = self._spread.after(item) if announces(item.passage.text, item.block) else None
        return self._thing(after) if after and isinstance(after.block, Code | Formula | Table) else []

    def _wants_all(self, siblings: Sequence[Piece], *, announced: bool) -> bool:
        """Several things or steps are asked for; or the list is short, and it is announced or several of it answer."""
        block = siblings[0].block
        if self._inquiry.several or (
            self._inquiry.steps and isinstance(block, ListItem) and block.marker[:1].isdigit()
        ):
            return True
        answering, words = self._weighed(siblings)
        return (announced or answering > 1) and words <= ENOUGH

    def _weighed(self, siblings: Sequence[Piece]) -> tuple[int, int]:
        """How many items of a list answer, and the words of all; weighed once for each list."""
        if (known := self._lists.get(siblings[0].at)) is None:
            held = [self._spread.held(item) for item in siblings]
            scores = [_best(pieces) for pieces in held]
            line = max(ANSWERING, LIKE * max(scores))
            known = self._lists[siblings[0].at] = sum(score >= line for score in scores), sum(map(_words, held))
        return known

    def _items(self, siblings: Sequence[Piece]) -> list[Quote]:
        """All items with what they hold; of a long list the items' own text, and of an endless one what answers."""
        held = [self._spread.held(item) for item in siblings]
        for parts in (held, [self._spread.whole(item) for item in siblings]):
            pieces = list(chain.from_iterable(parts))
            if _words(pieces) <= MOST:
                return [_all(piece) for piece in pieces]
        kept = [pieces for pieces in held if _best(pieces) >= ANSWERING] or held[:8]
        return [_all(item) for item, *_ in kept]

    # Tables

    def _table(self, piece: Piece) -> list[Quote]:
        """The rows that the question names, those for which holds what it asks, or the whole table."""
        pieces = [p for p in self._spread.whole(piece) if isinstance(p.block, Table)]
        rows = [(p, row) for p in pieces for row in _rows(p)]
        scores = [score for p in pieces for score in _row_scores(p)]
        named = _named(self._inquiry, rows)
        if not named and self._inquiry.some:
            named = _standing_out(rows, scores)
        if named and len(named) < len(rows):
            rows = named
        elif _words(pieces) > MOST:
            rows = [row for row, score in zip(rows, scores, strict=True) if score >= ANSWERING] or rows[:12]
        return [Quote(p, tuple(Span(r.start, r.end) for q, r in rows if q is p)) for p in pieces]


def _standing_out(rows: Sequence[tuple[Piece, Row]], scores: Sequence[float]) -> list[tuple[Piece, Row]]:
    """The rows that answer where others do not."""
    line = max(ANSWERING, LIKE * max(scores, default=0.0))
    return [row for row, score in zip(rows, scores, strict=True) if score >= line]


def _named(inquiry: Inquiry, rows: Sequence[tuple[Piece, Row]]) -> list[tuple[Piece, Row]]:
    """The rows whose first cell has a word of the question that no other row's first cell has."""
    firsts = [set(content_stems(row.cells[0])) if row.cells else set() for _, row in rows]
    counts = Counter(word for words in firsts for word in words)
    return [
        pair for pair, words in zip(rows, firsts, strict=True) if any(counts[w] == 1 for w in words & inquiry.stems)
    ]


def _rows(piece: Piece) -> Iterator[Row]:
    if isinstance(piece.block, Table):
        yield from piece.block.rows


def _row_scores(piece: Piece) -> list[float]:
    scores = {unit.start: unit.score for unit in reversed(piece.units)}
    return [scores.get(row.start, 0.0) for row in _rows(piece)]


def _all(piece: Piece) -> Quote:
    if isinstance(piece.block, Table):
        return Quote(piece, tuple(Span(row.start, row.end) for row in piece.block.rows))
    return Quote(piece, (Span(piece.block.start, piece.block.end),))


def _sentences(piece: Piece, *, whole: bool) -> Quote:
    """The run of sentences from the first that is relevant to the last; one that opens the paragraph comes along."""
    selected = piece.passage.url == SELECTION_URL
    if (whole and not selected) or not piece.units:
        return _all(piece)
    best = max(unit.score for unit in piece.units)
    line = min(ANSWERING, best)
    kept = [n for n, unit in enumerate(piece.units) if unit.score >= line]
    first, last = kept[0], kept[-1]
    if first == 1 and not selected:
        first = 0  # what is said of "it" begins with what it is
    elif first and not selected and _LEANS.match(piece.passage.text, piece.units[first].start):
        first -= 1
    start = piece.block.start if first == 0 else piece.units[first].start
    end = piece.block.end if last == len(piece.units) - 1 else piece.units[last].end
    return Quote(piece, (Span(start, end),))


def _last(piece: Piece) -> Quote:
    """The last sentence of a lead-in, or all of a short one."""
    if piece.words <= SHORT or len(piece.units) < 2:
        return _all(piece)
    return Quote(piece, (Span(piece.units[-1].start, piece.block.end),))


def _last_sentence(piece: Piece) -> str:
    if not piece.units:
        return piece.text
    return piece.passage.text[piece.units[-1].start : piece.block.end]


def _best(pieces: Iterable[Piece]) -> float:
    return max((unit.score for piece in pieces for unit in piece.units), default=0.0)


def _words(pieces: Iterable[Piece]) -> int:
    return sum(piece.words for piece in pieces)


def opening(passages: Sequence[Passage]) -> list[Quote]:
    """What a text begins with, in whole blocks: the answer when the text itself is asked about."""
    quotes: list[Quote] = []
    for piece in Spread(passages, {}).pieces:
        if isinstance(piece.block, Heading):
            continue
        if quotes and sum(quote.words for quote in quotes) + piece.words > ENOUGH:
            break
        quotes.append(_all(piece))
    return quotes
