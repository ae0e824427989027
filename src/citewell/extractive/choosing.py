"""Which pieces make up the answer, for each kind of question. Works on indices into a reading, in reading order."""

from collections.abc import Iterable, Sequence

from citewell.extractive.forms import breaks_off, dangling, enumerates, points_below
from citewell.extractive.reading import Reading
from citewell.extractive.signals import leads, share_of
from citewell.extractive.steps import Steps, step_number

_LIST_LIMIT = 8
_FURTHER = 0.85
"""Share of the best score that a further sentence must reach, among several passages."""
_SAME_WORD = 0.5
_NEAR = 0.65
"""The same within the passage of the best one."""
_FURTHER_IN_ONE = 0.05
"""The same where one passage is all there is: a selection is short, and its second sentence seldom far off."""


class Chooser:
    def __init__(self, reading: Reading, limit: int) -> None:
        """`limit`: at most so many sentences of prose."""
        self._reading = reading
        self._pieces = [s.piece for s in reading.scored]
        self._score = [s.score for s in reading.scored]
        self._leads = leads(self._pieces)
        self._ranked = sorted((i for i, s in enumerate(self._score) if s > 0), key=lambda i: -self._score[i])
        self._limit = limit

    def choose(self) -> list[int]:
        """The chosen pieces in the order in which they are shown; empty when nothing scores."""
        chosen = self._chosen()
        whole: list[int] = []
        for index in chosen:
            if index not in whole:
                whole += [index, *(i for i in self._rest_of_code(index) if i not in chosen)]
        return whole

    def _chosen(self) -> list[int]:
        if not self._ranked:
            return []
        inquiry = self._reading.inquiry
        if inquiry.kind == "procedure":
            return self._steps() or self._instructions()
        if inquiry.kind == "comparison" and (sides := self._sides()):
            return self._ordered(sides)
        if len(self._reading.passages) == 1:
            return self._ordered(self._two())
        if inquiry.kind in ("definition", "reason") or inquiry.subject:
            return self._ordered(self._explanation())
        return self._ordered(self._facts())

    # Order and extent

    def _ordered(self, chosen: Iterable[int]) -> list[int]:
        """Reading order; the passage of the piece chosen first comes first."""
        unique = list(dict.fromkeys(chosen))
        rank: dict[int, int] = {}
        for index in unique:
            rank.setdefault(self._pieces[index].passage, len(rank))
        return sorted(unique, key=lambda i: (rank[self._pieces[i].passage], i))

    def _prose(self, chosen: Iterable[int]) -> int:
        return sum(self._pieces[i].kind == "sentence" for i in chosen)

    def _beside(self, one: int, other: int) -> bool:
        """Whether two pieces stand in the same paragraph or list item."""
        a, b = self._pieces[one], self._pieces[other]
        return a.passage == b.passage and a.block == b.block

    def _whole(self, index: int) -> list[int]:
        """A piece with what it needs to be understood; the piece itself first."""
        piece = self._pieces[index]
        lead = self._leads[index]
        announced = lead >= 0 and self._pieces[lead].kind == "sentence" and self._pieces[lead].text.endswith(":")
        match piece.kind:
            case "code":
                return [index, *self._announcement(index)]
            case "row":
                several = self._reading.inquiry.plural or self._reading.inquiry.kind == "comparison"
                rows = self._block(index) if several else [index]
                return [*rows, *([lead] if announced or self._introduces(lead, index) else [])]
            case "item":
                items = self._list(index) if self._reading.inquiry.plural or announced else self._item(index)
                return [*items, *([lead] if announced else [])]
            case _:
                return self._sentence(index)

    def _introduces(self, lead: int, row: int) -> bool:
        """Whether the sentence before a table is worth quoting with the row."""
        return lead >= 0 and self._pieces[lead].kind == "sentence" and self._score[lead] >= 0.7 * self._score[row]

    def _sentence(self, index: int) -> list[int]:
        chosen = [index]
        if self._is_open(index):
            chosen += self._what_follows(index)
        back = index
        while dangling(self._pieces[back].text) and back > 0 and self._beside(back - 1, index):
            if len(chosen) >= self._limit:
                break
            back -= 1
            chosen.append(back)
        return chosen

    def _is_open(self, index: int) -> bool:
        """Whether a sentence waits for what comes after it: a list, a formula, code."""
        text = self._pieces[index].text
        beside = index + 1 < len(self._pieces) and self._pieces[index + 1].passage == self._pieces[index].passage
        following = self._pieces[index + 1].kind if beside else ""
        return (
            text.endswith((":", ","))
            or (following == "formula" and text[-1:] not in ".!?")
            or (following == "code" and points_below(text))
        )

    def _announcement(self, code: int) -> list[int]:
        """The text that a code block belongs to; when its passage has none, the best sentence of the same section."""
        lead = self._leads[code]
        while lead >= 0 and self._pieces[lead].kind in ("heading", "code"):
            lead = self._leads[lead]
        if lead >= 0 and self._pieces[lead].kind in ("sentence", "item"):
            return [lead]
        home, passage = self._section(code), self._pieces[code].passage
        same = [i for i in self._ranked if self._section(i) == home and self._pieces[i].passage != passage]
        same = [i for i in same if self._pieces[i].kind == "sentence" and not self._is_open(i)]
        return [i for i in same if not dangling(self._pieces[i].text)][:1]

    def _section(self, index: int) -> tuple[str, tuple[str, ...]]:
        passage = self._reading.passages[self._pieces[index].passage]
        return passage.title, passage.heading_path

    def _rest_of_code(self, index: int) -> list[int]:
        """Where a block of code is too long for one passage, the parts of it that the next passages begin with."""
        rest: list[int] = []
        at = index
        while self._pieces[at].kind == "code" and breaks_off(self._pieces[at].text) and at + 1 < len(self._pieces):
            after = self._pieces[at + 1]
            if after.kind != "code" or after.passage == self._pieces[at].passage:
                break
            if self._section(at + 1) != self._section(at):
                break
            at += 1
            rest.append(at)
        return rest

    def _item(self, index: int) -> list[int]:
        """All sentences of a list item, and the short code block right after it."""
        whole = [i for i in self._near(index) if self._beside(i, index)]
        after = whole[-1] + 1
        if self._pieces[index].sign[:1].isdigit() and after < len(self._pieces):
            code = self._pieces[after]
            short = code.kind == "code" and code.text.count("\n") <= 10
            whole += [after] if short and code.passage == self._pieces[index].passage else []
        return [index, *(i for i in whole if i != index)]

    def _list(self, index: int) -> list[int]:
        """All items of the list, if it is short; else the one item."""
        found = [i for i in self._near(index) if self._pieces[i].kind in ("item", "code")]
        short = sum(bool(self._pieces[i].sign) for i in found) <= _LIST_LIMIT
        return [index, *(i for i in found if i != index)] if short else self._item(index)

    def _block(self, index: int) -> list[int]:
        """All rows of the table, if it is short."""
        rows = [i for i in self._near(index) if self._beside(i, index)]
        return [index, *(i for i in rows if i != index)] if len(rows) <= _LIST_LIMIT else [index]

    def _near(self, index: int) -> list[int]:
        """The run of list items, rows or code around a piece."""
        kinds = ("row",) if self._pieces[index].kind == "row" else ("item", "code")
        first = last = index
        passage = self._pieces[index].passage
        while first > 0 and self._pieces[first - 1].passage == passage and self._pieces[first - 1].kind in kinds:
            first -= 1
        end = len(self._pieces)
        while last + 1 < end and self._pieces[last + 1].passage == passage and self._pieces[last + 1].kind in kinds:
            last += 1
        return list(range(first, last + 1))

    def _what_follows(self, index: int) -> list[int]:
        """What a sentence announces: the formula, the code block, the list or the table right after it."""
        after = index + 1
        if after >= len(self._pieces) or self._pieces[after].passage != self._pieces[index].passage:
            return []
        match self._pieces[after].kind:
            case "formula" | "code":
                return [after]
            case "item" | "row":
                return self._near(after)[:_LIST_LIMIT]
            case _:
                return []

    # Kinds of questions

    def _facts(self) -> list[int]:
        best = self._ranked[0]
        chosen = self._whole(best)
        most = min(self._limit, 2)
        for index in self._ranked[1:6]:
            near = self._pieces[index].passage == self._pieces[best].passage and self._pieces[best].kind != "row"
            if self._prose(chosen) >= most or self._score[index] < (_NEAR if near else _FURTHER) * self._score[best]:
                break
            if index not in chosen and self._may_follow(index, chosen):
                chosen.append(index)
        return chosen + self._series(chosen)

    def _two(self) -> list[int]:
        """From a selection: the best sentence and one more, rather not one that leans on a sentence left out."""
        best = self._ranked[0]
        chosen = self._whole(best)
        if self._pieces[best].kind != "sentence" or len(chosen) > 1 or self._limit < 2:
            return chosen
        others = [i for i in self._ranked[1:] if self._pieces[i].kind == "sentence"]
        second = max(others, key=lambda i: self._score[i] * self._fit(i, best), default=-1)
        if second >= 0 and self._score[second] >= _FURTHER_IN_ONE * self._score[best]:
            chosen.append(second)
            if self._is_open(second):
                chosen += self._what_follows(second)
        return chosen

    def _fit(self, index: int, best: int) -> float:
        return 0.85 if index != best + 1 and dangling(self._pieces[index].text) else 1.0

    def _series(self, chosen: Sequence[int]) -> list[int]:
        """For a question after several things: the best sentence that lists some, when none of the chosen does."""
        if not self._reading.inquiry.plural or any(
            self._pieces[i].kind != "sentence" or self._lists_them(i) for i in chosen
        ):
            return []
        least = 0.3 * self._score[self._ranked[0]]
        lists = [i for i in self._ranked[:8] if self._lists_them(i) and self._score[i] >= least]
        lists = [i for i in lists if self._may_follow(i, chosen)]
        close = [i for i in lists if self._score[i] >= 0.7 * self._score[lists[0]]]
        return sorted(i for i in close if self._pieces[i].passage == self._pieces[lists[0]].passage)[:1]

    def _lists_them(self, index: int) -> bool:
        """Whether a sentence lists several things, and those that are asked after, which are named first."""
        return enumerates(self._pieces[index].text) and self._reading.scored[index].row.held[0] >= _SAME_WORD

    def _may_follow(self, index: int, chosen: Sequence[int]) -> bool:
        """Whether a piece can be shown beside the chosen ones without its own surroundings."""
        piece = self._pieces[index]
        if piece.kind == "row":
            return (self._beside(index, chosen[0]) or self._leads[index] in chosen) and self._stands_out(index)
        if piece.kind != "sentence" or piece.text.endswith(":") or self._is_open(index):
            return False
        return not dangling(piece.text) or (index - 1 in chosen and self._beside(index - 1, index))

    def _stands_out(self, row: int) -> bool:
        """Whether no other row of the table meets the question about as well: else the words do not tell which."""
        rivals = [i for i in self._near(row) if i != row and self._beside(i, row)]
        return all(self._score[i] < 0.9 * self._score[row] for i in rivals)

    def _explanation(self) -> list[int]:
        """The best sentence with the fittest around it in its paragraph; then rows and others that come close."""
        best = self._ranked[0]
        chosen = self._whole(best)
        most = min(3, self._limit)
        if self._pieces[best].kind == "sentence" and len(chosen) == 1:
            chosen = [best, *(i for i in self._stretch(best, most) if i != best)]
            for index in list(chosen):
                if self._is_open(index):
                    chosen += [i for i in self._what_follows(index) if i not in chosen]
        for index in self._ranked[1:6]:
            row = self._pieces[index].kind == "row"
            if self._score[index] < (0.5 if row else _FURTHER) * self._score[best]:
                break
            if index not in chosen and self._may_follow(index, chosen) and (row or self._prose(chosen) < most):
                chosen.append(index)
        return chosen

    def _stretch(self, best: int, most: int) -> list[int]:
        """Up to `most` neighbouring sentences of the paragraph, the best one among them, with the highest scores."""
        options = []
        for first in range(best - most + 1, best + 1):
            if (
                first < 0
                or not self._beside(first, best)
                or (first < best and self._score[first] < 0.3 * self._score[best])
            ):
                continue
            run = [i for i in range(first, min(first + most, len(self._pieces))) if self._beside(i, best)]
            if best in run and not dangling(self._pieces[first].text):
                options.append((sum(self._score[i] for i in run) + 0.1 * self._score[best] * (first == best), run))
        return max(options, key=lambda o: o[0])[1] if options else [best]

    def _sides(self) -> list[int]:
        """A sentence for each side, and before them one that speaks of both."""
        sides = self._reading.inquiry.sides
        if len(sides) != 2:
            return []
        chosen: list[int] = []
        top = self._score[self._ranked[0]]
        both = [i for i in self._ranked if all(self._holds(i, side) for side in sides)]
        if both and self._score[both[0]] >= 0.5 * top:
            chosen += self._whole(both[0])
        for side, other in (sides, sides[::-1]):
            own = [i for i in self._ranked if self._holds(i, side) and not self._holds(i, other)]
            own = [i for i in own if self._pieces[i].kind != "code" and not dangling(self._pieces[i].text)]
            if own and self._score[own[0]] >= 0.2 * top:
                chosen += self._whole(own[0])
        return chosen

    def _holds(self, index: int, side: Sequence[str]) -> bool:
        terms = self._reading.inquiry.terms
        held = self._reading.scored[index].row.held
        known = [h for h, term in zip(held, terms, strict=True) if term.stem in side]
        return bool(known) and all(h >= 0.8 for h in known)

    # How to

    def _steps(self) -> list[int]:
        """The numbered steps that meet the question best, with their code, also where they go on in another passage."""
        chains = Steps(self._pieces, self._section).chains()
        if not chains:
            return []
        best = max(chains, key=self._worth)
        rivals = [i for i in self._ranked[:5] if i not in best and self._score[i] >= 0.6 * self._score[self._ranked[0]]]
        rival = max((self._worth([i]) for i in rivals), default=0.0)
        if self._worth(best) < max(0.35, rival - 0.2):
            return []
        lead = self._leads[best[0]]
        announced = lead >= 0 and self._pieces[lead].kind == "sentence" and self._pieces[lead].text.endswith(":")
        return [*([lead] if announced else []), *best]

    def unfinished(self) -> tuple[int, ...]:
        """Numbers of the passages whose steps or code begin before them or go on after them."""
        last = self.choose()[-1:]
        cut = [i for i in last if self._pieces[i].kind == "code" and breaks_off(self._pieces[i].text)]
        code = tuple(self._reading.passages[self._pieces[i].passage].number for i in cut)
        return tuple(dict.fromkeys((*self._unfinished_steps(), *code)))

    def _unfinished_steps(self) -> tuple[int, ...]:
        if self._reading.inquiry.kind != "procedure" or not self._ranked or not (steps := self._steps()):
            return ()
        first = next(i for i in steps if step_number(self._pieces[i]))
        ends = [first] if step_number(self._pieces[first]) > 1 else []
        if steps[-1] + 1 == len(self._pieces) or self._pieces[steps[-1] + 1].passage != self._pieces[steps[-1]].passage:
            ends.append(steps[-1])
        return tuple(dict.fromkeys(self._reading.passages[self._pieces[i].passage].number for i in ends))

    def _worth(self, members: Sequence[int]) -> float:
        """How well some pieces together with their headings meet the question."""
        inquiry = self._reading.inquiry
        rows = [self._reading.scored[i].row for i in members]
        weights = [t.weight for t in inquiry.terms]
        together = [max(column) for column in zip(*(row.held for row in rows), strict=True)]
        single = max(share_of(row.held, weights) for row in rows)
        passage = self._pieces[members[0]].passage
        headed = share_of(self._reading.headed[passage], weights)
        cosine = self._reading.passages[passage].score - max(p.score for p in self._reading.passages)
        return 0.5 * share_of(together, weights) + 0.5 * single + 0.5 * headed + cosine

    def _instructions(self) -> list[int]:
        """No numbered steps: the best sentences, with the code block that follows the best one."""
        best = max(self._ranked[:5], key=lambda i: self._worth([i]))
        self._ranked = [best, *(i for i in self._ranked if i != best)]
        if self._pieces[best].kind == "code":
            return [*self._announcement(best), best]
        chosen = self._whole(best) if self._pieces[best].kind == "item" else self._explanation()
        if self._pieces[best].kind == "sentence":
            at = best + 1
            while at < len(self._pieces) and self._beside(at, best):
                at += 1
            if at < len(self._pieces) and self._pieces[at].kind == "code" and self._leads[at] >= best:
                chosen += [i for i in range(best + 1, at + 1) if i not in chosen]
        return self._ordered(chosen)


def unfinished(reading: Reading) -> tuple[int, ...]:
    """Numbers of the passages whose steps or code begin before them or go on after them: with their neighbours, the
    answer is whole."""
    return Chooser(reading, 4).unfinished()
