"""The folders that commands begin in, each made once, kept, and copied back for every strike.

A store knows where its history and its nights are, so all that happens happens under one path.

    empty     nothing
    new       a new store, a sample beside it
    stocked   its catalogue taken in
    ready     purchases matched and waiting, money pending, settled and due, events delivered and
              failed, a key that ends soon, notices, a backup, a snapshot, a drop folder
    exported  that, its history in two parts of each table
    begun     that, and a night that was broken off
    older     a store with views of another version
    lossy     a store that was put back, beside the journal of the one after
    torn      a store whose log was cut off in the middle
    over      after a night, with everything that can lie beside a store
    logged    killed when it had committed, its log still beside it
    changed   after a night, one of whose files grew since
    carded    a store in which card numbers stand
    payable   with a statement that pays an institution, which has an account
    paid      that, its payment exported
    returned  that, rejected by the bank
    erasable  nothing waits of a cardholder who bought, or of anybody else
"""

from __future__ import annotations

import csv
import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from approving import NAMES, keys
from banks import camt, entry, pain002
from cardoffers_cli.events.receiver import Receiver
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.store.approval_requests import ApprovalNeeded
from cardoffers_cli.kernel.store.layout import journal_path
from cardoffers_cli.kernel.store.opening import connected
from cardoffers_cli.kernel.words.moments import parse_moment
from cardoffers_cli.keys.rules import new_key
from cardoffers_cli.storage.stores import init
from chaos.children import KILLED, Children, Ended, Run
from nights import real_now
from tables import select
from work import job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from cardoffers_cli.kernel.store.job import Job

STORE = "store.duckdb"
EARLIER, BEFORE, LATELY, AS_OF = "2026-09-20", "2026-10-01", "2026-10-05", "2026-10-10"
"""When keys were made, when everything else before a strike happened but what would have expired,
when that did, and when the strikes do."""
_NOBODY = "http://127.0.0.1:9/"
_BANKS = ("larkmere", "tarnhollow")
_HOLDER = "chaos-cardholder-0001"
_CREDITED = """\
transaction_ref,amount,status,credited_at,failure_code,credit_ref
chaos-0001,2.50,credited,2026-10-08T06:00:00Z,,CR-1
chaos-0002,2.50,failed,2026-10-08T06:00:00Z,ACCOUNT_CLOSED,CR-2
"""
_CARDED = "update recent_purchase_details set merchant_descriptor = 'shop 4111 1111 1111 1111'"
_TORN = 40
"""Bytes at the end of a log that were never written."""
_ACCOUNT = "GB33BUKB20201555555555"
_BANK = camt(entry(named="RENT"))
_PAID = "LARKMERE-2026-000001"
_REJECTED = pain002((_PAID, "RJCT", "AC04"))


def job_of(folder: Path) -> Job:
    """Return a job on the store of a folder, at the moment of the strikes."""
    return job(folder / STORE, parse_moment(AS_OF), allow_insecure_webhooks=True)


def _copied(source: str, target: str) -> None:
    """Copy a file; of a large one that commands replace, and never write into, a link will do."""
    is_large = source.endswith(("/snapshot", "backup.duckdb"))
    (os.link if is_large else shutil.copy)(source, target)


@dataclass
class Places:
    """The places below a folder, of a size; and who runs commands in them, and hears of them."""

    root: Path
    rows: int
    children: Children = field(init=False)
    receiver: Receiver = field(init=False)
    _kept: set[str] = field(init=False, default_factory=set)

    def __enter__(self) -> Self:
        self.work.mkdir(parents=True)
        self.receiver = Receiver(clock=real_now)
        self.receiver.__enter__()
        self.children = Children()
        self.children.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.children.__exit__(kind, error, trace)
        self.receiver.__exit__(kind, error, trace)

    @property
    def is_disk(self) -> bool:
        """Whether they are on a disk of their own."""
        return self.root.parent.is_mount()

    @property
    def work(self) -> Path:
        """The folder that the place is in, on whose disk everything happens."""
        return self.root / "work"

    @property
    def place(self) -> Path:
        """The folder in which commands run."""
        return self.work / "place"

    def run(self, words: list[str], *, as_of: str = AS_OF, **strike: Any) -> Ended:
        """Run a command in the place."""
        line = [*words, "--as-of", as_of]
        return self.children.run(Run(folder=str(self.place), words=line, **strike))

    def put(self, stage: str) -> Path:
        """Let the place be as it is at a stage."""
        if stage not in self._kept:
            self._make[stage]()
            shutil.copytree(self.place, self.kept(stage), copy_function=_copied)
            self._kept.add(stage)
        self.clear()
        return shutil.copytree(self.kept(stage), self.place, copy_function=_copied)

    def kept(self, stage: str) -> Path:
        """Return where a stage is kept."""
        return self.root / "kept" / stage

    def clear(self) -> None:
        """Remove the place."""
        if self.place.exists():
            shutil.rmtree(self.place)

    @property
    def _make(self) -> dict[str, Callable[[], None]]:
        return {
            "empty": self._empty,
            "new": self._new,
            "stocked": self._stocked,
            "ready": self._ready,
            "exported": self._exported,
            "begun": self._begun,
            "older": self._older,
            "lossy": self._lossy,
            "torn": self._torn,
            "over": self._over,
            "logged": self._logged,
            "changed": self._changed,
            "carded": self._carded,
            "payable": self._payable,
            "paid": self._paid,
            "returned": self._returned,
            "erasable": self._erasable,
        }

    def _empty(self) -> None:
        self.clear()
        self.place.mkdir()

    def _new(self) -> None:
        self.put("empty")
        self._do("init --rehearsal")
        size = f"--rows {self.rows} --links {self.rows}"
        self._do(f"sample made {size} --institutions 2 --files 4 --seed 7 --dirty")

    def _stocked(self) -> None:
        self.put("new")
        self._do("catalog import made/catalog")

    def _ready(self) -> None:
        self.put("stocked")
        self._buy(1)
        self._do("match")
        self._do("settle")
        self._do(f"webhook set -i larkmere --url {self.receiver.url} --from all")
        self._do(f"webhook set -i tarnhollow --url {_NOBODY} --from all")
        self._do("webhook send", ends=3)
        both = "--events completed,reversed"
        self._do(f"webhook set -i tarnhollow --url {self.receiver.url} {both}")
        key = "key create -i larkmere --name app --scopes offers,transactions"
        self._do(f"{key} --expires 2026-10-12 --key-file app.key", as_of=EARLIER)
        self._do("key notices")
        self._ask()
        self._do("store backup backup.duckdb")
        (self.place / "points").mkdir()
        (self.place / "copies.toml").write_text('copies = "plain:points"\n')
        self._do("store copy --config copies.toml")
        self._buy(2)
        self._do("refund import made/refunds/tarnhollow.csv -i tarnhollow")
        self._do("store publish")
        self._add_files()
        feed = f"api GET /api/v1/offers?cardholder_token={_HOLDER}"
        self._do(f"{feed} --key-file unknown.key", ends=4)
        self._do(f"{feed} --key-file app.key")

    def _exported(self) -> None:
        self.put("ready")
        self._do("store export --to history")
        self._do("match")
        self._do("store export")
        self._buy(3)

    def _begun(self) -> None:
        self.put("exported")
        seconds = self.run(["nightly", "drop"]).seconds
        self.put("exported")
        ended = self.run(["nightly", "drop"], kill_after_s=seconds * 0.4)
        assert ended.exit_code == KILLED, ended

    def _older(self) -> None:
        self.put("empty")
        made = job_of(self.place)
        init(made)
        with connected(made.path, made.settings) as store, store.transaction():
            store.execute("kernel/store/info:keep_views", digest="of another version")

    def _lossy(self) -> None:
        self.put("ready")
        self._do("match")
        shutil.copy(self.kept("ready") / STORE, self.place)

    def _torn(self) -> None:
        self.put("logged")
        log = self.place / f"{STORE}.wal"
        log.write_bytes(log.read_bytes()[:-_TORN] + bytes(_TORN))

    def _over(self) -> None:
        self.put("exported")
        self._do("nightly drop", as_of=AS_OF)

    def _changed(self) -> None:
        self.put("ready")
        self._do("nightly drop", as_of=BEFORE)
        taken = self.place / "processed" / "larkmere" / "done" / "new.csv"
        lines = taken.read_text().splitlines(keepends=True)
        with taken.open("a") as late:
            late.write(lines[-1].replace("LAR", "LATE"))

    def _carded(self) -> None:
        self.put("ready")
        with job_of(self.place).store() as store, store.transaction():
            select(store, _CARDED)

    def _payable(self) -> None:
        self.put("ready")
        self._do("settle")
        self._do("statement close -i larkmere --period 2026-10", as_of="2026-11-02")
        self._do(f"institution set larkmere --account {_ACCOUNT}")
        payer = f'payer_name = "Offers"\npayer_account = "{_ACCOUNT}"\n'
        (self.place / "payer.toml").write_text(payer)

    def _paid(self) -> None:
        self.put("payable")
        self._do(f"payout export --statement {_PAID} --form csv -o paid --config payer.toml")

    def _returned(self) -> None:
        self.put("paid")
        (self.place / "rejected.xml").write_bytes(_REJECTED)
        self._do("bank import rejected.xml")

    def _erasable(self) -> None:
        self.put("ready")
        self._do("match")
        self._do("webhook send")

    def _logged(self) -> None:
        """Kill a match between its commit and the end, which is soon after."""
        share = 0.99
        while True:
            journal = journal_path(self.put("ready") / STORE).stat().st_size
            seconds = self.run(["match"]).seconds
            self.put("ready")
            self.run(["match"], kill_after_s=seconds * share)
            is_committed = journal_path(self.place / STORE).stat().st_size > journal
            if is_committed and (self.place / f"{STORE}.wal").exists():
                return
            share = share - 0.02 if share > 0.4 else 0.99

    @cached_property
    def ids(self) -> dict[str, str]:
        """What the words of scenarios name."""
        self.put("ready")
        sent = self._list("webhook list --state delivered --limit 1")[0]
        pending = self._list("report redemptions --limit 1 --status pending")["data"][0]
        feed = self._list("offer feed -i larkmere --cardholder -", "cardholder.txt")
        key = self._list("key list")[0]
        approval = self._list("approve list")[0]
        refund = min(self._list("refund list -i tarnhollow"), key=lambda row: row["refund_ref"])
        unknown = self._list("report unresolved --limit 1")["data"][0]
        known = self._list("merchant list")[0]["identifiers"][0]
        taken = self._list("file list -i larkmere")
        return {
            "file": next(each["import_id"] for each in taken if "larkmere-2" in each["file"]),
            "unknown": unknown["merchant_identifier"],
            "known": known.partition(":")[2],
            "refund": refund["refund_ref"],
            "purchase": refund["original_transaction_ref"],
            "url": self.receiver.url,
            "sent": sent["redemption_id"],
            "redemption": pending["id"],
            "offer": feed["offers"][0]["id"],
            "key": key["key_id"],
            "approval": approval["approval_id"],
            "again": "--form csv --again --reason closed",
            "terms": "--title T --min-spend 9 --cashback 1 --expires 2027-01-01",
        }

    def _list(self, line: str, stdin: str | None = None) -> Any:
        ended = self.run([*line.split(), "--format", "json"], stdin=stdin)
        assert ended.exit_code == 0, ended
        return ended.document

    def _do(self, line: str, *, ends: int = 0, as_of: str = BEFORE) -> None:
        ended = self.run(line.split(), as_of=as_of)
        assert ended.exit_code in {ends, 3}, (line, ended)

    def _buy(self, part: int) -> None:
        for bank in _BANKS:
            self._do(f"import made/transactions/{bank}-{part}.csv -i {bank}")

    def _ask(self) -> None:
        """Let somebody ask for an approval, which nothing else needs."""
        for name in NAMES:
            shutil.copy(keys() / name, self.place)
            shutil.copy(keys() / f"{name}.pub", self.place)
        for name in NAMES[:2]:
            self._do(f"approver add {name} --key {name}.pub")
        self._do("institution set tarnhollow --approvals on --approval-limit 1000000")
        made = replace(job_of(self.place), now=parse_moment(LATELY), actor="alice")
        with suppress(ApprovalNeeded):
            set_institution(made, "tarnhollow", {}, settings={"approvals": "off"})
        self._do("approve give latest --key ada --yes", as_of=LATELY)

    def _add_files(self) -> None:
        made = self.place / "made" / "transactions"
        for bank in _BANKS:
            drop = self.place / "drop" / bank
            drop.mkdir(parents=True)
            shutil.copy(made / f"{bank}-4.csv", drop / "new.csv")
            (drop / "new.csv.done").touch()
        shutil.copy(made / "larkmere-dirty.csv", self.place / "bad.csv")
        (self.place / "credited.csv").write_text(_CREDITED)
        (self.place / "bank.xml").write_bytes(_BANK)
        outgoing = self.place / "outgoing"
        outgoing.mkdir()
        shutil.copy(made / "larkmere-4.csv", outgoing / "fetched.csv")
        (outgoing / "fetched.csv.done").touch()
        table = f'[pickup.larkmere]\nfrom = "{outgoing.as_uri()}"\nafter = "remove"\n'
        (self.place / "pickup.toml").write_text(table)
        shutil.copy(made / "larkmere-dirty.csv", self.place / "drop" / "larkmere" / "bad.csv")
        (self.place / "drop" / "larkmere" / "bad.csv.done").touch()
        (self.place / "cardholder.txt").write_text(f"{_HOLDER}\n{_HOLDER}-card\n")
        bought = (made / "larkmere-1.csv").read_text()
        token = next(csv.DictReader(bought.splitlines()))["cardholder_token"]
        (self.place / "known.txt").write_text(f"{token}\n")
        (self.place / "unknown.key").write_text(f"{new_key()}\n")
        (self.place / "unknown.key").chmod(0o600)
        event = {
            "cardholder_token": _HOLDER,
            "card_token": f"{_HOLDER}-card",
            "card_acceptor_id": "M1",
            "amount": 12.5,
            "transaction_ref": "chaos-0001",
            "transacted_at": "2026-10-09T11:00:00Z",
        }
        (self.place / "event.json").write_text(json.dumps(event))
