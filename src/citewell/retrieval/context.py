"""What the model reads: found passages joined with their neighbours of the same section, within a budget. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from citewell.models import Passage, ScoredPassage


@dataclass(frozen=True, slots=True)
class Stretch:
    """Passages of one section that follow each other, with the best of them that was found."""

    found: ScoredPassage
    passages: tuple[Passage, ...]
    text: str


def join(passages: Iterable[Passage]) -> str:
    """The text that the passages of a page were cut from. Overlaps stand once, gaps become a blank line."""
    text, end = "", 0
    for passage in sorted(passages, key=lambda p: (p.char_start, p.char_end)):
        if text and passage.char_end <= end:
            continue
        if text and passage.char_start <= end:
            text += passage.text[end - passage.char_start :]
        else:
            text += ("\n\n" if text else "") + passage.text
        end = passage.char_end
    return text


def stretches(
    found: Sequence[ScoredPassage],
    neighbours: Callable[[Passage], Sequence[Passage]],
    count_tokens: Callable[[str], int],
    *,
    token_budget: int,
) -> list[Stretch]:
    """Best first. The found passages come first, then their neighbours in the order of rank, as long as they fit.

    The best passage is always there, so that a small budget does not leave the model with nothing.
    """
    chosen: dict[str, Passage] = {}
    left = token_budget
    for scored in found:
        cost = count_tokens(scored.passage.text)
        if not chosen or cost <= left:
            chosen[scored.passage.id] = scored.passage
            left -= cost
    kept = [scored for scored in found if scored.passage.id in chosen]
    for scored in kept:
        for near in neighbours(scored.passage):
            cost = count_tokens(near.text)
            if near.id not in chosen and cost <= left:
                chosen[near.id] = near
                left -= cost
    return _joined(kept, chosen.values())


def _joined(kept: Sequence[ScoredPassage], chosen: Iterable[Passage]) -> list[Stretch]:
    runs: list[list[Passage]] = []
    for passage in sorted(chosen, key=lambda p: (p.url, p.chunk_index)):
        last = runs[-1][-1] if runs else None
        if last is not None and _follows(last, passage):
            runs[-1].append(passage)
        else:
            runs.append([passage])
    run_of = {passage.id: run for run in runs for passage in run}
    made: list[Stretch] = []
    used: set[int] = set()
    for scored in kept:
        run = run_of[scored.passage.id]
        if id(run) not in used:
            used.add(id(run))
            made.append(Stretch(scored, tuple(run), join(run)))
    return made


def _follows(first: Passage, second: Passage) -> bool:
    same_section = (first.url, first.heading_path) == (second.url, second.heading_path)
    return same_section and second.chunk_index == first.chunk_index + 1
