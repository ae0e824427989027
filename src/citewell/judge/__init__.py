"""The judge: does the evidence support, contradict or not state this sentence? With vetoes, conflicts and checking."""

from citewell.judge.checking import MAX_CHECKED, Checked, CheckedSentence, check, check_with, checkable, passage_of
from citewell.judge.claims import Claim, claim_of, refers_back, without_emphasis
from citewell.judge.conflicts import Conflict, Conflicts, Statement
from citewell.judge.quotes import plain
from citewell.judge.shown import Finding, Shown
from citewell.judge.trained import Lines, TrainedJudge
from citewell.judge.verdict import Judge, Outcome, Pair, Verdict

__all__ = [
    "MAX_CHECKED",
    "Checked",
    "CheckedSentence",
    "Claim",
    "Conflict",
    "Conflicts",
    "Finding",
    "Judge",
    "Lines",
    "Outcome",
    "Pair",
    "Shown",
    "Statement",
    "TrainedJudge",
    "Verdict",
    "check",
    "check_with",
    "checkable",
    "claim_of",
    "passage_of",
    "plain",
    "refers_back",
    "without_emphasis",
]
