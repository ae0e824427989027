"""How much of a page's text came in: letters and digits of its source as readers see it, against the page's. Pure.

Counted from the source by other means than the readers use, so that what a reader loses shows.
"""

import re

from citewell.ingest.fences import segments

ENOUGH = 0.6
"""A page with less of its text is listed in the report."""
_NOT_LETTERS = re.compile(r"[\W_]+")
_ASCII_MARKS = bytes(code for code in range(128) if not chr(code).isalnum())
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|\{/\*.*?(?:\*/\}|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,2000}>")
_TARGET = re.compile(r"(?<=\])\([^()\s]*(?:\s+[\"'][^\"'\n]*[\"'])?\)|(?<=\])\[[^\[\]\n]*\]")
_DEFINITION = re.compile(r"^[ \t]*\[[^\]\n]+\]:[ \t]*\S+.*$", re.MULTILINE)
_ESM = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
_MARKER = re.compile(
    r"^[ \t]*(?:(?::{3,}|/{3,})[ \t]*\w*|!!!|\?\?\?\+?|===|#{1,6}|[-*+])|\{[#:.][^{}\n]*\}|^[ \t]*[`~]{3,}.*$",
    re.MULTILINE,
)
_RST_DIRECTIVE = re.compile(
    r"^[ \t]*\.\.[ \t]+(?:[\w:+.-]+::|_[^\n]*:|\[[^\]\n]*\])|^[ \t]*:[\w +-]+:|:[\w:+.-]+:(?=`)", re.MULTILINE
)
_RST_OPTION = re.compile(r"^[ \t]+:[\w-]+:[^\n]*$", re.MULTILINE)
_RST_TOCTREE = re.compile(r"^([ \t]*)\.\. toctree::[^\n]*(?:\n|\Z)(?:\1[ \t]+[^\n]*(?:\n|\Z)|[ \t]*\n)*", re.MULTILINE)
_RST_TARGET = re.compile(r"<[^<>`\n]*>(?=`)")
_RST_COMMENT = re.compile(
    r"^([ \t]*)\.\. (?![\w:+.-]+::|_|\[|\|)[^\n]*\n(?:\1[ \t]+[^\n]*\n|[ \t]*\n(?=\1[ \t]))*", re.MULTILINE
)


def letters(text: str) -> int:
    if text.isascii():
        return len(text.encode().translate(None, _ASCII_MARKS))
    return len(_NOT_LETTERS.sub("", text))


def markdown_letters(source: str, *, mdx: bool) -> int:
    """Without link targets, tags, comments, imports and marks; code counts whole."""
    count = 0
    for is_code, text in segments(source, unwrap=mdx):
        if is_code:
            count += letters(text.partition("\n")[2])
            continue
        if "<" in text or "{" in text:
            text = _TAG.sub(" ", _COMMENT.sub(" ", text))
        if "]" in text:
            text = _DEFINITION.sub(" ", _TARGET.sub(" ", text))
        if mdx:
            text = _ESM.sub(" ", text)
        count += letters(_MARKER.sub(" ", text))
    return count


def rst_letters(source: str) -> int:
    """Without the names of directives and roles, options, targets, comments and toctrees."""
    for pattern in (_RST_TOCTREE, _RST_COMMENT, _RST_OPTION, _RST_DIRECTIVE, _RST_TARGET):
        source = pattern.sub(" ", source)
    return letters(source)
