"""Who does what: amounts, predicates and roles that the evidence gives to something else than the claim does."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from citewell.grounding.alignment import Alignment, counterparts
from citewell.grounding.claims import Reading, Word
from citewell.grounding.lexicon import lexicon
from citewell.grounding.quantities import Quantity

_PREDICATE_SHARE: Final = 0.75
_AMOUNT: Final = 3.0
"""What an amount weighs beside a word."""
_SHORT: Final = 8
"""Content words up to which a sentence is taken for one plain statement, whose subject and roles can be told."""
_VERBS: Final = frozenset("is are was were has have had can could do does did will would must may might should".split())
_PARTICIPLE: Final = re.compile(r"(?:ed|en|wn|built|sent|kept|held|made|done|set|put|read|led|fed|met|found|run)$")
_BE: Final = frozenset("is are was were be been being get gets".split())
_SCENES: Final = frozenset("with in on at for before after during by from using under without".split())
_MARGIN: Final = 0.3
_PRONOUNS: Final = frozenset("it its they their them this these which that who he she both".split())
_DIRECTIONS: Final = frozenset("from into to before after".split())
_BEFORE_NOUNS: Final = frozenset("the a an of in on for with by from to its their this these and or".split())
_LINKS: Final = frozenset("and but or while whereas then when that which who also".split())
_LONG_SENTENCE: Final = 24
"""Content words from which a sentence of the evidence has more grammar than its marks can tell."""
_WAY: Final = re.compile(r"\bfrom ((?:[\w-]+ ){1,3}?)to ((?:(?:the|a|an) )?[\w-]+)")
_JOINT: Final = re.compile(r"[,;:]|\b(?:and|but|while|whereas)\b")


@dataclass(frozen=True, slots=True)
class _Part:
    """A clause, or a segment of one: its content words and amounts."""

    sentence: int
    words: tuple[Word, ...]
    amounts: tuple[Quantity, ...]
    pronoun: bool
    """It opens with a word for something named before."""
    states: bool
    """It has a verb that can be told or is left out, an amount, or a name that opens it."""
    borrows: bool
    """It opens with a verb or a preposition: its subject stands in a clause before."""

    @property
    def stems(self) -> set[str]:
        return {w.stem for w in self.words}


def _parts(reading: Reading, sentence: int, *, by_segment: bool) -> list[_Part]:
    groups: dict[int, list[Word]] = {}
    for word in reading.words:
        groups.setdefault(word.segment if by_segment else word.clause, []).append(word)
    found: list[_Part] = []
    for words in groups.values():
        start, end = words[0].start, words[-1].end
        amounts = tuple(q for q in reading.amounts if q.start < end and q.end > start)
        content = tuple(w for w in words if w.weight > 0)
        verb = any(w.text.removesuffix("n't") in _VERBS for w in words)
        states = verb or bool(amounts) or bool(content and content[0].name) or (bool(found) and _gapped(words))
        pronoun = any(w.text in _PRONOUNS for w in words[:2])
        found.append(_Part(sentence, content, amounts, pronoun, states, _borrows(words)))
    return found


def _borrows(words: Sequence[Word]) -> bool:
    opening = next((w for w in words if w.text not in _LINKS), None)
    return opening is not None and (
        opening.text in _VERBS
        or opening.text in _SCENES
        or opening.text in _DIRECTIONS
        or (opening.text.endswith(("ing", "ed")) and not opening.name)
    )


def _gapped(words: Sequence[Word]) -> bool:
    """ "The camera is on the head, the lidar on the back": the second clause leaves the verb to the first."""
    content = [i for i, w in enumerate(words) if w.weight > 0]
    return len(content) == 2 and any(w.text in _SCENES for w in words[content[0] : content[1]])


def misattributed(alignment: Alignment) -> str:
    """What the evidence says of one thing is claimed of another."""
    readings = [(i, r) for i, r in enumerate(alignment.evidence.readings) if len(r.content) <= _LONG_SENTENCE]
    parts = [
        [p for i, r in readings for p in _parts(r, i, by_segment=by_segment) if p.words] for by_segment in (False, True)
    ]
    if not parts[0]:
        return ""
    return (
        foreign_subject(alignment, parts) or mixed(alignment, parts[0]) or misplaced_amount(alignment.claim, parts[0])
    )


def mixed(alignment: Alignment, clauses: Sequence[_Part]) -> str:
    """A plain statement put together from two clauses of one sentence, each of which says more than was taken."""
    if len(alignment.claim.content) > _SHORT:
        return ""
    for claimed in _statements(alignment.claim):
        if len(claimed.words) + len(claimed.amounts) < 2:
            continue
        best = max(clauses, key=lambda p: _shared(claimed.words, claimed.amounts, p))
        if best.pronoun or best.borrows or not _says_more(best, claimed):
            continue
        if not _shared(claimed.words, claimed.amounts, best):
            continue
        lacking = claimed.stems - best.stems
        for other in clauses:
            beside = other is not best and other.sentence == best.sentence
            states = best.states and other.states
            if beside and states and lacking & other.stems and _says_more(other, claimed):
                return f"{min(lacking & other.stems)} is said of something else in evidence"
    return ""


def _statements(claim: Reading) -> list[_Part]:
    """The segments of a claim; one that only sets the scene ("With two cameras, ...") belongs to the next."""
    found: list[_Part] = []
    scene: _Part | None = None
    opening = claim.words[0].text if claim.words else ""
    for i, part in enumerate(_parts(claim, 0, by_segment=True)):
        if scene is not None:
            found.append(replace(part, words=scene.words + part.words, amounts=scene.amounts + part.amounts))
            scene = None
        elif i == 0 and opening in _SCENES:
            scene = part
        else:
            found.append(part)
    return [*found, scene] if scene else found


def _says_more(part: _Part, claimed: _Part) -> bool:
    foreign = any(not any(a.equals(b) for b in claimed.amounts) for a in part.amounts)
    return foreign or bool(part.stems - claimed.stems)


def misplaced_amount(claim: Reading, clauses: Sequence[_Part]) -> str:
    """The amount stands in a clause that has less to do with the claim than one with another amount of the kind."""
    for claimed in _parts(claim, 0, by_segment=False):
        for amount in claimed.amounts:
            if amount.weak or not amount.dimension:
                continue
            own = [p for p in clauses if any(amount.equals(b) for b in p.amounts)]
            kind = [p for p in clauses if any(b.dimension == amount.dimension for b in p.amounts) and p not in own]
            if not own or not kind or any(p.pronoun for p in own):
                continue
            best = max(_shared(claimed.words, (), p) for p in own)
            rival = max(kind, key=lambda p: _shared(claimed.words, (), p))
            if _shared(claimed.words, (), rival) > best + _MARGIN:
                return f"{amount.text} belongs to something else in evidence"
    return ""


def foreign_subject(alignment: Alignment, levels: Sequence[Sequence[_Part]]) -> str:
    """The payload of one arm, claimed of the other arm. Clauses are tried first, then their segments."""
    plain = len(alignment.claim.content) <= _SHORT
    for by_segment, parts in zip((False, True), levels, strict=True):
        for claimed in _parts(alignment.claim, 0, by_segment=by_segment):
            enough = claimed.words and len(claimed.words) + len(claimed.amounts) >= 2
            enough = enough and (plain or bool(claimed.amounts))
            if enough and (found := _taken_from(claimed, parts)):
                return found
    return ""


def _taken_from(claimed: _Part, parts: Sequence[_Part]) -> str:
    """The claim stands in a part with another subject, while its own subject opens a part beside it."""
    heads = 2 if len(claimed.words) > 2 or claimed.amounts else 1
    predicate = [w for i, w in enumerate(claimed.words) if i >= heads and not w.name] or list(claimed.words[heads:])
    scores = [_shared(predicate, claimed.amounts, p) for p in parts]
    top = max(range(len(parts)), key=scores.__getitem__)
    best, stems, opening = parts[top], claimed.stems, parts[top].words[0]
    whole = sum(w.weight for w in predicate) + _AMOUNT * sum(not a.weak for a in claimed.amounts)
    if not whole or scores[top] < _PREDICATE_SHARE * whole or opening.stem in stems:
        return ""
    if not best.states or not _can_be_subject(opening):
        return ""
    for word in claimed.words:
        if word.stem in best.stems or not (word.name or word in claimed.words[:heads]):
            continue
        for other in parts:
            opens = word.stem in {w.stem for w in other.words[:2]}
            near = best.sentence == other.sentence or word.name
            told = (other.states or opening.name) and opening.stem not in other.stems
            if opens and near and told and _beside(best, other, stems):
                return f"{opening.text} in evidence, {word.text} in the claim"
    return ""


def _can_be_subject(word: Word) -> bool:
    return word.name or (
        word.row >= 0 and lexicon().parents[word.row] >= 0 and not word.text.endswith(("ing", "ed", "ly"))
    )


def _shared(words: Iterable[Word], amounts: Sequence[Quantity], part: _Part) -> float:
    held = part.stems
    same = sum(_AMOUNT for a in amounts if not a.weak and any(a.equals(b) for b in part.amounts))
    return same + sum(w.weight for w in words if w.stem in held)


def _beside(one: _Part, other: _Part, claimed: set[str]) -> bool:
    """Parts of one sentence, or of two that speak of the same things."""
    if one is other:
        return False
    kinds = {q.dimension for q in one.amounts} & {q.dimension for q in other.amounts}
    return one.sentence == other.sentence or bool(one.stems & other.stems & claimed or kinds)


def exchanged(alignment: Alignment) -> bool:
    """A faster than B for B faster than A, A controls B for B controls A, from A to B for from B to A."""
    claim, reading = alignment.claim, alignment.evidence.readings[alignment.window[0]]
    pairs = counterparts(alignment)
    if not pairs or len(claim.content) > _SHORT:
        return False
    verbs = [(a, b) for a, b in pairs if a.stem == b.stem and _verb(claim, a) and _verb(reading, b)]
    return (
        any(_exchanged_at(claim, reading, a, b) for a, b in verbs)
        or _turned(claim, reading)
        or _compared(claim, reading)
    )


def _exchanged_at(claim: Reading, evidence: Reading, verb: Word, counterpart: Word) -> bool:
    left, right = _sides(claim, verb)
    left_there, right_there = _sides(evidence, counterpart)
    left, right, left_there, right_there = _told_apart(left, right, left_there, right_there)
    if not left or not left_there:
        return False
    if _passive(claim, verb) != _passive(evidence, counterpart):
        return bool(left <= left_there and right and right & right_there and not left & right_there)
    return not left & left_there and left <= right_there and left_there <= right


def _told_apart(*sides: set[str]) -> tuple[set[str], ...]:
    """Without the words that stand on every side: of "the extrinsic calibration needs the intrinsic calibration"
    only the first word of each tells who needs what."""
    everywhere = set.intersection(*sides)
    return tuple(side - everywhere for side in sides)


def _sides(reading: Reading, pivot: Word) -> tuple[set[str], set[str]]:
    """Content words before the pivot in its clause, and those that follow it up to a comma or a conjunction."""
    before = {w.stem for w in reading.content if w.end <= pivot.start and w.clause == pivot.clause}
    after = [w for w in reading.content if w.start >= pivot.end]
    return before, {w.stem for w in after if not _JOINT.search(reading.text, pivot.end, w.start)}


def _verb(reading: Reading, word: Word) -> bool:
    """Whether a word can be taken for a verb by its form and the word before it."""
    place = next(i for i, w in enumerate(reading.words) if w.start == word.start)
    before = reading.words[place - 1].text if place else ""
    return before in _VERBS or (word.text.endswith(("s", "ed", "en")) and before not in _BEFORE_NOUNS)


def _turned(claim: Reading, evidence: Reading) -> bool:
    """What comes from what, or goes into what."""
    for start, end in _ways(claim):
        if any(start <= end_there and end <= start_there for start_there, end_there in _ways(evidence)):
            return True
    for pivot in (w for w in claim.words if w.text in _DIRECTIONS):
        there = [w for w in evidence.words if w.text == pivot.text]
        if len(there) != 1:
            continue
        left, right = _sides(claim, pivot)
        left_there, right_there = _sides(evidence, there[0])
        left, right, left_there, right_there = _told_apart(left, right, left_there, right_there)
        if right and right_there and not right & right_there and right <= left_there and right_there <= left:
            return True
    return False


def _ways(reading: Reading) -> list[tuple[set[str], set[str]]]:
    """What stands between "from" and "to", and what follows."""
    found = []
    for match in _WAY.finditer(reading.text):
        start = {w.stem for w in reading.content if match.start(1) <= w.start < match.end(1)}
        end = {w.stem for w in reading.content if match.start(2) <= w.start < match.end(2)}
        if start and end and not start & end:
            found.append((start, end))
    return found


def _passive(reading: Reading, verb: Word) -> bool:
    place = next(i for i, w in enumerate(reading.words) if w.start == verb.start)
    before = {w.text.removesuffix("n't") for w in reading.words[max(0, place - 3) : place]}
    after = {w.text for w in reading.words[place + 1 : place + 3]}
    return bool(_PARTICIPLE.search(verb.text)) and (bool(before & _BE) or "by" in after)


def _compared(claim: Reading, evidence: Reading) -> bool:
    """Who is more, in the claim's comparison and in the evidence."""
    than = next((i for i, w in enumerate(claim.words) if w.text == "than"), None)
    if than is None:
        return False
    after = {w.stem for w in claim.words[than + 1 :] if w.weight > 0}
    shared = [w for w in claim.words[:than] if w.weight > 0 and not w.name]
    for quality in reversed(shared):
        there = next((w for w in evidence.words if w.stem == quality.stem), None)
        if there is None:
            continue
        holder = {w.stem for w in claim.content if w.end <= quality.start}
        holder_there = {w.stem for w in evidence.content if w.end <= there.start and w.clause == there.clause}
        if holder and holder_there:
            return bool(holder_there & after) and not holder_there & holder
    return False
