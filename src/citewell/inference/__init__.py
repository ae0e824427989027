"""Inference: the models that ship with Citewell, on the CPU. The one owner of onnxruntime."""

from citewell.inference.judge_model import JudgeModel, ReadEvidence, judge_assets
from citewell.inference.reading_model import Asked, Encoded, ReadingModel
from citewell.inference.support import Support

__all__ = ["Asked", "Encoded", "JudgeModel", "ReadEvidence", "ReadingModel", "Support", "judge_assets"]
