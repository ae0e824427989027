"""Search as one types: the route and every name on the wire. Titles that begin so come first, then what is found."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from citewell.api.app_state import state_of
from citewell.api.dialects.wire import WholeReply, encoded
from citewell.api.guarded_route import BookRoute
from citewell.api.middleware import json_reply
from citewell.api.openapi import GUARD, KEYED, LIMITS, SERVICES, failures, reply
from citewell.errors import InvalidInputError
from citewell.values import FILTER_FIELDS, PageEntry, Passage, filters_of

LONGEST_TEXT = 200
TITLES = 3
"""Pages that are shown for their title alone."""
_MARKS = re.compile(r"[`*#>|]+|^\s*(?:[-+]|\d+[.)])\s", re.MULTILINE)
router = APIRouter(tags=["book"], dependencies=KEYED, route_class=BookRoute)


class SearchHit(WholeReply):
    title: str = Field(description="Of the page")
    section: str = Field(description="The headings down to the section, joined with ` > `; empty for the page itself")
    url: str = Field(description="With the section's anchor")
    text: str = Field(description="The beginning of what was found there")


class SearchResponse(WholeReply):
    results: list[SearchHit]


Values = Annotated[list[str], Query(description="Only sections that match; may be given several times")]


@router.get(
    "/search",
    summary="Sections that fit what was typed so far",
    response_model=SearchResponse,
    responses=reply("Best first", *LIMITS) | failures(*GUARD, *SERVICES, InvalidInputError),
)
async def search(
    request: Request,
    q: Annotated[
        str, Query(min_length=1, max_length=200, pattern=r"^[^\x00]*[^\x00\s][^\x00]*$", examples=["install"])
    ],
    limit: Annotated[int, Query(ge=1, le=20)] = 8,
    source_url: Values = [],  # noqa: B006 FastAPI copies it
    page_title: Values = [],  # noqa: B006
    section_heading: Values = [],  # noqa: B006
    module: Values = [],  # noqa: B006
    chapter: Values = [],  # noqa: B006
    language: Values = [],  # noqa: B006
    version: Values = [],  # noqa: B006
) -> Response:
    state, query = state_of(request), q.strip()
    given = (source_url, page_title, section_heading, module, chapter, language, version)
    filters = filters_of({name: values for name, values in zip(FILTER_FIELDS, given, strict=True) if values})
    titled = [] if filters else await asyncio.to_thread(pages_titled, query, await state.book.contents())
    found = await state.parts.book.search(query, top_k=limit, filters=filters)
    hits = merged(titled, (scored.passage for scored in found.passages))
    return json_reply(encoded(SearchResponse(results=hits[:limit])))


def pages_titled(query: str, contents: Sequence[PageEntry]) -> list[PageEntry]:
    """Pages in whose title a word begins with each word that was typed: the last one may be half a word."""
    typed = dict.fromkeys(query.lower().split())

    def fits(page: PageEntry) -> bool:
        words = re.findall(r"\w+", page.title.lower())
        return all(any(word.startswith(part) for word in words) for part in typed)

    return [page for page in contents if fits(page)][:TITLES]


def merged(titled: Iterable[PageEntry], found: Iterable[Passage]) -> list[SearchHit]:
    """Each section once. A page that was found by its title shows the words that were found on it."""
    passages = list(found)
    hits: dict[str, SearchHit] = {}
    for page in titled:
        text = next((_words(passage.text) for passage in passages if passage.url == page.url), "")
        hits[page.url] = SearchHit(title=page.title, section="", url=page.url, text=text)
    for passage in passages:
        section = " > ".join(passage.heading_path)
        hit = SearchHit(title=passage.page_title, section=section, url=passage.section_url, text=_words(passage.text))
        hits.setdefault(hit.url, hit)
    return list(hits.values())


def _words(text: str) -> str:
    """The beginning of a passage without the signs of its Markdown."""
    return " ".join(_MARKS.sub(" ", text[: 2 * LONGEST_TEXT]).split())[:LONGEST_TEXT]
