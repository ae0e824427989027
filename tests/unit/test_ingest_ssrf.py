import asyncio
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.ingest.ssrf import CheckedTransport, RefusedAddress, is_public

REGISTRIES = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
    203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    ::/128 ::1/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128 2001:1::2/128 2001:1::3/128
    2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16
    2620:4f:8000::/48 3fff::/20 4000::/3 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8
"""
"""IANA's special-purpose registries, with multicast, the site-local range of old and what was never given out."""
WRAPPED = ["::ffff:{}", "::{}", "64:ff9b::{}", "2606:4700::5efe:{}", "2606:4700::200:5efe:{}"]
"""IPv4 inside IPv6: mapped, compatible, NAT64, ISATAP. 6to4 and Teredo are refused whole."""


@pytest.mark.fault("special-purpose addresses", "refused in every form")
@pytest.mark.parametrize("block", [ip_network(block) for block in REGISTRIES.split()], ids=str)
def test_no_special_purpose_block_is_open_at_either_end_in_any_form(block: IPv4Network | IPv6Network) -> None:
    for address in (block[0], block[-1]):
        forms = [str(address), *(form.format(address) for form in WRAPPED if address.version == 4)]
        assert not [form for form in forms if is_public(ip_address(form))]


@pytest.mark.fault("special-purpose addresses", "refused in every form")
@given(st.ip_addresses())
@settings(max_examples=500)
def test_what_is_open_is_global_for_the_standard_library_too(address: IPv4Address | IPv6Address) -> None:
    wrapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    assert (wrapped or address).is_global or not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_are_not(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f000001", "::1", "0"])
async def test_a_name_is_refused_by_what_it_resolves_to(host: str) -> None:
    with pytest.raises(RefusedAddress, match="private address"):
        await CheckedTransport(frozenset()).resolved(host, 80)


async def test_a_host_that_is_allowed_by_name_is_resolved() -> None:
    assert await CheckedTransport(frozenset({"127.0.0.1"})).resolved("127.0.0.1", 80) == "127.0.0.1"


@pytest.mark.fault("rebinding", "the checked address is the one connected to")
async def test_a_name_that_changes_after_the_check_leads_nowhere_else() -> None:
    """Rebinding: the name server first gives an open address, then one of the inner network."""
    came: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        came.append(writer.get_extra_info("sockname")[0])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()

    answers = iter([["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1", "127.0.0.2"]])

    async def look_up(_host: str, _port: int) -> list[str]:
        return next(answers)

    open_server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = open_server.sockets[0].getsockname()[1]
    inner = await asyncio.start_server(serve, "127.0.0.2", port)
    transport = CheckedTransport(frozenset(), look_up=look_up, is_allowed=lambda a: str(a) == "127.0.0.1")
    async with open_server, inner, httpx.AsyncClient(transport=transport, trust_env=False) as client:
        reply = await client.get(f"http://book.example:{port}/")
        assert reply.text == "ok"
        for _ in range(2):  # gone over to the inner network; then one of each
            with pytest.raises(RefusedAddress, match=r"127\.0\.0\.2"):
                await client.get(f"http://book.example:{port}/")
    assert came == ["127.0.0.1"]
