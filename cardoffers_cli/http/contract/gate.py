"""The gate: who calls, whether they may, and whether it is too often (rules.md#rates).

A key is told from others by its hash, in constant time. Why a key was refused goes into the
usage journal, and from there into the security log; a key that is only mistyped tells of nobody, so
it is answered and not noted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from cardoffers_cli.http.contract.problems import Problem
from cardoffers_cli.kernel.store.institutions import institution_of
from cardoffers_cli.keys.questions import find_key
from cardoffers_cli.keys.rules import is_well_formed

if TYPE_CHECKING:
    from cardoffers_cli.http.contract.messages import Call
    from cardoffers_cli.http.contract.routes import Route
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.store.usage_journal import UsageJournal
    from cardoffers_cli.keys.questions import ApiKey


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
