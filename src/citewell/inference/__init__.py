"""Inference: the models that ship with Citewell, on the CPU. The one owner of onnxruntime."""

from citewell.inference.reading_model import Asked, Encoded, ReadingModel, Support

__all__ = ["Asked", "Encoded", "ReadingModel", "Support"]
