"""Nights: what is kept of each, so that a night that was broken off goes on where it stopped.

A night is begun once, with the files it found, and ended once. Its steps and files are recorded in
the transactions that do their work, so what is recorded is done and what is not is not.

Its audits ask about what runs since the audits before it touched. They ask about everything where
there are none before it, where those found a fault, which is told until it is gone, or where the
last that asked about everything are a week old.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.records import OpenRecord, Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


if TYPE_CHECKING:
    Counts = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Night:
    """One night. `began_at` and `ended_at` are of the real clock, `as_of` is the night's own."""

    night_no: int
    run_id: UUID
    run_no: int
    as_of: datetime
    number: int
    drop_folder: str
    processed_folder: str
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
    report: Mapping[str, Any] | None
    is_moved: bool

    @property
    def is_kept(self) -> bool:
        """Whether it has its place in the processed folder; one that cannot be moved has none."""
        is_judged = self.state in {"imported", "failed", "held"}
        return is_judged and bool((self.report or {}).get("is_kept", True))


class NewNight(Record):
    """The numbers and the id of the night that comes."""

    night_no: int
    number: int
    run_id: UUID
    after_run_no: int


class FileOfNight(Record):
    """A file that a night found ready, with the name that it is to be kept under."""

    file_no: int
    institution: str
    file_name: str
    stamp: str
    taken_as: str


class NightFinding(OpenRecord):
    """What somebody should know of a night; `next` is the next command, or what to do.

    `step` is told where findings of several steps are together. `others` say what it is about:
    an institution, a file, a count.
    """

    step: str | None = if_any()
    code: str
    level: str
    message: str
    next: str | None


class UnsentWebhooks(Record):
    """Attempts of an institution's webhooks that failed; `error` is the word of the newest."""

    institution: str
    is_tried_again: bool
    failures: int
    error: str


class NightStep(Record):
    """A step that is done: what it counted by name, and what it found. Times are real ones."""

    name: str
    status: str
    began_at: datetime
    ended_at: datetime
    counts: Counts
    findings: Sequence[NightFinding]


class NightIntakeRow(
    Record, sheet="institution received accepted duplicates invalid redeemed settled adjustments"
):
    """What a night took in of an institution and a currency, and what it became."""

    institution: str
    currency: str
    imports: int
    received: int
    accepted: int
    duplicates: int = shown(gives_way=2)
    invalid: int
    amount_accepted: Amount = shown("purchases", gives_way=1)
    redeemed: int
    merchant_funded_amount: Amount = shown("merchants fund")
    commission_amount: Amount = shown("commission", gives_way=2)
    institution_payout_amount: Amount = shown("payout")
    settled: int
    adjustments: int = shown(gives_way=1)
    settled_merchant_funded_amount: Amount
    settled_commission_amount: Amount
    settled_institution_payout_amount: Amount = shown("settled")


class NightRefundRow(Record):
    """What a night made of refunds: how many it linked and refused; how many wait by now.

    `taken_back` are the payouts of the redemptions that it reversed, by currency.
    """

    linked: int
    refused: int
    waiting: int
    taken_back: Mapping[str, Decimal]


class WaitingCount(Record):
    """How many of what wait for something."""

    waits: str
    count: int


class ListedNight(Record, sheet="* began_at ended_at night state -number -steps"):
    """A night in a list; `status` says whether it has ended, `state` also whether it runs."""

    run_id: UUID
    as_of: datetime = shown(gives_way=2)
    number: int
    status: str = shown("has ended", gives_way=6)
    began_at: datetime = shown("began at", gives_way=5)
    ended_at: datetime | None = shown("ended at", gives_way=3)
    steps: int
    last_step: str | None = shown("last step", gives_way=1)
    files: int
    failed_files: int = shown("failed")
    night: str = shown("run of")
    state: str = shown("status")


class PastNight(Record):
    """A night with its files, the rows they had, and its findings; `seconds` are real ones."""

    night_no: int
    run_id: UUID
    as_of: datetime
    number: int
    has_ended: bool
    files: int
    imported_files: int
    failed_files: int
    received: int
    accepted: int
    invalid: int
    seconds: float
    findings: list[NightFinding]
    name: str


class NightMoney(Record):
    """What a night redeemed and settled in one currency: redemptions, and payouts."""

    night_no: int
    currency: str
    redeemed: int
    institution_payout_amount: Amount
    settled: int
    settled_payout_amount: Amount


class NightInHistory(PastNight):
    """A night, and what it redeemed and settled by currency."""

    money: Mapping[str, NightMoney]


class RunRecord(Record):
    """A run of any kind, with what it counted by name, if it is over."""

    run_id: UUID
    kind: str
    as_of: datetime
    actor: str = shown(gives_way=1)
    counts: Counts | None = shown(gives_way=2)


def night_name(as_of: datetime, number: int) -> str:
    """Return what a night is called: its date, and its number if it is not the first of it."""
    date = as_of.date().isoformat()
    return date if number == 1 else f"{date}-{number}"


def begin(store: Store, files: Iterable[FileOfNight], **night: Any) -> Night:
    """Write a new night and the files it found; the keywords are the columns of `nights`."""
    store.execute("night/questions:begin", **night)
    begun = get(store, night["night_no"])
    add_files(store, begun, files)
    return begun


def get(store: Store, night_no: int) -> Night:
    """Return a night by its number."""
    return Night(**store.rows("night/questions:columns_of_a_night", night_no=night_no)[0])


def find(store: Store, run_id: str) -> Night | None:
    """Return a night by its run, or None."""
    night_no = store.value("night/questions:find", run_id=run_id)
    return None if night_no is None else get(store, night_no)


def unfinished(store: Store) -> list[Night]:
    """Return the nights that have not ended, the oldest first."""
    return [get(store, row["night_no"]) for row in store.rows("night/questions:unfinished")]


def newest_finished(store: Store) -> tuple[Night | None, int]:
    """Return the finished night of the latest clock, and the number of the newest run."""
    row = store.rows("night/questions:newest_finished")[0]
    night_no = row["night_no"]
    return None if night_no is None else get(store, night_no), row["newest_run_no"]


def steps(store: Store, night: Night, *, is_untold: bool = False) -> list[NightStep]:
    """Return the steps that are done, or those of which nobody was told, in their order."""
    of = {"night_no": night.night_no, "is_untold": is_untold}
    return [
        NightStep.of(
            {**row, "counts": _parsed(row["counts"]), "findings": _findings(row["findings"])}
        )
        for row in store.rows("night/questions:steps", **of)
    ]


def untold(store: Store) -> list[Night]:
    """Return the nights that have ended with steps of which nobody was told, the oldest first."""
    return [get(store, row["night_no"]) for row in store.rows("night/questions:untold")]


def files(store: Store, night: Night) -> list[NightFile]:
    """Return the files that the night found ready, in their order."""
    return [
        NightFile(**{**row, "report": _parsed(row["report"]) if row["report"] else None})
        for row in store.rows("night/questions:files", night_no=night.night_no)
    ]


def held_files(store: Store, name: str, institution: str | None) -> list[tuple[Night, NightFile]]:
    """Return the files of a name that are held, the newest first, each with its night."""
    return [
        (night, file)
        for held in store.rows("river/stored_imports:held", name=name, institution=institution)
        for night in [get(store, held["night_no"])]
        for file in files(store, night)
        if file.file_no == held["file_no"]
    ]


def add_files(store: Store, night: Night, files: Iterable[FileOfNight]) -> None:
    """Write files that a night found later, with numbers of their own."""
    for file in files:
        store.execute("night/questions:record_file", night_no=night.night_no, **file)


def summary(store: Store, night: Night) -> list[NightIntakeRow]:
    """Return what the runs of a night took in and what it became, per institution and currency."""
    runs = {"after_run_no": night.after_run_no, "to_run_no": night.to_run_no}
    return store.records(NightIntakeRow, "night/questions:came_in", **runs)


def came_back(store: Store, night: Night) -> NightRefundRow:
    """Return what a night made of refunds."""
    runs = {"after_run_no": night.after_run_no, "to_run_no": night.to_run_no}
    counts = store.rows("night/questions:came_back", **runs)[0]
    rows = store.rows("night/questions:taken_back", **runs)
    return NightRefundRow(
        **counts, taken_back={row["currency"]: row["institution_payout_amount"] for row in rows}
    )


def list_nights(
    store: Store, limit: int, state_of: Callable[[UUID, bool], str]
) -> list[ListedNight]:
    """Return the newest nights; `state_of` a run tells whether it has ended, runs or neither."""
    return [
        ListedNight.of(
            {
                **row,
                "night": night_name(row["as_of"], row["number"]),
                "state": state_of(row["run_id"], row["status"] == "finished"),
            }
        )
        for row in store.rows("night/questions:list", limit=limit)
    ]


def newest(store: Store, limit: int, *, up_to: Night | None = None) -> list[PastNight]:
    """Return the newest nights."""
    return [
        PastNight.of(
            {
                **row,
                "findings": [finding for step in row["findings"] for finding in _findings(step)],
                "name": night_name(row["as_of"], row["number"]),
            }
        )
        for row in store.rows("night/questions:newest", **_asked(limit, up_to))
    ]


def history(store: Store, limit: int, *, up_to: Night | None = None) -> list[NightInHistory]:
    """Return the newest nights, with what each redeemed and settled."""
    money: dict[int, dict[str, NightMoney]] = {}
    bounds = _asked(limit, up_to)
    for row in store.records(NightMoney, "night/questions:newest_money", **bounds):
        money.setdefault(row.night_no, {})[row.currency] = row
    nights = newest(store, limit, up_to=up_to)
    return [NightInHistory(**row, money=money.get(row.night_no, {})) for row in nights]


def _asked(limit: int, up_to: Night | None) -> dict[str, int | None]:
    return {"night_no": up_to.night_no if up_to else None, "limit": limit}


def count(store: Store) -> int:
    """Return how many nights there were."""
    return int(store.value("night/questions:count"))


def list_runs(store: Store, limit: int) -> list[RunRecord]:
    """Return the newest runs of any kind."""
    return [run_of(row) for row in store.rows("night/questions:runs", limit=limit)]


def run_of(row: Mapping[str, Any]) -> RunRecord:
    """Return a run with its counts read."""
    return RunRecord.of({**row, "counts": _parsed(row["counts"]) if row["counts"] else None})


def _findings(text: str) -> list[NightFinding]:
    return [NightFinding.of(finding) for finding in _parsed(text)]


def _parsed(text: str) -> Any:
    """Read JSON of our own; amounts come back exact."""
    return json.loads(text, parse_float=Decimal)


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
