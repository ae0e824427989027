"""Embedders that a provider runs: Cohere, and whatever speaks OpenAI's `/embeddings`. Plain HTTP, no SDK.

The provider's errors become ours here, once. Keys stay out of every message.
"""

import asyncio
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Literal

import httpx
import numpy as np
import stamina

from citewell.config import COHERE_MODEL
from citewell.embedding.builtin import BuiltinTokenizer
from citewell.embedding.vectors import in_slices, unit_rows
from citewell.errors import ConfigurationError, EmbeddingError, RateLimitError
from citewell.values import Vector

_ATTEMPTS: Final = 3
_QUERY_SECONDS: Final = 4.0
"""Retrieval has 5 s in all; the search needs its share."""
_PASSAGES_SECONDS: Final = 60.0
_PING_SECONDS: Final = 3.0
_CALLS_AT_ONCE: Final = 4
_MAX_TOKENS: Final = 500
_BYTES_PER_TOKEN: Final = 4
_SHORTEST_WAIT: Final = 0.05
_MAX_REPLY: Final = 20_000_000
"""Bytes: 96 vectors of 4,096 numbers take half of it."""
Purpose = Literal["search_query", "search_document"]


class _HostedEmbedder(ABC):
    """What the two have in common: calls of a bounded size, a few at a time, each with its deadline."""

    max_tokens: Final = _MAX_TOKENS

    def __init__(
        self, endpoint: "_Endpoint", *, model: str, dimensions: int, texts_a_call: int, query_seconds: float
    ) -> None:
        self.name = model
        self.dimensions = dimensions
        self._query_seconds = query_seconds
        self._endpoint = endpoint
        self._texts_a_call = texts_a_call
        self._tokenizer = BuiltinTokenizer()

    def count_tokens(self, text: str) -> int:
        """A guess on the safe side of the provider's own count: the built-in tokenizer's, or one for four bytes."""
        by_size = -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)
        return max(self._tokenizer.count(text), by_size)

    async def embed_query(self, text: str) -> Vector:
        row: Vector = (await self._embed([text], "search_query", self._query_seconds))[0]
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        async def call(some: Sequence[str]) -> Vector:
            return await self._embed(some, "search_document", _PASSAGES_SECONDS)

        return await in_slices(texts, call, dimensions=self.dimensions, size=self._texts_a_call, at_once=_CALLS_AT_ONCE)

    async def ping(self) -> None:
        await self._endpoint.ping()

    async def aclose(self) -> None:
        await self._endpoint.aclose()

    async def _embed(self, texts: Sequence[str], purpose: Purpose, seconds: float) -> Vector:
        # A lone surrogate cannot be sent.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        rows = self._rows(await self._endpoint.post(self._body(clean, purpose), seconds=seconds))
        return _checked(rows, count=len(texts), dimensions=self.dimensions, source=self._endpoint.source)

    @abstractmethod
    def _body(self, texts: list[str], purpose: Purpose) -> Mapping[str, object]: ...

    @abstractmethod
    def _rows(self, reply: object) -> Sequence[object]: ...


class CohereEmbedder(_HostedEmbedder):
    """Cohere's v3 models. They embed questions and passages differently."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str = "https://api.cohere.com",
        dimensions: int = 1024,
        query_seconds: float = _QUERY_SECONDS,
    ) -> None:
        endpoint = _Endpoint(
            source="Cohere",
            url=f"{base_url.rstrip('/')}/v2/embed",
            free_url=f"{base_url.rstrip('/')}/v1/models",
            api_key=api_key,
            key_variable="COHERE_API_KEY",
        )
        super().__init__(
            endpoint, model=COHERE_MODEL, dimensions=dimensions, texts_a_call=96, query_seconds=query_seconds
        )

    def _body(self, texts: list[str], purpose: Purpose) -> Mapping[str, object]:
        return {
            "model": self.name,
            "texts": texts,
            "input_type": purpose,
            "embedding_types": ["float"],
            "truncate": "END",
        }

    def _rows(self, reply: object) -> Sequence[object]:
        match reply:
            case {"embeddings": {"float": list() as rows}}:
                return rows
        raise EmbeddingError("Cohere's reply has no embeddings in it.")


class OpenAIEmbedder(_HostedEmbedder):
    """Any server that speaks OpenAI's embeddings protocol. `base_url` is what comes before `/embeddings`."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        dimensions: int,
        api_key: str | None = None,
        query_seconds: float = _QUERY_SECONDS,
    ) -> None:
        endpoint = _Endpoint(
            source="The embedding service",
            url=f"{base_url.rstrip('/')}/embeddings",
            free_url=f"{base_url.rstrip('/')}/models",
            api_key=api_key,
            key_variable="EMBEDDING_API_KEY",
        )
        # Small servers take no more than 32 texts a call.
        super().__init__(endpoint, model=model, dimensions=dimensions, texts_a_call=32, query_seconds=query_seconds)

    def _body(self, texts: list[str], purpose: Purpose) -> Mapping[str, object]:
        return {"model": self.name, "input": texts, "encoding_format": "float"}

    def _rows(self, reply: object) -> Sequence[object]:
        match reply:
            case {"data": list() as entries}:
                return _in_order(entries, source=self._endpoint.source)
        raise EmbeddingError(f"{self._endpoint.source}'s reply has no embeddings in it.")


class _Endpoint:
    """One address of a provider: sends, tries again what can pass, and translates what cannot."""

    def __init__(self, *, source: str, url: str, free_url: str, api_key: str | None, key_variable: str) -> None:
        if api_key is not None and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
            # httpx would show the key in its complaint.
            raise ConfigurationError(f"{key_variable} has characters that no key has.")
        self.source = source
        self._url = url
        self._free_url = free_url
        self._key_variable = key_variable
        self._client = httpx.AsyncClient(headers={"Authorization": f"Bearer {api_key}"} if api_key else {})

    async def aclose(self) -> None:
        await self._client.aclose()

    async def ping(self) -> None:
        """Ask for the list of models, which costs nothing. A server that has no such list still answers."""
        try:
            response = await self._client.get(self._free_url, timeout=_PING_SECONDS)
            if response.status_code in (401, 403, 429) or response.status_code >= 500:
                response.raise_for_status()
        except httpx.HTTPError as error:
            raise self._translated(error) from error

    async def post(self, body: Mapping[str, object], *, seconds: float) -> object:
        """The reply's JSON. All attempts together take no longer than `seconds`."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds

        def wait_before_retry(error: Exception) -> bool | float:
            if not _can_pass(error):
                return False
            told = _retry_after(error)
            if told is None:
                return True
            return False if loop.time() + told > deadline else max(told, _SHORTEST_WAIT)

        try:
            async with asyncio.timeout_at(deadline):
                async for attempt in stamina.retry_context(
                    on=wait_before_retry, attempts=_ATTEMPTS, timeout=seconds, wait_initial=0.1, wait_jitter=0.2
                ):
                    with attempt:
                        # Half of the time, so that a connection that hangs can be given up for another.
                        sent = await self._sent(body, seconds / 2)
        except TimeoutError as error:
            raise EmbeddingError(f"{self.source} did not answer within {seconds:g} s.") from error
        except httpx.HTTPError as error:
            raise self._translated(error) from error
        try:
            reply: object = await asyncio.to_thread(json.loads, sent)
        except ValueError as error:
            raise EmbeddingError(f"{self.source} sent a reply that is not JSON.") from error
        return reply

    async def _sent(self, body: Mapping[str, object], seconds: float) -> bytes:
        async with self._client.stream("POST", self._url, json=body, timeout=seconds) as response:
            response.raise_for_status()
            sent = bytearray()
            async for chunk in response.aiter_bytes():
                sent += chunk
                if len(sent) > _MAX_REPLY:
                    raise EmbeddingError(f"{self.source} sent more than {_MAX_REPLY // 1_000_000} MB.")
            return bytes(sent)

    def _translated(self, error: httpx.HTTPError) -> EmbeddingError | ConfigurationError:
        if isinstance(error, httpx.TimeoutException):
            return EmbeddingError(f"{self.source} did not answer in time.")
        if not isinstance(error, httpx.HTTPStatusError):
            return EmbeddingError(f"{self.source} cannot be reached ({type(error).__name__}).")
        status = error.response.status_code
        if status in (401, 403):
            return ConfigurationError(f"{self.source} refused the key (HTTP {status}). Check {self._key_variable}.")
        if status == 404:
            return EmbeddingError(f"{self.source} does not know the address or the model (HTTP 404).")
        if status == 429:
            return RateLimitError(f"{self.source} asks us to wait (HTTP 429).", retry_after=_retry_after(error))
        return EmbeddingError(f"{self.source} failed (HTTP {status}).")


def _can_pass(error: Exception) -> bool:
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in (408, 429) or error.response.status_code >= 500
    return isinstance(error, httpx.TransportError) and not isinstance(
        error, httpx.UnsupportedProtocol | httpx.LocalProtocolError
    )


def _retry_after(error: Exception) -> float | None:
    """What the provider told us to wait, in seconds; it may say so as a number or as a date."""
    told = error.response.headers.get("Retry-After") if isinstance(error, httpx.HTTPStatusError) else None
    if told is None:
        return None
    try:
        seconds = float(told)
    except ValueError:
        try:
            date = parsedate_to_datetime(told)
        except ValueError:
            return None
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _in_order(entries: Sequence[object], *, source: str) -> list[object]:
    """The rows by their `index`; a server that leaves it out sends them in order."""
    rows: dict[int, object] = {}
    for place, entry in enumerate(entries):
        match entry:
            case {"index": int() as index, "embedding": list() as row}:
                rows[index] = row
            case {"embedding": list() as row}:
                rows[place] = row
            case _:
                raise EmbeddingError(f"{source}'s reply has an entry without an embedding.")
    return [rows[index] for index in sorted(rows)]


def _checked(rows: Sequence[object], *, count: int, dimensions: int, source: str) -> Vector:
    if len(rows) != count:
        raise EmbeddingError(f"{source} returned {len(rows)} vectors for {count} texts.")
    try:
        made = np.array(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise EmbeddingError(f"{source} returned vectors that are not lists of numbers of one length.") from error
    if made.shape != (count, dimensions):
        found = made.shape[1] if made.ndim == 2 else 0
        raise EmbeddingError(f"{source} returned vectors of {found} dimensions; {dimensions} were expected.")
    return unit_rows(made, source=source)
