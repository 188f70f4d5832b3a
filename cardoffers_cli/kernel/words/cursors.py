"""Cursors: where a page of a report ended, opaque and proof against damage.

A cursor carries its position (moment and id of the last row) and a checksum over the position and
what it was made for (the report and its filters), so a damaged one, or one of another report or
institution, is told from a good one. It holds no secret: what a page may show is decided by the
query, never by the cursor. Nor is it trusted: who computes the checksum may write any position,
and what is none is refused like damage.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from uuid import UUID

from cardoffers_cli.kernel.words.errors import UsageError

_CHECK_BYTES = 8
MOST_ROWS = 1_000_000
"""Rows of an answer that does not come in pages, at most."""


class CursorInvalid(UsageError):
    """The cursor is damaged, or belongs to another report."""

    code = "cursor_invalid"


def encode_cursor(at: datetime, last_id: UUID, purpose: str) -> str:
    """Write the position of a row (naive UTC, and its id) as a cursor of one purpose."""
    body = f"{at.isoformat()} {last_id}".encode()
    return base64.urlsafe_b64encode(_check(body, purpose) + body).decode().rstrip("=")


def decode_cursor(cursor: str, purpose: str) -> tuple[datetime, UUID]:
    """Return the position a cursor holds; raise `CursorInvalid` unless it was made for this."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        at, _, last_id = raw[_CHECK_BYTES:].decode("ascii").partition(" ")
        position = datetime.fromisoformat(at), UUID(last_id)
    except ValueError:
        raise _invalid() from None
    if position[0].tzinfo is not None or cursor != encode_cursor(*position, purpose):
        raise _invalid()
    return position


def _invalid() -> CursorInvalid:
    return CursorInvalid(
        "The cursor is damaged, or belongs to another report or other filters.",
        hint="Begin again without --cursor, with the same filters on every page.",
    )


def _check(body: bytes, purpose: str) -> bytes:
    return hashlib.sha256(purpose.encode() + b"\0" + body).digest()[:_CHECK_BYTES]
