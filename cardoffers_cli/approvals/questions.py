"""Approvals in the store: find requests, write one, its answer and its use (rules.md#four-eyes).

The caller asks as of a moment, by which requests expire.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.kernel.words.approvals import LASTS, approval_id
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

ApprovalState = Literal["pending", "given", "refused", "expired", "used"]
Answer = Literal["given", "refused"]


class ApprovalRequest(Record):
    """What an approval is asked for, by whom and until when.

    `number` counts the requests of the institution that are alike, which is of one `digest`.
    """

    approval_id: UUID
    institution_id: UUID
    institution: str = shown(gives_way=2)
    number: int
    action: str
    subject: str
    amount: Amount | None = shown(gives_way=1)
    currency: str | None = shown(gives_way=1)
    details: Mapping[str, Any]
    digest: str
    maker: str = shown("asked by")
    requested_at: datetime = shown("asked at", gives_way=4)
    expires_at: datetime = shown("until", gives_way=3)


class Approval(
    ApprovalRequest,
    sheet="* -institution_id -number -details -digest -answer -answered_at -used_by -used_at"
    " -dry_run",
):
    """A request that is in the store: how far it is, its answer, and its use.

    `dry_run` is there where it has just been answered.
    """

    state: str
    answer: str | None
    answered_by: str | None = shown("answered by", gives_way=5)
    answered_at: datetime | None
    reason: str | None = shown(gives_way=6)
    used_by: str | None
    used_at: datetime | None
    dry_run: bool | None = if_any()


def list_approvals(
    store: Store,
    moment: datetime,
    *,
    institution_id: UUID | None = None,
    state: ApprovalState | None = None,
    limit: int | None = None,
) -> list[Approval]:
    """Return the requests of an institution, or of all, the newest first."""
    return _known(store, moment, institution_id=institution_id, state=state, limit=limit)


def find_approval(store: Store, moment: datetime, approval: str) -> Approval:
    """Return one request by its id; raise `NotFound`."""
    approvals = _known(store, moment, approval_id=approval)
    if not approvals:
        raise NotFound(
            "There is no request for an approval with this id.",
            code="approval_not_found",
            hint="`cardoffers approve list` shows them with their ids.",
        )
    return approvals[0]


def newest_alike(
    store: Store, moment: datetime, institution_id: UUID, digest: str
) -> Approval | None:
    """Return the newest request of an institution for just this, if there is any."""
    approvals = _known(store, moment, institution_id=institution_id, digest=digest, limit=1)
    return approvals[0] if approvals else None


def newest_of(
    store: Store, moment: datetime, institution_id: UUID, action: str, subject: str
) -> Approval | None:
    """Return the newest request for an action on a subject that was given, or else that waits."""
    of = {"institution_id": institution_id, "action": action, "subject": subject}
    rows = [
        row for state in ("given", "pending") for row in _known(store, moment, **of, state=state)
    ]
    return rows[0] if rows else None


def next_request(
    newest: Approval | None, *, institution_id: UUID, digest: str, now: datetime, **fields: Any
) -> ApprovalRequest:
    """Return the request that follows the newest one that is alike."""
    number = newest.number + 1 if newest else 1
    return ApprovalRequest(
        approval_id=approval_id(institution_id, digest, number),
        institution_id=institution_id,
        number=number,
        digest=digest,
        requested_at=now,
        expires_at=now + LASTS,
        **fields,
    )


def ask(store: Store, request: ApprovalRequest, details: str) -> None:
    """Write a request, with its details as JSON; one that is there already is not written again."""
    columns = {name: value for name, value in request.items() if name != "institution"}
    store.execute("approvals/questions:ask", **{**columns, "details": details})


def _known(store: Store, moment: datetime, **filters: Any) -> list[Approval]:
    names = ("institution_id", "state", "digest", "approval_id", "action", "subject", "limit")
    bounds = dict.fromkeys(names)
    rows = store.rows("approvals/questions:known", moment=moment, **{**bounds, **filters})
    return [
        Approval.of({**row, "details": json.loads(row["details"], parse_float=Decimal)})
        for row in rows
    ]
