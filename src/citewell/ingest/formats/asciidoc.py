"""AsciiDoc as Markdown, line by line: headings with Asciidoctor's ids, lists, boxes, code, tables, includes. Sync."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from citewell.document import fenced, table_lines
from citewell.ingest.formats.includes import Expanded, Includes, chosen_lines, marked_lines

_HEADING = re.compile(r"^(={1,6})[ \t]+(\S.*?)(?:[ \t]+=+)?$")
_ATTRIBUTE = re.compile(r"^:(!?[\w-]+!?):[ \t]*(.*)$")
_REFERENCE = re.compile(r"\{([\w-]+)\}")
_BLOCK_ATTRIBUTES = re.compile(r"^\[([^\[\]].*)\]$")
_ANCHOR = re.compile(r"^\[\[([\w:.-]+)(?:,.*)?\]\]$|^\[#([\w:.-]+)")
_FENCE = re.compile(r"^(?:(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,})|(--)|(`{3,})(\w*))$")
_BOX = re.compile(r"^(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(.*)$")
_KINDS = frozenset("NOTE TIP IMPORTANT WARNING CAUTION".split())
_INCLUDE = re.compile(r"^include::([^\[\]]+)\[(.*)\]$")
_TAG = re.compile(r"\btag::(?P<start>[\w-]+)\[\]|\bend::(?P<end>[\w-]+)\[\]")
_ITEM = re.compile(r"^[ \t]*(\*{1,5}|-|\.{1,5}|\d+\.)[ \t]+(\S.*)$")
_TERM = re.compile(r"^[ \t]*(\S.*?):{2,4}(?:[ \t]+(.*))?$")
_CALLOUT = re.compile(r"[ \t]*(?://|#|--|;;)?[ \t]*<(?:\d+|\.)>(?=[ \t]*(?:<|$))|^<(?:\d+|\.)>[ \t]*")
_SPANS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?:link|xref|mailto):([^\s\[\]]+)\[([^\]]*)\]"), r"\2"),
    (re.compile(r"\bhttps?://[^\s\[\]]+\[([^\]]+)\]"), r"\1"),
    (re.compile(r"<<[^<>,]+,[ \t]*([^<>]+)>>"), r"\1"),
    (re.compile(r"<<([^<>,]+)>>"), r"\1"),
    (re.compile(r"\bimage::?[^\s\[\]]+\[\"?([^\],\"]*)[^\]]*\]"), r"\1"),
    (re.compile(r"\b(?:kbd|btn|menu):([^\s\[\]]*)\[([^\]]*)\]"), r"\1 \2"),
    (re.compile(r"\bfootnote:\w*\[([^\]]*)\]"), r" (\1)"),
    (re.compile(r"\b(?:stem|latexmath|asciimath):\[([^\]]*)\]"), r"$\1$"),
    (re.compile(r"`\+([^`]+)\+`"), r"`\1`"),
    (re.compile(r"(?<!\w)\[[.#][^\]]*\](?=[#*_`])"), ""),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])"), r"**\1**"),
    (re.compile(r" \+$"), r"\\"),
)


def expanded(source: str, page: Path, book: Path) -> Expanded:
    reading = _AsciiDocReader(Includes(book))
    lines = reading.included(source.replace("\r\n", "\n").split("\n"), page.parent, 0)
    reading.blocks(lines)
    return Expanded("\n".join(reading.out), reading.includes.problem)


@dataclass(slots=True)
class _AsciiDocReader:
    includes: Includes
    out: list[str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    _title: str = ""
    _style: list[str] = field(default_factory=list)
    _anchor: str = ""

    def included(self, lines: list[str], folder: Path, deep: int) -> list[str]:
        found: list[str] = []
        for line in lines:
            include = _INCLUDE.match(line)
            if not include:
                found.append(line)
                continue
            target = _REFERENCE.sub(lambda m: self.attributes.get(m[1], m[0]), include[1])
            text = self.includes.read(folder / target, target, deep)
            if text is not None:
                wanted = _wanted(text.split("\n"), include[2])
                found += self.included(wanted, (folder / target).parent, deep + 1)
        return found

    def blocks(self, lines: list[str]) -> None:
        i = 0
        while i < len(lines):
            line = lines[i].rstrip()
            fence = _FENCE.match(line)
            if line == "|===":
                end = _closing(lines, i + 1, line)
                self._table(lines[i + 1 : end])
                i = end + 1
            elif fence:
                end = _closing(lines, i + 1, fence[3] or line)
                self._fenced(line, fence[4] or "", lines[i + 1 : end])
                i = end + 1
            else:
                self._line(line)
                i += 1

    def _line(self, line: str) -> None:
        if line.startswith("//"):
            return
        if attribute := _ATTRIBUTE.match(line):
            self.attributes[attribute[1].strip("!")] = attribute[2].strip()
        elif anchor := _ANCHOR.match(line):
            self._anchor = anchor[1] or anchor[2]
        elif style := _BLOCK_ATTRIBUTES.match(line):
            self._style = [part.strip().strip('"') for part in style[1].split(",")]
        elif heading := _HEADING.match(line):
            self._heading(len(heading[1]), self._words(heading[2]))
        elif line.startswith(".") and len(line) > 1 and line[1] not in ". \t":
            self._title = self._words(line[1:])
        else:
            self._prose(line)

    def _heading(self, level: int, title: str) -> None:
        made = "_" + re.sub(r"_+", "_", re.sub(r"[ .\-]", "_", re.sub(r"[^\w .\-]", "", title.lower()))).strip("_")
        anchor = self._anchor or ("" if level == 1 else made)
        self.out += ["", f"{'#' * level} {title}" + (f" {{#{anchor}}}" if anchor else ""), ""]
        self._anchor, self._style, self._title = "", [], ""

    def _prose(self, line: str) -> None:
        kind = self._style[0] if self._style else ""
        if line == "+":
            return
        if box := _BOX.match(line):
            self.out += _boxed(box[1].lower(), "", [self._words(box[2])])
        elif kind in _KINDS and line:
            self.out += _boxed(kind.lower(), "", [self._words(line)])
        elif item := _ITEM.match(line):
            mark = item[1]
            deep = len(mark) - 1 if mark[0] in "*." else 0
            self._caption()
            self.out.append("   " * deep + ("- " if mark[0] in "*-" else "1. ") + self._words(item[2]))
        elif (term := _TERM.match(line)) and "::" not in term[1]:
            self.out += ["", self._words(term[1]), f":   {self._words(term[2])}" if term[2] else ":   "]
        else:
            self.out.append(self._words(line))
        if line:
            self._style = []

    def _caption(self) -> None:
        if self._title:
            self.out += ["", f"<figcaption>{self._title}</figcaption>", ""]
            self._title = ""

    def _fenced(self, mark: str, language: str, lines: list[str]) -> None:
        kind, given, *_ = (*self._style, "", "")
        title, self._title, self._style = self._title, "", []
        if mark[0] in "-.`+" and mark != "--":
            self.out += ["", *_shown_code(kind, language or given, title, lines), ""]
        elif kind in _KINDS or mark[0] == "=":
            outer, self.out = self.out, []
            self.blocks(lines)
            outer += _boxed(kind.lower() if kind in _KINDS else "example", title, self.out)
            self.out = outer
        elif mark[0] != "/":  # which is a comment
            self.out += ["", title, ""] if title else []
            self.blocks(lines)
            self.out.append("")

    def _table(self, lines: list[str]) -> None:
        columns = _columns(",".join(self._style))
        self._caption()
        self._style = []
        cells: list[str] = []
        for line in lines:
            parts = re.split(r"(?:(?<=\s)|^)(?:\d+\+|\.\d+\+)?[a-z<>^.]{0,3}\|", line)
            if len(parts) > 1 and not columns:
                columns = len(parts) - 1
            if cells and parts[0].strip():
                cells[-1] += " " + parts[0].strip()
            cells += [self._words(part.strip()) for part in parts[1:]]
        if not columns:
            return
        rows = [cells[i : i + columns] for i in range(0, len(cells), columns)]
        self.out += ["", *table_lines(rows), ""] if rows else []

    def _words(self, text: str) -> str:
        text = _REFERENCE.sub(lambda m: self.attributes.get(m[1], m[0]), text)
        for pattern, instead in _SPANS:
            text = pattern.sub(instead, text)
        return _CALLOUT.sub("", text)


def _boxed(kind: str, title: str, lines: list[str]) -> list[str]:
    return ["", f":::{kind}[{title}]" if title else f":::{kind}", "", *lines, "", ":::", ""]


def _shown_code(kind: str, language: str, title: str, lines: list[str]) -> list[str]:
    if kind in ("stem", "latexmath"):
        return ["$$", *lines, "$$"]
    code = "\n".join(_CALLOUT.sub("", line) for line in lines)
    return fenced(code, language + (f' title="{title}"' if title else "")).split("\n")


def _columns(options: str) -> int:
    """`cols="1,2"` or `cols=3*`; 0 when the first row tells."""
    found = re.search(r"cols=\"?([^\"%]+)", options)
    if not found:
        return 0
    many = re.match(r"(\d+)\*", found[1])
    return int(many[1]) if many else len([width for width in found[1].split(",") if width and "=" not in width])


def _closing(lines: list[str], first: int, mark: str) -> int:
    return next((i for i in range(first, len(lines)) if lines[i].rstrip() == mark), len(lines))


def _wanted(lines: list[str], options: str) -> list[str]:
    """The tagged regions or the lines that an include asks for; without options all, less the tags."""
    if chosen := re.search(r"\blines=\"?([\d.;,\-]+)", options):
        return chosen_lines(lines, chosen[1], "..")
    if tags := re.search(r"\btags?=([^\],\"]+)", options):
        return marked_lines(lines, _TAG, re.split(r"[;,]", tags[1]))
    return [line for line in lines if not _TAG.search(line)]
