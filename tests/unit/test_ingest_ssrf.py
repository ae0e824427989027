import asyncio
from ipaddress import ip_address

import httpx
import pytest

from citewell.ingest.ssrf import CheckedTransport, RefusedAddress, is_public


@pytest.mark.fault("special-purpose addresses", "refused in every form")
@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "255.255.255.255",
        "224.0.0.1",
        "240.0.0.1",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::8.8.8.8",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
        "2606:4700::5efe:10.0.0.1",
        "192.0.0.8",
        "192.0.0.9",
        "192.0.2.1",
        "192.31.196.1",
        "192.52.193.1",
        "192.88.99.1",
        "192.175.48.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "100::1",
        "100:0:0:1::1",
        "2001::1",
        "2001:1::1",
        "2001:2::1",
        "2001:3::1",
        "2001:4:112::1",
        "2001:20::1",
        "2001:30::1",
        "2002:808:808::1",
        "2620:4f:8000::1",
        "3fff::1",
        "4000::1",
        "5f00::1",
        "fec0::1",
        "::ffff:192.88.99.1",
    ],
)
def test_private_addresses_are_refused_in_every_form(address: str) -> None:
    assert not is_public(ip_address(address))


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
