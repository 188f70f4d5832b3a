"""Ids: what tokens show, what is derived, what may be typed in place of one, and cursors of pages.

Derived ids and hashes are computed here, where rows are few, as views of the store derive them:
what was told or stored must be the same for ever, so both are held to be alike for any text.

A cursor says where a page of a report ended. It carries its position (moment and id of the last
row) and a checksum over the position and what it was made for (the report and its filters), so a
damaged one, or one of another report or institution, is told from a good one. It holds no secret:
what a page may show is decided by the query, never by the cursor. Nor is it trusted: who computes
the checksum may write any position, and what is none is refused like damage.
"""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import datetime
from hashlib import md5, sha256
from uuid import UUID

from cardoffers_cli.kernel.words.errors import UsageError

ELLIPSIS = "…"
SHOWN_AT_EACH_END = 4


def mask(token: str) -> str:
    """Reduce a token to its first and last 4 characters; 8 or fewer become the ellipsis alone."""
    if len(token) <= 2 * SHOWN_AT_EACH_END:
        return ELLIPSIS
    return f"{token[:SHOWN_AT_EACH_END]}{ELLIPSIS}{token[-SHOWN_AT_EACH_END:]}"


ROWS_TO_JUDGE = 1_000
"""Fewer rows do not tell whether tokens are stable."""


def look_rotated(rows: int, tokens: int, once: int) -> bool:
    """Say whether over 99 % of the tokens of a file occur once (rules.md#tokens)."""
    return rows > ROWS_TO_JUDGE and once * 100 > tokens * 99


_SEPARATOR = "\x1f"
_HEX_OF_64_BITS = 16


def transaction_id(institution_id: UUID, transaction_ref: str) -> UUID:
    """Return the public id of a purchase: a UUID of version 8 (RFC 9562)."""
    parts = _SEPARATOR.join(("purchase", str(institution_id), transaction_ref))
    digest = sha256(parts.encode()).hexdigest()
    return UUID(f"{digest[:12]}8{digest[13:16]}a{digest[17:32]}")


def ref_hash(institution_id: UUID, transaction_ref: str) -> int:
    """Return the number of 64 bits that a purchase is found by."""
    return _text_hash(transaction_ref) ^ _text_hash(str(institution_id))


def _text_hash(content: str) -> int:
    digest = md5(content.encode(), usedforsecurity=False).hexdigest()
    return int(digest[:_HEX_OF_64_BITS], 16)


LATEST = "latest"
"""The word for the newest of its kind."""

FEWEST = 4
"""Digits that a beginning has at least: fewer are more likely a slip."""

_DIGITS = 32
_HEX = re.compile(r"[0-9a-f]+")


def is_whole(text: str) -> bool:
    """Return whether a text is a whole id."""
    try:
        return len(text) >= _DIGITS and bool(UUID(text))
    except ValueError:
        return False


def ids_beginning(text: str) -> tuple[UUID, UUID] | None:
    """Return the first and the last id that begin with a text; None where none can.

    Dashes are where they are in an id or nowhere; capitals are read as small letters.
    """
    digits = text.strip().lower().replace("-", "")
    if not (FEWEST <= len(digits) <= _DIGITS and _HEX.fullmatch(digits)):
        return None
    first, last = UUID(digits.ljust(_DIGITS, "0")), UUID(digits.ljust(_DIGITS, "f"))
    is_so_written = "-" not in text or str(first).startswith(text.strip().lower())
    return (first, last) if is_so_written else None


_CHECK_BYTES = 8
MOST_ROWS = 1_000_000
"""Rows of an answer that does not come in pages, at most."""


class CursorInvalid(UsageError, code="cursor_invalid"):
    """The cursor is damaged, or belongs to another report."""


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
