"""A folder at an SFTP server, reached by the `ssh` of OpenSSH in batch mode.

The key of the server is pinned: it is the only one in a list of known hosts of our own. One key
logs in, the named file; no agent, no password, no configuration of the user or the machine has a
say, and nothing is ever asked. What the server or `ssh` says is judged, and never shown.

Of SFTP, version 3 (draft-ietf-secsh-filexfer-02), there is what is needed to list, read, move and
remove. The protocol says names and attributes exactly, byte for byte, which the text that the
program `sftp` prints does not. Every number that a server sends is checked before it is used.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import tempfile
import tomllib
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cardoffers_cli.kernel.words.errors import ConfigurationError, NetworkFailure
from cardoffers_cli.pickup.piped import Piped, ProgramEnded
from cardoffers_cli.pickup.remote import Listing, OddAnswer, RemoteFile, RemoteRefusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cardoffers_cli.kernel.words.pickups import PickupPlace
    from cardoffers_cli.pickup.remote import Deadline


_PORT = 22
_ALIAS = "pinned"  # as ssh_options.txt calls it
_OTHERS = 0o077
_OPTIONS = files(__package__).joinpath("ssh_options.txt").read_text("ascii").splitlines()
_FAILURES = tomllib.loads(files(__package__).joinpath("ssh_failures.toml").read_text("ascii"))


@contextmanager
def sftp_folder(place: PickupPlace, deadline: Deadline) -> Iterator[SftpFolder]:
    """Open the folder of a place for the length of a `with` block.

    Raises `NetworkFailure`, by what `ssh` says, and `ConfigurationError`.
    """
    path = Path(place.key_file or "")
    try:
        file_stat = path.stat()
    except OSError:
        file_stat = None
    if file_stat is None or not stat.S_ISREG(file_stat.st_mode) or not os.access(path, os.R_OK):
        raise ConfigurationError.from_table("pickup", "key_file_missing", path=path)
    if file_stat.st_mode & _OTHERS:
        raise ConfigurationError.from_table("pickup", "key_file_open", path=path)
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
    options = [*_OPTIONS, f'UserKnownHostsFile="{_literal(known_hosts)}"']
    settings = [word for option in options for word in ("-o", option)]
    identity = ["-i", _literal(Path(place.key_file or ""))]
    to = ["-p", str(url.port or _PORT), "-l", url.username or "", "-s", "--", url.hostname or ""]
    return ["ssh", "-F", "none", "-T", "-a", "-x", *settings, *identity, *to, "sftp"]


def _literal(path: Path) -> str:
    """Return a path in which nothing is expanded."""
    return str(path.absolute()).replace("%", "%%")


def _failure(output: str) -> NetworkFailure:
    for code, failure in _FAILURES.items():
        if re.search(failure["says"], output, re.IGNORECASE):
            return NetworkFailure(failure["message"], code=code, hint=failure["hint"])
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


_INIT, _VERSION, _OPEN, _CLOSE, _READ, _LSTAT = 1, 2, 3, 4, 5, 7
_OPENDIR, _READDIR, _REMOVE, _MKDIR, _RENAME = 11, 12, 13, 14, 18
_STATUS, _HANDLE, _DATA, _NAME, _ATTRS = 101, 102, 103, 104, 105
_OK, _EOF, _NO_SUCH_FILE, _DENIED = 0, 1, 2, 3
_SAID = {_NO_SUCH_FILE: "there is no such name", _DENIED: "it is not permitted"}

_TO_READ = 1
_HAS_SIZE, _HAS_OWNERS, _HAS_MODE, _HAS_TIMES, _HAS_MORE = 1, 2, 4, 8, 1 << 31
_MOST_PACKET = 1 << 18
_CHUNK = 32 << 10
_AT_ONCE = 32
"""Readings that are under way at once: a megabyte, so that distance costs little."""


@dataclass(frozen=True)
class Attributes:
    """What a server says of a file; None is what it does not say."""

    size: int | None
    mode: int | None
    modified_s: int | None

    @property
    def what(self) -> str:
        """Say in words what it is."""
        if self.mode is None or self.size is None:
            return "something of which the server does not say what it is"
        kinds = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO"}
        return kinds.get(stat.S_IFMT(self.mode), "no plain file")

    @property
    def is_plain(self) -> bool:
        """Whether it is a plain file of known size."""
        return self.mode is not None and self.size is not None and stat.S_ISREG(self.mode)


class _Packet:
    """The bytes of an answer, taken off from the front."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        self._at += size
        if len(part) < size:
            raise OddAnswer("a message of it ends too early")
        return part

    def number(self, form: str = "I") -> int:
        return int(struct.unpack(f">{form}", self.take(struct.calcsize(f">{form}")))[0])

    def text(self) -> bytes:
        return self.take(self.number())

    def attributes(self) -> Attributes:
        flags, size, mode, modified = self.number(), None, None, None
        if flags & _HAS_SIZE:
            size = self.number("Q")
        if flags & _HAS_OWNERS:
            self.take(8)
        if flags & _HAS_MODE:
            mode = self.number()
        if flags & _HAS_TIMES:
            self.number()
            modified = self.number()
        if flags & _HAS_MORE:
            for _ in range(self.number()):
                self.text()
                self.text()
        return Attributes(size, mode, modified)


def _string(text: bytes) -> bytes:
    return struct.pack(">I", len(text)) + text


class Sftp:
    """One conversation; raises `Slow`, `ProgramEnded`, `OddAnswer` and `RemoteRefusal`."""

    def __init__(self, pipe: Piped) -> None:
        self._pipe = pipe
        self._number = 0
        self._open: dict[int, tuple[int, _Packet] | None] = {}
        self._send(_INIT, struct.pack(">I", 3))
        kind, packet = self._receive()
        if kind != _VERSION or packet.number() < 3:  # noqa: PLR2004  the version that is spoken
            raise OddAnswer("it is no SFTP server")

    def names(self, folder: bytes) -> Iterator[tuple[bytes, Attributes]]:
        """Yield what a folder lists, links themselves and not what they lead to."""
        handle = self._handle(_OPENDIR, _string(folder))
        while True:
            kind, packet = self._asked(_READDIR, _string(handle))
            if kind == _STATUS and packet.number() == _EOF:
                break
            if kind != _NAME:
                raise OddAnswer("its list is none")
            for _ in range(packet.number()):
                name = packet.text()
                packet.text()  # the line for people
                yield name, packet.attributes()
        self._done(_CLOSE, _string(handle))

    def look(self, path: bytes) -> Attributes | None:
        """Return what has a name; None where nothing has."""
        kind, packet = self._asked(_LSTAT, _string(path))
        if kind == _ATTRS:
            return packet.attributes()
        if kind == _STATUS and packet.number() == _NO_SUCH_FILE:
            return None
        raise OddAnswer("it does not say what a file is")

    def read(self, path: bytes, size: int) -> Iterator[bytes]:
        """Yield a file, up to so many bytes."""
        handle = self._handle(_OPEN, _string(path) + struct.pack(">II", _TO_READ, 0))
        waiting, requested = deque[tuple[int, int, int]](), 0
        while True:
            while requested < size and len(waiting) < _AT_ONCE:
                part = min(_CHUNK, size - requested)
                waiting.append((self._ask_part(handle, requested, part), requested, part))
                requested += part
            if not waiting:
                break
            number, at, part = waiting.popleft()
            kind, packet = self._answer(number)
            if kind == _STATUS and packet.number() == _EOF:
                break
            data = packet.text() if kind == _DATA else b""
            if not 0 < len(data) <= part:
                raise OddAnswer("it does not send what it was asked for")
            yield data
            if len(data) < part:
                start, more = at + len(data), part - len(data)
                waiting.appendleft((self._ask_part(handle, start, more), start, more))
        for number, _, _ in waiting:
            self._answer(number)
        self._done(_CLOSE, _string(handle))

    def remove(self, path: bytes) -> None:
        """Remove a file."""
        self._done(_REMOVE, _string(path))

    def rename(self, path: bytes, to: bytes) -> None:
        """Give a file another name, which must be free."""
        self._done(_RENAME, _string(path) + _string(to))

    def make_folder(self, path: bytes) -> None:
        """Make a folder."""
        self._done(_MKDIR, _string(path) + struct.pack(">I", 0))

    def _ask_part(self, handle: bytes, at: int, size: int) -> int:
        return self._ask(_READ, _string(handle) + struct.pack(">QI", at, size))

    def _handle(self, kind: int, body: bytes) -> bytes:
        answer, packet = self._asked(kind, body)
        if answer == _STATUS:
            raise _refusal(packet)
        if answer != _HANDLE:
            raise OddAnswer("it opens nothing, and does not say why")
        return packet.text()

    def _done(self, kind: int, body: bytes) -> None:
        answer, packet = self._asked(kind, body)
        if answer != _STATUS:
            raise OddAnswer("it does not say whether it did what it was asked")
        refusal = _refusal(packet)
        if refusal.details["status"] != _OK:
            raise refusal

    def _asked(self, kind: int, body: bytes) -> tuple[int, _Packet]:
        return self._answer(self._ask(kind, body))

    def _ask(self, kind: int, body: bytes) -> int:
        self._number = (self._number + 1) % (1 << 32)
        self._open[self._number] = None
        self._send(kind, struct.pack(">I", self._number) + body)
        return self._number

    def _answer(self, number: int) -> tuple[int, _Packet]:
        """Return the answer to a request; those of others, which may come before, are kept."""
        while (answer := self._open[number]) is None:
            kind, packet = self._receive()
            other = packet.number()
            if self._open.get(other, packet) is not None:
                raise OddAnswer("it answers what it was not asked")
            self._open[other] = (kind, packet)
        del self._open[number]
        return answer

    def _send(self, kind: int, body: bytes) -> None:
        self._pipe.send(struct.pack(">IB", len(body) + 1, kind) + body)

    def _receive(self) -> tuple[int, _Packet]:
        (length,) = struct.unpack(">I", self._pipe.receive(4))
        if not 0 < length <= _MOST_PACKET:
            raise OddAnswer("a message of it has no length that one may have")
        data = self._pipe.receive(length)
        return data[0], _Packet(data[1:])


def _refusal(packet: _Packet) -> RemoteRefusal:
    status = packet.number()
    reason = _SAID.get(status, "it failed")
    return RemoteRefusal(
        f"The server refused: {reason}.",
        hint="Look at the folder there, and at the rights of the user.",
        status=status,
    )
