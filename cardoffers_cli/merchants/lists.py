"""A list that a person brings: one entry a line, such as the references of complaints."""

from __future__ import annotations

import sys

from cardoffers_cli.intake.sources import open_input
from cardoffers_cli.kernel.words.errors import FileUnusable

MOST_ENTRIES = 10_000
_MOST_BYTES = 8 << 20


def read_list(source: str) -> list[str]:
    """Return the lines of a file (`-` is standard input), without blank ones and outer spaces.

    Raises `FileUnusable` for what is no text, or no list that a person would bring.
    """
    entries = [line.strip() for line in _text(source).splitlines()]
    found = [entry for entry in entries if entry]
    if not found:
        raise FileUnusable("The list is empty.", code="list_empty", hint="Write one entry a line.")
    if len(found) > MOST_ENTRIES:
        raise _too_long()
    return found


def _text(source: str) -> str:
    content = _bytes(source)
    if len(content) > _MOST_BYTES:
        raise _too_long()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileUnusable(
            "The list is not UTF-8 text.", code="file_encoding", hint="Save it as UTF-8."
        ) from None


def _bytes(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read(_MOST_BYTES + 1)
    try:
        with open_input(source) as file:
            return file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, IsADirectoryError):
        raise FileUnusable(
            f"There is no file {source}.", code="file_missing", hint="Check its name."
        ) from None


def _too_long() -> FileUnusable:
    return FileUnusable(
        f"The list has more than {MOST_ENTRIES:,} entries.",
        code="list_too_long",
        hint="Cut it into shorter ones.",
    )
