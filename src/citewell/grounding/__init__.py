"""Support and conflicts by counting words. Pure; no I/O, no clock."""

from citewell.grounding.conflicts import Conflict, contradictions
from citewell.grounding.lexical import LexicalJudge

__all__ = ["Conflict", "LexicalJudge", "contradictions"]
