"""Who counts as one client."""

from __future__ import annotations

import pytest

from cardoffers_cli.http.arrivals import TrustedProxies, client_at
from tables import read

TRUSTED = "10.0.0.5, 10.1.0.0/16, 2001:db8:5::/48"

CASES = """
from         x-forwarded-for                    client
192.0.2.1    -                                  192.0.2.1
192.0.2.1    198.51.100.7                       192.0.2.1
10.0.0.5     -                                  10.0.0.5
10.0.0.5     198.51.100.7                       198.51.100.7
10.0.0.5     203.0.113.9,198.51.100.7           198.51.100.7
10.0.0.5     198.51.100.7,10.1.2.3              198.51.100.7
10.0.0.5     198.51.100.7,10.2.2.3              10.2.2.3
10.0.0.5     198.51.100.7:4711                  198.51.100.7
10.0.0.5     [2001:db8::1]:4711                 2001:db8::/64
10.0.0.5     2001:db8:0:1:2::3                  2001:db8:0:1::/64
10.0.0.5     198.51.100.7,unknown               10.0.0.5
10.0.0.5     198.51.100.7,                      10.0.0.5
10.0.0.5     10.1.2.3                           10.0.0.5
10.0.0.6     198.51.100.7                       10.0.0.6
2001:db8:5::1  198.51.100.7                     198.51.100.7
2001:db8:6::1  198.51.100.7                     2001:db8:6::/64
::ffff:10.0.0.5  198.51.100.7                   198.51.100.7
::ffff:192.0.2.1  198.51.100.7                  192.0.2.1
"""


@pytest.mark.parametrize("case", read(CASES), ids=lambda case: "-".join(map(str, case.values())))
def test_a_header_is_believed_of_a_trusted_proxy_alone(case: dict[str, str | None]) -> None:
    told = case["x-forwarded-for"]
    headers = {"x-forwarded-for": told} if told else {}
    assert case["client"] == TrustedProxies.of(TRUSTED).client(str(case["from"]), headers)


@pytest.mark.parametrize(
    ("expected", "host"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1", "::ffff:192.0.2.1"),
        ("2001:db8::/64", "2001:db8::1"),
        ("2001:db8::/64", "2001:db8::ffff:1"),
        ("fe80::/64", "fe80::1%eth0"),
        ("", ""),
    ],
)
def test_an_address_is_a_client_and_an_ipv6_network_is_one(expected: str, host: str) -> None:
    assert expected == client_at(host)


def test_no_proxy_is_trusted_unless_it_is_named() -> None:
    assert not TrustedProxies.of("").trust("127.0.0.1")
