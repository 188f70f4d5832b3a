"""A real TLS server: only a certificate that is trusted, current and of that name will do."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from warnings import catch_warnings, simplefilter

import pytest
import trustme

from cardoffers_cli.events.receiver import Receiver, server_tls
from cardoffers_cli.kernel.words.errors import ConfigurationError
from post import SECRET, post, real_clock
from sizes import slow
from strangers import Reader, Writer, head, listening

if TYPE_CHECKING:
    from pathlib import Path

NAME = "receiver.example"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return path


def attempt(
    tmp_path: Path, certificate: trustme.LeafCert, ca_file: Path | None, name: str = NAME
) -> tuple[int | None, str | None]:
    """Post to a TLS server that shows the certificate, and say how it ended."""
    pem = tmp_path / "server.pem"
    certificate.private_key_and_cert_chain_pem.write_to_path(pem)
    with Receiver(clock=real_clock, secrets=[SECRET], tls=server_tls(pem)) as receiver:
        port = receiver.url.rsplit(":", 1)[1]
        url = f"https://{name}:{port}"
        outcome = post(url, lookup=lambda _: ["127.0.0.1"], ca_file=ca_file)
        assert len(receiver.received) == (outcome.error is None)
    return outcome.http_status, outcome.error


def test_a_trusted_certificate_of_that_name_will_do(
    authority: trustme.CA, ca_file: Path, tmp_path: Path
) -> None:
    for name in (NAME, NAME.upper(), f"{NAME}."):
        assert (200, None) == attempt(tmp_path, authority.issue_cert(NAME), ca_file, name)
    assert (200, None) == attempt(
        tmp_path, authority.issue_cert("*.example.com"), ca_file, "a.example.com"
    )
    assert (200, None) == attempt(tmp_path, authority.issue_cert("127.0.0.1"), ca_file, "127.0.0.1")


@pytest.mark.parametrize(
    "names",
    [
        ["other.example"],
        ["*.example"],
        ["example"],
        [f"{NAME}.example.com"],
        ["127.0.0.1"],
    ],
    ids=" ".join,
)
def test_a_certificate_of_another_name_will_not(
    names: list[str], authority: trustme.CA, ca_file: Path, tmp_path: Path
) -> None:
    assert (None, "tls") == attempt(tmp_path, authority.issue_cert(*names), ca_file)


def test_a_name_does_not_speak_for_the_address(
    authority: trustme.CA, ca_file: Path, tmp_path: Path
) -> None:
    certificate = authority.issue_cert(NAME)
    assert (None, "tls") == attempt(tmp_path, certificate, ca_file, "127.0.0.1")


def test_an_expired_certificate_will_not(
    authority: trustme.CA, ca_file: Path, tmp_path: Path
) -> None:
    certificate = authority.issue_cert(NAME, not_before=LONG_AGO, not_after=LONG_AGO)
    assert (None, "tls") == attempt(tmp_path, certificate, ca_file)


def test_a_certificate_of_an_unknown_authority_will_not(
    authority: trustme.CA, ca_file: Path, tmp_path: Path
) -> None:
    assert (None, "tls") == attempt(tmp_path, trustme.CA().issue_cert(NAME), ca_file)
    assert (None, "tls") == attempt(tmp_path, authority.issue_cert(NAME), None)


def test_a_certificate_without_a_chain_to_its_authority_will_not(
    authority: trustme.CA, ca_file: Path, tmp_path: Path
) -> None:
    below = authority.create_child_ca()
    assert (200, None) == attempt(tmp_path, below.issue_cert(NAME), ca_file)
    alone = below.issue_cert(NAME)
    del alone.cert_chain_pems[1:]
    pem = tmp_path / "alone.pem"
    pem.write_bytes(alone.private_key_pem.bytes() + alone.cert_chain_pems[0].bytes())
    with Receiver(clock=real_clock, tls=server_tls(pem)) as receiver:
        url = f"https://{NAME}:{receiver.url.rsplit(':', 1)[1]}"
        assert "tls" == post(url, lookup=lambda _: ["127.0.0.1"], ca_file=ca_file).error


def test_a_self_signed_certificate_will_not(ca_file: Path, tmp_path: Path) -> None:
    authority = trustme.CA()
    pem = tmp_path / "self.pem"
    pem.write_bytes(authority.private_key_pem.bytes() + authority.cert_pem.bytes())
    with Receiver(clock=real_clock, tls=server_tls(pem)) as receiver:
        url = f"https://{NAME}:{receiver.url.rsplit(':', 1)[1]}"
        assert "tls" == post(url, lookup=lambda _: ["127.0.0.1"], ca_file=ca_file).error


@slow
def test_a_client_that_stays_is_left_when_the_receiver_ends(
    authority: trustme.CA, ca_file: Path, tmp_path: Path
) -> None:
    pem = tmp_path / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    trusting = ssl.create_default_context(cafile=str(ca_file))
    with ExitStack() as stays:
        with Receiver(clock=real_clock, tls=server_tls(pem)) as receiver:
            address = ("127.0.0.1", int(receiver.url.rstrip("/").rsplit(":", 1)[1]))
            plain = stays.enter_context(socket.create_connection(address))
            client = stays.enter_context(trusting.wrap_socket(plain, server_hostname="127.0.0.1"))
            client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
        with catch_warnings(record=True) as unclosed:
            simplefilter("always", ResourceWarning)
            gc.collect()
    assert [] == [str(warning.message) for warning in unclosed]


def test_a_server_without_tls_is_no_tls() -> None:
    async def speaks_first(_reader: Reader, writer: Writer) -> None:
        writer.write(head(b"HTTP/1.1 400 Bad Request"))
        await writer.drain()
        await asyncio.sleep(1)

    with listening(speaks_first) as (port,):
        assert "tls" == post(f"https://127.0.0.1:{port}/").error


def test_a_file_of_authorities_must_be_one(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    for path in (tmp_path / "missing.pem", empty):
        with pytest.raises(ConfigurationError) as refused:
            post("https://127.0.0.1:9/", ca_file=path)
        assert "ca_file_unreadable" == refused.value.code
        with pytest.raises(ConfigurationError) as refused:
            server_tls(path)
        assert "certificate_unusable" == refused.value.code
