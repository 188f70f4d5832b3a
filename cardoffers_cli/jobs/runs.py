"""Run records: every job that writes opens one, and its number says what was known when.

The number is drawn inside the caller's transaction, so an abandoned job leaves no record and no
gap that means something.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cardoffers_cli.store.store import Store


@dataclass(frozen=True, kw_only=True)
class Run:
    """One job that writes: its number in the store, its public id, its clock and who started it."""

    run_no: int
    run_id: UUID
    kind: str
    as_of: datetime
    actor: str


def start_run(
    store: Store, *, kind: str, now: datetime, actor: str, run_id: UUID | None = None
) -> Run:
    """Open the next run; call it inside the transaction whose writes it numbers.

    Its id is random, unless the caller derives one.
    """
    run = Run(
        run_no=store.value("jobs/runs:next_no"),
        run_id=run_id or uuid4(),
        kind=kind,
        as_of=now,
        actor=actor,
    )
    store.execute(
        "jobs/runs:start",
        run_no=run.run_no,
        run_id=run.run_id,
        kind=run.kind,
        as_of=run.as_of,
        actor=run.actor,
    )
    return run


def finish_run(store: Store, run: Run, counts: Mapping[str, Any]) -> None:
    """Record what a run counted, as JSON; amounts and moments in it become text."""
    store.execute(
        "jobs/runs:finish",
        run_no=run.run_no,
        counts=json.dumps(counts, ensure_ascii=False, default=str),
    )
