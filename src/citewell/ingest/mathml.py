"""MathML as one line that can be read: fractions, powers, roots and indices with the signs of plain text."""

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

_DEEPEST = 40
_WIDE = frozenset("=<>≤≥≈≠≡∈∉⊂⊆→⇒⇔∼∝±")
_SCRIPTS = {"msup": "^", "msub": "_", "msubsup": "_^", "munder": "_", "mover": "^", "munderover": "_^"}


def readable_math(node: LexborNode) -> str:
    return " ".join(_read(node, 0).split())


def _read(node: LexborNode, deep: int) -> str:
    tag = (node.tag or "").rpartition(":")[2]
    if tag == "-text":
        return (node.text_content or "").strip()
    if deep > _DEEPEST or tag in ("annotation", "annotation-xml"):
        return ""
    # Blank space between elements would count as an argument.
    inner = (child for child in children(node) if child.tag != "-text" or (child.text_content or "").strip())
    return _laid_out(tag, [_read(child, deep + 1) for child in inner])


def _laid_out(tag: str, parts: list[str]) -> str:
    whole = "".join(parts)
    match tag, parts:
        case "mo", _:
            return f" {whole} " if whole in _WIDE else whole
        case "mfrac", [above, below]:
            return f"{_grouped(above)}/{_grouped(below)}"
        case "msqrt", _:
            return f"√{_grouped(whole)}"
        case "mroot", [inner, degree]:
            return f"{_grouped(inner)}^(1/{degree})"
        case _, [base, *scripts] if len(scripts) == len(signs := _SCRIPTS.get(tag, "")) and signs:
            written = "".join(f"{sign}{_grouped(part)}" for sign, part in zip(signs, scripts, strict=True))
            return base + written + (" " if tag == "munderover" else "")
        case (("mtr" | "mlabeledtr"), _):
            return ", ".join(parts) + "; "
        case "mtable", _:
            return whole.removesuffix("; ")
        case "mspace", _:
            return " "
    return whole


def _grouped(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def children(node: LexborNode) -> Iterator[LexborNode]:
    """The next is asked for first: who gets the child may take it out."""
    child = node.child
    while child is not None:
        following = child.next
        yield child
        child = following
