"""One redemption: find it, show it, reverse it (rules.md#reversals)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import NotFound, Refused
from cardoffers_cli.domain.moments import format_minute, format_moment
from cardoffers_cli.domain.money import quantize
from cardoffers_cli.domain.tokens import mask

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.store.store import Store

_AMOUNTS = ("amount", "merchant_funded_amount", "commission_amount", "institution_payout_amount")


def find_redemption(store: Store, redemption_id: str) -> dict[str, Any]:
    """Return a redemption with its amounts and state; raise `NotFound`."""
    row = store.row("services/redemptions:find", redemption_id=redemption_id)
    if row is None:
        raise _unknown()
    return row


def show_redemption(store: Store, redemption_id: str) -> dict[str, Any]:
    """Return a redemption with all that belongs to it, and its history; raise `NotFound`."""
    row = store.row("services/redemptions:show", redemption_id=redemption_id)
    if row is None:
        raise _unknown()
    token = row.pop("cardholder_token")
    return {
        **row,
        **{name: quantize(row[name], row["currency"]) for name in _AMOUNTS},
        "cardholder_token_masked": mask(token),
        "history": store.rows("services/redemptions:moves", redemption_id=redemption_id),
    }


def reverse_redemption(
    store: Store, redemption_id: str, *, reason: str, run_no: int, now: datetime, actor: str
) -> dict[str, Any]:
    """Reverse a pending or settled redemption; return it as it was before.

    The budget and the use come back by themselves, as only entries that are not reversed count.
    A settled entry leaves a negative adjustment. Raises `Refused` if it is reversed already, and
    for a moment before it was made or settled.
    """
    found = find_redemption(store, redemption_id)
    if found["status"] == "reversed":
        raise Refused(
            f"The redemption was reversed already, at {format_minute(found['reversed_at'])}.",
            code="already_reversed",
            hint="A reversal is final; nothing was changed.",
        )
    last_at = found["settled_at"] or found["created_at"]
    if now < last_at:
        done = "settled" if found["settled_at"] else "made"
        raise Refused(
            f"The redemption was {done} at {format_moment(last_at)}, after this reversal's clock.",
            code="reversal_too_early",
            hint="Leave out --as-of, or give a time since then; nothing was changed.",
        )
    entry = {"redemption_no": found["redemption_no"]}
    if found["status"] == "settled":
        store.execute("services/redemptions:adjust", **entry, now=now)
    store.execute("services/redemptions:reverse", **entry, now=now, reason=reason)
    store.execute(
        "services/redemptions:record_reversal",
        **entry,
        run_no=run_no,
        now=now,
        actor=actor,
        reason=reason,
    )
    return found


def _unknown() -> NotFound:
    return NotFound(
        "There is no redemption with this id or reference.",
        code="redemption_not_found",
        hint="`cardoffers report redemptions` lists them with their ids;"
        " `cardoffers timeline REF -i INST` knows them by reference.",
    )
