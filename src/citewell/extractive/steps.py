"""Numbered steps with the code between them, put together again where they go on in another passage. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from citewell.extractive.pieces import Piece

_STEP_LIMIT = 12


@dataclass(frozen=True, slots=True)
class _Run:
    """Numbered steps of one passage with the code between them."""

    members: tuple[int, ...]
    passage: int
    first: int
    last: int
    to_end: bool
    """Nothing but the run stands between its start and the end of its passage."""


class Steps:
    def __init__(self, pieces: Sequence[Piece], section_of: Callable[[int], tuple[str, tuple[str, ...]]]) -> None:
        """`section_of` tells of a piece, by its index, where it stands: title and headings."""
        self._pieces = pieces
        self._section_of = section_of

    def chains(self) -> list[list[int]]:
        """The steps that each run of them belongs to, as indices of pieces."""
        runs = self._runs()
        return [self._chain(run, runs) for run in runs]

    def _runs(self) -> list[_Run]:
        runs: list[_Run] = []
        index = 0
        while index < len(self._pieces):
            if not step_number(self._pieces[index]):
                index += 1
                continue
            members = [index]
            at = index + 1
            while at < len(self._pieces) and self._goes_on(members, at):
                members.append(at)
                at += 1
            numbers = [n for i in members if (n := step_number(self._pieces[i]))]
            passage = self._pieces[index].passage
            to_end = at >= len(self._pieces) or self._pieces[at].passage != passage
            if len(numbers) > 1 or numbers[0] > 1 or to_end:
                runs.append(_Run(tuple(members), passage, numbers[0], numbers[-1], to_end))
            index = at
        return runs

    def _goes_on(self, members: Sequence[int], at: int) -> bool:
        piece = self._pieces[at]
        if piece.passage != self._pieces[members[0]].passage or piece.kind not in ("item", "code"):
            return False
        number = step_number(piece)
        return not number or number > max(step_number(self._pieces[i]) for i in members)

    def _chain(self, run: _Run, runs: Sequence[_Run]) -> list[int]:
        """A run with those before and after it in the same section, joined by their numbers."""
        section = self._section_of(run.members[0])
        same = [r for r in runs if self._section_of(r.members[0]) == section and r.passage != run.passage]
        chain = [run]
        while before := next((r for r in same if _leads_to(r, chain[0])), None):
            chain.insert(0, before)
        while after := next((r for r in same if _leads_to(chain[-1], r)), None):
            chain.append(after)
        members: list[int] = []
        for nth, part in enumerate(chain):
            # Passages may overlap by a step: it is taken from the later one, which has its code too.
            doubled = [i for i in members if step_number(self._pieces[i]) == part.first]
            if doubled:
                members = members[: members.index(doubled[0])]
            elif nth and chain[nth - 1].to_end:
                members += self._opening_code(part)
            members += part.members
        return self._cut(members)

    def _opening_code(self, run: _Run) -> list[int]:
        """Code at the start of a passage that belongs to the last step of the passage before."""
        start = run.members[0]
        while start > 0 and self._pieces[start - 1].passage == run.passage and self._pieces[start - 1].kind == "code":
            start -= 1
        return list(range(start, run.members[0]))

    def _cut(self, members: list[int]) -> list[int]:
        steps = 0
        for place, index in enumerate(members):
            steps += bool(step_number(self._pieces[index]))
            if steps > _STEP_LIMIT:
                return members[:place]
        return members


def _leads_to(run: _Run, other: _Run) -> bool:
    """Whether `other` goes on where `run` ends, perhaps with the last step said again."""
    return run.first < other.first and run.last in (other.first - 1, other.first) and run.last < other.last


def step_number(piece: Piece) -> int:
    """The number of a step; 0 for anything else."""
    return int(piece.sign[:-1]) if piece.sign[:1].isdigit() else 0
