"""The guard of a route: key, API version and rate limit of the address, then the body."""

from fastapi import Request

from citewell.api.admission.client_address import client_address
from citewell.api.body import read_body
from citewell.api.headers import check_version
from citewell.api.middleware import exchange_of
from citewell.api.state import state_of


async def admitted(request: Request) -> str:
    """Check key, version and the address's limit; the address. Raises what the table of statuses knows."""
    state, exchange = state_of(request), exchange_of(request)
    state.keys.check(request.headers)
    check_version(request.headers)
    address = address_of(request)
    standing = await state.rate_limiter.admit("address", address)
    exchange.rate_limits.append(standing)
    standing.check()
    return address


def address_of(request: Request) -> str:
    peer = request.client.host if request.client else None
    return client_address(peer, request.headers.getlist("x-forwarded-for"), state_of(request).options.proxies)


async def raw_body(request: Request) -> bytes:
    return await read_body(request.scope, request.receive, seconds=state_of(request).options.body_seconds)
