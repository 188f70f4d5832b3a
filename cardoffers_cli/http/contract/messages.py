"""Calls and answers: what the doors of the contract hand in and get back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from cardoffers_cli.kernel.words.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping

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
