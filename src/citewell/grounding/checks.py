"""One piece of model text against the passages shown: a sentence, a heading, a table row or a code block."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from citewell.grounding.claims import read
from citewell.grounding.code import CodeLines
from citewell.grounding.evidence import prepared
from citewell.grounding.frames import claims_nothing, frames
from citewell.grounding.markers import (
    balanced,
    cited_in,
    foreign_code,
    foreign_target,
    normalised,
    outside_code,
    safe,
    with_markers,
    without_markers,
)
from citewell.grounding.support import Support, SupportJudge, plain
from citewell.grounding.tables import table_rows

_BOX: Final = re.compile(r"^\[[ xX]\]\s+")
_INDEXED: Final = re.compile(r"\b[A-Za-z_][\w.]*\[(\d{1,4})\]")
_LABEL: Final = re.compile(r"(\*\*|__)(?:[^\s*_]+ ?){1,8}(?<![.!?])\1:?")
_YES_NO: Final = re.compile(r"^(?:yes|no)\s*[,:;—–-]\s*", re.IGNORECASE)
_WORDS_FOR_A_CLAIM: Final = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """`release`: cited text. `wait`, `lead_in`, `label`: text that claims nothing and stands only with what follows."""

    kind: Literal["release", "wait", "lead_in", "label", "drop", "nothing"]
    text: str = ""
    score: float = 0.0
    numbers: tuple[int, ...] = ()
    reason: str = ""


_EMPTY: Final = Verdict("nothing")


class Checker:
    """Holds what was shown and what of it was used."""

    def __init__(self, judge: SupportJudge) -> None:
        self._judge = judge
        self._shown: dict[int, str] = {}
        self._context: dict[int, str] = {}
        self._collapsed = ""
        self._quotes: dict[int, set[tuple[int, int]]] = {}
        self._said: set[str] = set()
        self._code = CodeLines()

    def show(self, number: int, text: str, heading: str) -> None:
        self._shown[number] = text
        self._context[number] = f"{heading}\n\n" if heading else ""
        self._collapsed += "\n" + _collapsed(f"{heading} {text}")
        self._code.add(number, text)
        prepared(self._context[number] + text)  # while the model is still thinking

    @property
    def cited(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        return {number: tuple(sorted(ranges)) for number, ranges in sorted(self._quotes.items())}

    async def sentence(self, raw: str, *, lead: str = "", ends_block: bool = False, alone: bool = False) -> Verdict:
        """`lead` is the lead-in of the list it stands in; `alone` when it is all of its block."""
        text = self._tidied(raw)
        clean = without_markers(text)
        if not re.search(r"\w", clean):
            return _EMPTY
        if found := foreign_target(clean, self._stands):
            return Verdict("drop", clean, reason=f"address {found} not in evidence")
        if found := foreign_code(clean, self._stands_as_code):
            return Verdict("drop", clean, reason=f"code {found} not in evidence")
        if plain(clean) in self._said:
            return Verdict("drop", clean, reason="said before")
        if claims_nothing(clean, passages=len(self._shown)):
            return Verdict("lead_in" if ends_block and clean.endswith(":") else "wait", clean)
        found_support = self._supported(clean, cited_in(text), lead)
        if ends_block and clean.endswith(":"):
            return self._lead_in(text, clean, found_support)
        if alone and _LABEL.fullmatch(clean) and frames(clean, self._passages()):
            return Verdict("label", clean)
        return self._released(text, clean, found_support)

    def _lead_in(self, text: str, clean: str, found: "_Found") -> Verdict:
        if not found.numbers and frames(clean, self._passages()):
            return Verdict("lead_in", clean)
        verdict = self._released(text, clean, found)
        return Verdict("lead_in", verdict.text) if verdict.kind == "release" else verdict

    def _released(self, text: str, clean: str, found: "_Found") -> Verdict:
        if not found.numbers:
            return Verdict("drop", clean, reason=found.support.reason)
        self._said.add(plain(clean))
        self._note(found)
        kept = with_markers(text, found.numbers)
        added = [n for n in found.numbers if f"[{n}]" not in kept]
        if added:
            kept += " " + "".join(f"[{n}]" for n in added)
        return Verdict("release", kept, found.support.score, found.numbers)

    def heading(self, raw: str) -> str | None:
        """The heading as it may stand, None when it says more than the passages."""
        clean = without_markers(self._tidied(raw))
        if foreign_target(clean, self._stands) or foreign_code(clean, self._stands_as_code):
            return None
        return clean if re.search(r"\w", clean) and frames(clean, self._passages()) else None

    def head_of_table(self, cells: Sequence[str]) -> list[str] | None:
        clean = [without_markers(self._tidied(c)) for c in cells]
        joined = " | ".join(clean)
        if foreign_target(joined, self._stands) or foreign_code(joined, self._stands_as_code):
            return None
        return clean if frames(joined, self._passages()) else None

    async def row(self, head: Sequence[str], cells: Sequence[str]) -> Verdict:
        """A row says: this, under that column. It stands as a row of the evidence, or as a sentence made of it."""
        tidied = [self._tidied(c) for c in cells]
        clean = [without_markers(c) for c in tidied]
        joined = " ".join(clean)
        if not re.search(r"\w", joined):
            return _EMPTY
        if foreign_target(joined, self._stands) or foreign_code(joined, self._stands_as_code):
            return Verdict("drop", joined, reason="address or code not in evidence")
        if plain(" | ".join([*head, *clean])) in self._said:
            return Verdict("drop", joined, reason="said before")
        cited = tuple(n for c in tidied for n in cited_in(c))
        found = self._row_in_tables(head, clean, cited)
        if not found.numbers and found.support.best is None:
            pairs = [f"{h} {c}".strip() for h, c in zip(head[1:], clean[1:], strict=False) if c]
            found = self._supported(", ".join([clean[0], *pairs]), cited, "")
        if not found.numbers:
            return Verdict("drop", joined, reason=found.support.reason)
        self._said.add(plain(" | ".join([*head, *clean])))
        self._note(found)
        clean[-1] = f"{clean[-1]} " + "".join(f"[{n}]" for n in found.numbers)
        return Verdict("release", "| " + " | ".join(clean) + " |", found.support.score, found.numbers)

    def code(self, opening: str, lines: Sequence[str]) -> Verdict:
        kept, ranges = self._code.found(lines)
        if kept is None:
            return Verdict("drop", "\n".join(lines), reason="code not in evidence")
        for number, places in ranges.items():
            self._quotes.setdefault(number, set()).update(places)
        fence = re.match(r"`{3,}|~{3,}", opening)
        mark = fence.group() if fence else "```"
        language = re.match(r"[\w+#.-]*", opening[len(mark) :].strip())
        text = "\n".join([mark + (language.group() if language else ""), *kept, mark])
        return Verdict("release", text, 1.0, tuple(ranges))

    def _tidied(self, raw: str) -> str:
        text = normalised(safe(_BOX.sub("", raw.strip()), self._stands))
        return balanced(outside_code(text, lambda part: _INDEXED.sub(self._indexed, part))).strip()

    def _indexed(self, match: re.Match[str]) -> str:
        """`ranges[0]` is an expression of the passage, not a marker."""
        literal = int(match[1]) not in self._shown and self._stands(match.group())
        return f"`{match.group()}`" if literal else match.group()

    def _passages(self) -> list[str]:
        return [self._context[n] + text for n, text in self._shown.items()]

    def _stands(self, fragment: str) -> bool:
        return _collapsed(fragment) in self._collapsed

    def _stands_as_code(self, fragment: str) -> bool:
        return self._stands(fragment) or (fragment.isalpha() and fragment.lower() in self._collapsed.lower())

    def _note(self, found: "_Found") -> None:
        for number, quote in found.quotes.items():
            self._quotes.setdefault(number, set())
            if quote is not None:
                self._quotes[number].add(quote)

    def _supported(self, clean: str, cited: Sequence[int], lead: str) -> "_Found":
        """Support from the passages cited, else from them together, else from another that was shown."""
        own = [n for n in dict.fromkeys(cited) if n in self._shown]
        verdicts = {n: self._judged(clean, n, lead) for n in own}
        if good := {n: v for n, v in verdicts.items() if v.supported}:
            best = max(good.values(), key=lambda v: v.score)
            return _Found(best, {n: self._quote(n, v, clean) for n, v in good.items()})
        if len(own) > 1 and (together := self._together(clean, own)):
            return together
        others = {n: self._judged(clean, n, lead) for n in self._shown if n not in verdicts}
        if good := {n: v for n, v in others.items() if v.supported}:
            number = max(good, key=lambda n: good[n].score)
            return _Found(good[number], {number: self._quote(number, good[number], clean)})
        worst = max([*verdicts.values(), *others.values()], key=lambda v: v.score, default=None)
        return _Found(worst or Support(0.0, False, reason="no passage was shown"), {})

    def _judged(self, clean: str, number: int, lead: str) -> Support:
        """A fragment is judged under its lead-in: "5 kg" says nothing, "The payload is: 5 kg" does."""
        passage = [self._context[number] + self._shown[number]]
        sentence = _YES_NO.sub("", clean)
        verdict = self._judge.judge(sentence, passage)
        if verdict.supported and verdict.score == 1.0:
            return verdict
        reading = read(sentence)
        if len(reading.content) + len(reading.amounts) >= _WORDS_FOR_A_CLAIM:
            return verdict
        if lead and (led := self._judge.judge(f"{lead.rstrip(': ')} {sentence}", passage)).supported:
            return led
        return Support(
            verdict.score, False, verdict.best, verdict.quote, verdict.reason or "a fragment, not a sentence"
        )

    def _together(self, clean: str, numbers: Sequence[int]) -> "_Found | None":
        joined = "\n\n".join(self._shown[n] for n in numbers)
        verdict = self._judge.judge(clean, [joined])
        if not verdict.supported:
            return None
        quotes: dict[int, tuple[int, int] | None] = {}
        start = 0
        for number in numbers:
            end = start + len(self._shown[number])
            inside = verdict.quote and start <= verdict.quote[0] and verdict.quote[1] <= end
            quotes[number] = (verdict.quote[0] - start, verdict.quote[1] - start) if inside and verdict.quote else None
            start = end + 2
        return _Found(verdict, quotes)

    def _quote(self, number: int, verdict: Support, clean: str) -> tuple[int, int] | None:
        if verdict.quote is None:
            return None
        shift = len(self._context[number])
        start, end = verdict.quote[0] - shift, verdict.quote[1] - shift
        # The heading says most of it; what is quoted is the passage.
        return (start, end) if start >= 0 else self._judge.judge(clean, [self._shown[number]]).quote

    def _row_in_tables(self, head: Sequence[str], cells: Sequence[str], cited: Sequence[int]) -> "_Found":
        """The row as it stands in a table of a passage, each cell under the same column.

        A table that has a row of that name under these columns is the last word: other cells are wrong.
        """
        wanted = {plain(h): plain(c) for h, c in zip(head, cells, strict=False)}
        known = False
        for number in [*(n for n in cited if n in self._shown), *self._shown]:
            for row in table_rows(self._shown[number]):
                same = row.head and wanted.items() <= row.cells.items() and len(wanted) == len(cells)
                if same or (not any(head) and [plain(c) for c in cells] == list(row.cells.values())):
                    support = Support(1.0, True, 0, (row.start, row.end), "word for word")
                    return _Found(support, {number: (row.start, row.end)})
                name, *others = wanted
                known |= row.cells.get(name) == wanted[name] and any(o in row.cells for o in others)
        return _Found(Support(0.0, False, 0 if known else None, reason="the evidence's table has other cells"), {})


@dataclass(frozen=True, slots=True)
class _Found:
    support: Support
    quotes: Mapping[int, tuple[int, int] | None]

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(self.quotes)


def _collapsed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
