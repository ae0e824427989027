"""What the model reads: found passages joined with their neighbours of the same section, within a budget. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from citewell.models import Passage, ScoredPassage
from citewell.text import BlockKind, blocks

_HEADS: dict[BlockKind, int] = {"code": 1, "table": 2}
"""The lines that splitting repeats at the head of each part."""


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


def page_text(passages: Iterable[Passage]) -> str:
    """A page put together again from its passages, under its headings, each with its anchor as Docusaurus writes it."""
    parts: list[str] = []
    shown: tuple[str, ...] = ()
    ordered = sorted(passages, key=lambda p: p.chunk_index)
    for (path, anchor), section in groupby(ordered, key=lambda p: (p.heading_path, p.anchor)):
        shared = 0
        while shared < min(len(path), len(shown)) - (path == shown) and path[shared] == shown[shared]:
            shared += 1
        for depth in range(shared, len(path)):
            own = f" {{#{anchor}}}" if anchor and depth == len(path) - 1 else ""
            parts.append(f"{'#' * min(depth + 2, 6)} {path[depth]}{own}")
        parts.append(join(_with_whole_blocks(section)))
        shown = path
    return "\n\n".join(parts)


def _with_whole_blocks(passages: Iterable[Passage]) -> list[Passage]:
    """Code and tables that splitting made into several, each under the same first lines, are one again."""
    whole: list[Passage] = []
    for passage in passages:
        before = whole[-1] if whole else None
        rest = _rest_of_block(before.text, passage.text) if before and _beside(before, passage) else None
        if before is None or rest is None:
            whole.append(passage)
        else:
            whole[-1] = replace(
                before, text=before.text.removesuffix(_closing(before.text)) + rest, char_end=passage.char_end
            )
    return whole


def _beside(one: Passage, other: Passage) -> bool:
    return other.char_start == one.char_end + len("\n\n")


def _rest_of_block(one: str, other: str) -> str | None:
    """What `other` adds to the block that `one` ends with; None when it begins another."""
    last, first = blocks(one)[-1:], blocks(other)[:1]
    if not last or not first or last[0].kind != first[0].kind or last[0].kind not in _HEADS:
        return None
    lines = _HEADS[first[0].kind]
    begun, added = one[last[0].start : last[0].end].split("\n"), other.split("\n")
    return "\n" + "\n".join(added[lines:]) if begun[:lines] == added[:lines] else None


def _closing(text: str) -> str:
    """The line that ends a block of code, with the line break before it; a table has none."""
    return text[text.rindex("\n") :] if blocks(text)[-1].kind == "code" and "\n" in text else ""


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
