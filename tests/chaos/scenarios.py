"""Every command that writes, with the place it begins in and how it ends.

`LINES` is the table. `tests/test_chaos.py` holds it against the commands that there are: a new one
that writes gets a line here, one that only reads a name in `READING`, which is held to it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cache

from typer.main import get_command

from cardoffers_cli.kernel.cli import main
from commands import every_command

LINES = """
empty     0  4  init
empty     0  0  sample made --rows 400 --seed 5 --institutions 2
empty     0  4  demo tried
new       0  0  catalog import made/catalog
ready     0  0  catalog export exported
ready     0  -  catalog template template
ready     0  4  institution add oakford --name Oakford --currency GBP
ready     0  4  merchant add 'New Bakery' --category food --identifier new-bakery-1
ready     0  0  merchant set 'Ostrowick Grocers' --net-days 14
ready     0  0  merchant identify 'Ostrowick Grocers' ostrowick-2
ready     0  4  merchant accept {unknown} 'Ostrowick Grocers' --reason receipt
ready     0  4  merchant refuse {unknown} 'Ostrowick Grocers' --reason moved
ready     0  4  merchant new --from {unknown} --category food --name 'Elm Grocers'
ready     0  4  merchant unlink {known} --reason moved
ready     0  4  offer create of-new -i larkmere --merchant 'Ostrowick Grocers' {terms}
ready     0  0  institution set larkmere --plan enterprise
ready     0  0  offer add {offer} -i larkmere --cardholder - --card - < cardholder.txt
ready     3  3  validate bad.csv --errors errors.csv --valid valid.csv --rejected rejected.csv
ready     3  3  import bad.csv -i larkmere
ready     3  -  import bad.csv -i larkmere --errors errors.csv --rejected rejected.csv
ready     5  5  file release larkmere/june.csv
ready     0  4  file undo {file} --reason 'of another bank' --yes
ready     0  0  refund import made/refunds/larkmere.csv -i larkmere
ready     0  0  credit import credited.csv -i larkmere
ready     0  0  refund apply
ready     0  4  refund link {refund} {purchase} -i tarnhollow --reason receipt
ready     0  4  refund dismiss {refund} -i tarnhollow --reason twice
ready     0  0  reconcile
ready     5  5  reconcile accept latest --reason receipt
ready     5  5  watch accept latest --reason holiday
ready     0  0  bank import bank.xml
ready     5  5  bank allocate 12345678 --to suspense=1.00 --reason letter
payable   0  0  payout export --statement LARKMERE-2026-000001 --form csv -o pay --config payer.toml
paid      0  4  payout withdraw LARKMERE-2026-000001 --reason 'an old account'
returned  0  0  payout export --statement LARKMERE-2026-000001 -o pay --config payer.toml {again}
ready     0  0  match
ready     0  0  settle
ready     0  0  statement close -i larkmere --period 2026-09
ready     0  0  statement close --all --period last-month
ready     0  0  invoice close --period last-month
ready     5  5  invoice set INV-2026-000001 --tax 1.00
ready     5  5  invoice settle INV-2026-000001 --amount 1.00 --as dispute --reason letter
ready     0  0  pickup drop --config pickup.toml
ready     3  0  nightly drop
exported  3  0  nightly drop
begun     3  5  run resume
changed   0  5  run accept larkmere/new.csv
stocked   0  -  webhook set -i larkmere --url {url} --secret-file secret.txt
ready     0  0  webhook send
ready     0  0  webhook retry --failed
ready     0  0  webhook resend {sent}
ready     0  -  webhook rotate-secret -i larkmere --activate-at 2026-11-01
ready     0  4  redemption reverse {redemption} --reason 'goods returned'
ready     0  4  approve give {approval} --key ben --yes
ready     4  4  approver add cleo --key cleo.pub
ready     4  4  approver remove ada
ready     0  4  approve refuse {approval} --reason 'not now'
ready     4  4  institution set tarnhollow --approval-limit none
ready     0  0  report redemptions --all -o redemptions.csv
ready     0  -  key create -i larkmere --name feed --scopes offers
ready     0  4  key rotate {key} --overlap 7d
ready     0  4  key revoke {key} --yes
ready     0  0  key notices
ready     0  0  key list
ready     0  0  key show {key}
ready     0  0  inbox read -i larkmere --all
ready     0  0  api POST /api/v1/transactions --key-file app.key --body event.json
ready     0  0  privacy hold --cardholder - -i larkmere --reason case < known.txt
ready     0  4  privacy export --to case --cardholder - -i larkmere < known.txt
erasable  0  0  privacy erase --cardholder - -i larkmere --reason asked --yes < known.txt
ready     0  0  privacy reapply
ready     0  0  retention run --yes
ready     0  0  audit list
ready     0  0  audit verify
older     0  0  store migrate
ready     0  0  store publish
ready     0  4  store backup copy.duckdb
ready     0  0  store copy --config copies.toml
ready     0  0  store prune --config copies.toml
ready     0  0  store drill --config copies.toml
ready     0  0  store restore backup.duckdb --yes
exported  0  0  store compact
ready     0  0  store export --to history
exported  0  0  store export
lossy     0  4  store accept-loss --yes
torn      0  4  store recover --yes
carded    0  0  store mask-card-numbers --yes
"""
"""The place, how it ends, how it ends the second time, and the words; `<` is standard input.

`-` stands where a second time would make a second thing.
"""

SERVED = frozenset({"serve"})
"""Struck while clients call it: `serving.py`."""

READING = frozenset(
    {
        *("status", "arrivals", "institution list", "institution show", "offer list", "offer show"),
        *("offer feed", "offer link-list", "simulate", "webhook list", "webhook show"),
        *("webhook verify", "webhook listen", "redemption show", "browse", "why", "timeline"),
        *("reconcile list", "reconcile show"),
        *("watch list", "watch show"),
        *("refund list", "refund show", "refund suggest", "report refunds"),
        *("credit list", "credit show"),
        *("find", "report settlements", "report unresolved", "report funnel", "key check"),
        *("report offers", "report merchants", "merchant list", "audit changes"),
        *("report trial-balance", "report receivables", "export journal"),
        *("merchant suggest", "merchant evidence"),
        *("payout list", "payout show", "bank list", "file list"),
        *("profile new", "profile check", "profile show", "profile list", "profile sample"),
        *("profile convert", "inbox list", "run list", "run show", "doctor", "store info", "help"),
        *("store points", "store verify"),
        *("schema", "pack build", "statement preview", "statement list"),
        *("approve list", "approve show", "approve document", "approver list"),
        *("privacy holds", "retention show"),
        *("statement show", "statement export", "statement verify", "invoice list"),
        *("invoice show", "invoice export", "invoice verify"),
    }
)
"""Commands that write nothing, or only what `-o` names, for which `report redemptions` stands."""

MORE_ROWS = {
    "import": {"imports", "duplicates", "rejects", "acts"},
    "refund import": {"imports", "duplicates", "rejects", "acts"},
    "credit import": {"imports", "duplicates", "rejects", "acts"},
    "bank import": {"bank_files", "bank_statements", "acts"},
    "api": {"imports", "duplicates"},
    "webhook": {"attempts", "acts"},
    "nightly": {"attempts"},
    "run resume": {"attempts"},
}
"""Tables that get rows when a command does again what it did before."""

ANEW = {
    "catalog template": ("template",),
    "demo": ("tried",),
    "privacy export": ("case",),
    "webhook set": ("secret.txt",),
}
"""Files of a killed command that the next is refused for: whoever reads that removes them."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One command that writes. `again` is how it ends the second time, None where there is none."""

    command: str
    stage: str
    ends: int
    again: int | None
    words: str
    stdin: str | None

    def line(self, ids: dict[str, str]) -> list[str]:
        """Return its words, with the ids of the place."""
        return shlex.split(self.words.format(**ids))

    @property
    def more_rows(self) -> set[str]:
        """The tables that may have more rows when it was run twice."""
        return {
            table
            for name, tables in MORE_ROWS.items()
            if self.words.startswith(name)
            for table in tables
        }


@cache
def all_commands() -> frozenset[str]:
    """Return the names of the commands that there are."""
    return frozenset(every_command(get_command(main.app)))


def scenarios() -> list[Scenario]:
    """Return the lines of the table."""
    return [_scenario(line) for line in LINES.strip().splitlines()]


def _scenario(line: str) -> Scenario:
    stage, ends, again, rest = line.split(maxsplit=3)
    words, _, stdin = rest.partition(" < ")
    names = [name for name in all_commands() if f"{words} ".startswith(f"{name} ")]
    return Scenario(
        command=max(names, key=len),
        stage=stage,
        ends=int(ends),
        again=None if again == "-" else int(again),
        words=words,
        stdin=stdin or None,
    )
