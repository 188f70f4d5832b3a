"""Messages of OpenPGP by a real gpg: taken only if the pinned keys vouch for them."""

from __future__ import annotations

import io
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.words.errors import ConfigurationError, FileUnusable
from cardoffers_cli.pickup.openpgp import Keys, open_message, plain_name
from cardoffers_cli.pickup.remote import Deadline, Slow
from sshd import Gpg, gpg_home, needs_gpg

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST = 1 << 20
LONG_AGO = ("--faked-system-time", "20200101T000000")
PLAIN = b"cardholder_token\n" * 100


@pytest.fixture(scope="module")
def keys() -> Iterator[tuple[Gpg, Keys]]:
    """Return a home folder with four keys; ours and the bank's are pinned."""
    with gpg_home() as gpg:
        ours, bank = gpg.key("ours"), gpg.key("bank")
        gpg.key("other")
        yield gpg, Keys(home=gpg.home, decrypt_with=ours, signed_by=bank)


def opened(message: bytes, keys: Keys, *, most: int = MOST, seconds: float = 30) -> bytes:
    """Return what a message holds."""
    out = io.BytesIO()
    with tempfile.TemporaryFile() as file:
        file.write(message)
        file.seek(0)
        open_message(file, out, keys, Deadline(seconds), most_bytes=most)
    return out.getvalue()


def made(gpg: Gpg, words: str, given: bytes = PLAIN, at: tuple[str, ...] = ()) -> bytes:
    """Make a message: `e` and `s` name to whom it is encrypted, and who signs it."""
    names = {"e": "--recipient", "s": "--local-user"}
    acts = {"e": "--encrypt", "s": "--sign"}
    pairs = [word.split(":") for word in words.split()]
    said = [part for kind, name in pairs for part in (names[kind], f"{name}@example.org")]
    return gpg.run(*at, *said, *sorted({acts[kind] for kind, _ in pairs}), given=given)


@needs_gpg
def test_a_message_of_the_pinned_keys_is_opened(keys: tuple[Gpg, Keys]) -> None:
    gpg, pinned = keys
    assert PLAIN == opened(made(gpg, "e:ours s:bank"), pinned)
    assert PLAIN == opened(made(gpg, "e:ours"), replace(pinned, signed_by=None))
    assert PLAIN == opened(made(gpg, "s:bank"), replace(pinned, decrypt_with=None))


@needs_gpg
@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("not signed", "e:ours"),
        ("not encrypted", "s:bank"),
        ("signed with another key", "e:ours s:other"),
        ("encrypted to another key", "e:other s:bank"),
        ("several signatures", "e:ours s:bank s:other"),
    ],
)
def test_a_message_of_other_keys_is_refused(keys: tuple[Gpg, Keys], said: str, words: str) -> None:
    gpg, pinned = keys
    with pytest.raises(FileUnusable, match=said):
        opened(made(gpg, words), pinned)


@needs_gpg
@pytest.mark.parametrize("message", [b"", b"cardholder_token\n1\n", b"\x85\x01" + b"\xff" * 99])
def test_what_is_no_message_is_refused(keys: tuple[Gpg, Keys], message: bytes) -> None:
    with pytest.raises(FileUnusable) as refused:
        opened(message, keys[1])
    assert "pickup_not_vouched" == refused.value.code


@needs_gpg
def test_a_message_that_was_changed_or_cut_is_refused(keys: tuple[Gpg, Keys]) -> None:
    gpg, pinned = keys
    message = made(gpg, "e:ours s:bank")
    for damaged in (message[:-20], message[:400] + b"x" + message[401:], message + message):
        with pytest.raises(FileUnusable):
            opened(damaged, pinned)


@needs_gpg
def test_a_bomb_is_not_unpacked(keys: tuple[Gpg, Keys]) -> None:
    gpg, pinned = keys
    bomb = made(gpg, "e:ours s:bank", bytes(8 << 20))
    assert len(bomb) < 100_000
    with pytest.raises(FileUnusable) as refused:
        opened(bomb, pinned)
    assert "file_unpacks_too_large" == refused.value.code
    assert 8 << 20 == len(opened(bomb, pinned, most=8 << 20))


@needs_gpg
def test_a_message_that_takes_too_long_is_left(keys: tuple[Gpg, Keys]) -> None:
    gpg, pinned = keys
    with pytest.raises(Slow):
        opened(made(gpg, "e:ours s:bank"), pinned, seconds=0.001)


@needs_gpg
def test_a_key_that_expired_or_was_revoked_signs_nothing() -> None:
    with gpg_home() as gpg:
        short, gone = gpg.key("short", *LONG_AGO, expires="1y"), gpg.key("gone")
        of_short, of_gone = made(gpg, "s:short", at=LONG_AGO), made(gpg, "s:gone")
        keys = Keys(home=gpg.home, decrypt_with=None, signed_by=gone)
        assert PLAIN == opened(of_gone, keys)
        revocation = (gpg.home / "openpgp-revocs.d" / f"{gone}.rev").read_text()
        gpg.run("--import", given=revocation.replace(":-----", "-----").encode())
        with pytest.raises(FileUnusable, match="revoked"):
            opened(of_gone, keys)
        with pytest.raises(FileUnusable, match="expired"):
            opened(of_short, replace(keys, signed_by=short))


@pytest.mark.parametrize("mode", [0o755, 0o777, None])
def test_the_home_of_the_keys_is_for_their_owner_only(tmp_path: Path, mode: int | None) -> None:
    home = tmp_path / "home"
    if mode is not None:
        home.mkdir()
        home.chmod(mode)
    with pytest.raises(ConfigurationError) as refused:
        Keys(home=home, decrypt_with=None, signed_by="A" * 40).check()
    assert refused.value.hint


@pytest.mark.parametrize(
    ("expected", "name"),
    [("a.csv", "a.csv.gpg"), ("a.csv", "a.csv.PGP"), ("a.csv", "a.csv"), (".gpg", ".gpg")],
)
def test_what_a_message_holds_has_its_name_without_the_suffix(expected: str, name: str) -> None:
    assert expected == plain_name(name)
