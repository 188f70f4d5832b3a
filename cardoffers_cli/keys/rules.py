"""API keys as text: how one is made, told from a mistyped one, hashed and shown.

A key is `co_live_`, 32 random bytes in base62, and a checksum in base62: the CRC-32 of all that
stands before it. A CRC finds every change within 32 bits, so each single wrong character and each
swap of two neighbours is found without a look-up. The prefix lets secret scanners find a key.
"""

from __future__ import annotations

import re
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING
from zlib import crc32

from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

SCOPES = ("offers", "reporting", "transactions")
"""What a key may be allowed to do (rules.md#scopes), in the order of the store."""

_LONGEST_NAME = 100
_MARK = "co_live_"
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_BYTES = 32
_SECRET_LETTERS = 43
_CHECK_LETTERS = 6
_FORM = re.compile(rf"{_MARK}[0-9A-Za-z]{{{_SECRET_LETTERS + _CHECK_LETTERS}}}", re.ASCII)
_SHOWN = 4
"""Letters shown of a key's secret at its beginning, and of the key at its end."""


def new_key() -> str:
    """Make a key that nobody can guess."""
    number = int.from_bytes(secrets.token_bytes(_SECRET_BYTES))
    return with_checksum(_MARK + _base62(number, _SECRET_LETTERS))


def with_checksum(text: str) -> str:
    """Return the text followed by its checksum."""
    return text + _base62(crc32(text.encode()), _CHECK_LETTERS)


def is_well_formed(text: str) -> bool:
    """Say whether text has the form and the checksum of a key; a mistyped key has not."""
    return bool(_FORM.fullmatch(text)) and text == with_checksum(text[:-_CHECK_LETTERS])


def key_hash(text: str) -> str:
    """Return what is stored of a key: SHA-256 of the whole text, in lower-case hex."""
    return sha256(text.encode()).hexdigest()


def prefix_of(text: str) -> str:
    """Return the beginning of a key that may be shown and logged."""
    return text[: len(_MARK) + _SHOWN]


def last_four(text: str) -> str:
    """Return the end of a key that may be shown."""
    return text[-_SHOWN:]


def checked_name(name: str) -> str:
    """Return a key's name without spaces around it; raise `UsageError` if it will not do."""
    name = name.strip()
    if not 1 <= len(name) <= _LONGEST_NAME or visible(name) != name or _MARK in name:
        raise UsageError.from_table("keys", "name_invalid", longest=_LONGEST_NAME)
    return name


def checked_scopes(scopes: Iterable[str]) -> frozenset[str]:
    """Return a key's scopes; raise `UsageError` for none, or one that does not exist."""
    wanted = frozenset(scopes)
    if not wanted or not wanted.issubset(SCOPES):
        raise UsageError(
            "A scope does not exist." if wanted else "A key needs a scope.",
            code="scope_unknown",
            hint=f"The scopes are {', '.join(SCOPES)}: --scopes a,b.",
        )
    return wanted


def _base62(number: int, width: int) -> str:
    letters = []
    for _ in range(width):
        number, digit = divmod(number, len(_DIGITS))
        letters.append(_DIGITS[digit])
    return "".join(reversed(letters))
