"""Small talk: greetings, thanks and questions about the book as a whole, answered from its table of contents.

Only what is nothing else is taken for small talk; whoever asks about the book's subject gets the book's words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from citewell.reader import opening
from citewell.values import Message, PageEntry, Passage, Question

_FILLER = (
    r"(?:please|there|all|so much|very much|a lot|again|for (?:that|this|the help|your help)|you|bot|assistant|then)"
)
_GREETING = re.compile(rf"(?:hi|hello|hey|hiya|greetings|good (?:morning|afternoon|evening|day))(?:[\s,]+{_FILLER})*")
_THANKS = re.compile(
    rf"(?:thanks?|thank you|thx|cheers|ok(?:ay)?|great|perfect|cool|nice|bye|goodbye)(?:[\s,]+{_FILLER})*"
)
_ABILITIES = re.compile(
    r"(?:what (?:can|do) you (?:do|know|answer)(?: for me)?|who are you|what are you|help(?: me)?|"
    r"what (?:can|should|could) i ask(?: you)?(?: about)?|how (?:do|can) i use (?:this|you))"
)
_CONTENTS = re.compile(
    r"(?:(?:can you |please )?(?:list|show|give|tell)(?: me)? |what (?:are|is) |which |what )?"
    r"(?:all )?(?:of )?(?:the )?"
    r"(?:table of contents|contents|chapters|modules|lessons|pages|topics|sections|parts)"
    r"(?: (?:are there|there are|are (?:covered|in it)|do you (?:have|cover|know)|"
    r"does (?:it|this|the (?:book|documentation)) (?:have|cover|contain)))?"
    r"(?: (?:in|of) (?:this|the|your) (?:book|documentation|docs|guide|course))?"
    r"|what(?:'s| is) (?:this|the) (?:book|documentation|guide|course)(?: about)?|what does (?:this|the) book cover"
)
_SUMMARY = re.compile(
    r"(?:please )?(?:summari[sz]e|give (?:me )?(?:a|an) (?:summary|overview) of|(?:summary|overview) of|what is in|"
    r"what does|what is)(?: the)? (?P<unit>chapter|module|part|lesson|unit|section|page) (?P<number>\d{1,3})"
    r"(?: about| cover)?"
)
_COUNTED = re.compile(r"\b(?:chapter|module|part|lesson|unit|section)\s+(\d{1,3})\b", re.IGNORECASE)
_LISTED = 80
_NAMED = 4


class Library(Protocol):
    async def pages(self) -> list[PageEntry]: ...

    async def passages_of(self, url: str) -> list[Passage]: ...


@dataclass(frozen=True, slots=True)
class Host:
    library: Library

    async def reply(self, question: Question, history: Sequence[Message] = ()) -> str | None:
        """Markdown, or None for a question that is the book's to answer."""
        said = " ".join(question.text.lower().replace("’", "'").split()).strip(" ?!.…")
        if question.selection is not None:
            return None
        if _GREETING.fullmatch(said):
            return f"Hello! {_ask_about(await self.library.pages())}"
        if _THANKS.fullmatch(said):
            return "You are welcome. Ask whenever you like." if history else _ask_about(await self.library.pages())
        if _ABILITIES.fullmatch(said):
            return (
                "I answer questions about this book with its own words, and say where they stand. "
                f"What it does not say, I do not make up. {_ask_about(await self.library.pages())}"
            )
        if _CONTENTS.fullmatch(said):
            return contents_of(await self.library.pages())
        if summary := _SUMMARY.fullmatch(said):
            return await self._summary(summary["unit"], int(summary["number"]))
        return None

    async def _summary(self, unit: str, number: int) -> str | None:
        """How the chapter begins, and what it has: only the book itself can sum up the rest."""
        found = numbered(await self.library.pages(), unit, number)
        if not found:
            return None
        if len(found) > 1:
            return f"**{found[0].module}** has these pages:\n\n{contents_of(found)}"
        page = found[0]
        passages = await self.library.passages_of(page.url)
        begins = " ".join(" ".join(quote.piece.text.split()) for quote in opening(passages))
        sections = dict.fromkeys(p.heading_path[0] for p in passages if p.heading_path)
        listed = "\n".join(f"- {title}" for title in sections)
        return f"[{page.title}]({page.url}) begins:\n\n{begins}\n\nIts sections:\n\n{listed}"


def contents_of(pages: Sequence[PageEntry]) -> str:
    """The table of contents as a list of links, module by module."""
    lines: list[str] = []
    for module, members in groupby(pages[:_LISTED], key=lambda page: page.module):
        if module:
            lines += ["", f"**{module}**", ""]
        lines += [f"- [{page.title}]({page.url})" for page in members]
    if len(pages) > _LISTED:
        lines += ["", f"… and {len(pages) - _LISTED:,} more pages."]
    return "\n".join(lines).strip()


def numbered(pages: Sequence[PageEntry], unit: str, number: int) -> list[PageEntry]:
    """The pages of the module with this number, the page whose title has it, or else the page at this place."""

    def has(title: str) -> bool:
        found = _COUNTED.search(title)
        return found is not None and int(found[1]) == number and (unit == "page" or unit in title.lower())

    titled = [page for page in pages if has(page.title)]
    module = [page for page in pages if has(page.module)]
    if titled or module:
        return titled[:1] or module
    return list(pages[number - 1 : number])


def _ask_about(pages: Sequence[PageEntry]) -> str:
    if not pages:
        return "There is nothing in my book yet."
    names = list(dict.fromkeys(page.module or page.title for page in pages))
    if len(names) < 2:
        names = list(dict.fromkeys(page.title for page in pages))
    some = names[:_NAMED]
    named = ", ".join(some[:-1]) + f" or {some[-1]}" if len(some) > 1 else some[0]
    return f"Ask me about {named}, or ask for the list of chapters."
