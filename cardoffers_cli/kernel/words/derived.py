"""Ids and hashes that are derived from what they stand for, as views of the store derive them.

What was told or stored must be the same for ever, so both are held to be alike for any text. Where
rows are few they are computed here, because that takes no statement.
"""

from __future__ import annotations

from hashlib import md5, sha256
from uuid import UUID

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
