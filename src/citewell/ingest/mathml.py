"""MathML as one line that can be read: fractions, powers, roots and indices with the signs of plain text."""

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

_DEEPEST = 40
_WIDE = frozenset("=<>≤≥≈≠≡∈∉⊂⊆→⇒⇔∼∝±")
_SCRIPTS = {"msup": ("^",), "msub": ("_",), "msubsup": ("_", "^"), "munder": ("_",), "mover": ("^",)}


def readable_math(node: LexborNode) -> str:
    return " ".join(_read(node, 0).split())


def _read(node: LexborNode, deep: int) -> str:
    tag = (node.tag or "").rpartition(":")[2]
    if tag == "-text":
        return (node.text_content or "").strip()
    if deep > _DEEPEST or tag in ("annotation", "annotation-xml"):
        return ""
    parts = [_read(child, deep + 1) for child in _children(node)]
    match tag:
        case "mo":
            sign = "".join(parts)
            return f" {sign} " if sign in _WIDE else sign
        case "mfrac" if len(parts) == 2:
            return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
        case "msqrt":
            return f"√{_grouped(''.join(parts))}"
        case "mroot" if len(parts) == 2:
            return f"{_grouped(parts[0])}^(1/{parts[1]})"
        case "munderover" if len(parts) == 3:
            return f"{parts[0]}_{_grouped(parts[1])}^{_grouped(parts[2])} "
        case "msup" | "msub" | "msubsup" | "munder" | "mover" if len(parts) == len(_SCRIPTS[tag]) + 1:
            return parts[0] + "".join(
                f"{mark}{_grouped(part)}" for mark, part in zip(_SCRIPTS[tag], parts[1:], strict=True)
            )
        case "mtr" | "mlabeledtr":
            return ", ".join(parts) + "; "
        case "mtable":
            return "".join(parts).removesuffix("; ")
        case "mspace":
            return " "
    return "".join(parts)


def _grouped(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _children(node: LexborNode) -> Iterator[LexborNode]:
    """Without the blank space between elements, which would count as an argument."""
    child = node.child
    while child is not None:
        if child.tag != "-text" or (child.text_content or "").strip():
            yield child
        child = child.next
