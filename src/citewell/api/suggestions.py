"""Suggested questions to begin with, from the headings of the book's body. Only what the search finds is offered."""

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import Literal

from citewell.api.options import ReadableBook
from citewell.document import Block, Code, Heading, ListItem
from citewell.errors import DeadlineError
from citewell.values import Page, PageEntry

OFFERED = 4
MOST_PAGES = 100
MOST_SEARCHES = 24
"""A search may cost a paid call; it is made once for each generation of the book."""
LEAST_SCORE = 0.5
_LONGEST = 60
_DEEPEST = 4
_COUNTED = re.compile(r"^(?:(?:lesson|chapter|module|unit|part|section) [\w.]+ ?[—–:.-] |\d[\d.)]* )", re.IGNORECASE)
_SIMPLE = re.compile(r"\w[\w .'’+-]*\??")
_QUESTION = re.compile(r"(?:what|how|why|when|which|where|who) .+\?", re.IGNORECASE)
_DEFINES = (
    r"(?:(?<=[.!?] )|^)(?P<subject>(?:An? |The )?{topic})(?: \([^)]*\))? (?P<verb>is|are) (?:an? |the |one |how )"
)
_VERBS = (
    "add build calibrate call change check choose configure connect control convert create customize debug define "
    "deploy design enable execute export find fix generate handle import include inspect install integrate launch load "
    "manage measure migrate monitor move open optimize plan publish put query read record register remove replace run "
    "save select send set show simulate spawn start step stop style test train translate tune update upgrade use "
    "validate visualize write"
).split()

Kind = Literal["definition", "task"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    question: str
    heading: str
    """The section that should answer it; empty for the page's own title."""
    kind: Kind


class Suggestions:
    """Questions of the book at hand, found once and kept until its table of contents changes."""

    def __init__(self, book: ReadableBook) -> None:
        self._book = book
        self._contents: list[PageEntry] = []
        self._questions: list[str] | None = None
        self._of_pages: dict[str, list[str]] = {}
        self._seeking = asyncio.Lock()

    def _begin_anew(self, contents: list[PageEntry]) -> None:
        if self._contents != contents:
            self._contents, self._questions, self._of_pages = contents, None, {}

    async def of_page(self, contents: list[PageEntry], page: PageEntry) -> list[str]:
        """Questions that this page answers, best kinds first. Raises what a search raises."""
        async with self._seeking:
            self._begin_anew(contents)
            if page.url not in self._of_pages:
                self._of_pages[page.url] = [question async for question in self._found_on(page)]
            return self._of_pages[page.url]

    async def _found_on(self, page: PageEntry) -> AsyncIterator[str]:
        known = await self._book.page(page.url)
        for suggestion in list(suggestions(known) if known else ())[: MOST_SEARCHES // 3]:
            if await self._finds(suggestion, page):
                yield suggestion.question

    async def of(self, contents: list[PageEntry]) -> list[str]:
        """Raises what a search raises."""
        async with self._seeking:  # who comes meanwhile waits for what is found, instead of seeking it too
            self._begin_anew(contents)
            if self._questions is None:
                self._questions = [question async for question in self._found(contents)]
            return self._questions

    async def _found(self, contents: Sequence[PageEntry]) -> AsyncIterator[str]:
        offered = searches = 0
        for page in spread(contents)[:MOST_PAGES]:
            known = await self._book.page(page.url)
            preferred: Kind = "task" if offered % 2 else "definition"
            for suggestion in sorted(suggestions(known) if known else (), key=lambda s: s.kind != preferred):
                if searches == MOST_SEARCHES or offered == OFFERED:
                    return
                searches += 1
                if await self._finds(suggestion, page):
                    offered += 1
                    yield suggestion.question
                    break

    async def _finds(self, suggestion: Suggestion, page: PageEntry) -> bool:
        try:
            found = (await self._book.search(suggestion.question, top_k=3)).passages
        except DeadlineError:
            return False  # on a machine this busy it is better to offer less than to fail
        return (
            bool(found)
            and found[0].score >= LEAST_SCORE
            and found[0].passage.url == page.url
            and any(f.passage.url == page.url and suggestion.heading in ("", *f.passage.heading_path) for f in found)
        )


def spread(contents: Sequence[PageEntry]) -> list[PageEntry]:
    """The first page of each module, then the second of each, and so on."""
    modules: dict[str, list[PageEntry]] = defaultdict(list)
    for page in contents:
        modules[page.module].append(page)
    return [page for row in zip_longest(*modules.values()) for page in row if page is not None]


def suggestions(page: Page) -> Iterator[Suggestion]:
    """What the headings of a page ask, where the blocks below them have the look of an answer."""
    said: list[Block] = [block for block in page.blocks if block.part == "body" and not isinstance(block, Heading)]
    prose = _text(page, said)
    for heading, blocks in [("", said), *_sections(page)]:
        topic = _COUNTED.sub("", heading or page.title)
        if len(topic) > _LONGEST or not _SIMPLE.fullmatch(topic):
            continue
        # A title that is repeated on its page says nothing about its words' own capitals.
        others = prose.replace(topic, "") if topic.count(" ") > 1 else prose
        if _QUESTION.fullmatch(topic):
            first, *rest = topic.split(" ")
            yield Suggestion(" ".join([first, *(_cased(word, others) for word in rest)]), heading, "definition")
        elif (task := _task(topic, others)) and any(map(_is_step, blocks)):
            yield Suggestion(task, heading, "task")
        elif definition := _definition(topic, _text(page, blocks), others):
            yield Suggestion(definition, heading, "definition")


def _sections(page: Page) -> Iterator[tuple[str, list[Block]]]:
    """The headings of the body, each with the blocks until the next. A quiz or a summary asks nothing of its own."""
    for number, heading in enumerate(page.blocks):
        if isinstance(heading, Heading) and heading.part == "body" and heading.level <= _DEEPEST:
            yield heading.title, list(takewhile(lambda b: not isinstance(b, Heading), page.blocks[number + 1 :]))


def _text(page: Page, blocks: Sequence[Block]) -> str:
    return "\n\n".join(page.text[block.start : block.end] for block in blocks)


def _is_step(block: Block) -> bool:
    return isinstance(block, Code) or (isinstance(block, ListItem) and block.marker != "-")


def _task(topic: str, prose: str) -> str | None:
    """The question of "How to run it", "Run it" and "Running it"."""
    words = topic.removeprefix("How to ").split()
    verb = words[0].lower()
    if not topic.startswith("How to "):
        verb = verb if verb in _VERBS else _GERUNDS.get(verb, "")
    if not verb or len(words) < 2 or topic.endswith("?") or not _GERUNDS.keys().isdisjoint(words[1:]):
        return None
    own = {"your": "my", "you": "I"}
    return f"How do I {' '.join([verb, *(own.get(word, _cased(word, prose)) for word in words[1:])])}?"


def _definition(topic: str, body: str, prose: str) -> str | None:
    """The subject of the sentence that says what it is, in the book's own number and with its article."""
    one = re.sub(r"^(?:an?|the) ", "", topic, flags=re.IGNORECASE).removesuffix("s")
    found = re.search(_DEFINES.format(topic=f"{re.escape(one)}s?"), body, re.IGNORECASE | re.MULTILINE)
    if found is None:
        return None
    subject = " ".join(_cased(word, prose) for word in found["subject"].split(" "))
    return f"What {found['verb'].lower()} {subject}?"


def _cased(word: str, prose: str) -> str:
    """A capital stays when it is the word's own, not that of a title or of a sentence's beginning."""
    small = word.lower()
    if word == small or word[1:] != small[1:]:
        return word
    capital, plain = (len(re.findall(rf"[a-z,] {re.escape(form)}\b", prose)) for form in (word, small))
    return word if capital > plain and small not in ("a", "an", "the") else small


def _gerund(verb: str) -> str:
    if verb.endswith("e"):
        return verb[:-1] + "ing"
    doubled = verb in ("control", "debug", "plan", "put", "run", "set", "step", "stop")
    return verb + (verb[-1] if doubled else "") + "ing"


_GERUNDS = {_gerund(verb): verb for verb in _VERBS}
