"""The signatures of a webhook: made by the sender, checked by the receiver.

V1 signs the raw body; V2 signs the timestamp, a dot and the raw body, so that a captured request
cannot be sent again later (rules.md#signatures). The key is the UTF-8 text of the secret as it was
shown; digests are lower-case hex.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

V1 = "X-Service-Signature"
TIMESTAMP = "X-Service-Timestamp"
V2 = "X-Service-Signature-V2"

TOLERANCE_S = 300
_MOST_DIGITS = 12
_ALGORITHM = "sha256="

RULES = {
    "v1_missing": f"There is no header {V1}.",
    "v1_wrong": f"{V1} does not fit the body and the secret.",
    "timestamp_missing": f"There is no header {TIMESTAMP}.",
    "timestamp_invalid": f"{TIMESTAMP} is not a whole number of seconds.",
    "timestamp_too_old": f"{TIMESTAMP} is too long ago.",
    "timestamp_in_future": f"{TIMESTAMP} is too far ahead.",
    "v2_missing": f"There is no header {V2}.",
    "v2_wrong": f"{V2} does not fit the timestamp, the body and the secret.",
}
"""What each failed rule says to people."""


def signature_headers(body: bytes, secret: str, now_s: int) -> dict[str, str]:
    """Return the three headers that sign a body at a moment, in Unix seconds."""
    timestamp = str(now_s)
    return {
        V1: _signature(body, secret),
        TIMESTAMP: timestamp,
        V2: _signature(_stamped(timestamp, body), secret),
    }


def secret_sha256(secret: str) -> str:
    """Return the SHA-256 of a secret, which tells it from others and tells nothing of it."""
    return sha256(secret.encode()).hexdigest()


def check_signature(
    body: bytes,
    headers: Mapping[str, str],
    secrets: Sequence[str],
    now_s: int,
    tolerance_s: int = TOLERANCE_S,
) -> list[str]:
    """Return the codes of `RULES` that failed; none means that the request is genuine.

    Header names may be in any case. While a secret is rotated several are given, and each signature
    may be of any of them.
    """
    by_name = {name.lower(): value.strip() for name, value in headers.items()}
    timestamp = by_name.get(TIMESTAMP.lower())
    return [
        *_signature_faults("v1", by_name.get(V1.lower()), body, secrets),
        *_timestamp_faults(timestamp, now_s, tolerance_s),
        *_signature_faults("v2", by_name.get(V2.lower()), _stamped(timestamp or "", body), secrets),
    ]


def _signature(message: bytes, secret: str) -> str:
    return _ALGORITHM + hmac.digest(secret.encode(), message, sha256).hex()


def _stamped(timestamp: str, body: bytes) -> bytes:
    return _bytes(timestamp) + b"." + body


def _bytes(header: str) -> bytes:
    """Encode what somebody else sent, which may not be text at all."""
    return header.encode(errors="replace")


def _signature_faults(
    version: str, header: str | None, message: bytes, secrets: Sequence[str]
) -> Iterator[str]:
    if header is None:
        yield f"{version}_missing"
        return
    claimed = _bytes(header)
    expected = (_bytes(_signature(message, secret)) for secret in secrets)
    fits = [hmac.compare_digest(claimed, item) for item in expected]  # try them all, always
    if not any(fits):
        yield f"{version}_wrong"


def _timestamp_faults(timestamp: str | None, now_s: int, tolerance_s: int) -> Iterator[str]:
    if timestamp is None:
        yield "timestamp_missing"
    elif not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= _MOST_DIGITS):
        yield "timestamp_invalid"
    elif int(timestamp) < now_s - tolerance_s:
        yield "timestamp_too_old"
    elif int(timestamp) > now_s + tolerance_s:
        yield "timestamp_in_future"
