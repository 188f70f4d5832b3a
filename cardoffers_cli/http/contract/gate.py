"""The gate: who calls, whether they may, and whether it is too often (rules.md#rates).

A key is told from others by its hash, in constant time. Why a key was refused goes into the usage
journal, and from there into the security log; a key that is only mistyped tells of nobody, so it is
answered and not noted.
"""

from __future__ import annotations

import hmac
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self
from uuid import UUID

from cardoffers_cli.http.contract.messages import Problem
from cardoffers_cli.kernel.store.institutions import institution_of
from cardoffers_cli.keys.questions import find_key, list_hashes
from cardoffers_cli.keys.rules import is_well_formed, key_hash, prefix_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.http.contract.messages import Call
    from cardoffers_cli.http.contract.routes import Route
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.store.usage_journal import UsageJournal
    from cardoffers_cli.keys.questions import ApiKey, KeyHash


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Whose key a call came with; all that a call sees or does is theirs (rules.md#callers)."""

    institution: Institution
    key: ApiKey


class Gate:
    """Lets callers in for one use of the store."""

    def __init__(self, store: Store, book: UsageJournal, job: Job) -> None:
        self._store = store
        self._book = book
        self._job = job
        self._used: set[UUID] = set()

    def identify(self, call: Call) -> Caller:
        """Return who calls; raise `Problem` 401 where that cannot be told."""
        key = find_key(self._store, presented_key(call))
        if key is None:
            self._note(call, "unauthenticated", None)
            raise _unauthenticated("There is no such API key.")
        owner = institution_of(self._store, key.institution_id)
        return Caller(institution=owner, key=key)

    def is_known(self, call: Call) -> bool:
        """Whether the key of a call is one of this store, or none at all."""
        token = _token(call)
        return not is_well_formed(token) or find_key(self._store, token) is not None

    def admit(self, caller: Caller, call: Call, route: Route) -> None:
        """Let a known caller in; raise `Problem` 403 for what the key may not do, 429 for haste."""
        refusal = self._refusal(caller.key, route)
        if refusal:
            self._note(call, refusal.code, caller.key)
            raise refusal
        if caller.key.key_id not in self._used:  # all calls that wait have one moment
            self._used.add(caller.key.key_id)
            self._book.note_use(caller.key.key_id, self._job.now)
        if route.is_limited:
            self._count(caller)

    def _refusal(self, key: ApiKey, route: Route) -> Problem | None:
        match key.state(self._job.now):
            case "revoked":
                return Problem(403, "token_revoked", "The API key was revoked.")
            case "expired":
                return Problem(403, "token_expired", "The API key has expired.")
        if route.scope not in key.scopes:
            return Problem(403, "scope_missing", f"The API key lacks the scope {route.scope}.")
        return None

    def _count(self, caller: Caller) -> None:
        most = self._job.settings.reporting_calls_per_minute
        wait_s = self._book.take_turn(caller.key.key_id, self._job.now, most)
        if wait_s is not None:
            raise Problem(
                429,
                "rate_limited",
                f"More than {most} reporting calls in a minute with this key.",
                headers={"retry-after": str(wait_s)},
            )

    def _note(self, call: Call, code: str, key: ApiKey | None) -> None:
        self._book.note_failure(
            UUID(call.request_id),
            code,
            self._job.now,
            call.request_id,
            key_id=key.key_id if key else None,
            institution_id=key.institution_id if key else None,
        )


def presented_key(call: Call) -> str:
    """Return the text of the key that a call presents; raise `Problem` 401 for none, or no key's.

    This needs no store, so a server can ask before it reads a body.
    """
    token = _token(call)
    if not token:
        raise _unauthenticated("Send the API key in the header Authorization, as a Bearer token.")
    if not is_well_formed(token):
        raise _unauthenticated("The API key is mistyped: its checksum does not fit.")
    return token


def _token(call: Call) -> str:
    """Return the bearer token of a call (RFC 6750, 2.1), or nothing."""
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _unauthenticated(detail: str) -> Problem:
    return Problem(401, "unauthenticated", detail, headers={"www-authenticate": "Bearer"})


# The keys that worked when the store was last read, for what is decided before a body is read.
#
# A keyring gives room to a body and never entry: the gate asks the store about the key again with
# each call, so a key that was revoked since opens nothing. It refuses nothing either, unless it was
# read after the request came: a key may be younger than the keyring.


@dataclass(frozen=True)
class Keyring:
    """Hashes of keys, by the beginning that may be shown of each.

    `is_whole` is False where a snapshot was read, which cannot say of a key that it does not exist.
    """

    hashes: Mapping[str, Sequence[KeyHash]] = field(default_factory=dict, repr=False)
    is_whole: bool = False

    @classmethod
    def of(cls, store: Store, *, is_whole: bool) -> Self:
        """Read the keys of a store that are not revoked."""
        hashes = defaultdict(list)
        for key in list_hashes(store):
            hashes[key.prefix].append(key)
        return cls(dict(hashes), is_whole)

    def owner(self, text: str, now: datetime) -> UUID | None:
        """Return whose key this is the text of, None where none is known that works."""
        digest, institution_id = key_hash(text), None
        for key in self.hashes.get(prefix_of(text), ()):
            works = key.ends_at is None or now < key.ends_at
            if hmac.compare_digest(key.key_hash, digest) and works:
                institution_id = key.institution_id
        return institution_id


# Limits of every call, whichever door it comes through.
#
# A server counts while it reads, with the same figures, so that it never holds more.


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
        raise Problem(414, "target_too_long", "The path and the query are too long.")
    if sum(len(name) + len(value) for name, value in call.headers.items()) > HEAD_BYTES:
        raise headers_too_large()


def check_body(call: Call) -> None:
    """Let a call pass whose body is not too large, nor holds too much; raise `Problem` 413."""
    if len(call.body) > BODY_BYTES:
        raise body_too_large()
    if sum(map(call.body.count, (b",", b"[", b"{"))) > BODY_VALUES:
        raise Problem(413, "body_too_large", f"A body holds {BODY_VALUES:,} values at most.")


def headers_too_large() -> Problem:
    """Refuse headers."""
    return Problem(431, "headers_too_large", "The head of the request is too large.")


def body_too_large() -> Problem:
    """Refuse a body."""
    return Problem(413, "body_too_large", f"A body has {BODY_BYTES >> 20} MiB at most.")
