"""A message of OpenPGP, opened by `gpg` with keys that are pinned.

`gpg` has a home folder that holds nothing but these keys, and asks nobody: no terminal, no prompt,
no server of keys. What it found is read from its status lines, which are made for programs
(doc/DETAILS of GnuPG): the key that decrypted, and one good signature of the key that is pinned.
Whatever else it says is no reason to take a file.
"""

from __future__ import annotations

import os
import re
import select
import stat
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from cardoffers_cli.kernel.words.errors import ConfigurationError, FileUnusable
from cardoffers_cli.pickup.piped import end, start

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cardoffers_cli.pickup.remote import Deadline

SUFFIXES = (".gpg", ".pgp", ".asc")

_BLOCK = 1 << 20
_MOST_STATUS = 1 << 17
_OTHERS = 0o077
_WORDS = (
    *("gpg", "--batch", "--no-tty", "--no-options", "--quiet", "--disable-dirmngr"),
    *("--no-auto-key-retrieve", "--no-auto-key-locate", "--no-auto-check-trustdb"),
    *("--trust-model", "always", "--pinentry-mode", "error"),
)
_STATUS = re.compile(r"\[GNUPG:\] ([A-Z_]+) ?(.*)")
_BAD = {
    "BADSIG": "the signature is not of these bytes",
    "REVKEYSIG": "it is signed with a key that was revoked",
    "EXPKEYSIG": "it is signed with a key that has expired",
    "EXPSIG": "its signature has expired",
    "ERRSIG": "its signature cannot be checked: it is of a key that is not pinned",
}


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys that are pinned, by their fingerprints, and the home folder that holds them."""

    home: Path
    decrypt_with: str | None
    signed_by: str | None

    def check(self) -> None:
        """Raise `ConfigurationError` where the home folder is none, or is not for us alone."""
        info = self.home.stat() if self.home.is_dir() else None
        if info is None:
            raise ConfigurationError.from_table("pickup", "gpg_home_missing", home=self.home)
        if stat.S_IMODE(info.st_mode) & _OTHERS or info.st_uid not in {0, os.geteuid()}:
            raise ConfigurationError.from_table("pickup", "gpg_home_open", home=self.home)

    def close(self) -> None:
        """End the program that `gpg` leaves behind to keep its keys."""
        words = ("gpgconf", "--homedir", str(self.home), "--kill", "gpg-agent")
        nowhere = subprocess.DEVNULL
        with suppress(ConfigurationError, subprocess.TimeoutExpired):
            start(words, stdin=nowhere, stdout=nowhere, stderr=nowhere).wait(5)


def open_message(
    message: BinaryIO, out: BinaryIO, keys: Keys, deadline: Deadline, *, most_bytes: int
) -> None:
    """Write what a message holds; raise `FileUnusable` unless the pinned keys vouch for it.

    What was written before that is to be thrown away. Raises `Slow` too.
    """
    status_fd, says = os.pipe()
    words = [*_WORDS, "--homedir", str(keys.home), "--status-fd", str(says)]
    words += ["--output", "-", "--decrypt"]
    try:
        process = start(
            words,
            stdin=message.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(says,),
        )
    except BaseException:
        os.close(status_fd)
        raise
    finally:
        os.close(says)
    try:
        status = _copied(process, status_fd, out, deadline, most_bytes)
        process.wait(deadline.left())
        _judge(status, keys, is_well=process.returncode == 0)
    except subprocess.TimeoutExpired:
        deadline.left()
        raise
    finally:
        os.close(status_fd)
        end(process)


def _copied(
    process: subprocess.Popen[bytes], status_fd: int, out: BinaryIO, deadline: Deadline, most: int
) -> str:
    """Copy what `gpg` writes, within bounds; return its status lines."""
    plain = process.stdout.fileno() if process.stdout else -1
    status, size, reading = b"", 0, [plain, status_fd]
    while reading:
        for descriptor in select.select(reading, [], [], deadline.left())[0]:
            block = os.read(descriptor, _BLOCK)
            if not block:
                reading.remove(descriptor)
            elif descriptor == status_fd:
                status += block
            else:
                size += len(block)
                out.write(block)
            if size > most:
                raise FileUnusable.from_table("pickup", "file_unpacks_too_large", most=most)
            if len(status) > _MOST_STATUS:
                raise refused("gpg has more to say of it than of any file")
    return status.decode("utf-8", "replace")


def _judge(status: str, keys: Keys, *, is_well: bool) -> None:
    """Raise `FileUnusable` unless the status lines say all that must be, and nothing else."""
    lines = [match.groups() for line in status.splitlines() if (match := _STATUS.match(line))]
    keywords = [keyword for keyword, _ in lines]
    if "PLAINTEXT" not in keywords and not {"BEGIN_DECRYPTION", "NEWSIG"} & {*keywords}:
        raise refused("it is no message of OpenPGP")
    if keys.decrypt_with:
        used = _fingerprints(lines, "DECRYPTION_KEY")
        if "DECRYPTION_OKAY" not in keywords or keywords.count("BEGIN_DECRYPTION") != 1:
            raise refused("it is not encrypted, is damaged, or is for a key that is not there")
        if keys.decrypt_with not in used:
            raise refused("it is encrypted to another key than the pinned one")
    elif "BEGIN_DECRYPTION" in keywords:
        raise refused("it is encrypted, and decrypt_with is not set")
    if keys.signed_by:
        _judge_signature(lines, keywords, keys.signed_by)
    if keywords.count("PLAINTEXT") != 1 or (keys.signed_by and not is_well) or "BADSIG" in keywords:
        raise refused("gpg does not vouch for it")


def _judge_signature(lines: Sequence[tuple[str, ...]], keywords: list[str], signed_by: str) -> None:
    if "NEWSIG" not in keywords:
        raise refused("it is not signed")
    if keywords.count("NEWSIG") != 1:
        raise refused("it has several signatures")
    for keyword, what in _BAD.items():
        if keyword in keywords:
            raise refused(what)
    if keywords.count("GOODSIG") != 1 or keywords.count("VALIDSIG") != 1:
        raise refused("its signature is not good")
    if signed_by not in _fingerprints(lines, "VALIDSIG"):
        raise refused("it is signed with another key than the pinned one")


def _fingerprints(lines: Sequence[tuple[str, ...]], keyword: str) -> set[str]:
    """Return every word of the lines of a keyword; the key and its primary key are among them."""
    return {word for kind, text in lines if kind == keyword for word in text.split()}


def refused(what: str) -> FileUnusable:
    """Make the error of a message that the pinned keys do not vouch for."""
    return FileUnusable.from_table("pickup", "pickup_not_vouched", what=what)


def plain_name(name: str) -> str:
    """Return the name of what a message of that name holds."""
    ends = [ending for ending in SUFFIXES if name.lower().endswith(ending)]
    return name[: -len(ends[0])] or name if ends else name
