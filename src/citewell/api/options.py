"""Options of the API: what it can be told, and the parts it is given. Nothing here reads the environment."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Protocol, Self

from citewell import __version__
from citewell.answering.budget import ModelBudget
from citewell.conversations.turns import Turn, TurnPage, Vote
from citewell.errors import ConfigurationError
from citewell.judge import Checked
from citewell.retrieval import Found
from citewell.settings import Settings
from citewell.values import NO_FILTERS, AnswerEvent, Filters, Generation, Page, PageEntry, Question, ServiceStatus


class Answering(Protocol):
    def stream(self, question: Question) -> AsyncGenerator[AnswerEvent, None]: ...


class ReadableBook(Protocol):
    async def page(self, url: str) -> Page | None: ...

    async def pages(self) -> list[PageEntry]: ...

    async def search(self, query: str, *, top_k: int = 5, filters: Filters = NO_FILTERS) -> Found: ...


class Conversations(Protocol):
    async def turn(self, turn_id: str) -> Turn: ...

    async def session(
        self, session_id: str, *, owner: str = "", limit: int = 50, before: str | None = None
    ) -> TurnPage: ...

    async def delete_session(self, session_id: str, *, owner: str = "") -> int: ...

    async def feedback(
        self, session_id: str, turn_id: str, vote: Vote | None, comment: str | None = None, *, owner: str = ""
    ) -> None: ...


Probe = Callable[[], Awaitable[ServiceStatus]]


@dataclass(frozen=True, slots=True)
class ApiParts:
    """The open parts that the API stands on. The probe names are those of the health reply."""

    engine: Answering
    book: ReadableBook
    conversations: Conversations
    probes: Mapping[str, Probe]
    check: "Callable[[str, Sequence[str] | None], Awaitable[Checked]] | None" = None
    """A text against passages, or against the book."""
    generation: Callable[[], Awaitable[Generation]] | None = None
    budget: ModelBudget | None = None
    """Of the hosted model, if there is one."""
    warm_up: Callable[[], Awaitable[None]] | None = None
    """Takes seconds; called once the server listens."""


OpenParts = Callable[[], AbstractAsyncContextManager[ApiParts]]


@dataclass(frozen=True, slots=True)
class ApiOptions:
    """Seconds and counts; the defaults are those of the contract."""

    origins: tuple[str, ...] = ()
    keys: tuple[str, ...] = field(default=(), repr=False)
    publishable: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Keys that a public site may show, each with an origin that it is bound to."""
    embed_origins: tuple[str, ...] = ()
    """That may show the page at `/` in a frame."""
    public_url: str | None = None
    """Where readers reach this server, for absolute addresses; else as the request says."""
    book_title: str = ""
    trusted_proxies: tuple[str, ...] = ()
    workers: int = 1
    """That serve side by side. Without Redis each takes its share of the limits."""
    address_limit: int = 60
    session_limit: int = 20
    pages_for_each: int = 10
    """Pages of the book that may be read for each question of the address limit."""
    at_once: int = 10
    redis_url: str | None = field(default=None, repr=False)
    redis_wait: float = 0.25
    version: str = __version__
    body_seconds: float = 10.0
    answer_seconds: float = 32.0
    """A net under the engine's own 30 s."""
    heartbeat_seconds: float = 15.0
    send_seconds: float = 20.0
    """How long a reader may not read."""
    stop_seconds: float = 20.0
    """How long streams may go on once the server is told to stop."""
    probe_seconds: float = 2.0
    health_cache_seconds: float = 3.0
    keep_replies: int = 1000
    keep_seconds: float = 3600.0

    def __post_init__(self) -> None:
        if "*" in self.origins and (self.keys or self.publishable):
            raise ConfigurationError("ALLOWED_ORIGINS may not be * when API_KEYS is set; list the origins.")
        _ = self.proxies

    @property
    def asking_origins(self) -> tuple[str, ...]:
        """The origins that CORS allows: the listed ones, and those of publishable keys."""
        return (*self.origins, *(origin for _, origin in self.publishable))

    @property
    def bound_keys(self) -> dict[str, frozenset[str]]:
        return {key: frozenset(o for k, o in self.publishable if k == key) for key, _ in self.publishable}

    @property
    def proxies(self) -> tuple[IPv4Network | IPv6Network, ...]:
        try:
            return tuple(ip_network(proxy, strict=False) for proxy in self.trusted_proxies)
        except ValueError as error:
            raise ConfigurationError(f"TRUSTED_PROXIES: {error}.") from None

    @classmethod
    def of(cls, settings: Settings, workers: int = 1) -> Self:
        return cls(
            workers=workers,
            origins=settings.allowed_origins,
            keys=tuple(key.get_secret_value() for key in settings.api_keys),
            publishable=settings.bound_keys,
            embed_origins=settings.embed_origins,
            public_url=settings.public_url,
            book_title=settings.book_title,
            trusted_proxies=settings.trusted_proxies,
            address_limit=settings.api_rate_limit,
            session_limit=settings.session_rate_limit,
            at_once=settings.max_concurrent_requests,
            redis_url=settings.redis_url.get_secret_value() if settings.redis_url else None,
        )
