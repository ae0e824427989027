"""Released pieces put together as well-formed Markdown: list numbers, table heads, headings and lead-ins that wait."""

from dataclasses import dataclass, field

from citewell.gate.pieces import BlockKind, Place


@dataclass(slots=True)
class _Waiting:
    """Text that is released only when something follows it."""

    text: str
    place: Place
    heading: int = 0
    """Its level; 0 for lead-ins and empty sentences."""
    lead_in: bool = False
    block_only: bool = False
    """It goes with the block that it stands in."""
    group: BlockKind | None = None
    """The kind of the blocks that a lead-in introduces, known when the first begins."""


@dataclass(slots=True)
class Layout:
    _written: list[str] = field(default_factory=list)
    _taken: int = 0
    _place: Place = field(default_factory=lambda: Place("paragraph"))
    _waiting: list[_Waiting] = field(default_factory=list)
    _open: list[Place] = field(default_factory=list)
    """The item that is being written and those around it, in the model's text."""
    _counts: list[int] = field(default_factory=list)
    _widths: list[int] = field(default_factory=list)
    _last: Place | None = None
    _broken: bool = False
    """Text stands between the last item and what follows."""
    _head: str = ""
    """Header and delimiter of a table that has no row yet."""

    @property
    def text(self) -> str:
        return "".join(self._written)

    def taken(self) -> str:
        """What was written since this was asked last."""
        fresh = "".join(self._written[self._taken :])
        self._taken = len(self._written)
        return fresh

    def begin(self, place: Place) -> None:
        """A new block begins; lead-ins that got nothing of their kind are forgotten."""
        self._place = place
        self._waiting = [w for w in self._waiting if not self._stale(w, place)]
        if place.kind == "item":
            self._open = [p for p in self._open if p.indent < place.indent]
            self._open.append(place)
        elif place.indent == 0:
            self._open = []

    def _stale(self, waiting: _Waiting, place: Place) -> bool:
        if waiting.block_only or not waiting.lead_in:
            return waiting.block_only
        if waiting.place.kind == "item" and place.indent <= waiting.place.indent:
            return True
        if waiting.group is None:
            waiting.group = place.kind
            return False
        inside = place.indent > 0 and waiting.group == "item"
        return waiting.group == "paragraph" or (place.kind != waiting.group and not inside)

    def heading(self, level: int, text: str) -> None:
        self._place = Place("paragraph", blank_before=True)
        self._open, self._counts, self._widths = [], [], []
        self._waiting = [
            w for w in self._waiting if not (w.lead_in or w.block_only) and (not w.heading or w.heading < level)
        ]
        if text:
            self._waiting.append(_Waiting(text, self._place, heading=level))

    def wait(self, text: str, *, lead_in: bool = False, block_only: bool = False) -> None:
        """Keep text until something follows it: a lead-in, something of its own; `block_only`, in its block."""
        self._waiting.append(_Waiting(text, self._place, lead_in=lead_in, block_only=block_only))

    def table_head(self, head: str) -> None:
        self._head = head

    def end_table(self) -> None:
        self._head = ""

    def release(self, text: str) -> None:
        waiting, self._waiting = self._waiting, []
        for held in waiting:
            self._write(held.text, held.place)
        if self._head:
            self._write(self._head, Place("row", blank_before=True))
            self._head = ""
        self._write(text, self._place)

    def finish(self) -> None:
        """Empty sentences at the end stay if something stands before them; the rest goes."""
        for held in self._waiting:
            if self._written and not (held.lead_in or held.heading or held.block_only):
                self._write(held.text, held.place)
        self._waiting = []

    def _write(self, text: str, place: Place) -> None:
        if place.written:
            self._written.append(" " + text if place.kind != "row" else "\n" + text)
            return
        place.written = True
        separator = self._separator(place)
        indent = self._indent(place)
        lines = text.split("\n")
        if place.kind == "item":
            prefix = self._prefix(place)
            body = ("\n" + " " * (indent + len(prefix))).join(line.strip() for line in lines)
            self._written.append(separator + " " * indent + prefix + body)
        else:
            self._written.append(separator + "\n".join(" " * indent + line if line else line for line in lines))
        self._last = place
        self._broken = (not indent and place.kind != "item") or (self._broken and place.kind != "item")

    def _separator(self, place: Place) -> str:
        if not self._written:
            return ""
        last = self._last
        if last is not None and last.kind == place.kind == "row":
            return "\n"
        if last is not None and place.kind == "item" and not place.blank_before:
            return "\n"
        if last is not None and last.kind == "item" and place.kind == "code" and not place.blank_before:
            return "\n"
        return "\n\n"

    def _depth(self, place: Place) -> int:
        return sum(1 for p in self._open if p.written and p is not place and p.indent < place.indent)

    def _indent(self, place: Place) -> int:
        if place.kind == "item" or place.indent:
            return sum(self._widths[: self._depth(place)])
        return 0

    def _prefix(self, place: Place) -> str:
        depth = self._depth(place)
        if self._broken and place.number <= 1:
            self._counts = []
        del self._counts[depth + 1 :], self._widths[depth:]
        self._counts += [0] * (depth + 1 - len(self._counts))
        self._counts[depth] += place.ordered
        prefix = f"{self._counts[depth]}. " if place.ordered else "- "
        self._widths.append(len(prefix))
        return prefix
