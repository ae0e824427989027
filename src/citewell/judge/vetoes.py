"""Vetoes: what can be told exactly, no judge is asked: numbers, code, addresses, orders to a model.

Each looks at all that was shown. What a number belongs to, names, negation and "only" are the judge's business.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal

from citewell.document import code_spans
from citewell.instructions import is_instruction
from citewell.judge.quantities import Amounts, quantities

Veto = Literal["number", "code", "address", "order"]
_TARGET: Final = re.compile(
    r"(?:https?://|ftp://|www\.|mailto:|javascript:|vbscript:|data:[a-z]+/)[^\s<>\"'`]*", re.IGNORECASE
)
_IDENTIFIER: Final = re.compile(r"(?<![\w/.-])(?:--[a-z][\w-]+|[A-Za-z]\w*(?:_\w+|(?:\.[A-Za-z_]\w*)*\(\)))(?![\w/])")


class Vetoes:
    """What was shown, gathered for exact comparison."""

    def __init__(self, skip: frozenset[Veto] = frozenset()) -> None:
        self._skip = skip
        self._amounts = Amounts()
        self._text = ""
        self._lowered = ""
        self._looks: Mapping[Veto, Callable[[str], str | None]] = {
            "order": self._order,
            "address": self._foreign_address,
            "code": self._foreign_code,
            "number": self._foreign_number,
        }

    def show(self, text: str) -> None:
        self._amounts.add(quantities(text))
        self._text += "\n" + _collapsed(text)
        self._lowered = self._text.lower()

    def stands(self, fragment: str) -> bool:
        """Whether the fragment stands in what was shown, apart from blank space."""
        return _collapsed(fragment) in self._text

    def veto(self, text: str) -> tuple[Veto, str] | None:
        """Which veto falls on the sentence, and why."""
        for kind, look in self._looks.items():
            if kind not in self._skip and (what := look(text)) is not None:
                return kind, what
        return None

    def _order(self, text: str) -> str | None:
        return text[:60] if is_instruction(text) else None

    def _foreign_number(self, text: str) -> str | None:
        missing = self._amounts.missing(text)
        return missing.text if missing else None

    def _foreign_address(self, text: str) -> str | None:
        for match in _TARGET.finditer(text):
            target = match.group().rstrip(".,;:!?)]}*_")
            if not self.stands(target):
                return target
        return None

    def _foreign_code(self, text: str) -> str | None:
        for start, end in code_spans(text):
            code = text[start:end].strip("` ")
            if not self._stands_as_code(code):
                return code
        return next((m.group() for m in _IDENTIFIER.finditer(text) if not self._stands_as_code(m.group())), None)

    def _stands_as_code(self, code: str) -> bool:
        """`fetch()` stands for `fetch`, and the case of a plain word does not count."""
        bare = code.removesuffix("()")
        return self.stands(bare) or (bare.replace(" ", "").isalpha() and _collapsed(bare).lower() in self._lowered)


def _collapsed(text: str) -> str:
    return " ".join(text.split())
