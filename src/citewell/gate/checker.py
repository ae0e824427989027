"""Groundedness: each piece of model text against the passages shown. May it stand, with which markers; if not, why."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from citewell.document import table_row
from citewell.gate.empty import claims_nothing, is_title
from citewell.gate.listings import Listings
from citewell.gate.markers import (
    balanced,
    cited_in,
    normalised,
    outside_code,
    safe,
    with_markers,
    without_markers,
)
from citewell.gate.pieces import CodeRead, HeadingRead, Piece, RowRead, SentenceRead, TableBegun, cells_of
from citewell.instructions import is_instruction, is_instruction_in_code
from citewell.judge import Claim, Finding, Judge, Shown, claim_of, plain, refers_back, without_emphasis
from citewell.values import Passage

_BOX: Final = re.compile(r"^\[[ xX]\]\s+")
_INDEXED: Final = re.compile(r"\b[A-Za-z_][\w.]{0,60}\[(\d{1,4})\]")
_TITLE: Final = re.compile(r"(\*\*|__)[^\s*_][^*_]{0,78}\1[:.]?")
_SURE: Final = 0.7
_ORDER: Final = "it addresses the model"

Kind = Literal["release", "wait", "lead_in", "label", "drop", "nothing"]


@dataclass(frozen=True, slots=True)
class Decision:
    """`release`: cited text. `wait`, `lead_in`, `label`: text that claims nothing and stands only with what follows."""

    kind: Kind
    text: str = ""
    score: float = 0.0
    places: Mapping[int, tuple[int, int] | None] = field(default_factory=dict)
    ranges: Mapping[int, Sequence[tuple[int, int]]] = field(default_factory=dict)
    """Of code: all places."""
    reason: str = ""
    cells: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(self.places) or tuple(self.ranges)


_NOTHING: Final = Decision("nothing")


class Checker:
    """Holds what was shown and what of it was used."""

    def __init__(self, judge: Judge, *, ahead: bool = False, may_instruct: bool = False) -> None:
        """`may_instruct`: sentences that address a model may stand, because they are what was asked about."""
        self._may_instruct = may_instruct
        self._shown = Shown(judge, ahead=ahead, without=frozenset(("order",)) if may_instruct else frozenset())
        self._listings = Listings()
        self._quotes: dict[int, set[tuple[int, int]]] = {}
        self._said: set[str] = set()
        self._said_in_list: set[str] = set()
        self._header: tuple[str, ...] = ()
        self._before = ""
        """The sentence read last."""

    def show(self, number: int, passage: Passage) -> None:
        self._shown.show(number, passage)
        self._listings.add(number, passage.text)

    @property
    def cited(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        return {number: tuple(sorted(ranges)) for number, ranges in sorted(self._quotes.items())}

    def used(self, decision: Decision) -> None:
        """It was released: what supports it is cited."""
        for number, place in decision.places.items():
            self._quotes.setdefault(number, set()).update([place] if place else [])
        for number, places in decision.ranges.items():
            self._quotes.setdefault(number, set()).update(places)

    def list_ended(self) -> None:
        """Another list may have equal steps."""
        self._said_in_list.clear()

    async def decide(self, pieces: Sequence[Piece]) -> list[Decision]:
        """A decision for each piece; all that needs the judge goes to it together."""
        prepared = await asyncio.to_thread(lambda: [self._prepared(piece) for piece in pieces]) if pieces else []
        decided = [found if isinstance(found, Decision) else None for found in prepared]
        asked = [(i, found) for i, found in enumerate(prepared) if isinstance(found, Claim)]
        findings = await self._shown.find([claim for _, claim in asked]) if asked else []
        for (i, claim), finding in zip(asked, findings, strict=True):
            decided[i] = self._concluded(pieces[i], claim, finding)
        return [d or _NOTHING for d in decided]

    def in_context(self, piece: SentenceRead, decision: Decision, *, fell: bool) -> Decision:
        """What was said before is not said again; what refers to a sentence that fell, falls with it."""
        if decision.kind != "release":
            return decision
        clean = without_markers(decision.text)
        if fell and refers_back(clean):
            return Decision("drop", clean, reason="it refers to a sentence that was dropped")
        said = self._said_in_list if piece.item else self._said
        if plain(clean) in said:
            return Decision("drop", clean, reason="said before")
        said.add(plain(clean))
        return decision

    def _prepared(self, piece: Piece) -> Decision | Claim:
        match piece:
            case SentenceRead():
                return self._sentence(piece)
            case HeadingRead(text=text):
                clean = without_markers(self._tidied(text))
                return Decision("label", clean) if self._may_title(clean) else _NOTHING
            case TableBegun(cells):
                self._header = tuple(without_markers(self._tidied(c)) for c in cells)
                named = " ".join(self._header).strip()
                return Decision("label", cells=self._header) if not named or self._may_title(named) else _NOTHING
            case RowRead(cells):
                return self._row(cells)
            case CodeRead():
                return self._code(piece)
        return _NOTHING

    def _sentence(self, piece: SentenceRead) -> Decision | Claim:
        text = self._tidied(piece.text)
        clean = without_markers(text)
        if self._orders(clean):
            return Decision("drop", clean, reason=_ORDER)
        if not re.search(r"\w", clean):
            return _NOTHING
        leads = piece.last and clean.endswith(":")
        if claims_nothing(clean, passages=len(self._shown)):
            return Decision("lead_in" if leads else "wait", clean)
        if _TITLE.fullmatch(clean) and not (piece.item and piece.last) and self._may_title(clean):
            return Decision("label", clean)
        lead = without_markers(self._tidied(piece.lead)) if piece.lead else ""
        before, self._before = "" if piece.first else self._before, clean
        claim = claim_of(clean, lead=lead, before=before, cited=cited_in(text), known=self._shown.known)
        if leads and claim.fragment and self._shown.vetoes.veto(clean) is None:
            return Decision("lead_in", clean)
        return claim

    def _row(self, cells: Sequence[str]) -> Decision | Claim:
        """A row says: this, under that column. It stands as a row of the evidence, or as a sentence made of it."""
        width = len(self._header)
        tidied = [self._tidied(c) for c in (*cells, *[""] * width)[:width]]
        clean = [without_markers(c) for c in tidied]
        if not re.search(r"\w", "".join(clean)):
            return _NOTHING
        if self._orders(" ".join(clean)) or any(map(self._orders, clean)):
            return Decision("drop", " ".join(clean), reason=_ORDER)
        cited = tuple(n for c in tidied for n in cited_in(c))
        if found := self._shown.tables.find(self._header, clean, cited):
            if found.place is None:
                return Decision("drop", " ".join(clean), reason="the evidence's table has other cells")
            return self._cited_row(clean, Finding("supported", 1.0, {found.number: found.place}))
        pairs = [f"{h} {c}".strip() for h, c in zip(self._header[1:], clean[1:], strict=False) if c]
        return Claim(without_emphasis(", ".join([clean[0], *pairs])), cited, said=" | ".join(clean))

    def _cited_row(self, cells: Sequence[str], finding: Finding) -> Decision:
        markers = "".join(f"[{n}]" for n in finding.places)
        text = table_row([*cells[:-1], f"{cells[-1]} {markers}"])
        return Decision("release", text, finding.score, finding.places)

    def _code(self, piece: CodeRead) -> Decision:
        kept, ranges = self._listings.found(piece.lines)
        if kept is None:
            return Decision("drop", "\n".join(piece.lines), reason="code not in evidence")
        if not self._may_instruct and any(map(is_instruction_in_code, kept)):
            return Decision("drop", "\n".join(kept), reason=_ORDER)
        fence = re.match(r"`{3,}|~{3,}", piece.opening)
        mark = fence.group() if fence else "```"
        language = re.match(r"[\w+#.-]*", piece.opening[len(mark) :].strip())
        text = "\n".join([mark + (language.group() if language else ""), *kept, mark])
        return Decision("release", text, 1.0, ranges=ranges)

    def _concluded(self, piece: Piece, claim: Claim, finding: Finding) -> Decision:
        if isinstance(piece, RowRead):
            return self._cited_row(cells_of(claim.said), finding) if finding.supported else _dropped(claim, finding)
        if not isinstance(piece, SentenceRead):
            return _NOTHING
        text = self._tidied(piece.text)
        leads = piece.last and claim.said.endswith(":")
        if finding.supported:
            decision = self._marked(text, finding)
            return replace(decision, kind="lead_in") if leads else decision
        if leads and not finding.reason and finding.contradicted < _SURE:
            return Decision("lead_in", claim.said)  # it stands or falls with what it announces
        return _dropped(claim, finding)

    def _marked(self, text: str, finding: Finding) -> Decision:
        kept = with_markers(text, finding.places)
        added = [n for n in finding.places if f"[{n}]" not in kept]
        if added:
            kept += " " + "".join(f"[{n}]" for n in added)
        return Decision("release", kept, finding.score, finding.places)

    def _orders(self, text: str) -> bool:
        """Prompt injection; it stands only when such things are asked about."""
        return not self._may_instruct and is_instruction(text)

    def _may_title(self, text: str) -> bool:
        if not re.search(r"\w", text) or self._orders(text):
            return False
        return self._shown.vetoes.veto(text) is None and is_title(text, self._shown.known)

    def _tidied(self, raw: str) -> str:
        stands = self._shown.vetoes.stands
        text = normalised(safe(_BOX.sub("", raw.strip()), stands))
        return balanced(outside_code(text, lambda part: _INDEXED.sub(self._indexed, part))).strip()

    def _indexed(self, match: re.Match[str]) -> str:
        """`ranges[0]` is an expression of the passage, not a marker."""
        literal = int(match[1]) not in self._shown and self._shown.vetoes.stands(match.group())
        return f"`{match.group()}`" if literal else match.group()


def _dropped(claim: Claim, finding: Finding) -> Decision:
    reason = finding.reason or ("contradicted" if finding.outcome == "contradicted" else "not stated")
    return Decision("drop", claim.said, finding.score, reason=reason)
