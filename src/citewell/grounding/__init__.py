"""Grounding: every sentence is checked against the passages that were shown. Pure; no I/O, no clock."""

from citewell.grounding.conflicts import Conflict, contradictions
from citewell.grounding.gate import CitationGate
from citewell.grounding.support import BuiltinJudge, Support, SupportJudge

__all__ = ["BuiltinJudge", "CitationGate", "Conflict", "Support", "SupportJudge", "contradictions"]
