from ipaddress import ip_address

import pytest

from citewell.ingest.address import RefusedAddress, is_public, resolved


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
        await resolved(host, 80, frozenset())


async def test_a_host_that_is_allowed_by_name_is_resolved() -> None:
    assert await resolved("127.0.0.1", 80, frozenset({"127.0.0.1"})) == "127.0.0.1"
