from __future__ import annotations

import pytest

from cardoffers_cli.kernel.words.addresses import check_url, refusal_of
from cardoffers_cli.kernel.words.errors import UsageError

REFUSED = """
    0.0.0.0                 this host
    0.255.255.255           this host
    10.0.0.1                private
    10.255.255.255          private
    100.64.0.1              behind a carrier's NAT
    100.100.100.200         behind a carrier's NAT
    100.127.255.255         behind a carrier's NAT
    127.0.0.1               loopback
    127.255.255.254         loopback
    168.63.129.16           a cloud's metadata
    169.254.0.1             link-local, a cloud's metadata
    169.254.169.254         link-local, a cloud's metadata
    169.254.170.2           link-local, a cloud's metadata
    172.16.0.1              private
    172.31.255.255          private
    192.0.0.8               for protocols
    192.0.0.192             for protocols
    192.0.2.1               documentation
    192.31.196.1            AS112
    192.52.193.1            AMT
    192.88.99.1             6to4 relay
    192.168.0.1             private
    192.168.255.255         private
    192.175.48.1            AS112
    198.18.0.1              benchmarking
    198.19.255.255          benchmarking
    198.51.100.7            documentation
    203.0.113.7             documentation
    224.0.0.1               multicast
    239.255.255.255         multicast
    240.0.0.1               reserved, broadcast
    255.255.255.255         reserved, broadcast
    ::                      unassigned
    ::1                     loopback
    ::7f00:1                unassigned
    ::ffff:127.0.0.1        IPv4-mapped
    ::ffff:8.8.8.8          IPv4-mapped
    ::ffff:0:127.0.0.1      unassigned
    64:ff9b::7f00:1         NAT64
    64:ff9b::808:808        NAT64
    64:ff9b:1::7f00:1       local NAT64
    100::1                  unassigned
    2001::1                 Teredo
    2001:0:7f00:1::         Teredo
    2001:2::1               for protocols
    2001:20::1              for protocols
    2001:db8::1             documentation
    2002:7f00:1::           6to4
    2002:808:808::1         6to4
    2620:4f:8000::1         AS112
    3ffe::1                 the former 6bone
    3fff::1                 documentation
    4000::1                 unassigned
    5f00::1                 unassigned
    fc00::1                 unique local
    fd00:ec2::254           unique local
    fdff:ffff::1            unique local
    fe80::1                 link-local
    fe80::1%eth0            link-local
    2606:4700::1%1          link-local
    febf::1                 link-local
    fec0::1                 site-local
    ff02::1                 multicast
    ff0e::1                 multicast
    localhost               no address
    127.1                   no address
    0177.0.0.1              no address
"""

PUBLIC = """
    1.1.1.1  8.8.8.8  9.255.255.255  11.0.0.0  93.184.216.34  100.63.255.255  100.128.0.0
    126.255.255.255  128.0.0.0  168.63.129.15  169.253.255.255  172.15.255.255  172.32.0.0
    192.0.1.0  192.167.255.255  192.169.0.0  198.17.255.255  198.20.0.0  223.255.255.255
    2001:200::1  2001:4860:4860::8888  2003::1  2606:4700::1111  2a00:1450::1
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_what_is_not_public_is_refused(line: str) -> None:
    address, why = line.split(maxsplit=1)
    assert why == refusal_of(address)


@pytest.mark.parametrize("address", PUBLIC.split())
def test_what_is_public_is_not(address: str) -> None:
    assert refusal_of(address) is None


FINE = """
    https://example.com
    https://example.com/
    https://Example.COM./hooks?x=1&y=%2F
    HTTPS://example.com/a;b=c,d/~e
    https://example.com:443/hooks
    https://example.com:8443/hooks
    https://under_score.example.com/
    https://xn--bcher-kva.example/hooks
    https://8.8.8.8/hooks
    https://[2606:4700::1111]:8443/hooks
    https://1e100.net/
    https://127.0.0.1.nip.example/
"""

WRONG = r"""
    url_invalid      example.com/hooks
    url_invalid      //example.com/hooks
    url_invalid      https:/example.com
    url_invalid      https:example.com
    url_invalid      https:\\example.com
    url_invalid      https://example.com\@10.0.0.1/
    url_invalid      https://example.com#@10.0.0.1/
    url_invalid      https://example.com/hooks#part
    url_invalid      https://example.com/%zz
    url_invalid      https://example.com/{id}
    url_invalid      https://example.com/ü
    url_invalid      https://bücher.example/
    url_invalid      https://①②⑦.⓪.⓪.①/
    url_invalid      https://127。0。0。1/
    url_invalid      https://%31%32%37.0.0.1/
    url_invalid      https://example.com:/
    url_invalid      https://example.com:-1/
    url_invalid      https://example.com:000443/
    url_invalid      https://[::1/
    url_invalid      https://[fe80::1%25eth0]/
    url_scheme       http://example.com/
    url_scheme       ftp://example.com/
    url_invalid      file:/etc/passwd
    url_scheme       data://etc/passwd
    url_scheme       gopher://127.0.0.1:6379/
    url_user_info    https://user@example.com/
    url_user_info    https://user:word@example.com/
    url_user_info    https://example.com@127.0.0.1/
    url_user_info    https://example.com:443@127.0.0.1/
    url_user_info    https://example.com&@127.0.0.1/
    url_user_info    https://127.0.0.1@example.com/
    url_user_info    https://@127.0.0.1/
    url_port         https://example.com:0/
    url_port         https://example.com:22/
    url_port         https://example.com:80/
    url_port         https://example.com:1023/
    url_port         https://example.com:65536/
    url_port         https://example.com:99999/
    url_host         https://
    url_host         https:///hooks
    url_host         https://.example.com/
    url_host         https://example..com/
    url_host         https://example.com../
    url_host         https://-example.com/
    url_host         https://[]/
    url_host         https://[127.0.0.1]/
    url_host         https://[::1.2.3]/
    url_host         https://0177.0.0.1/
    url_host         https://0x7f.0.0.1/
    url_host         https://0x7f000001/
    url_host         https://017700000001/
    url_host         https://2130706433/
    url_host         https://127.1/
    url_host         https://127.0.1/
    url_host         https://0/
    url_host         https://127.0.0.1./
    url_host         https://127.0.0.01/
    url_host         https://127.0.0.0x1/
    url_host         https://256.256.256.256/
    url_host         https://1.2.3.4.5/
    url_host         https://example.1/
    address_refused  https://127.0.0.1/
    address_refused  https://0.0.0.0/
    address_refused  https://10.1.2.3:8443/
    address_refused  https://169.254.169.254/latest/meta-data/
    address_refused  https://[::1]/
    address_refused  https://[::]/
    address_refused  https://[::ffff:127.0.0.1]/
    address_refused  https://[::ffff:7f00:1]/
    address_refused  https://[0:0:0:0:0:0:0:1]/
    address_refused  https://[64:ff9b::7f00:1]/
    address_refused  https://[2002:7f00:1::]/
    address_refused  https://[fd00:ec2::254]/
    address_refused  https://localhost/
    address_refused  https://localhost./
    address_refused  https://LOCALHOST/
    address_refused  https://app.localhost/
    address_refused  https://localhost.localdomain/
    address_refused  https://printer.local/
    address_refused  https://metadata.google.internal/
    address_refused  https://router.home.arpa./
    address_refused  https://intranet/
    address_refused  https://wiki.corp/
"""


@pytest.mark.parametrize("url", FINE.split())
def test_a_public_https_url_is_fine(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_any_other_url_is_refused_with_its_reason(line: str) -> None:
    code, url = line.split(maxsplit=1)
    with pytest.raises(UsageError) as refused:
        check_url(url)
    assert code == refused.value.code
    assert refused.value.hint


@pytest.mark.parametrize("white", [" ", "\t", "\n", "\r\n", "\x00", "\u200b"])
@pytest.mark.parametrize("place", [0, 8, 12, 19])
def test_white_space_and_control_characters_are_refused(white: str, place: int) -> None:
    url = "https://example.com"
    with pytest.raises(UsageError):
        check_url(url[:place] + white + url[place:])


@pytest.mark.parametrize("length", [2048, 2049])
def test_a_url_has_a_length(length: int) -> None:
    url = "https://example.com/".ljust(length, "a")
    if length == 2048:
        check_url(url)
    else:
        with pytest.raises(UsageError):
            check_url(url)


@pytest.mark.parametrize(
    ("code", "url"),
    [
        (None, "http://127.0.0.1:8080/hooks"),
        (None, "http://localhost/"),
        (None, "https://[::1]:22/"),
        ("url_scheme", "ftp://localhost/"),
        ("url_user_info", "http://user@localhost/"),
        ("url_host", "http://0177.0.0.1/"),
    ],
)
def test_development_lifts_https_and_public_but_not_the_form(code: str | None, url: str) -> None:
    if code is None:
        check_url(url, allow_insecure=True)
    else:
        with pytest.raises(UsageError) as refused:
            check_url(url, allow_insecure=True)
        assert code == refused.value.code


def test_a_message_does_not_repeat_the_url() -> None:
    for url in ("https://u:pw-kanarie@example.com/", "https://example.com:22/kanarie", "kanarie:"):
        with pytest.raises(UsageError) as refused:
            check_url(url)
        assert "kanarie" not in f"{refused.value} {refused.value.hint} {refused.value.details}"
