"""Cursors: where a page of a report ended, opaque and proof against damage.

A cursor carries its position and a checksum over the position and what it was made for (the report
and its filters), so a damaged one, or one of another report or institution, is told from a good
one. It holds no secret: what a page may show is decided by the query, never by the cursor.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json

from cardoffers_cli.domain.errors import UsageError

_CHECK_BYTES = 8


class CursorInvalid(UsageError):
    """The cursor is damaged, or belongs to another report."""

    code = "cursor_invalid"


def encode_cursor(position: list[str], purpose: str) -> str:
    """Write a position as a cursor of one purpose."""
    body = json.dumps(position, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_check(body, purpose) + body).decode().rstrip("=")


def decode_cursor(cursor: str, purpose: str) -> list[str]:
    """Return the position a cursor holds; raise `CursorInvalid` unless it was made for this."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _invalid() from None
    check, body = raw[:_CHECK_BYTES], raw[_CHECK_BYTES:]
    if check != _check(body, purpose):
        raise _invalid()
    position: list[str] = json.loads(body)
    return position


def _check(body: bytes, purpose: str) -> bytes:
    return hashlib.sha256(purpose.encode() + b"\0" + body).digest()[:_CHECK_BYTES]


def _invalid() -> CursorInvalid:
    return CursorInvalid(
        "The cursor is damaged, or belongs to another report or other filters.",
        hint="Begin again without --cursor, with the same filters on every page.",
    )
