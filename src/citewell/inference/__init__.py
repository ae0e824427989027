"""Inference: the models that ship with Citewell, on the CPU. The one owner of onnxruntime."""

from citewell.inference.larger_model import LargerModel, larger_assets
from citewell.inference.mean_model import MeanModel
from citewell.inference.reading_model import ReadingModel
from citewell.inference.shipped_model import Asked, Encoded
from citewell.inference.support import Support

__all__ = ["Asked", "Encoded", "LargerModel", "MeanModel", "ReadingModel", "Support", "larger_assets"]
