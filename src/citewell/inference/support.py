"""Entailment in numbers: what a model says of a claim and its evidence. A value."""

from dataclasses import astuple, dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Support:
    """How likely it is that the evidence supports the claim, contradicts it or does not state it."""

    supported: float
    contradicted: float
    not_stated: float

    @classmethod
    def of_logits(cls, logits: NDArray[np.float32]) -> Self:
        shares = np.exp(logits.astype(np.float64) - logits.max())
        return cls(*(shares / shares.sum()).tolist())

    def mean(self, other: Self, share: float) -> Self:
        """Of both, in which `other` has this share."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return type(self)(*((1 - share) * a + share * b for a, b in pairs))
