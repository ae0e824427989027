"""XML without its dangers: no document type, no entities, bounded in depth and number. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from xml.parsers import expat

MAX_DEPTH = 50
MAX_ELEMENTS = 500_000


class UnreadableXml(ValueError):
    """The message says why."""


@dataclass(frozen=True, slots=True)
class Element:
    name: str
    """Without its namespace."""
    parent: str
    attributes: Mapping[str, str]
    text: str


def elements(data: bytes) -> list[Element]:
    """Every element in the order of its end. Raises UnreadableXml."""
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise UnreadableXml(f"Not well-formed XML (line {error.lineno}).") from error
    return reader.found


class _Reader:
    def __init__(self) -> None:
        self.found: list[Element] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []

    def doctype(self, *_: object) -> None:
        raise UnreadableXml("The XML declares a document type; it may not.")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= MAX_DEPTH or len(self.found) >= MAX_ELEMENTS:
            raise UnreadableXml("The XML is nested too deeply or has too many elements.")
        local = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        self._open.append((name.rpartition(" ")[2], local, []))

    def end(self, _: str) -> None:
        name, attributes, text = self._open.pop()
        parent = self._open[-1][0] if self._open else ""
        self.found.append(Element(name, parent, attributes, "".join(text).strip()))

    def characters(self, data: str) -> None:
        if self._open:
            self._open[-1][2].append(data)
