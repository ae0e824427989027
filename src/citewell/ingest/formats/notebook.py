"""Jupyter notebooks as Markdown: text cells, code cells, and what they printed. Nothing is run. Pure."""

import json

from citewell.document import fenced
from citewell.ingest.bounds import UnreadablePage

MAX_OUTPUT = 4_000
"""Characters of what one cell printed."""


class UnreadableNotebook(UnreadablePage):
    """The message says why."""

    code = "unreadable_document"


def as_markdown(source: str) -> str:
    """Raises UnreadableNotebook."""
    try:
        notebook = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise UnreadableNotebook("The notebook is not JSON.") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise UnreadableNotebook("The notebook has no cells. Save it in format 4.")
    language = _language(notebook.get("metadata"))
    parts: list[str] = []
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        text = _text(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            parts.append(text)
        elif cell.get("cell_type") == "code" and text.strip():
            parts.append(fenced(text.rstrip(), language))
            outputs = cell.get("outputs")
            parts += [shown for output in outputs if (shown := _shown(output))] if isinstance(outputs, list) else []
    return "\n\n".join(parts)


def _language(metadata: object) -> str:
    for key in ("kernelspec", "language_info"):
        about = metadata.get(key) if isinstance(metadata, dict) else None
        name = (about.get("language") or about.get("name")) if isinstance(about, dict) else None
        if isinstance(name, str):
            return name.rstrip("0123456789")
    return "python"


def _shown(output: object) -> str:
    """What a reader sees under a cell, if it is text."""
    if not isinstance(output, dict):
        return ""
    data = output.get("data")
    if isinstance(data, dict) and "text/markdown" in data:
        return _text(data["text/markdown"])
    text = _text(data.get("text/plain")) if isinstance(data, dict) else _text(output.get("text"))
    if isinstance(data, dict) and any(str(kind).startswith("image/") for kind in data):
        return ""  # the words are those of the drawing library
    return fenced(text[:MAX_OUTPUT].rstrip()) if text.strip() else ""


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
