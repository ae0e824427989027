"""The judge: does the evidence support, contradict or not state this sentence? With vetoes, conflicts and checking."""

from citewell.judge.shown import Claim, Finding, Shown, plain
from citewell.judge.trained import Lines, TrainedJudge
from citewell.judge.verdict import Judge, Outcome, Pair, Verdict

__all__ = ["Claim", "Finding", "Judge", "Lines", "Outcome", "Pair", "Shown", "TrainedJudge", "Verdict", "plain"]
