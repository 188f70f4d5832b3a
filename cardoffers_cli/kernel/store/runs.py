"""Run records: every job that writes opens one, and its number says what was known when.

The number is drawn inside the caller's transaction, so an abandoned job leaves no record and no gap
that means something.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid4, uuid5

from cardoffers_cli.kernel.store.acts import ChangeAuthor, append_run
from cardoffers_cli.kernel.store.interning import next_number, numbered_up_to
from cardoffers_cli.kernel.store.journal_file import JournalLine
from cardoffers_cli.kernel.words.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store


COMMIT = "commit"
"""The kind of the run that commits another."""
_NEXT = "kernel/store/runs:next_no"
_MOVE_MONEY = (
    *("match", "settle", "reverse", "refund", "refund_link", "file_undo"),
    *("statement_close", "invoice_close", "invoice_set", "invoice_settle"),
)
"""The kinds of runs that post what they did themselves."""
_MOVE_PAYMENTS = ("payout_export", "payout_withdraw", "bank_import", "bank_allocate")
"""The kinds of runs that post what became known of payments, whichever run did it."""
_ACTS_OF = {
    **dict.fromkeys((COMMIT, "match", "offer_add", "reconcile", "watch")),
    "import": "kernel/store/acts:of_import",
    **dict.fromkeys(("settle", *_MOVE_PAYMENTS), "kernel/store/acts:of_payments"),
}
"""What finds the acts of the most frequent kinds of runs, None of those that have none."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One job that writes: its number in the store, its public id, its clock and who started it."""

    run_no: int
    run_id: UUID
    kind: str
    as_of: datetime
    actor: str
    counts: dict[str, Any] = field(default_factory=dict, compare=False)
    """What is recorded at the end of a `run_record`."""

    @property
    def by(self) -> ChangeAuthor:
        """Who makes the changes of this run."""
        return ChangeAuthor(run_no=self.run_no, now=self.as_of, actor=self.actor)


@contextmanager
def run_record(store: Store, *, kind: str, now: datetime, actor: str) -> Iterator[Run]:
    """Make the writes of a block one run, and record the `counts` that the block gives it.

    Call it inside the transaction whose writes it numbers: a block that fails leaves no record.
    """
    run = start_run(store, kind=kind, now=now, actor=actor)
    yield run
    finish_run(store, run, run.counts)


def start_run(
    store: Store, *, kind: str, now: datetime, actor: str, run_id: UUID | None = None
) -> Run:
    """Open the next run; call it inside the transaction whose writes it numbers.

    For a run that ends in another transaction than it began in; others use `run_record`. Its id is
    random, unless the caller derives one.
    """
    return _write(store, kind=kind, now=now, actor=actor, run_id=run_id or uuid4(), counts=None)


def write_run(
    store: Store, *, kind: str, now: datetime, actor: str, counts: Mapping[str, Any]
) -> int:
    """Write a run that is over together with what it counted; return its number."""
    counted = _json(counts)
    return _write(store, kind=kind, now=now, actor=actor, run_id=uuid4(), counts=counted).run_no


def _write(
    store: Store, *, kind: str, now: datetime, actor: str, run_id: UUID, counts: str | None
) -> Run:
    """Write a run under the next number, and let the journal know of it once it is committed."""
    run = Run(run_no=next_number(store, _NEXT), run_id=run_id, kind=kind, as_of=now, actor=actor)
    store.execute(
        "kernel/store/runs:write",
        run_no=run.run_no,
        run_id=run.run_id,
        kind=run.kind,
        as_of=run.as_of,
        machine_at=store.machine(run.as_of),
        actor=run.actor,
        counts=counts,
    )
    numbered_up_to(store, _NEXT, run.run_no)
    store.new_runs.append(JournalLine(run_no=run.run_no, run_id=run_id, kind=kind, as_of=now))
    return run


def finish_run(store: Store, run: Run, counts: Mapping[str, Any]) -> None:
    """Record what a run counted, as JSON with amounts and moments as text; log and post its work.

    Call it after all writes of the run: acts (rules.md#acts) and journal entries
    (rules.md#double-entry-journal) are made of the rows that are there.
    """
    store.execute("kernel/store/runs:finish", run_no=run.run_no, counts=_json(counts))
    if statement := _ACTS_OF.get(run.kind, "kernel/store/acts:of_run"):
        append_run(store, run.by, statement)
    if run.kind in _MOVE_MONEY + _MOVE_PAYMENTS:
        of_run = run.run_no if run.kind in _MOVE_MONEY else None
        posted = store.make("kernel/store/runs:unposted", run_no=of_run)
        store.execute("kernel/store/runs:post_entries", posted, run_no=run.run_no)
        store.execute("kernel/store/runs:post_lines", posted)
        store.drop(posted)


def _json(counts: Mapping[str, Any]) -> str:
    return json.dumps(counts, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def machine_at(store: Store, now: datetime) -> datetime:
    """Return the machine's clock, by which approvals expire; in a rehearsal it is the job's."""
    clocks = {"as_of": now, "machine_at": store.machine(now)}
    return cast("datetime", store.value("kernel/store/runs:machine_at", **clocks))


def commit_run(store: Store, run: Run, counts: Mapping[str, Any]) -> None:
    """Finish a run that was begun in an earlier transaction, in the one that keeps its work.

    That is another run, so that the journal, which knows runs alone, has a line of this one too.
    """
    finish_run(store, run, counts)
    run_id = commit_id(run.run_id)
    commit = start_run(store, kind=COMMIT, now=run.as_of, actor=run.actor, run_id=run_id)
    finish_run(store, commit, {"run_id": run.run_id})


def commit_id(run_id: UUID) -> UUID:
    """Return the id of the run that commits another, by which the journal knows that it was."""
    return uuid5(run_id, "commit")


def check_uncommitted(store: Store, run: Run) -> None:
    """Raise `Refused` unless a run is still the one to be kept.

    It is not when it was kept already, when the store was put back to a time before it, or when
    another run of its kind was kept meanwhile, or other terms of an offer, of which it knows
    nothing.
    """
    row = store.row("kernel/store/runs:counts", run_no=run.run_no, run_id=run.run_id)
    if row is None:
        raise Refused.from_table("kernel/store", "run_lost", run=run)
    if row["is_finished"]:
        raise Refused.from_table("kernel/store", "run_committed", run=run)
    if row["is_overtaken"]:
        raise Refused(
            f"Another {run.kind} was committed meanwhile; nothing of this one was kept.",
            code="run_overtaken",
            hint="Run it again.",
        )
    if row["has_other_terms"]:
        raise Refused(
            f"The terms of an offer changed during this {run.kind}; nothing of it was kept.",
            code="run_overtaken",
            hint="Run it again.",
        )
