"""The judge that counts words, behind the seam of `citewell.judge`, until the trained one is better on every row."""

from collections.abc import Sequence

from citewell.grounding.evidence import prepared
from citewell.grounding.support import BuiltinJudge
from citewell.judge import Pair, Verdict


class LexicalJudge:
    at_once = False

    def __init__(self) -> None:
        self._judge = BuiltinJudge()

    def prepare(self, windows: Sequence[str]) -> None:
        for window in windows:
            prepared(window)

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        return [self._verdict(claim, "\n\n".join(windows)) for claim, windows in pairs]

    def _verdict(self, claim: str, evidence: str) -> Verdict:
        found = self._judge.judge(claim, [evidence])
        return Verdict("supported" if found.supported else "not_stated", found.score, 0.0)
