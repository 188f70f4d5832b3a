"""Abuse: who earns strangely, by what came in since the look before. A person decides about it.

A cardholder or an instrument is named by its number, so that no token stands in a finding. What was
told of one in the last 30 days is not told again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.watch.observations import Observation

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store

CODES = (
    *("instrument_shared", "cardholder_busy"),
    *("merchant_concentrated", "refund_after_settlement"),
)


def keep_look(store: Store, institution_id: UUID, run_no: int) -> None:
    """Keep that all there is of an institution by now has been looked at."""
    store.execute("watch/abuse:keep_look", institution_id=institution_id, run_no=run_no)


def find_abuse(store: Store, institution_id: UUID, now: datetime) -> list[Observation]:
    """Return what is strange in what came in since the newest look; nothing before the first."""
    of = {"institution_id": institution_id}
    look = store.row("watch/abuse:last_look", **of)
    if look is None:
        return []
    redemption_no = {**of, "redemption_no": look["redemption_no"]}
    found = [
        *store.rows("watch/abuse:shared_instruments", **of, instrument_no=look["instrument_no"]),
        *store.rows("watch/abuse:busy_cardholders", **redemption_no),
        *store.rows("watch/abuse:concentrated_merchants", **redemption_no),
        *store.rows("watch/abuse:refunds_after_settlement", **of, run_no=look["run_no"]),
    ]
    if not found:
        return []
    told = store.rows("watch/abuse:told_lately", **of, codes=[*CODES], now=now)
    lately = {(row["code"], row["subject"]) for row in told}
    return [
        Observation(row["code"], row["subject"], now.date(), row["figures"])
        for row in found
        if (row["code"], row["subject"]) not in lately
    ]
