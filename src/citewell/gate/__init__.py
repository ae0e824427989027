"""The gate: text in pieces, each checked against what was shown, released as well-formed Markdown."""

from citewell.gate.citation_gate import CitationGate

__all__ = ["CitationGate"]
