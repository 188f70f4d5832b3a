"""Every command with words that make it show something, and a folder where they do.

`LINES` is the table; `tests/kernel/cli/test_every_command.py` holds it against the
commands there are.
"""

from __future__ import annotations

import os
import shlex
import shutil
from contextlib import chdir, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from approving import NAMES, keys
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.signing_secrets import read_secrets
from cardoffers_cli.watch.observations import Observation
from cardoffers_cli.watch.questions import record_findings
from commands import in_a_pipe, on_a_screen
from tables import NOON
from work import job, next_run, templates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commands import Ended

AS_OF = "2026-10-10"
CLOSED = "2026-11-01"

LINES = """
0 ~ demo
0 ~ init --example --store new.duckdb
0   status
0   sample made --rows 50 --seed 1
3   catalog import dirty
0   catalog export exported
0   catalog template templates
0   institution list
0   institution show larkmere
0   institution set larkmere --plan starter
0   institution set larkmere --expects '*.csv by 01:00 Europe/London on weekdays'
0   arrivals
0 ~ institution add new-bank --name 'New Bank' --currency GBP
0   merchant list
0 ~ merchant add 'New Bakery' --category food --identifier 526101883310029
0   merchant set 'Ostrowick Grocers' --net-days 14 --tax-id GB123456789
0   merchant identify 'Ostrowick Grocers' 526101883310029
0   merchant suggest
0   merchant evidence 091810142340001
0   merchant accept 091810142340001 'Ostrowick Grocers' --reason 'same till receipt'
0   merchant refuse 091810142340001 'Ostrowick Grocers' --reason 'another town'
0 ~ merchant new --from 091810142340001 --category food --name 'Elm Grocers'
0   merchant unlink 004110008660001 --reason 'moved away'
0   offer list -i larkmere
0   offer show of-00000
0   offer create new -i larkmere --merchant latest --title New --min-spend 5 --cashback 1 --expires 2027-01-01
0   offer feed -i larkmere --cardholder - --personalize < cardholder.txt
0   offer add of-00007 -i larkmere --cardholder - --card - < cardholder.txt
0   offer link-list -i larkmere --cardholder - < cardholder.txt
3   validate transactions/larkmere-dirty.csv
3   validate transactions/tarnhollow.csv transactions/larkmere.csv --certificate /dev/null
0   schema
0   profile new export.csv -o new.toml
0   profile check bank.toml export.csv
0   profile show bank.toml
0   profile list .
0   profile sample bank.toml --rows 20 -o sample.csv
0   institution set larkmere --profile bank.toml
3   profile convert export.csv --profile bank.toml -o /dev/null
4   pack build --pyodide bank.toml -o new.html
3 ~ import transactions/larkmere-dirty.csv -i larkmere
0   file list -i larkmere
4   file undo latest --reason 'the wrong bank' --yes
0 ~ refund import refunds/tarnhollow.csv -i tarnhollow
0 ~ refund apply
0 ~ credit import credits/larkmere.csv -i larkmere
0   credit list -i larkmere
0   credit show CR-LAR-000031 -i larkmere
0   refund list -i larkmere
0   refund show RF-LAR1-000003 -i larkmere
0   refund suggest -i larkmere
0   refund link RF-LAR1-000003 LAR1-5cd18016a546ac67 -i larkmere --reason 'till receipt'
0   refund dismiss RF-LAR1-000003 -i larkmere --reason 'sent twice'
3 ~ reconcile
0   reconcile list
0   reconcile show {finding}
0   reconcile accept {finding} --reason 'paid by cheque'
0   watch list
0   watch show {watched}
0   watch accept {watched} --reason 'a bank holiday'
0   simulate transactions/tarnhollow.csv -i tarnhollow
0 ~ match
0   settle
0   statement preview -i larkmere --period 2026-10
0   statement close -i larkmere --period 2026-09
3   statement close --all --period 2026-09
0   statement list
0   statement show {statement}
0   statement export {statement}
0   statement verify
0   invoice close --period 2026-10
0   invoice list
0   invoice show INV-2026-000001
0   invoice set INV-2026-000001 --legal-number RE-4711 --tax 2.00
0   invoice settle INV-2026-000001 --amount 0.50 --as set-off --reason 'their letter'
0   invoice export INV-2026-000001
0   invoice verify
0   pickup drop --config pickup.toml
3 ~ nightly drop
4   payout export --statement {statement} --form pain.001 -o payment.xml --config payer.toml
0   payout export --statement {statement} -o again.csv --config payer.toml {again}
0   payout list
0   payout show {statement}
4   payout withdraw {statement} --reason old
0 ~ bank import bank.csv
3 ~ bank import wrong.csv
0 ~ bank import bank.mt940
0   bank list --unknown
0   bank allocate {receipt} --to INV-2026-000001=1.00 --to suspense=39.00 --reason 'their letter'
0   webhook set -i larkmere --url https://hooks.larkmere.example/ --from all
0 ~ webhook send
0 ~ webhook retry --failed
0   webhook list
0   webhook show {sent}
3 ~ webhook resend {sent}
0   webhook rotate-secret -i larkmere --dry-run
3   webhook verify cardholder.txt --secret-file signing-secret.txt
0   redemption show {redemption}
0   redemption reverse {redemption} --reason 'goods returned'
4   approver add cleo --key cleo.pub -i larkmere
0   approver list --all
4   approver remove ada
0   approve list
0   approve show {approval}
0   approve document {approval}
0   approve give {approval} --key ben --yes
0   approve refuse {approval} --reason 'not now'
0   browse -i larkmere {ref} --text
0   why {ref} -i larkmere
0   timeline {ref} -i larkmere
0   find -i larkmere --ref 'LAR1-9*'
0   report redemptions
0   report redemptions --by offer
0   report settlements
0   report settlements --by settlement
0   report settlements --by institution
0   report offers
0   report offers --order ends
0   report merchants
0   report unresolved
0   report refunds
0   report trial-balance --by party
0   report receivables
0   export journal --period 2026-10
0   report funnel -i larkmere --compare --by offer
0   key create -i larkmere --name feed --scopes offers --dry-run
0   key list
0   key show {key}
0   key rotate {key} --dry-run
0   key revoke {key} --yes
0   key check < app.key
0   key notices
0   inbox list -i larkmere
0   inbox read -i larkmere --all
0   api GET /openapi.json
0   privacy export --to case --cardholder - -i larkmere < cardholder.txt
0   privacy hold --cardholder - -i larkmere --reason case < cardholder.txt
0   privacy holds
0 ~ privacy erase --cardholder - -i larkmere --reason asked --yes < cardholder.txt
0   privacy reapply
0   retention show
0   retention run --yes
0   audit changes
0   audit list
0   audit verify
0   run list
0   run show {night}
5   run resume
5   run accept larkmere/tx.csv
5   file release larkmere/tx.csv
0   doctor
0   store info
0   store migrate
0 ~ store publish
0 ~ store backup copy.duckdb
0 ~ store copy --config copies.toml
0   store points --config copies.toml
0 ~ store verify --config copies.toml
0 ~ store drill --config copies.toml
0   store prune --before 2099-01-01 --config copies.toml
0 ~ store restore backup.duckdb --yes
0   store compact
0   store mask-card-numbers --dry-run
0 ~ store export --to history
4   store accept-loss
4   store recover
0   help formats
"""  # noqa: E501 - a line is a line
"""How each ends, `~` where no two runs say the same, and its words; `<` is standard input."""

RUN_ON = ("serve", "webhook listen")
"""Commands that run until somebody ends them."""


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    exit_code: int
    varies: bool
    words: str
    stdin: str


def lines() -> list[Line]:
    """Return the table's lines."""
    found = [line.split(maxsplit=1) for line in LINES.strip().splitlines()]
    return [_line(int(code), rest) for code, rest in found]


def _line(exit_code: int, rest: str) -> Line:
    words, _, stdin = rest.removeprefix("~").strip().partition(" < ")
    return Line(exit_code, rest.startswith("~"), words, stdin)


@dataclass(frozen=True)
class Place:
    """A folder in which everything has happened once, and the ids that lines name."""

    folder: Path
    ids: dict[str, str]
    secrets: tuple[str, ...]
    """The signing secrets of its webhooks, which nobody is told."""

    def in_a_pipe(self, line: Line, *more: str) -> Ended:
        """Run a line in a copy of the folder, its output a pipe."""
        with self.copied():
            return in_a_pipe([*self.words(line), *more], stdin=self.stdin(line))

    def on_a_screen(self, line: Line, *more: str, **looks: Any) -> Ended:
        """Run a line in a copy of the folder, its output a terminal."""
        with self.copied():
            return on_a_screen([*self.words(line), *more], stdin=self.stdin(line), **looks)

    def words(self, line: Line) -> list[str]:
        """Return the words of a line, with the ids and the clock of the place."""
        return [*shlex.split(line.words.format(**self.ids)), "--as-of", AS_OF]

    def stdin(self, line: Line) -> str:
        """Return what a line reads."""
        return (self.folder / line.stdin).read_text() if line.stdin else ""

    @contextmanager
    def copied(self) -> Iterator[Path]:
        """Work in a copy of the folder, and remove it again."""
        copy = shutil.copytree(self.folder, self.folder.with_name("copy"), copy_function=_copied)
        try:
            with chdir(copy), _insecure():
                yield copy
        finally:
            shutil.rmtree(copy)


def _copied(source: str, target: str) -> None:
    """Copy what commands write into; other files they replace, so that a link will do.

    A night takes no file that has a second name.
    """
    path = Path(source)
    is_ours = any(part.startswith("cardoffers.duckdb") for part in path.parts)
    is_written = is_ours and path.name != "snapshot"
    (shutil.copy if is_written or "drop" in path.parts else os.link)(source, target)


def _insecure() -> Any:
    return patch.dict(os.environ, CARDOFFERS_ALLOW_INSECURE_WEBHOOKS="1")


def everything(folder: Path) -> Place:
    """Make the place: the demo, a key that ends soon, a night with findings, a backup."""
    made = _made()
    shutil.copytree(made.folder, folder)
    return replace(made, folder=folder)


@cache
def _made() -> Place:
    """Make the place once in a process; it takes four seconds."""
    folder = templates() / "everything"
    ended = in_a_pipe(["demo", folder])
    assert 0 == ended.exit_code, ended
    with chdir(folder), _insecure():
        _run(f"key create -i larkmere --name app --scopes offers {KEY}")
        _run("key notices")
        _run(f"webhook set -i larkmere --url {NOBODY}")
        for name, text in FILES.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text)
        shutil.copy("transactions/larkmere-dirty.csv", "drop/larkmere/dirty.csv")
        place = (folder.with_name("made") / "outgoing").as_uri()
        Path("pickup.toml").write_text(f'[pickup.larkmere]\nfrom = "{place}"\n')
        _run("nightly drop", exit_code=3)
        _run("refund import refunds/larkmere.csv -i larkmere")
        _run("invoice close --period 2026-10", as_of=CLOSED)
        _run(f"institution set tarnhollow --account {ACCOUNT}")
        _run(f"payout export --statement {PAYABLE} --form csv -o pay --config payer.toml")
        _run("bank import bank.csv")
        _run("bank import bank.mt940")
        for name in NAMES:
            for each in (name, f"{name}.pub"):
                shutil.copy(keys() / each, each)
        for name in NAMES[:2]:
            _run(f"approver add {name} --key {name}.pub")
        _run("institution set tarnhollow --approvals on --approval-limit 100")
        _approve_paying_again()
        _ask("institution set tarnhollow --approvals off")
        Path("points").mkdir()
        Path("copies.toml").write_text('copies = "plain:points"\n')
        _run("store copy --config copies.toml")
        _run("institution set larkmere --watch on")
        with job(folder / "cardoffers.duckdb").store() as store, store.transaction():
            run_no, owner = next_run(store), find_institution(store, "larkmere").id
            record_findings(store, owner, [FOUND], run_no=run_no, now=NOON)
        _run("store backup backup.duckdb")
        _run("store copy --config copies.toml")
        shutil.copy("transactions/tarnhollow.csv", "drop/larkmere/new.csv")
        secrets = tuple(read_secrets(Path("cardoffers.duckdb")).values())
        made = Place(folder, _ids(), secrets)
    return replace(made, folder=folder.rename(folder.with_name("made")))


NOBODY = "http://127.0.0.1:9/"
"""Where nobody listens."""

ACCOUNT = "GB33BUKB20201555555555/BUKBGB22"

PAYABLE = "TARNHOLLOW-2026-000001"
"""A statement that was paid, and whose payment the bank rejected."""

AGAIN = "--form csv --again --reason 'the account was closed'"
"""How a statement is paid again whose payment was rejected."""

KEY = "--expires 2026-10-10T12:00:00Z --key-file app.key"
"""How a key is made that ends today, of which its institution is told."""

FOUND = Observation("rows_unusual", "larkmere-1.csv", date(2026, 10, 1), {"rows": 96, "usual": 819})
"""What a watch may have found."""

FILES = {
    "drop/larkmere/other.csv": "a;b\n",
    "drop/larkmere/other.csv.done": "",
    "drop/larkmere/dirty.csv.done": "",
    "drop/larkmere/new.csv.done": "",
    "outgoing/sent.csv": "a;b\n",
    "outgoing/sent.csv.done": "",
    "export.csv": "Kunde;Karte;Datum;Betrag;Beleg\n"
    "9fb6f85a8aac50e20c422cac18b44258;ct_527b;05.03.2026 18:30;1.212,50;B-1\n"
    "9fb6f85a8aac50e20c422cac18b44258;ct_527b;06.03.2026 18:30;-12,50;B-2\n",
    "bank.toml": """
form = {delimiter = ";"}
[fields]
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
transacted_at = {column = "Datum", format = "%d.%m.%Y %H:%M", zone = "Europe/Berlin"}
amount = {column = "Betrag", decimal = ",", thousands = "."}
transaction_ref = {column = "Beleg"}
""",
    "payer.toml": f'payer_name = "Offers"\npayer_account = "{ACCOUNT}"\n',
    "wrong.csv": "payment_id,status,amount,currency,booked_at\nX,gone,1.00,GBP,2026-06-02\n",
    "bank.csv": "payment_id,status,amount,currency,booked_at,code,bank_ref\n"
    "RENT,booked,100.00,GBP,2026-10-09,,B-1\n"
    f"{PAYABLE},rejected,74.00,GBP,2026-10-10,AC04,B-2\n",
    "bank.mt940": ":20:S\n:25:20201555555555\n:28C:1/1\n:60F:C261008GBP100,00\n"
    ":61:2610091009D100,00NTRFRENT//B-1\n:61:2610091009C40,00NTRFNONREF//B-2\n"
    ":62F:C261009GBP40,00\n-\n",
    "dirty/merchants.csv": "merchant_id,name,category\nno,No,food\n",
}
"""Files that something is wrong with."""


def _run(line: str, exit_code: int = 0, as_of: str = AS_OF) -> Any:
    ended = in_a_pipe([*shlex.split(line), "--as-of", as_of, "--format", "json"])
    assert exit_code == ended.exit_code, ended
    return ended.document


def _ask(line: str) -> None:
    """Let somebody ask for what a second person has to approve."""
    with patch("cardoffers_cli.kernel.cli.people.person", return_value="alice"):
        asked = in_a_pipe([*shlex.split(line), "--as-of", AS_OF])
    assert 4 == asked.exit_code, asked
    _run("approve give latest --key ada --yes")


def _approve_paying_again() -> None:
    _ask(f"payout export --statement {PAYABLE} -o again.csv --config payer.toml {AGAIN}")
    (approval,) = _run("approve list")
    _run(f"approve give {approval['approval_id']} --key ben --yes")


def _ids() -> dict[str, str]:
    (event,) = _run("webhook list --state delivered --limit 1")
    (redemption,) = _run("report redemptions -i larkmere --limit 1")["data"]
    (key,) = _run("key list")
    (night,) = _run("run list")
    (approval,) = _run("approve list --state pending")
    (finding,) = _run("reconcile list --state open --limit 1")
    (watched,) = _run("watch list")
    (receipt,) = [each for each in _run("bank list") if each["invoice"]]
    return {
        "sent": event["redemption_id"],
        "redemption": redemption["id"],
        "ref": redemption["transaction_ref"],
        "key": key["key_id"],
        "night": night["run_id"],
        "statement": PAYABLE,
        "again": AGAIN,
        "approval": approval["approval_id"],
        "finding": finding["finding_id"],
        "watched": watched["finding_id"],
        "receipt": receipt["entry_id"],
    }
