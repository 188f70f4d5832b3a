"""Nights: what is kept of each, so that a night that was broken off goes on where it stopped.

A night is begun once, with the files it found, and ended once. Its steps and files are recorded in
the transactions that do their work, so what is recorded is done and what is not is not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.json_text import dumps
from cardoffers_cli.domain.money import quantize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store

_AMOUNTS = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")


@dataclass(frozen=True, kw_only=True)
class Night:
    """One night. `began_at` and `ended_at` are of the real clock, `as_of` is the night's own."""

    night_no: int
    run_id: UUID
    run_no: int
    as_of: datetime
    number: int
    drop_folder: str
    processed_folder: str | None
    after_run_no: int
    to_run_no: int | None
    began_at: datetime
    ended_at: datetime | None
    last_run_no: int | None

    @property
    def name(self) -> str:
        """The date, and the number of a night that is not the first of its date."""
        return night_name(self.as_of, self.number)


@dataclass(frozen=True, kw_only=True)
class NightFile:
    """A file that a night found ready, and what became of it."""

    file_no: int
    institution: str
    file_name: str
    stamp: str
    taken_as: str
    state: str
    report: dict[str, Any] | None
    is_moved: bool

    @property
    def is_kept(self) -> bool:
        """Whether it has its place in `done/` or `failed/`; one that cannot be moved has none."""
        is_judged = self.state in {"imported", "failed"}
        return is_judged and bool((self.report or {}).get("is_kept", True))


def night_name(as_of: datetime, number: int) -> str:
    """Return what a night is called: its date, and its number if it is not the first of it."""
    date = as_of.date().isoformat()
    return date if number == 1 else f"{date}-{number}"


def next_night(store: Store, as_of: datetime, store_name: str) -> dict[str, Any]:
    """Return `night_no`, `number`, `run_id` and `after_run_no` of the night that comes."""
    return store.rows("services/nights:next", as_of=as_of, store=store_name)[0]


def begin(store: Store, files: Iterable[Mapping[str, Any]], **night: Any) -> Night:
    """Write a new night and the files it found; the keywords are the columns of `nights`."""
    store.execute("services/nights:begin", **night)
    begun = get(store, night["night_no"])
    add_files(store, begun, files)
    return begun


def get(store: Store, night_no: int) -> Night:
    """Return a night by its number."""
    return Night(**store.rows("services/nights:columns_of_a_night", night_no=night_no)[0])


def find(store: Store, run_id: str) -> Night | None:
    """Return a night by its run, or None."""
    night_no = store.value("services/nights:find", run_id=run_id)
    return None if night_no is None else get(store, night_no)


def keep_in(store: Store, night: Night, folder: str) -> Night:
    """Fix where a night of an earlier version keeps the files that it is still to take."""
    store.execute("services/nights:keep_in", night_no=night.night_no, processed_folder=folder)
    return get(store, night.night_no)


def unfinished(store: Store) -> list[Night]:
    """Return the nights that have not ended, the oldest first."""
    return [get(store, row["night_no"]) for row in store.rows("services/nights:unfinished")]


def newest_finished(store: Store) -> tuple[Night | None, int]:
    """Return the finished night of the latest clock, and the number of the newest run."""
    row = store.rows("services/nights:newest_finished")[0]
    night_no = row["night_no"]
    return None if night_no is None else get(store, night_no), row["newest_run_no"]


def cover(store: Store, night: Night) -> Night:
    """Fix the last run that the night's reports cover; the first time holds."""
    store.execute("services/nights:cover", night_no=night.night_no)
    return get(store, night.night_no)


def end(store: Store, night: Night, ended_at: datetime) -> None:
    """End a night; the first time holds."""
    store.execute("services/nights:end", night_no=night.night_no, ended_at=ended_at)


def record_step(
    store: Store,
    night: Night,
    *,
    position: int,
    name: str,
    status: str,
    began_at: datetime,
    ended_at: datetime,
    counts: Mapping[str, Any],
    findings: Sequence[Mapping[str, Any]],
) -> None:
    """Write that a step is done, in the transaction of its work."""
    store.execute(
        "services/nights:record_step",
        night_no=night.night_no,
        position=position,
        name=name,
        status=status,
        began_at=began_at,
        ended_at=ended_at,
        counts=dumps(counts),
        findings=dumps(list(findings)),
    )


def steps(store: Store, night: Night) -> list[dict[str, Any]]:
    """Return the steps that are done: name, status, began_at, ended_at, counts, findings."""
    return [
        {**row, "counts": _parsed(row["counts"]), "findings": _parsed(row["findings"])}
        for row in store.rows("services/nights:steps", night_no=night.night_no)
    ]


def files(store: Store, night: Night) -> list[NightFile]:
    """Return the files that the night found ready, in their order."""
    return [
        NightFile(**{**row, "report": _parsed(row["report"]) if row["report"] else None})
        for row in store.rows("services/nights:files", night_no=night.night_no)
    ]


def judge_file(
    store: Store,
    night: Night,
    file_no: int,
    state: str,
    report: Mapping[str, Any],
    *,
    taken_bytes: int | None = None,
    taken_sha256: str | None = None,
) -> None:
    """Write what became of a file that waited, and what was read of it, as it is stored."""
    store.execute(
        "services/nights:judge_file",
        night_no=night.night_no,
        file_no=file_no,
        state=state,
        report=dumps(report),
        taken_bytes=taken_bytes,
        taken_sha256=taken_sha256,
    )


def add_files(store: Store, night: Night, files: Iterable[Mapping[str, Any]]) -> None:
    """Write files that a night found later, with numbers of their own."""
    for file in files:
        store.execute("services/nights:record_file", night_no=night.night_no, **file)


def files_moved(store: Store, night: Night) -> None:
    """Write that what was to leave the drop folder has left it."""
    store.execute("services/nights:files_moved", night_no=night.night_no)


def summary(store: Store, night: Night) -> list[dict[str, Any]]:
    """Return what the runs of a night took in and what it became, per institution and currency."""
    rows = store.rows(
        "services/nights:came_in", after_run_no=night.after_run_no, to_run_no=night.to_run_no
    )
    names = ("amount_accepted", *_AMOUNTS, *(f"settled_{name}" for name in _AMOUNTS))
    return [
        {**row, **{name: quantize(row[name], row["currency"]) for name in names}} for row in rows
    ]


def waiting(store: Store, now: datetime) -> list[dict[str, Any]]:
    """Return what waits for something at a moment: `waits` and `count`."""
    return store.rows("services/nights:waiting", now=now)


def sent(store: Store, night: Night) -> dict[str, int]:
    """Return what became of the attempts since a night began."""
    return store.rows("services/nights:sent", run_no=night.run_no)[0]


def events(store: Store, night: Night) -> dict[str, int]:
    """Return `events` and `missing` of the redemptions since the night before."""
    return store.rows("services/nights:events", after_run_no=night.after_run_no)[0]


def runs_without_events(store: Store, night: Night) -> list[int]:
    """Return the numbers of the runs that redeemed something that has no event."""
    rows = store.rows("services/nights:runs_without_events", after_run_no=night.after_run_no)
    return [row["run_no"] for row in rows]


def list_nights(store: Store, limit: int) -> list[dict[str, Any]]:
    """Return the newest nights."""
    rows = store.rows("services/nights:list", limit=limit)
    return [{**row, "night": night_name(row["as_of"], row["number"])} for row in rows]


def newest(store: Store, limit: int, *, up_to: Night | None = None) -> list[dict[str, Any]]:
    """Return the newest nights with what came in, and their `findings`; `seconds` are real ones."""
    return [
        {
            **row,
            "findings": [found for step in row["findings"] for found in _parsed(step)],
            "name": night_name(row["as_of"], row["number"]),
        }
        for row in store.rows("services/nights:newest", **_asked(limit, up_to))
    ]


def history(store: Store, limit: int, *, up_to: Night | None = None) -> list[dict[str, Any]]:
    """Return the newest nights as `newest` does, and what each redeemed and settled as `money`.

    That has, by currency, `redeemed`, `institution_payout_amount`, `settled` and
    `settled_payout_amount`.
    """
    money: dict[int, dict[str, Any]] = {}
    for row in store.rows("services/nights:newest_money", **_asked(limit, up_to)):
        names = ("institution_payout_amount", "settled_payout_amount")
        exact = {name: quantize(row[name], row["currency"]) for name in names}
        money.setdefault(row["night_no"], {})[row["currency"]] = {**row, **exact}
    found = newest(store, limit, up_to=up_to)
    return [{**row, "money": money.get(row["night_no"], {})} for row in found]


def _asked(limit: int, up_to: Night | None) -> dict[str, Any]:
    return {"night_no": up_to and up_to.night_no, "limit": limit}


def count(store: Store) -> int:
    """Return how many nights there were."""
    return int(store.value("services/nights:count"))


def find_run(store: Store, run_id: str) -> dict[str, Any] | None:
    """Return one run of any kind, its counts read, or None."""
    row = store.row("services/nights:find_run", run_id=run_id)
    return None if row is None else _run(row)


def list_runs(store: Store, limit: int) -> list[dict[str, Any]]:
    """Return the newest runs of any kind."""
    return [_run(row) for row in store.rows("services/nights:runs", limit=limit)]


def _run(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "counts": _parsed(row["counts"]) if row["counts"] else None}


def _parsed(text: str) -> Any:
    """Read JSON of our own; amounts come back exact."""
    return json.loads(text, parse_float=Decimal)
