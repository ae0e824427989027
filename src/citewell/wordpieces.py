"""Word pieces: text into the tokens of a BERT vocabulary, each with its place. Pure Python, no library.

Gives what the `tokenizers` package gives (a test compares them), without its 40 MB of dependencies; and a text that
contains "[SEP]" is taken as the letters that it has. Most words were met before: they cost one look into a dictionary.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self, TypeVar

_UNKNOWN: Final = "[UNK]"
_LONGEST_WORD: Final = 100
_CHUNK: Final = re.compile(r"[^ \t\n\r]+")
"""No word reaches over these. Other blanks are seen to below: some are removed, and what they part becomes one word."""
_ALPHANUMERIC: Final = re.compile(r"[A-Za-z0-9]+")
_ASCII: Final = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")
_REMEMBERED: Final = 2**15
_KEPT_LENGTH: Final = 64
"""Longer runs are data, not words, and would fill the memory."""
_IDEOGRAPHS: Final = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""Each is a word. The ranges are those that the vocabulary's makers wrote down."""

_Word = tuple[str, Sequence[int]]
"""A word in its normal form, and where each of its characters stood."""
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tokens of a text. `spans` are places in it, in code points, end exclusive."""

    ids: list[int]
    spans: list[tuple[int, int]]


class WordPieces:
    """Safe to share between threads."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = dict(vocabulary)
        self._unknown = self._vocabulary[_UNKNOWN]
        self._words = _Remembered(self._of_word)
        self._chunks = _Remembered(self._of_chunk)
        self._counts = _Remembered(self._count_chunk)

    @classmethod
    def of_json(cls, document: str) -> Self:
        """From the `tokenizer.json` that stands beside a model. Raises ValueError, KeyError or TypeError."""
        return cls(json.loads(document)["model"]["vocab"])

    def ids(self, text: str) -> list[int]:
        return [number for known in map(self._chunks.__getitem__, _CHUNK.findall(text)) for number in known.ids]

    def count(self, text: str) -> int:
        """As many as `ids` gives."""
        return sum(map(self._counts.__getitem__, _CHUNK.findall(text)))

    def pieces(self, text: str) -> Pieces:
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        for match in _CHUNK.finditer(text):
            at, known = match.start(), self._chunks[match.group()]
            ids += known.ids
            spans += [(at + start, at + end) for start, end in known.spans]
        return Pieces(ids, spans)

    def _of_chunk(self, chunk: str) -> Pieces:
        found = Pieces([], [])
        for word, places in _words(chunk):
            known = self._words[word]
            found.ids.extend(known.ids)
            found.spans.extend([(places[start], places[end - 1] + 1) for start, end in known.spans])
        return found

    def _count_chunk(self, chunk: str) -> int:
        if not (chunk.isascii() and chunk.isprintable()):
            return len(self._of_chunk(chunk).ids)
        # Each mark of ASCII is a token by itself, and parts the word.
        words = _ALPHANUMERIC.findall(chunk)
        return sum(len(self._words[word].ids) - len(word) for word in map(str.lower, words)) + len(chunk)

    def _of_word(self, word: str) -> Pieces:
        """The longest pieces, from left to right; a word of which a part has none is unknown as a whole."""
        unknown = Pieces([self._unknown], [(0, len(word))])
        if len(word) > _LONGEST_WORD:
            return unknown
        found = Pieces([], [])
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                if (number := self._vocabulary.get(prefix + word[start:end])) is not None:
                    found.ids.append(number)
                    found.spans.append((start, end))
                    start = end
                    break
            else:
                return unknown
        return found


class _Remembered(dict[str, _Value]):
    """What `make` gives for each text met last. Read as a dictionary, because ingestion looks up every word."""

    def __init__(self, make: Callable[[str], _Value]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> _Value:
        made = self._make(text)
        if len(text) <= _KEPT_LENGTH:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[text] = made
        return made


def _words(chunk: str) -> Iterator[_Word]:
    if chunk.isascii() and chunk.isprintable():
        for match in _ASCII.finditer(chunk):
            yield match.group().lower(), range(match.start(), match.end())
        return
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(chunk):
        for letter, is_alone in _letters(character):
            if is_alone and letters:
                yield "".join(letters), places
                letters, places = [], []
            if letter:
                letters.append(letter)
                places.append(place)
            if is_alone and letters:
                yield "".join(letters), places
                letters, places = [], []
    if letters:
        yield "".join(letters), places


@lru_cache(maxsize=4096)
def _letters(character: str) -> tuple[tuple[str, bool], ...]:
    """What becomes of a character: nothing, small letters without accents, or a word of its own; "" parts words."""
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs"):
        return ()
    if character.isspace():
        return (("", True),)
    is_ideograph = any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)
    bare = (part for part in unicodedata.normalize("NFD", character) if unicodedata.category(part) != "Mn")
    return tuple((small, is_ideograph or _is_mark(small)) for part in bare for small in part.lower())


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("P") or (character.isascii() and not character.isalnum())
