"""The client address behind trusted proxies: the client's address from `X-Forwarded-For`. Pure."""

import contextlib
import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_WITH_PORT = re.compile(r"([0-9.]+):\d{1,5}|\[([^\]]*)\](?::\d{1,5})?")


def client_address(peer: str | None, forwarded: Sequence[str], trusted: Sequence[IPv4Network | IPv6Network]) -> str:
    """Whose request it is: the last address, from right to left, that is not one of our proxies.

    What stands left of that was written by the client itself and means nothing. An IPv6 client is its /64 network:
    a single household owns 2^64 addresses.
    """
    current = peer or "local"
    hops = [hop.strip() for line in forwarded for hop in line.split(",")]
    while hops and _is_trusted(current, trusted):
        hop = hops.pop()
        if _parsed(hop) is None:
            break
        current = hop
    address = _parsed(current)
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or IPv6Network((address, 64), strict=False))
    return str(address or current)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """Some proxies write a port behind the address."""
    match = _WITH_PORT.fullmatch(text)
    with contextlib.suppress(ValueError):
        return ip_address((match.group(1) or match.group(2) if match else text).partition("%")[0])
    return None


def _is_trusted(text: str, trusted: Sequence[IPv4Network | IPv6Network]) -> bool:
    address = _parsed(text)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address is not None and any(address in network for network in trusted)
