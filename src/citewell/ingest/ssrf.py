"""The SSRF guard: which addresses a crawl may connect to. Names are resolved once, checked, and used as checked."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpx

Address = IPv4Address | IPv6Address

_GLOBAL_UNICAST = IPv6Network("2000::/3")
"""All that was ever given out; what lies outside is local, multicast, reserved or a wrapping of IPv4."""
_NAT64 = IPv6Network("64:ff9b::/96")
_V4_COMPATIBLE = IPv6Network("::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
# The special-purpose registries of IANA (RFC 6890 and its successors), those that may be reached from afar included:
# no book is served from an anycast relay, a tunnel or a name server's sink.
_SPECIAL_V4 = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 "
        "192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 "
        "198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
    ).split()
)
_SPECIAL_V6 = tuple(
    IPv6Network(block) for block in "2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20".split()
)


class RefusedAddress(Exception):
    """The message names the host and why it may not be read."""


def is_public(address: Address) -> bool:
    """Whether an address is one of the open internet, in whatever form it is written."""
    return all(_is_open(form) for form in _forms(address))


def _is_open(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in block for block in _SPECIAL_V4)
    return address in _GLOBAL_UNICAST and not any(address in block for block in _SPECIAL_V6)


def _forms(address: Address) -> Iterator[Address]:
    """The address, or the IPv4 address that an IPv6 one leads to."""
    if isinstance(address, IPv4Address):
        yield address
        return
    bits = int(address)
    low = IPv4Address(bits & 0xFFFFFFFF)
    if address.ipv4_mapped is not None or address in _NAT64 or address in _V4_COMPATIBLE:
        yield low
        return
    yield address
    if (bits >> 32) & 0xFFFFFFFF in _ISATAP:
        yield low


async def looked_up(host: str, port: int) -> list[str]:
    """The addresses of a name. Raises OSError when there is no such host."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]).split("%")[0] for *_, sockaddr in found]


class CheckedTransport(httpx.AsyncBaseTransport):
    """Connects to the address that was checked, so that a name cannot lead elsewhere between check and connection."""

    def __init__(
        self,
        allow_hosts: frozenset[str],
        *,
        look_up: Callable[[str, int], Awaitable[list[str]]] = looked_up,
        is_allowed: Callable[[Address], bool] = is_public,
    ) -> None:
        self._allow_hosts = frozenset(host.lower() for host in allow_hosts)
        self._look_up = look_up
        self._is_allowed = is_allowed
        self._transports: dict[str, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        try:
            address = await self.resolved(host, port)
        except (OSError, UnicodeError) as error:
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

    async def resolved(self, host: str, port: int) -> str:
        """An address of the host that may be connected to. Raises RefusedAddress and OSError."""
        addresses = await self._look_up(host, port)
        if not addresses:
            raise OSError(f"{host} has no address.")
        if host.lower() not in self._allow_hosts:
            for address in addresses:
                if not self._is_allowed(ip_address(address)):
                    raise RefusedAddress(
                        f"{host} is on a private address ({address}). If it is yours, allow it by name (--allow-host)."
                    )
        return addresses[0]

    async def aclose(self) -> None:
        for transport in self._transports.values():
            await transport.aclose()
        self._transports.clear()
