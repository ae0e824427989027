"""What stands in the sources of a book against the blocks that came in: headings, code, list items and table rows.

    python bench/shape.py FOLDER... [--misses N]

The sources are read line by line here, by no code of the product. Each thing must be in exactly one block; a heading
must have an anchor that no other heading of its page has, unless it is written as a tag without an id: a site gives
that none. Text is compared by its letters and digits.
"""

import argparse
import asyncio
import html
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from citewell.document import Code, Heading, ListItem, Table, prose
from citewell.ingest import IngestOptions, PageRead, source_of
from citewell.values import Page

KINDS = ("headings", "code", "items", "rows")
LITERAL = re.compile(r"\{\{#|^:::|^!!! |^\?\?\? |^=== \"|<Tab|</?Listing|^--8<--", re.MULTILINE)
NO_PAGES = re.compile(r"(?:^|/)(?:_[^/]*|SUMMARY\.md|README\.md|LICENSE\.md|overrides/.*|.*\.test\..*)(?:/|$)")

_FENCE = re.compile(
    r"^(?P<lead>[ \t]*(?:(?:>[ \t]?|[-*+][ \t]+|\d{1,9}[.)][ \t]+))*)(?P<mark>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)"
)
_HEADING = re.compile(r"^(?:>[ \t]?)*#{1,6}[ \t]+(.+?)[ \t]*#*$")
_BARE_HEADING = re.compile(r"<h[2-6](?![^<>]*\bid=)[^<>]*>")
_ITEM = re.compile(r"^[ \t]*(?:>[ \t]?)*(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_ROW = re.compile(r"^[ \t]*(?:>[ \t]?)*\|(.+)\|[ \t]*$")
_RULE = re.compile(r"^[ \t|:-]+$")
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])")
_MARKUP = re.compile(r"<[^<>]*>|\{/?\*.*?\*/?\}|\{:?[ ]*[#.][^{}]*\}|\[\^[^\]]*\]|^\[[ xX]\][ ]")
_COMMENT = re.compile(r"<!--.*?-->|\{/\*(?!\s*#).*?\*/\}", re.DOTALL)
_COMMENT_OPENS = re.compile(r"<!--|^\s*\{/\*(?!\s*#)")
_FRONT = re.compile(r"^---[ \t]*\n.*?\n---[ \t]*\n", re.DOTALL)


@dataclass(slots=True)
class Shape:
    """What was counted: by kind, how often each text stands there."""

    headings: Counter[str] = field(default_factory=Counter)
    code: Counter[str] = field(default_factory=Counter)
    items: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    bare: int = 0
    """Headings that a site gives no anchor."""


def letters(text: str) -> str:
    text = html.unescape(_MARKUP.sub("", _LINK.sub(r"\1", text)))
    return re.sub(r"[\W_]+", "", text).lower()


def of_source(text: str, shape: Shape) -> int:
    """Counts what stands in a Markdown file; returns how many of its code blocks hold an include."""
    lines = _FRONT.sub("", text).replace("\r\n", "\n").split("\n")
    included = i = 0
    while i < len(lines):
        line = lines[i]
        if fence := _FENCE.match(line):
            end = _closing(lines, i + 1, fence["mark"])
            quoted = fence["lead"].count(">")
            body = "\n".join(re.sub(rf"^(?:[ \t]*>){{{quoted}}}", "", line) for line in lines[i + 1 : end])
            if "{{#" in body or body.lstrip().startswith("--8<--"):
                included += 1
            elif not fence["info"].startswith("mdx-code-block"):
                shape.code[letters_of_code(body)] += 1
            if fence["info"].startswith("mdx-code-block"):
                included += of_source(body, shape)
            i = end + 1
            continue
        line = _COMMENT.sub("", line)
        if (opened := _COMMENT_OPENS.search(line)) is not None:
            close = "-->" if opened.group() == "<!--" else "*/}"
            i = next((j for j in range(i + 1, len(lines)) if close in lines[j]), i) + 1
            continue
        shape.bare += len(_BARE_HEADING.findall(re.sub(r"(`+).*?\1", "", line)))
        if heading := _HEADING.match(line):
            shape.headings[letters(heading[1])] += 1
        elif (row := _ROW.match(line)) and not _RULE.match(row[1]):
            shape.rows[letters(row[1])] += 1
        elif (item := _item(lines, i)) and letters(item[1]):
            shape.items[letters(item[1])] += 1
        i += 1
    return included


def _item(lines: list[str], i: int) -> re.Match[str] | None:
    """A number other than 1 right under a line of prose is prose too."""
    item = _ITEM.match(lines[i])
    if not item or re.fullmatch(r"[-*_ ]+", lines[i]):
        return None
    before = lines[i - 1].strip("> \t") if i else ""
    goes_on = (
        re.match(r"[ \t>]*(?!1[.)])\d", lines[i]) and before and not before[:1].isdigit() and before[0] not in "-*+|#"
    )
    return None if goes_on and not lines[i - 1].startswith((" ", "\t")) else item


def letters_of_code(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _closing(lines: list[str], first: int, mark: str) -> int:
    close = re.compile(r"[ \t]*(?:>[ \t]?)*" + re.escape(mark[0]) + "{" + str(len(mark)) + r",}[ \t]*$")
    return next((i for i in range(first, len(lines)) if close.match(lines[i])), len(lines))


def of_page(page: Page, shape: Shape) -> tuple[int, int]:
    """Counts the blocks of a page; returns its headings and how many of them have an anchor of their own."""
    anchors = Counter(block.anchor for block in page.headings if block.anchor)
    for block in page.blocks:
        match block:
            case Heading():
                shape.headings[letters(page.text[block.start : block.end])] += 1
            case Code():
                shape.code[letters_of_code(prose(page.text, block))] += 1
            case ListItem():
                shape.items[letters(prose(page.text, block))] += 1
            case Table(header=header, rows=rows):
                for cells in filter(None, (header, *(row.cells for row in rows))):
                    shape.rows[letters("".join(cells))] += 1
    titled = [h for h in page.headings if not (h.level == 1 and not h.anchor)]  # a site's own title has none
    return len(titled), sum(anchors[h.anchor] == 1 for h in titled)


def missing(source: Counter[str], found: Counter[str]) -> Iterator[str]:
    """What stands in the source and in no block that nothing else of the source is in.

    An item may go on in its next line; cells beyond the columns of a table's header are on no site.
    """
    left = found.copy()
    for text, times in source.items():
        taken = min(times, left[text])
        left[text] -= taken
        for _ in range(times - taken):
            other = next((f for f in left if f and left[f] > 0 and (f.startswith(text) or text.startswith(f))), None)
            if other is None:
                yield text
            else:
                left[other] -= 1


async def measured(folder: Path, misses: int) -> str:
    source, found = Shape(), Shape()
    included = sum(of_source(path.read_text("utf-8"), source) for path in sources(folder))
    headings = anchored = pages = literal = 0
    async for outcome in source_of(str(folder), IngestOptions()).read({}):
        if isinstance(outcome, PageRead):
            pages += 1
            titled, own = of_page(outcome.page, found)
            headings, anchored = headings + titled, anchored + own
            literal += len(LITERAL.findall("\n".join(_said(outcome.page))))
    cells = [folder.name, str(pages)]
    for kind in KINDS:
        wanted: Counter[str] = getattr(source, kind)
        lost = list(missing(wanted, getattr(found, kind)))
        cells.append(f"{wanted.total() - len(lost):,} of {wanted.total():,}")
        for text in lost[:misses]:
            print(f"{folder.name}: no block has of the {kind}: {text[:100]}", file=sys.stderr)
    return (
        "| " + " | ".join([*cells, f"{anchored:,} of {headings - source.bare:,}", str(included), str(literal)]) + " |"
    )


def _said(page: Page) -> Iterator[str]:
    """What is not code: there, a literal may be what is explained."""
    for block in page.blocks:
        if not isinstance(block, Code):
            yield re.sub(r"(`+).*?\1", "", prose(page.text, block))


def sources(folder: Path) -> list[Path]:
    root = next((folder / name for name in ("docs", "src") if (folder / name).is_dir()), folder)
    every = [path for path in sorted(root.rglob("*")) if path.suffix in (".md", ".mdx") and path.is_file()]
    return [path for path in every if not NO_PAGES.search(path.relative_to(root).as_posix()) or path.parent != root]


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folders", type=Path, nargs="+")
    arguments.add_argument("--misses", type=int, default=0, help="print this many of what no block has")
    given = arguments.parse_args()
    print("| book | pages | headings | code | list items | table rows | anchors | with includes | literal |")
    print("|---|---|---|---|---|---|---|---|---|")
    for folder in given.folders:
        print(await measured(folder.resolve(), given.misses), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
