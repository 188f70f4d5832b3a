"""The file of a journal: lines of JSON, each on the disk before the next thing is done.

A line torn by a crash is no line, and the next one takes its place. Of a long file the newer half
stays.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO
from uuid import UUID

from cardoffers_cli.kernel.store import layout
from cardoffers_cli.kernel.words.errors import StoreDamaged
from cardoffers_cli.kernel.words.moments import format_moment, parse_moment

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

_BLOCK = 32_768
"""Bytes that hold any line."""
_MOST_BYTES = 16 << 20
_OWNER_ONLY = 0o600


@dataclass(frozen=True, kw_only=True)
class JournalLine:
    """One run that was committed; number 0 without an id is a store before its first run."""

    run_no: int
    run_id: UUID | None
    kind: str
    as_of: datetime
    resets: bool = False
    replaced_by: str | None = None
    lineage: str | None = None
    is_scratch: bool = False

    def document(self) -> dict[str, Any]:
        """Return the line as it is written and shown."""
        document: dict[str, Any] = {
            "run_no": self.run_no,
            "run_id": str(self.run_id) if self.run_id else None,
            "kind": self.kind,
            "as_of": format_moment(self.as_of),
        }
        if self.resets:
            document["resets"] = True
        if self.replaced_by:
            document["replaced_by"] = self.replaced_by
        if self.lineage:
            document |= {"lineage": self.lineage, "is_scratch": self.is_scratch}
        return document


def last_line(store: Path) -> JournalLine | None:
    """Return the last whole line of the journal of a store, or None where there is none."""
    path = layout.journal_path(store)
    try:
        with path.open("rb", buffering=0) as file:
            end = _end_of_lines(file)
            file.seek(max(0, end - _BLOCK))
            tail = file.read(min(end, _BLOCK))
    except FileNotFoundError:
        return None
    return _line(path, tail.splitlines()[-1]) if tail else None


def standing(store: Path) -> JournalLine | None:
    """Return the last line that says which lineage a store is of, and whether it is scratch."""
    path = layout.journal_path(store)
    line = _standing_in(path.read_bytes()) if path.exists() else b""
    return _line(path, line) if line else None


def _standing_in(content: bytes) -> bytes:
    at = content.rfind(b'"lineage"')
    return content[content.rfind(b"\n", 0, at) + 1 : content.find(b"\n", at) + 1] if at > 0 else b""


def all_lines(store: Path) -> Iterable[JournalLine]:
    """Yield the whole lines of the journal of a store; raise `StoreDamaged` for what is none."""
    path = layout.journal_path(store)
    if not path.exists():
        return
    with path.open("rb") as file:
        for text in file:
            if text.endswith(b"\n"):
                yield _line(path, text)


def append(store: Path, more: Iterable[JournalLine]) -> None:
    """Append lines to the journal of a store, in the place of what was torn."""
    layout.make_folder(store)
    path = layout.journal_path(store)
    text = "".join(json.dumps(line.document()) + "\n" for line in more).encode()
    is_new = not path.exists()
    hint = (
        "Free some space and run it again: what was committed is in the store, and its line is "
        "written then."
    )
    with layout.needing_room(path, hint):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY)
        with os.fdopen(descriptor, "r+b") as file:
            file.truncate(file.seek(_end_of_lines(file)))
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        if size > _MOST_BYTES:
            with path.open("rb") as file:
                file.seek(size - _MOST_BYTES // 2)
                file.readline()  # the rest of a line
                newer_half = file.read()
            if b'"lineage"' not in newer_half:
                newer_half = _standing_in(path.read_bytes()) + newer_half
            layout.replace_whole(path, newer_half, layout.draft_path(store, "journal"))
        elif is_new:
            layout.sync_folder(path.parent)


def _end_of_lines(file: BinaryIO | Any) -> int:
    """Return where the last whole line ends; what follows was torn."""
    end: int = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            return int(start + newline + 1)
        end = start
    return 0


def _line(path: Path, text: bytes) -> JournalLine:
    try:
        document = json.loads(text)
        return JournalLine(
            run_no=int(document["run_no"]),
            run_id=UUID(document["run_id"]) if document["run_id"] else None,
            kind=str(document["kind"]),
            as_of=parse_moment(document["as_of"]),
            resets=bool(document.get("resets")),
            replaced_by=None
            if document.get("replaced_by") is None
            else str(document["replaced_by"]),
            lineage=document.get("lineage"),
            is_scratch=bool(document.get("is_scratch")),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        raise StoreDamaged.from_table("kernel/store", "journal_damaged", path=path) from None
