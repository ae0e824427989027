"""Where the pages of a site are: robots.txt, sitemaps (nested, gzipped, with a placeholder host), llms.txt."""

import re
from collections import deque
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin, urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

from citewell.errors import IngestError
from citewell.ingest.fetch import Admits, Fetcher, FetchError, gunzipped
from citewell.ingest.plainxml import UnreadableXml, elements

MAX_SITEMAP_BYTES = 50_000_000
MAX_SITEMAPS = 200
MAX_SITEMAP_DEPTH = 3
_LINK = re.compile(r"\[[^\]\n]*\]\(\s*<?([^)\s>]+)")
_NO_PAGE = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|css|js|mjs|map|json|xml|rss|atom|zip|gz|tgz|tar|pdf|epub|woff2?|ttf|mp[34]|webm|"
    r"ipynb|py|whl|exe|dmg|csv|txt)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Site:
    """Where a site really is, and which part of it is the book."""

    origin: str
    prefix: str
    """Paths begin with it."""

    @classmethod
    def at(cls, url: str) -> "Site":
        parts = urlsplit(url)
        return cls(f"{parts.scheme}://{parts.netloc}", parts.path[: parts.path.rfind("/") + 1] or "/")

    def page(self, base: str, link: str) -> str | None:
        """A link as the address of one of the site's pages, or None when it is none."""
        try:
            parts = urlsplit(urldefrag(urljoin(base, link))[0])
        except ValueError:
            return None
        if parts.scheme not in ("http", "https") or f"{parts.scheme}://{parts.netloc}" != self.origin:
            return None
        if not parts.path.startswith(self.prefix) or _NO_PAGE.search(parts.path):
            return None
        return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))

    def here(self, url: str) -> str:
        """The same path on this site: sitemaps carry placeholder hosts."""
        parts = urlsplit(url.strip())
        return urlunsplit((*urlsplit(self.origin)[:2], parts.path or "/", "", ""))


async def robots_of(fetcher: Fetcher, origin: str) -> RobotFileParser:
    """Raises IngestError when the site has rules that cannot be had now."""
    rules = RobotFileParser()
    try:
        fetched = await fetcher.get(f"{origin}/robots.txt", limit=500_000)
    except FetchError as error:
        if not 400 <= error.status < 500 or error.status == 429:
            raise IngestError(f"{origin}/robots.txt cannot be read: {error}") from error
        rules.parse([])
        return rules
    rules.parse(fetched.body.decode("utf-8", "replace").splitlines())
    return rules


async def sitemap_pages(fetcher: Fetcher, site: Site, url: str, max_pages: int, admits: Admits) -> list[str]:
    """The pages of a sitemap and those it nests, in their order. Raises FetchError for the first one only."""
    found: dict[str, None] = {}
    waiting = deque([(url, 0)])
    seen = {url}
    while waiting and len(found) < max_pages:
        address, deep = waiting.popleft()
        try:
            locations = await _locations(fetcher, address, admits)
        except FetchError:
            if deep == 0:
                raise
            continue
        for kind, location in locations:
            here = site.here(location)
            if kind == "sitemap":
                if deep < MAX_SITEMAP_DEPTH and here not in seen and len(seen) < MAX_SITEMAPS:
                    seen.add(here)
                    waiting.append((here, deep + 1))
            elif len(found) < max_pages and urlsplit(here).path.startswith(site.prefix):
                found[here] = None
    return list(found)


async def _locations(fetcher: Fetcher, url: str, admits: Admits) -> list[tuple[str, str]]:
    fetched = await fetcher.get(url, limit=MAX_SITEMAP_BYTES, admits=admits)
    body = gunzipped(fetched.body, MAX_SITEMAP_BYTES) if fetched.body[:2] == b"\x1f\x8b" else fetched.body
    try:
        return [(e.parent, e.text) for e in elements(body) if e.name == "loc" and e.parent in ("url", "sitemap")]
    except UnreadableXml as error:
        raise FetchError("unreadable_xml", str(error)) from error


async def llms_pages(fetcher: Fetcher, site: Site, url: str, max_pages: int, admits: Admits) -> list[str]:
    """The pages that an llms.txt links to. Raises FetchError."""
    fetched = await fetcher.get(url, admits=admits)
    if fetched.content_type == "text/html":
        raise FetchError("not_text", "The site answers a web page for llms.txt.")
    links = _LINK.findall(fetched.body.decode("utf-8", "replace"))
    pages = (site.page(fetched.url, link) for link in links)
    return list(dict.fromkeys(page for page in pages if page))[:max_pages]
