"""No connection goes to an address that is not public, whatever a URL or a name says."""

from __future__ import annotations

import asyncio
import socket
import time
from itertools import cycle
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.events.receiver import Receiver
from cardoffers_cli.kernel.net.sender import AttemptLimits
from cardoffers_cli.kernel.net.transport import AddressRefused, CheckedResolver, open_socket
from post import DEADLINE_S, delivery, post, real_clock, send

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STRICT = AttemptLimits(deadline_s=DEADLINE_S)

HOSTS = """
    127.0.0.1  127.0.0.2  127.1  127.0.1  0177.0.0.1  0177.1  0x7f.0.0.1  0x7f.1  0x7f000001
    017700000001  2130706433  127.0.0.1.  0127.0.0.1  00000177.0.0.1  127.0.0.0x1  127.00.00.01
    0  0.0.0.0  00.0.0.0  0x0  255.255.255.255  10.0.0.1  172.16.0.1  192.168.0.1  100.64.0.1
    169.254.169.254  0251.0376.0251.0376  0xa9fea9fe  2852039166  224.0.0.1  240.0.0.1
    198.18.0.1  192.0.0.192  192.0.2.1  198.51.100.1  203.0.113.1  192.88.99.1  168.63.129.16
    [::1]  [::]  [0:0:0:0:0:0:0:1]  [::7f00:1]  [::127.0.0.1]  [::ffff:127.0.0.1]  [::ffff:7f00:1]
    [0:0:0:0:0:ffff:127.0.0.1]  [::ffff:0:127.0.0.1]  [64:ff9b::127.0.0.1]  [64:ff9b::7f00:1]
    [64:ff9b:1::7f00:1]  [2002:7f00:1::]  [2002:7f00:0001::1]  [2001::7f00:1]  [2001:db8::1]
    [fe80::1]  [fe80::1%25lo]  [fe80::1%lo]  [fec0::1]  [fc00::1]  [fd00:ec2::254]  [ff02::1]
    [ff0e::1]  [100::1]  [3fff::1]  [4000::1]  [127.0.0.1]  [0177.0.0.1]  [localhost]
    localhost  localhost.  LOCALHOST  LocalHost.  localhost.localdomain  a.localhost  a.localhost.
    ip6-localhost  ip6-loopback  broadcasthost  printer.local  router.lan  db.internal  intranet
    metadata.google.internal  wiki.corp  nas.home.arpa
    user@127.0.0.1  user:word@127.0.0.1  example.com@127.0.0.1  example.com:443@127.0.0.1
    example.com\\@127.0.0.1  example.com#@127.0.0.1  @127.0.0.1  127.0.0.1\\.example.com
    %31%32%37.0.0.1  127。0。0。1  ①②⑦.⓪.⓪.①  127.0.0.1%00.example.com  localhost%2e  ⓛocalhost
"""

ADDRESSES = """
    0.0.0.0  10.0.0.1  100.64.0.1  127.0.0.1  127.1.2.3  168.63.129.16  169.254.169.254  172.31.0.1
    192.0.0.192  192.0.2.1  192.88.99.1  192.168.1.1  198.18.0.1  203.0.113.1  224.0.0.1  240.0.0.1
    255.255.255.255  ::  ::1  ::7f00:1  ::ffff:127.0.0.1  ::ffff:8.8.8.8  64:ff9b::7f00:1
    64:ff9b::808:808  64:ff9b:1::1  100::1  2001::1  2001:db8::1  2002:7f00:1::  fc00::1
    fd00:ec2::254  fe80::1  fe80::1%lo  fec0::1  ff02::1  3fff::1  4000::1
"""
PUBLIC = "8.8.8.8"
PUBLIC_6 = "2606:4700::1111"


@pytest.fixture
def inside() -> Iterator[int]:
    """The port of sockets on every address of this machine, that nobody may come to."""
    with socket.create_server(("", 0)) as listener:
        listener.setblocking(False)
        yield listener.getsockname()[1]
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_no_url_leads_inside(inside: int) -> None:
    hosts = HOSTS.split()
    assert len(hosts) >= 80
    urls = [
        f"{scheme}://{host}:{inside}/" for host in hosts for scheme in ("https", "http", "HTTPS")
    ]
    outcomes = send((delivery(url, n) for n, url in enumerate(urls)), STRICT)
    assert len(urls) == len(outcomes)
    assert {"address_refused"} == {outcome.error for outcome in outcomes}


@pytest.mark.parametrize(
    "answers",
    [
        *([address] for address in ADDRESSES.split()),
        [PUBLIC, "127.0.0.1"],
        ["127.0.0.1", PUBLIC],
        [PUBLIC_6, PUBLIC, "::1"],
        [PUBLIC, PUBLIC_6, "10.0.0.1", PUBLIC],
        [*[PUBLIC] * 50, "::ffff:127.0.0.1"],
        ["0177.0.0.1"],
        ["2130706433"],
        ["localhost"],
        [""],
    ],
    ids=lambda answers: " ".join(dict.fromkeys(answers)) or "nothing",
)
def test_no_name_leads_inside(inside: int, answers: list[str]) -> None:
    (outcome,) = send(
        [delivery(f"https://receiver.example:{inside}/")], STRICT, lookup=lambda _: answers
    )
    assert (None, "address_refused") == (outcome.http_status, outcome.error)


def test_a_name_that_changes_its_mind_gains_nothing() -> None:
    turns = cycle([[PUBLIC], ["127.0.0.1"], [PUBLIC, "10.0.0.1"], [PUBLIC_6]])
    resolver = CheckedResolver(lambda _: next(turns), allow_insecure=False)

    def resolve() -> Sequence[str] | None:
        try:
            found = asyncio.run(resolver.resolve("receiver.example", 443))
        except AddressRefused:
            return None
        return [each["host"] for each in found]

    assert [[PUBLIC], None, None, [PUBLIC_6]] * 3 == [resolve() for _ in range(12)]


def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    asked: list[str] = []
    turns = iter([["127.0.0.1"]])

    def once(name: str) -> list[str]:
        asked.append(name)
        return next(turns)

    with Receiver(clock=real_clock) as receiver:
        port = receiver.url.rsplit(":", 1)[1]
        outcome = post(f"http://receiver.example:{port}", lookup=once)
        (received,) = receiver.received
    assert (200, ["receiver.example"]) == (outcome.http_status, asked)
    assert f"receiver.example:{port.rstrip('/')}" == received.headers["Host"]


@pytest.mark.parametrize("address", ADDRESSES.split())
def test_the_last_door_opens_no_socket_to_the_inside(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    info = (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, 443))
    with pytest.raises(AddressRefused):
        open_socket(info, allow_insecure=False)
    open_socket(info, allow_insecure=True).close()


def test_a_name_without_an_address_is_dns() -> None:
    def unknown(_: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    assert "dns" == post("https://receiver.example/", lookup=unknown, allow_insecure=False).error
    assert "dns" == post("https://receiver.example/", lookup=lambda _: []).error


def test_a_name_that_the_system_does_not_know_is_dns() -> None:
    assert "dns" == post("https://nobody-has-this-name.invalid/").error


def test_a_name_server_that_hangs_costs_one_deadline() -> None:
    def hangs(name: str) -> list[str]:
        if name == "hangs.example":
            time.sleep(8)
        return ["127.0.0.1"]

    with Receiver(clock=real_clock) as receiver:
        port = receiver.url.rsplit(":", 1)[1]
        limits = AttemptLimits(deadline_s=1.5, allow_insecure=True)
        names = [f"{n}.example" for n in range(20)]
        begun = time.monotonic()
        outcomes = send(
            [
                *(delivery(f"http://hangs.example:{port}", n, f"slow-{n % 4}") for n in range(20)),
                *(delivery(f"http://{name}:{port}", 99, name) for name in names),
            ],
            limits,
            lookup=hangs,
        )
        seconds = time.monotonic() - begun
    assert {(99, None), *((n, "timeout") for n in range(20))} == {
        (outcome.number, outcome.error) for outcome in outcomes
    }
    assert seconds < 5


def test_no_way_there_is_unreachable() -> None:
    link_local_without_a_link = "http://[fe80::1]:9/"
    assert "unreachable" == post(link_local_without_a_link).error
