"""The crawler, a site as a source: pages found by sitemap, llms.txt or links, fetched politely, articles read."""

import asyncio
import codecs
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

from citewell.errors import IngestError
from citewell.ingest.bounds import SMALL, Result, UnreadablePage, Worker
from citewell.ingest.discovery import Site, llms_pages, robots_of, sitemap_pages
from citewell.ingest.fetch import ROBOTS_NAME, Fetched, Fetcher, FetchError
from citewell.ingest.frontmatter import split_front_matter
from citewell.ingest.html import read_html
from citewell.ingest.markdown import MarkdownPage, read_markdown
from citewell.ingest.pagetext import PageContent, plain
from citewell.ingest.report import IngestOptions
from citewell.ingest.routes import label_of
from citewell.ingest.share import markdown_letters
from citewell.ingest.sources import Failure, LeftOut, Outcome, PageUnchanged, Validators, page_read

_DISALLOWED = "disallowed"
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_CHARSET = re.compile(r"[\w.:-]{1,40}", re.ASCII)
_PYTHON_ONLY = frozenset("idna punycode unicode_escape raw_unicode_escape undefined mbcs oem utf-7 utf7".split())
"""Codecs that are no character sets of the web; some take quadratic time."""
_HTML = ("text/html", "application/xhtml+xml", "")
_TEXT = ("text/markdown", "text/x-markdown", "text/plain")


class SiteSource:
    """Pages in the order of the sitemap, or as links lead to them."""

    folder: Path | None = None

    def __init__(self, url: str, options: IngestOptions) -> None:
        self.base_url = options.base_url or url
        self.discovered = 0
        self._url = url
        self._options = options

    async def fingerprint(self) -> str:
        return ""

    async def read(self, known: Mapping[str, Validators]) -> AsyncGenerator[Outcome, None]:
        worker = Worker(self._options.page_cpu_seconds)
        async with Fetcher(self._options) as fetcher:
            crawl = _Crawl(fetcher, worker, self._options, self._site(), known)
            await crawl.discover(self._url)
            self.discovered = crawl.discovered
            with closing(worker):
                async for outcome in crawl.outcomes():
                    self.discovered = crawl.discovered
                    yield outcome

    def _site(self) -> Site:
        given = self._options.base_url
        if given.startswith(("http://", "https://")):
            return Site.at(given if given.endswith("/") else given + "/")
        is_list = _is_sitemap(self._url) or self._url.endswith("llms.txt")
        return Site.at(f"{Site.at(self._url).origin}/" if is_list else self._url)


@dataclass(slots=True)
class _Crawl:
    _fetcher: Fetcher
    _worker: Worker
    _options: IngestOptions
    _site: Site
    _known: Mapping[str, Validators]
    discovered: int = 0
    _follow: bool = False
    _waiting: deque[str] = field(default_factory=deque)
    _seen: set[str] = field(default_factory=set)
    _robots: RobotFileParser = field(default_factory=RobotFileParser)

    async def discover(self, url: str) -> None:
        """Raises IngestError when there is nothing to start from."""
        self._robots = await robots_of(self._fetcher, self._site.origin)
        limit = self._options.max_pages
        try:
            if _is_sitemap(url):
                return self._add(await sitemap_pages(self._fetcher, self._site, url, limit, self._admit))
            if url.endswith("llms.txt"):
                return self._add(await llms_pages(self._fetcher, self._site, url, limit, self._admit))
        except FetchError as error:
            raise IngestError(f"{url} cannot be read: {error}") from error
        base = self._site.origin + self._site.prefix
        sitemaps = [self._site.here(s) for s in self._robots.site_maps() or ()]
        for candidate in dict.fromkeys([*sitemaps, f"{base}sitemap.xml", f"{self._site.origin}/sitemap.xml"]):
            try:
                self._add(await sitemap_pages(self._fetcher, self._site, candidate, limit, self._admit))
            except FetchError:
                continue
            if self._waiting:
                return None
        with suppress(FetchError):  # a site need not have one
            self._add(await llms_pages(self._fetcher, self._site, f"{base}llms.txt", limit, self._admit))
        if not self._waiting:
            self._follow = True
            self._add([url])
        return None

    def _add(self, urls: list[str]) -> None:
        for url in urls:
            key = url.rstrip("/")
            if key in self._seen or len(self._seen) >= self._options.max_pages:
                continue
            self._seen.add(key)
            if self._robots.can_fetch(ROBOTS_NAME, url):
                self._waiting.append(url)
                self.discovered += 1

    def _admit(self, url: str) -> None:
        if not self._robots.can_fetch(ROBOTS_NAME, url):
            raise FetchError(_DISALLOWED, "Redirected to where robots.txt allows no reading.")

    def _admit_page(self, url: str) -> None:
        if self._site.page(url, url) is None:
            raise FetchError("left_site", "Redirected out of the part of the site that is read.")
        self._admit(url)

    async def outcomes(self) -> AsyncGenerator[Outcome, None]:
        """In order, with several pages on their way at a time."""
        running: deque[asyncio.Task[tuple[Outcome | None, list[str]]]] = deque()
        async with asyncio.TaskGroup() as group:
            try:
                while self._waiting or running:
                    while self._waiting and len(running) < self._options.concurrency:
                        running.append(group.create_task(self._page(self._waiting.popleft())))
                    outcome, links = await running.popleft()
                    if self._follow:
                        self._add(links)
                    if outcome is None:
                        self.discovered -= 1
                    else:
                        yield outcome
            finally:
                for task in running:
                    task.cancel()

    async def _page(self, url: str) -> tuple[Outcome | None, list[str]]:
        """What became of a page, and the pages it links to. None: seen before, or not to be indexed."""
        # A page that is not sent again shows no links, so a crawl by links asks for all of it.
        known = None if self._follow else self._known.get(url)
        try:
            fetched = await self._fetcher.get(url, known=known, admits=self._admit_page)
            if fetched.is_unchanged:
                return PageUnchanged(url, fetched.validators), []
            landed = fetched.url.rstrip("/")
            if landed != url.rstrip("/"):
                if landed in self._seen:
                    return None, []
                self._seen.add(landed)
            return await self._parsed(fetched)
        except FetchError as error:
            if error.code == _DISALLOWED:
                return None, []
            return Failure(url, error.code, str(error), is_gone=error.status in (404, 410)), []
        except UnreadablePage as error:
            return Failure(url, error.code, str(error)), []

    async def _read(self, function: Callable[[str], Result], text: str) -> Result:
        run = asyncio.to_thread if len(text) <= SMALL else self._worker.run
        return await run(function, text)

    async def _parsed(self, fetched: Fetched) -> tuple[Outcome | None, list[str]]:
        if fetched.content_type in _TEXT:
            return await self._markdown(fetched), []
        if fetched.content_type not in _HTML:
            raise FetchError("unsupported_type", f"Not a page: {fetched.content_type}.")
        read = await self._read(read_html, _decoded(fetched))
        links = [found for link in read.links if (found := self._site.page(fetched.url, link))]
        if read.rule_against:
            return LeftOut(fetched.url, read.rule_against), links
        if not read.text.blocks:
            raise FetchError("empty_page", "The page has no text. Pages that scripts fill in cannot be read.")
        module = read.module or self._module(fetched.url)
        content = replace(read, title=read.title or fetched.url, module=module)
        return page_read(fetched.url, content, fetched.validators), links

    async def _markdown(self, fetched: Fetched) -> Outcome:
        front, body = await asyncio.to_thread(split_front_matter, _decoded(fetched))
        read = await self._read(_read_markdown, body)
        if not read.text.blocks:
            raise FetchError("empty_page", "The page has no text.")
        title = plain(front.title) or read.title or fetched.url
        letters = markdown_letters(body, mdx=True)
        content = PageContent(read.text, title, self._module(fetched.url), front.language, letters=letters)
        return page_read(fetched.url, content, fetched.validators)

    def _module(self, url: str) -> str:
        below = urlsplit(url).path.removeprefix(self._site.prefix).strip("/").split("/")
        return label_of(below[0]) if len(below) > 1 else ""


def _read_markdown(body: str) -> MarkdownPage:
    return read_markdown(body, "docusaurus", lambda _: None)


def _is_sitemap(url: str) -> bool:
    return urlsplit(url).path.lower().endswith((".xml", ".xml.gz"))


def _decoded(fetched: Fetched) -> str:
    """Raises FetchError when the bytes are not what they say."""
    charset = fetched.charset or _named_in_page(fetched.body)
    if charset in _PYTHON_ONLY or not _CHARSET.fullmatch(charset):
        raise FetchError("invalid_text", f"Unknown character set {charset!r:.40}.")
    try:
        return fetched.body.decode(charset).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        code = "invalid_utf8" if charset.replace("-", "") == "utf8" else "invalid_text"
        raise FetchError(code, f"Byte {error.start:,} is not {charset}.") from error
    except LookupError as error:
        raise FetchError("invalid_text", f"Unknown character set {charset!r:.40}.") from error


def _named_in_page(body: bytes) -> str:
    """The character set of a page whose reply names none. A mark at the beginning is surer than what the page says."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    named = _META_CHARSET.search(body, 0, 4096)
    charset = named[1].decode("ascii", "replace").lower() if named else "utf-8"
    # Who could read this name in plain letters is not reading UTF-16.
    return "utf-8" if charset.startswith(("utf-16", "utf-32")) else charset
