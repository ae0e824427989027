"""Fetching from a site: politely, within bounds, only from where it is allowed. The only sender in ingest."""

import asyncio
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urljoin, urlsplit

import httpx

from citewell import __version__
from citewell.ingest.report import IngestOptions
from citewell.ingest.sources import Validators
from citewell.ingest.ssrf import CheckedTransport, RefusedAddress

USER_AGENT = f"Citewell/{__version__} (documentation reader)"
ROBOTS_NAME = "Citewell"
MAX_PAGE_BYTES = 10_000_000
MAX_REDIRECTS = 5
_TRIES = 3
_PASSING = (429, 502, 503, 504)
_DEFAULT_PORTS = {"http": 80, "https": 443}

Admits = Callable[[str], None]
"""Raises FetchError for an address that a redirect may not lead to."""


class FetchError(Exception):
    """`code` is the report's; the message says what the site did."""

    def __init__(self, code: str, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


@dataclass(frozen=True, slots=True)
class Fetched:
    url: str
    """Where the redirects ended."""
    content_type: str
    charset: str
    body: bytes
    validators: Validators
    is_unchanged: bool = False


class Fetcher:
    """At most `requests_per_second`, each within `page_seconds`. Use with `async with`."""

    def __init__(self, options: IngestOptions) -> None:
        self._options = options
        self._next_at = 0.0
        self._client = httpx.AsyncClient(
            transport=CheckedTransport(options.allow_hosts),
            headers={
                "User-Agent": USER_AGENT,
                "Accept-Encoding": "gzip, deflate",
                "Accept": "text/html, text/*;q=0.9, */*;q=0.5",
            },
            follow_redirects=False,
            trust_env=False,
            timeout=httpx.Timeout(options.page_seconds),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self._client.aclose()

    async def get(
        self, url: str, *, known: Validators | None = None, limit: int = MAX_PAGE_BYTES, admits: Admits | None = None
    ) -> Fetched:
        """Each redirect stays on the site and is put to `admits` before it is followed. Raises FetchError."""
        for attempt in range(1, _TRIES + 1):
            try:
                async with asyncio.timeout(self._options.page_seconds):
                    return await self._followed(url, known, limit, admits)
            except FetchError as error:
                if attempt == _TRIES or (error.status not in _PASSING and error.code != "unreachable"):
                    raise
            except TimeoutError as error:
                raise FetchError("timeout", f"No answer within {self._options.page_seconds:g} s.") from error
            await asyncio.sleep(self._options.retry_seconds * attempt)
        raise AssertionError

    async def _followed(self, url: str, known: Validators | None, limit: int, admits: Admits | None) -> Fetched:
        site = _site(url)
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._once(url, known, limit)
            if isinstance(answer, Fetched):
                return answer
            try:
                url = urljoin(url, answer)
                landed = _site(url)
            except ValueError as error:
                raise FetchError("refused_address", "Redirected to what is no address.") from error
            if landed != site:
                raise FetchError("left_site", f"Redirected to another site: {landed[0]}:{landed[1]}.")
            if admits is not None:
                admits(url)
        raise FetchError("too_many_redirects", f"More than {MAX_REDIRECTS} redirects.")

    async def _once(self, url: str, known: Validators | None, limit: int) -> Fetched | str:
        """The page, or where it redirects to."""
        await self._turn()
        headers = {}
        if known and known.etag:
            headers["If-None-Match"] = known.etag
        if known and known.last_modified:
            headers["If-Modified-Since"] = known.last_modified
        try:
            async with self._client.stream("GET", url, headers=headers) as response:
                return await self._answer(url, response, known, limit)
        except RefusedAddress as error:
            raise FetchError("refused_address", str(error)) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise FetchError("unreachable", f"The site cannot be reached: {type(error).__name__}.") from error

    async def _answer(self, url: str, response: httpx.Response, known: Validators | None, limit: int) -> Fetched | str:
        status = response.status_code
        if status == 304 and known:
            return Fetched(url, "", "", b"", known, is_unchanged=True)
        if status in (301, 302, 303, 307, 308):
            return str(response.headers.get("Location", ""))
        if status != 200:
            raise FetchError(f"http_{status}", f"The site answered {status}.", status)
        body = await _bounded(response, limit)
        content_type, _, parameters = response.headers.get("Content-Type", "").partition(";")
        charset = parameters.lower().partition("charset=")[2].split(";")[0].strip(" \"'")
        validators = Validators(response.headers.get("ETag", ""), response.headers.get("Last-Modified", ""))
        return Fetched(url, content_type.strip().lower(), charset, body, validators)

    async def _turn(self) -> None:
        """Wait for this request's place in the rate."""
        if self._options.requests_per_second <= 0:
            return
        now = asyncio.get_running_loop().time()
        at = max(now, self._next_at)
        self._next_at = at + 1 / self._options.requests_per_second
        await asyncio.sleep(at - now)


def _site(url: str) -> tuple[str, int]:
    """Host and port: `www.` and the change from http to https at their own ports make no other site."""
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS:
        raise FetchError("refused_address", "Only http and https addresses are read.")
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    is_default = port == _DEFAULT_PORTS[parts.scheme]
    return (parts.hostname or "").removeprefix("www."), 443 if is_default else port


async def _bounded(response: httpx.Response, limit: int) -> bytes:
    """The body, unpacked piece by piece: httpx would unpack a bomb in one."""
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise FetchError("unsupported_encoding", f"The site sent {encoding!r:.40} although it was not asked to.")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding not in ("", "identity") else None
    out = bytearray()
    async for chunk in response.aiter_raw(65536):
        try:
            out += unpacker.decompress(chunk, limit + 1 - len(out)) if unpacker else chunk
        except zlib.error as error:
            raise FetchError("damaged", "The compressed answer is damaged.") from error
        if len(out) > limit:
            raise _too_large(limit)
    return bytes(out)


def gunzipped(data: bytes, limit: int) -> bytes:
    """A `.gz` file. Raises FetchError when it is damaged or larger than `limit`."""
    try:
        out = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, limit + 1)
    except zlib.error as error:
        raise FetchError("damaged", "The compressed file is damaged.") from error
    if len(out) > limit:
        raise _too_large(limit)
    return out


def _too_large(limit: int) -> FetchError:
    return FetchError("too_large", f"Larger than {limit // 1_000_000:,} MB.")
