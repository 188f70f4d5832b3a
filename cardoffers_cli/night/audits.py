"""How far the audits of nights have come: from which run on the next one has to look.

A night asks about what runs since the audits before it touched. It asks about everything where
there are none before it, where those found a fault, which is told until it is gone, or where the
last that asked about everything are a week old.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store

WHOLE_EVERY = timedelta(days=7)
"""How long after audits that asked about everything others do, by the clock of nights."""


def audited_to(store: Store, *, night_no: int, now: datetime) -> int | None:
    """Return the run after which a night has to look; None for one that asks about everything.

    `now` is the clock of the night.
    """
    rows = store.rows("night/questions:audits_before", night_no=night_no)
    audits = [{**json.loads(row["counts"]), "as_of": row["as_of"]} for row in rows]
    newest = audits[0] if audits else {"faults": 0}
    full = next((audit for audit in audits if audit.get("after_run_no", 0) is None), None)
    if full is None or newest["faults"] or now - full["as_of"] >= WHOLE_EVERY:
        return None
    up_to: int = newest["up_to_run_no"]
    return up_to


def up_to(store: Store, *, run_no: int, now: datetime) -> int:
    """Return the run up to which the audits of a night, whose run is given, see everything."""
    last_run_no: int = store.value("night/questions:audited_up_to", run_no=run_no, now=now)
    return last_run_no
