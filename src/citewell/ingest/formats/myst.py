"""MyST, the Markdown of Sphinx: directives in fences and roles, brought to Markdown that the reader knows. Pure."""

import re

from citewell.ingest.formats.sphinx import Names
from citewell.ingest.pagetext import ADMONITIONS

_OPEN = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,}|:{3,})\{(?P<name>[\w:.-]+)\}[ \t]*(?P<argument>.*?)[ \t]*$"
)
_OPTION = re.compile(r"^[ \t]*:(?P<name>[\w-]+):[ \t]*(?P<value>.*?)[ \t]*$")
_ROLE = re.compile(r"\{(?P<name>[a-zA-Z][\w:.+-]*)\}`(?P<text>[^`\n]+)`")
_TARGETED = re.compile(r"^(?P<text>.*?)\s*<[^<>]+>$")
_TARGET = re.compile(r"^\([\w.:-]+\)=[ \t]*$", re.MULTILINE)
_PLAIN_ROLES = frozenset("ref numref doc term abbr eq cite download any index".split())
_CODES = frozenset("code-block code sourcecode code-cell literalinclude prompt testcode".split())
_SHOWS_NOTHING = frozenset("toctree contents tableofcontents index bibliography raw image meta include".split())
_MAX_DEEP = 10


def as_markdown(source: str, names: Names, deep: int = 0) -> str:
    lines = source.split("\n")
    out: list[str] = []
    i = 0
    while i < len(lines):
        opened = _OPEN.match(lines[i])
        if not opened or deep > _MAX_DEEP:
            out.append(_TARGET.sub("", _ROLE.sub(lambda m: _words(m, names), lines[i])))
            i += 1
            continue
        close = re.compile(r"[ \t]*" + re.escape(opened["fence"]) + r"[ \t]*$")
        end = next((j for j in range(i + 1, len(lines)) if close.match(lines[j])), len(lines))
        width = len(opened["indent"])
        body = [line[width:] if not line[:width].strip() else line for line in lines[i + 1 : end]]
        out += [(opened["indent"] + line).rstrip() for line in _directive(opened, body, names, deep)]
        i = end + 1
    return "\n".join(out)


def _directive(opened: re.Match[str], body: list[str], names: Names, deep: int) -> list[str]:
    name = opened["name"].lower()
    options: dict[str, str] = {}
    while body and (option := _OPTION.match(body[0])):
        options[option["name"]] = option["value"]
        body = body[1:]
    argument = _ROLE.sub(lambda m: _words(m, names), opened["argument"].strip())
    if name in _SHOWS_NOTHING:
        return []
    if name in _CODES:
        title = f' title="{options["caption"]}"' if options.get("caption") else ""
        fence = "`" * max(4, len(opened["fence"]) + 1)
        return ["", f"{fence}{argument}{title}", *body, fence, ""]
    if name == "math":
        return ["", "$$", *body, "$$", ""]
    inner = as_markdown("\n".join(body), names, deep + 1).split("\n")
    if name == "figure":
        return ["", options.get("alt", ""), "", f"<figcaption>{' '.join(inner).strip()}</figcaption>", ""]
    if name in ("tab-item", "tab"):
        return ["", f'<TabItem label="{argument}">', "", *inner, "", "</TabItem>", ""]
    if name in ADMONITIONS or name in ("admonition", "dropdown"):
        kind = name if name in ADMONITIONS else next((k for k in options.get("class", "").split()), "note")
        return ["", f":::{kind}[{argument}]" if argument else f":::{kind}", "", *inner, "", ":::", ""]
    return ["", *([argument, ""] if " " in argument else []), *inner, ""]


def _words(role: re.Match[str], names: Names) -> str:
    """The words that a reference shows."""
    name = role["name"].rpartition(":")[2]
    titled = _TARGETED.match(role["text"])
    if titled and titled["text"]:
        return titled["text"]
    text = role["text"]
    if name == "math":
        return f"${text}$"
    if name in ("ref", "numref", "doc", "any"):
        return names.labels.get(text.lower()) or names.pages.get(text.lstrip("/")) or text.replace("-", " ")
    if name in _PLAIN_ROLES:
        return text
    return "`" + (text[1:].rpartition(".")[2] if text.startswith("~") else text) + "`"
