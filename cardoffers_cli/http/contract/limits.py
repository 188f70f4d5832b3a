"""Limits of every call, whichever door it comes through.

A server counts while it reads, with the same figures, so that it never holds more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.http.contract.problems import Problem

if TYPE_CHECKING:
    from cardoffers_cli.http.contract.messages import Call

BODY_BYTES = 8 << 20
BODY_VALUES = 100_000
"""Values in a body: many times what a batch of 1000 events holds. 8 MiB of `[],` would be three
million, which take seconds and 250 MiB to parse."""
HEAD_BYTES = 16 << 10
TARGET_BYTES = 8 << 10
"""Path and query."""


def check_head(call: Call) -> None:
    """Let a call pass whose path, query and headers are not too large; raise 414 or 431."""
    if len(call.path) + len(call.query) > TARGET_BYTES:
        raise target_too_long()
    if sum(len(name) + len(value) for name, value in call.headers.items()) > HEAD_BYTES:
        raise headers_too_large()


def check_body(call: Call) -> None:
    """Let a call pass whose body is not too large, nor holds too much; raise `Problem` 413."""
    if len(call.body) > BODY_BYTES:
        raise body_too_large()
    if sum(map(call.body.count, (b",", b"[", b"{"))) > BODY_VALUES:
        raise Problem(413, "body_too_large", f"A body holds {BODY_VALUES:,} values at most.")


def target_too_long() -> Problem:
    """Refuse a path and query."""
    return Problem(414, "target_too_long", "The path and the query are too long.")


def headers_too_large() -> Problem:
    """Refuse headers."""
    return Problem(431, "headers_too_large", "The head of the request is too large.")


def body_too_large() -> Problem:
    """Refuse a body."""
    return Problem(413, "body_too_large", f"A body has {BODY_BYTES >> 20} MiB at most.")
