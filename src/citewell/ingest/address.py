"""Which addresses a crawl may connect to. Names are resolved once, checked, and the checked address is the one used."""

import asyncio
import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import httpx

Address = IPv4Address | IPv6Address

_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_V4_COMPATIBLE = IPv6Network("::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)


class RefusedAddress(Exception):
    """The message names the host and why it may not be read."""


def is_public(address: Address) -> bool:
    """Whether an address is one of the open internet, in whatever form it is written."""
    return all(
        inner.is_global and not inner.is_multicast and not inner.is_reserved and inner not in _NAT64_LOCAL
        if isinstance(inner, IPv6Address)
        else inner.is_global and not inner.is_multicast
        for inner in _forms(address)
    )


def _forms(address: Address) -> Iterator[Address]:
    """The address, or the IPv4 addresses that an IPv6 one leads to."""
    if isinstance(address, IPv4Address):
        yield address
        return
    bits = int(address)
    low = IPv4Address(bits & 0xFFFFFFFF)
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    elif address in _NAT64 or address in _V4_COMPATIBLE:
        yield low
    elif address.sixtofour is not None:
        yield address.sixtofour
    elif address.teredo is not None:
        yield from address.teredo
    else:
        yield address
        if (bits >> 32) & 0xFFFFFFFF in _ISATAP:
            yield low


async def resolved(host: str, port: int, allow_hosts: frozenset[str]) -> str:
    """An address of the host that may be connected to. Raises RefusedAddress; OSError when there is no such host."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(sockaddr[0]).split("%")[0] for *_, sockaddr in found]
    if not addresses:
        raise OSError(f"{host} has no address.")
    if host.lower() not in allow_hosts:
        for address in addresses:
            if not is_public(ip_address(address)):
                raise RefusedAddress(
                    f"{host} is on a private address ({address}). If it is yours, allow it by name (--allow-host)."
                )
    return addresses[0]


class CheckedTransport(httpx.AsyncBaseTransport):
    """Connects to the address that was checked, so that a name cannot lead elsewhere between check and connection."""

    def __init__(self, allow_hosts: frozenset[str]) -> None:
        self._allow_hosts = frozenset(host.lower() for host in allow_hosts)
        self._transports: dict[str, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        try:
            address = await resolved(host, port, self._allow_hosts)
        except OSError as error:
            raise httpx.ConnectError(f"{host} cannot be found.", request=request) from error
        # One pool for each name: a connection made for one name must not serve another at the same address.
        transport = self._transports.get(host)
        if transport is None:
            transport = self._transports[host] = httpx.AsyncHTTPTransport(retries=0)
        pinned = httpx.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return await transport.handle_async_request(pinned)

    async def aclose(self) -> None:
        for transport in self._transports.values():
            await transport.aclose()
        self._transports.clear()
