"""A folder at an SFTP server, reached by the `ssh` of OpenSSH in batch mode.

The key of the server is pinned: it is the only one in a list of known hosts of our own. One key
logs in, the named file; no agent, no password, no configuration of the user or the machine has a
say, and nothing is ever asked. What the server or `ssh` says is judged, and never shown.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cardoffers_cli.kernel.words.errors import ConfigurationError, NetworkFailure
from cardoffers_cli.pickup.piped import Piped, ProgramEnded
from cardoffers_cli.pickup.remote import Listing, RemoteFile, RemoteRefusal
from cardoffers_cli.pickup.sftp import Attributes, Sftp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cardoffers_cli.kernel.words.pickups import PickupPlace
    from cardoffers_cli.pickup.remote import Deadline

_PORT = 22
_ALIAS = "pinned"
_OTHERS = 0o077
_OPTIONS = {
    "BatchMode": "yes",
    "StrictHostKeyChecking": "yes",
    "GlobalKnownHostsFile": "/dev/null",
    "HostKeyAlias": _ALIAS,
    "CheckHostIP": "no",
    "UpdateHostKeys": "no",
    "IdentitiesOnly": "yes",
    "IdentityAgent": "none",
    "PreferredAuthentications": "publickey",
    "PasswordAuthentication": "no",
    "KbdInteractiveAuthentication": "no",
    "NumberOfPasswordPrompts": "0",
    "ClearAllForwardings": "yes",
    "ForwardAgent": "no",
    "PermitLocalCommand": "no",
    "ControlMaster": "no",
    "ControlPath": "none",
    "ConnectTimeout": "30",
    "ServerAliveInterval": "15",
    "ServerAliveCountMax": "3",
    "LogLevel": "ERROR",
}
_FAILURES = (
    (
        re.compile(
            r"host key verification failed|no .*host key is known|no matching host key",
            re.IGNORECASE,
        ),
        "host_key_changed",
        "The server does not have the pinned key: it is another server, or has a new key",
        "Ask its operator for the key, by another way than the network; then set host_key.",
    ),
    (
        re.compile(r"permission denied|too many authentication", re.IGNORECASE),
        "login_refused",
        "The server does not let the key of key_file in",
        "Ask its operator to add the public key, and see that key_file has no passphrase.",
    ),
    (
        re.compile(r"subsystem request failed", re.IGNORECASE),
        "sftp_missing",
        "The server lets in, but offers no SFTP",
        "Ask its operator for SFTP.",
    ),
)


@contextmanager
def sftp_folder(place: PickupPlace, deadline: Deadline) -> Iterator[SftpFolder]:
    """Open the folder of a place for the length of a `with` block.

    Raises `NetworkFailure`, by what `ssh` says, and `ConfigurationError`.
    """
    _check_key_file(Path(place.key_file or ""))
    with tempfile.TemporaryDirectory(prefix="pickup-") as own:
        hosts_file = Path(own) / "known_hosts"
        kind, key = (place.host_key or "").split()[:2]
        hosts_file.write_text(f"{_ALIAS} {kind} {key}\n")
        with Piped(words_of(place, hosts_file), deadline) as pipe:
            try:
                yield SftpFolder(Sftp(pipe), place.sftp_folder)
            except ProgramEnded:
                raise _failure(pipe.said) from None


def words_of(place: PickupPlace, known_hosts: Path) -> list[str]:
    """Return the command line of `ssh`; there is no secret in it."""
    url = urlsplit(place.url)
    options = {**_OPTIONS, "UserKnownHostsFile": f'"{_literal(known_hosts)}"'}
    settings = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    identity = ["-i", _literal(Path(place.key_file or ""))]
    to = ["-p", str(url.port or _PORT), "-l", url.username or "", "-s", "--", url.hostname or ""]
    return ["ssh", "-F", "none", "-T", "-a", "-x", *settings, *identity, *to, "sftp"]


def _literal(path: Path) -> str:
    """Return a path in which nothing is expanded."""
    return str(path.absolute()).replace("%", "%%")


def _check_key_file(path: Path) -> None:
    """Raise `ConfigurationError` where there is no such file, or others may read it."""
    try:
        file_stat = path.stat()
    except OSError:
        file_stat = None
    if file_stat is None or not stat.S_ISREG(file_stat.st_mode) or not os.access(path, os.R_OK):
        raise ConfigurationError(
            f"There is no key file {path} that can be read.",
            code="key_file_missing",
            hint='Make one with `ssh-keygen -t ed25519 -N "" -f FILE`, and set key_file.',
        )
    if file_stat.st_mode & _OTHERS:
        raise ConfigurationError(
            f"Others may read the key file {path}.",
            code="key_file_open",
            hint=f"Run `chmod 600 {path}`.",
        )


def _failure(output: str) -> NetworkFailure:
    for form, code, message, hint in _FAILURES:
        if form.search(output):
            return NetworkFailure(f"{message}.", code=code, hint=hint)
    return NetworkFailure(
        "The server cannot be reached, or closed the connection.",
        code="pickup_unreachable",
        hint="Look at the network, the host and the port, then run it again.",
    )


class SftpFolder:
    """The folder of a place at an SFTP server."""

    def __init__(self, sftp: Sftp, folder: str) -> None:
        self._sftp = sftp
        self._folder = folder

    def list(self) -> Listing:
        """Return what is there now; folders are left out."""
        listing = Listing()
        for name, attributes in self._sftp.names(self._folder.encode()):
            if attributes.what == "a folder":
                continue
            text = name.decode("utf-8", "backslashreplace")
            listing.add(name, _file(text, attributes), attributes.what)
        return listing

    def look(self, name: str) -> RemoteFile | None:
        """Return a file as it is now; None where it is gone, or is no plain file."""
        attributes = self._sftp.look(self._path(name))
        return _file(name, attributes) if attributes else None

    def read(self, file: RemoteFile) -> Iterator[bytes]:
        """Yield the bytes of a file, and one more than it was listed with if there is."""
        return self._sftp.read(self._path(file.name), file.size_bytes + 1)

    def remove(self, name: str) -> None:
        """Remove a file."""
        self._sftp.remove(self._path(name))

    def move(self, name: str, folder: str, names: Iterable[str]) -> None:
        """Move a file into a folder of the server, which is made where it is missing."""
        target = folder if folder.startswith("/") else f"{self._folder}/{folder}"
        if self._sftp.look(target.encode()) is None:
            try:
                self._sftp.make_folder(target.encode())
            except RemoteRefusal as refused:
                raise RemoteRefusal(
                    f"The folder {folder} is not there, and cannot be made.",
                    hint="Ask the operator of the server to make it, or set another `after`.",
                ) from refused
        paths = (f"{target}/{candidate}".encode() for candidate in names)
        free = next(candidate for candidate in paths if self._sftp.look(candidate) is None)
        self._sftp.rename(self._path(name), free)

    def _path(self, name: str) -> bytes:
        return f"{self._folder}/{name}".encode()


def _file(name: str, info: Attributes) -> RemoteFile | None:
    if not info.is_plain or info.size is None:
        return None
    stamp = f"{info.size}:{info.modified_s}"
    return RemoteFile(name=name, size_bytes=info.size, stamp=stamp, modified_s=info.modified_s)
