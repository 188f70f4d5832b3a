"""Take in a file of a bank: each entry once for each kind of message (rules.md#bank-entries).

An entry is known again by the bank's finest reference, its day and what it says of a payment;
equals of one file are told apart by their order in it. So a file that comes twice adds nothing, and
a payment booked twice is there twice. What camt.053 and camt.054 both tell is kept of both: the
view bank_bookings says which entries count.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval, who_decides
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.findings import BANK_CODES
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.payouts.files.answers import open_bank_file
from cardoffers_cli.payouts.files.entries import BankFinding, BankStatement, refused
from cardoffers_cli.river.publish import publish

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.payouts.files.answers import BankFile
    from cardoffers_cli.payouts.files.entries import BankEntry

_IDS = UUID("5f1c9b0e-6a55-5d0c-9a38-2f0f3f6f4a10")
"""The namespace of the ids of entries, for ever."""
_PAGE = 1_000
_PLACES = 20
_WHOLE = {"mt940", "bai2"}
"""The forms of which nothing is taken where a balance differs."""
_CHAIN = "the statement to {to_on} opens with {opening}, and the one before closed with {closing}"


class BankFindings(Record):
    """What was wrong with entries that were left out; `places` are those of the first ones."""

    code: str
    level: str
    entries: int
    places: Sequence[str]
    message: str
    fix: str = shown(gives_way=1)


class BankImportResult(Record):
    """A file of a bank that was taken in: `new` entries of `entries`, the others were known.

    `statements` counts those of accounts, by whether their entries come to their balances.
    """

    run_id: UUID
    file: str
    form: str
    sha256: str
    already_imported: bool
    entries: int
    new: int
    known: int
    statuses: Mapping[str, int]
    statements: Mapping[str, int] | None = if_any()
    findings: Sequence[BankFindings]
    approval: str | None = if_any()
    dry_run: bool


def import_bank_file(job: Job, path: Path, *, dry_run: bool = False) -> BankImportResult:
    """Take a file in, in one transaction; raise `FileUnusable`, and take nothing of it then.

    Anybody can type a CSV, so that one needs an approval; raises `ApprovalNeeded`.
    """
    with (
        open_bank_file(path) as file,
        approvable(job, dry_run=dry_run) as store,
        run_record(store, kind="bank_import", now=job.now, actor=job.actor) as run,
    ):
        (known,) = store.rows("payouts/bank:next_file", sha256=file.sha256)
        number = int(known["bank_file_no"])
        store.execute(
            "payouts/bank:keep_file",
            bank_file_no=number,
            file_name=file.name,
            form=file.form,
            sha256=file.sha256,
            received_at=job.now,
            run_no=run.run_no,
        )
        taking = _Taking(store, number)
        taking.take(file)
        approval = None
        if file.form == "csv" and taking.new:
            approval = require_approval(
                *(store, run, who_decides(store)),
                action="bank_file",
                subject=file.name,
                details={"sha256": file.sha256, "new": taking.new, "statuses": taking.statuses},
                dry_run=dry_run,
            )
        publish(store, "returned_payouts", run_no=run.run_no)
        result = BankImportResult(
            run_id=run.run_id,
            file=file.name,
            form=file.form,
            sha256=file.sha256,
            already_imported=known["is_known"],
            entries=taking.entries,
            new=taking.new,
            known=taking.entries - taking.new,
            statuses=dict(sorted(taking.statuses.items())),
            statements=dict(sorted(taking.statements.items())) or None,
            findings=taking.findings(),
            approval=approval,
            dry_run=dry_run,
        )
        run.counts.update({"file": file.name, "entries": result.entries, "new": result.new})
    return result


class _Taking:
    """What was taken of a file by now."""

    def __init__(self, store: Store, bank_file_no: int) -> None:
        self._store = store
        self._number = bank_file_no
        self._alike: Counter[UUID] = Counter()
        self._page: list[Mapping[str, Any]] = []
        self._places: dict[str, list[str]] = {}
        self._findings: Counter[str] = Counter()
        self.entries = self.new = 0
        self.statuses: Counter[str] = Counter()
        self.statements: Counter[str] = Counter()

    def take(self, file: BankFile) -> None:
        """Take in all that a file says, page by page."""
        for entry in file.said:
            if isinstance(entry, BankFinding):
                self._add_finding(entry.code, entry.place)
                continue
            if isinstance(entry, BankStatement):
                self.statements["proved" if entry.is_proved else "unproved"] += 1
                self._store.execute(
                    "payouts/bank:keep_statement", bank_file_no=self._number, **vars(entry)
                )
                continue
            self.entries += 1
            self.statuses[entry.status] += 1
            self._page.append(_row(entry, self._id(entry)))
            if len(self._page) == _PAGE:
                self._keep()
        self._keep()
        for broken in self._store.rows("payouts/bank:broken_chains", bank_file_no=self._number):
            of = {
                name: money_text(broken[name], broken["currency"])
                for name in ("opening", "closing")
            }
            why = _CHAIN.format(**broken | of)
            if file.form in _WHOLE:
                message = f"Nothing was taken: {why}."
                hint = "Fetch the statement between them from the bank, and take it in first."
                raise refused("balance_differs", message, hint)
            self._add_finding("balance_differs", why)

    def _add_finding(self, code: str, place: str) -> None:
        self._findings[code] += 1
        places = self._places.setdefault(code, [])
        places += [place] if len(places) < _PLACES else []

    def findings(self) -> list[BankFindings]:
        """Return what was wrong, by code."""
        return [
            BankFindings(
                code=code,
                level=BANK_CODES[code].level,
                entries=entries,
                places=self._places[code],
                message=BANK_CODES[code].summary,
                fix=BANK_CODES[code].fix,
            )
            for code, entries in sorted(self._findings.items())
        ]

    def _keep(self) -> None:
        if self._page:
            self.new += self._store.execute(
                "payouts/bank:keep_entries", bank_file_no=self._number, said=self._page
            )
        self._page = []

    def _id(self, entry: BankEntry) -> UUID:
        says = [
            *(entry.message, entry.bank_ref, entry.payment_id, entry.trace, entry.status),
            *(entry.direction, entry.amount, entry.currency, entry.code),
            entry.booked_at and entry.booked_at.date(),
        ]
        alike = uuid5(_IDS, "\x1f".join("" if value is None else str(value) for value in says))
        self._alike[alike] += 1
        return uuid5(alike, str(self._alike[alike]))


def _row(entry: BankEntry, entry_id: UUID) -> Mapping[str, Any]:
    """Return what an entry says as text, by the columns of the table."""
    values = vars(entry).items()
    texts = {name: None if value is None else str(value) for name, value in values}
    return {"entry_id": str(entry_id), **texts}
