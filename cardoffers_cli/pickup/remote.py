"""What a place can be asked, whatever it is, and what is made of a name that it lists.

A server may list anything. A name is taken only if it is one name, of printable letters, and short
enough for a disk; a file only if it is listed as a plain one. Everything else is a stray: it is
named and left alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from cardoffers_cli.kernel.words.errors import NetworkFailure
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_NAMES = 100_000
"""Names that a folder may list; more are refused before they fill the memory."""
NAME_BYTES = 255


class Slow(NetworkFailure, code="pickup_slow"):
    """The place took too long."""


class OddAnswer(NetworkFailure, code="pickup_answer"):
    """The place answered what is no answer."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"The server does not answer as one: {what}.",
            hint="Ask its operator what runs there, then run it again.",
        )


class RemoteRefusal(NetworkFailure, code="pickup_refused"):
    """The place did not do what it was asked: it is not there, or is not permitted."""


@dataclass(frozen=True)
class Deadline:
    """The moment at which all that is done with a place ends."""

    seconds: float
    _ends: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin now."""
        object.__setattr__(self, "_ends", monotonic() + self.seconds)

    def left(self) -> float:
        """Return the seconds that are left; raise `Slow` when there are none."""
        seconds = self._ends - monotonic()
        if seconds <= 0:
            raise Slow(
                f"It took over {self.seconds:g} seconds.",
                hint="Run it again: it goes on with what is left. most_seconds in [pickup.INST]"
                " is the limit.",
            )
        return seconds


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A plain file at a place. `stamp` tells it from a later one of its name.

    `modified_s` is the server's clock, in seconds since 1970, where it says.
    """

    name: str
    size_bytes: int
    stamp: str
    modified_s: float | None


@dataclass(frozen=True, kw_only=True)
class RemoteStray:
    """What is listed and never fetched: its name as it may be shown, and what it is."""

    name: str
    what: str


@dataclass(kw_only=True)
class Listing:
    """What a place lists: files by name, and what is none."""

    files: dict[str, RemoteFile] = field(default_factory=dict)
    strays: list[RemoteStray] = field(default_factory=list)

    def add(self, name: bytes | str, file: RemoteFile | None, what: str) -> None:
        """Add what has a name: a plain `file`, or something else; hidden names are left out."""
        text = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else name
        if text.startswith("."):
            return
        wrong = wrong_name(name) or (what if file is None else None)
        if file is None or wrong or text in self.files:
            reason = wrong or "listed twice"
            self.strays.append(RemoteStray(name=visible(text)[:NAME_BYTES], what=reason))
        else:
            self.files[text] = file
        if len(self.files) + len(self.strays) > MOST_NAMES:
            raise OddAnswer(f"it lists over {MOST_NAMES:,} names")


def wrong_name(name: bytes | str) -> str | None:
    """Say what is wrong with a name that a server lists; None where nothing is."""
    try:
        text = name.decode() if isinstance(name, bytes) else name
        length = len(text.encode())
    except UnicodeError:
        return "a file whose name is not UTF-8"
    if not text or "/" in text or "\\" in text or "\0" in text:
        return "a name that leads elsewhere"
    if visible(text) != text:
        return "a name with characters that act or hide"
    return "a name that is too long" if length > NAME_BYTES else None


class Remote(Protocol):
    """A place that is open. Each raises `NetworkFailure`; names are those that it listed."""

    def list(self) -> Listing:
        """Return what is there now."""

    def look(self, name: str) -> RemoteFile | None:
        """Return a file as it is now; None where it is gone, or is no plain file."""

    def read(self, file: RemoteFile) -> Iterator[bytes]:
        """Yield the bytes of a file: as many as it was listed with, and one more if there is."""

    def remove(self, name: str) -> None:
        """Remove a file."""

    def move(self, name: str, folder: str, names: Iterable[str]) -> None:
        """Move a file into a folder, which is made, under the first of the names that is free."""
