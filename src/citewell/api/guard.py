"""Authentication and limits before a route: rate limit of the address, key and API version, then the body."""

from dataclasses import dataclass
from typing import Literal

from fastapi import Request

from citewell.api.admission.client_address import client_address
from citewell.api.admission.rate_limits import Policy
from citewell.api.app_state import state_of
from citewell.api.body import read_body
from citewell.api.headers import check_version
from citewell.api.middleware import exchange_of

Audience = Literal["owner", "reader"]
"""Who may: whoever has a secret key, or also the readers of a site that shows a publishable one."""


@dataclass(frozen=True, slots=True)
class Caller:
    address: str
    owner: str
    """Of the sessions: the digest of the caller's key, or empty where no keys are asked for."""

    @property
    def name(self) -> str:
        """Who may have the same reply again."""
        return self.owner or self.address


async def admitted(request: Request, policy: Policy = "address", audience: Audience = "owner") -> None:
    """Check the address's limit, then key and version: wrong keys count too, so that they cannot be tried out.

    Raises what the table of statuses knows.
    """
    state, exchange = state_of(request), exchange_of(request)
    peer = request.client.host if request.client else None
    address = client_address(peer, request.headers.getlist("x-forwarded-for"), state.options.proxies)
    standing = await state.rate_limiter.admit(policy, address)
    exchange.rate_limits.append(standing)
    standing.check()
    owner = state.keys.check(request.headers) if audience == "owner" else state.keys.check_reader(request.headers)
    check_version(request.headers)
    request.scope["citewell.caller"] = Caller(address, owner)


def caller_of(request: Request) -> Caller:
    """Who was admitted."""
    caller: Caller = request.scope["citewell.caller"]
    return caller


async def raw_body(request: Request) -> bytes:
    return await read_body(request.scope, request.receive, seconds=state_of(request).options.body_seconds)
