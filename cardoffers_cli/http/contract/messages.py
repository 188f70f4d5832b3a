"""Calls and answers: what the doors of the contract hand in and get back, refusals too.

A refusal is a problem document (RFC 9457), and each error has its status. `detail` says what is
wrong with the request and never repeats a value of it. A 500 says nothing but its request id, by
which the log can be searched.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Self

from cardoffers_cli.kernel.words.errors import (
    CardoffersError,
    NotFound,
    Refused,
    StoreBusy,
    UsageError,
)
from cardoffers_cli.kernel.words.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


JSON_TYPE = "application/json"
HTML_TYPE = "text/html; charset=utf-8"
PROBLEM_TYPE = "application/problem+json"


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request. Names of headers are lower case; what a cardholder may be known by is not shown.

    `path` is as sent, without the query; `query` is the raw query string. `is_head_only` says that
    the body was not read, because the key was not known: such a call can only be refused.
    """

    method: str
    path: str
    request_id: str
    query: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    is_head_only: bool = False


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a call is answered, and what the access log may know of it."""

    status: int
    body: bytes = field(default=b"", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    route: str | None = None
    key_prefix: str | None = None
    institution: str | None = None
    code: str | None = None
    unknown_fields: int = 0

    @classmethod
    def of(cls, status: int, document: Any, **others: Any) -> Self:
        """Answer with a document as JSON."""
        return cls(
            status=status,
            body=dumps(document).encode(),
            headers={"content-type": JSON_TYPE},
            **others,
        )

    def with_headers(self, **headers: str) -> Self:
        """Return the answer with headers added; `_` in a name stands for `-`."""
        added = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **added})


TITLES = {"token_expired": "Token expired", "token_revoked": "Token revoked"}
"""The titles that are not their status's own phrase (rules.md#refusals)."""

FORBIDDEN = {"segment_not_eligible", "institution_mismatch"}
"""Codes of `Refused` that are answered 403; the others are conflicts, 409."""

RETRY_AFTER_S = 5
"""What a client is asked to wait while the store is held by a long job."""


@dataclass
class Problem(Exception):
    """A refusal of one call."""

    status: int
    code: str
    detail: str
    errors: Sequence[Mapping[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def answer(self, request_id: str, **fields: Any) -> Answer:
        """Return the refusal as an answer."""
        document = {
            "type": f"urn:cardoffers:problem:{self.code}",
            "title": TITLES.get(self.code) or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "request_id": request_id,
        }
        if self.errors:
            document["errors"] = list(self.errors)
        return Answer(
            status=self.status,
            body=dumps(document).encode(),
            headers={"content-type": PROBLEM_TYPE, **self.headers},
            code=self.code,
            **fields,
        )


def invalid(pointer: str, code: str, detail: str) -> Problem:
    """Refuse a value of the request; `pointer` says where it stands."""
    error = {"pointer": pointer, "code": code, "detail": detail}
    return Problem(422, "invalid", "The request holds a value that cannot be used.", [error])


def problem_of(error: CardoffersError) -> Problem:
    """Return the refusal that an error of a job means; what is nobody's fault but ours is a 500."""
    if isinstance(error, StoreBusy):
        return busy()
    if isinstance(error, UsageError):
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    elif isinstance(error, NotFound):
        status = HTTPStatus.NOT_FOUND
    elif isinstance(error, Refused):
        is_forbidden = error.code in FORBIDDEN
        status = HTTPStatus.FORBIDDEN if is_forbidden else HTTPStatus.CONFLICT
    else:
        status = HTTPStatus.INTERNAL_SERVER_ERROR
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return internal()
    return Problem(status, error.code, error.message)


def busy() -> Problem:
    """Refuse a call because the store is held for longer than a caller should wait."""
    return Problem(
        503,
        "busy",
        "The service is busy with a long job. Nothing was done; send the request again later.",
        headers={"retry-after": str(RETRY_AFTER_S)},
    )


def internal() -> Problem:
    """Refuse a call because of a fault of ours, without a word about it."""
    return Problem(500, "internal", "The service failed. Sending the request again is safe.")
