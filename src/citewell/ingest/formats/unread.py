"""Files that look like pages and are not read: why, and what to do. Pure."""

_CONVERT = "This format is not read. Convert it to Markdown, for example with pandoc."
_BOOK = "A book file in a folder is not read. Ingest it by itself."
UNREAD = {
    ".pdf": _BOOK,
    ".epub": _BOOK,
    ".docx": _CONVERT,
    ".odt": _CONVERT,
    ".rtf": _CONVERT,
    ".tex": _CONVERT,
    ".org": _CONVERT,
    ".textile": _CONVERT,
    ".mediawiki": _CONVERT,
    ".typ": _CONVERT,
    ".qmd": _CONVERT,
    ".rmd": _CONVERT,
}
"""By suffix."""
