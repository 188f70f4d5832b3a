"""The serial meaning of reconciliation (rules.md#verdicts) as a plain loop, and stores to try.

A redemption is a row of `institution` (alder has a webhook, brook has none), `owed`, `at`,
`reversed_at` and `event`, the state of its event or None; a credited row has `of`, the number of
its redemption or None, `by` (id, ref, or both, where the ref is of another purchase), `status`,
`amount` and `at`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.runs import write_run
from tables import Row, given, put, select, uid

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store

NOTHING = Decimal(0)
REFS = {"id": "", "ref": "p{}", "both": "another-{}"}
"""The reference that a credited row has, by what it names its redemption by."""
Verdict = tuple[str, Decimal, int]
"""The code, what stands as credited, and how many credited rows it is about."""


@dataclass
class Standing:
    """What stands of some credited rows, gone through one after the other."""

    amount: Decimal = NOTHING
    payments: int = 0
    is_failed: bool = False

    def take(self, row: Row) -> None:
        self.is_failed = row["status"] == "failed"
        if row["status"] == "credited":
            self.amount += row["amount"]
            self.payments += 1
        elif row["status"] == "reversed":
            self.amount = max(NOTHING, self.amount - row["amount"])
            self.payments -= 1
        if not self.amount:
            self.payments = 0


def verdict(redemption: Row, rows: list[Row], now: datetime) -> Verdict:
    """Return the verdict of a redemption with its credited rows, in the order they came in."""
    standing, at_reversal = Standing(), NOTHING
    for row in sorted(rows, key=lambda each: each["at"]):  # which keeps the order of equal times
        standing.take(row)
        if redemption["reversed_at"] and row["at"] <= redemption["reversed_at"]:
            at_reversal = standing.amount
    code = _code(redemption, standing, at_reversal, now)
    if code in {"file_only", "credited"} and any(row["by"] == "both" for row in rows):
        code = "reference_differs"
    elif code in {"file_only", "credited"} and any(
        row["status"] == "credited" and row["at"] < redemption["at"] - timedelta(days=1)
        for row in rows
    ):
        code = "credited_too_early"
    return code, standing.amount, len(rows)


def _code(redemption: Row, standing: Standing, at_reversal: Decimal, now: datetime) -> str:
    amount, owed, event = standing.amount, redemption["owed"], redemption["event"]
    if redemption["reversed_at"]:
        if not amount:
            code = "not_owed"
        elif amount > at_reversal:
            code = "credited_after_reversal"
        else:
            code = "credited_before_reversal"
    elif amount > owed and standing.payments > 1:
        code = "credited_twice"
    elif amount not in {owed, NOTHING}:
        code = "amount_differs"
    elif amount:
        is_expected = redemption["institution"] == "alder" and event not in {None, "delivered"}
        code = "file_only" if is_expected else "credited"
    elif standing.is_failed:
        code = "credit_failed"
    elif (now - redemption["at"]).days < 7:
        code = "credit_awaited"
    else:
        code = "webhook_only" if event == "delivered" else "not_credited"
    return code


def verdicts(redemptions: list[Row], rows: list[Row], now: datetime) -> dict[str, Verdict]:
    """Return every verdict by its subject: `r1` the first redemption, `c1` the first row."""
    found = {}
    for number, each in enumerate(redemptions, 1):
        own = [row for row in rows if row["of"] == number]
        found[f"r{number}"] = verdict(each, own, now)
    signs = {"credited": 1, "failed": 0, "reversed": -1}
    for number, row in enumerate(rows, 1):
        if row["of"] is None or row["of"] > len(redemptions):
            found[f"c{number}"] = ("credited_unknown", signs[row["status"]] * row["amount"], 1)
    return found


def begin(store: Store) -> None:
    """Write two institutions and one offer."""
    given(store, "institutions", "institution\nalder\nbrook")
    given(store, "merchants", "merchant\nbakery")
    given(store, "offers", "offer merchant\nA bakery")
    store.connection.execute(
        "update institutions set webhook_url = 'https://example.com/hook' where slug = 'alder'"
    )


def redeem(store: Store, redemptions: list[Row]) -> None:
    """Write redemptions behind those that there are, each with its purchase and its event."""
    first = select(store, "select count(*) + 1 from redemptions")[0][0]
    purchases = [
        {"institution": each["institution"], "ref": f"p{number}", "at": each["at"]}
        for number, each in enumerate(redemptions, first)
    ]
    put(store, "purchases", purchases)
    own = [{**each, "amount": each["owed"], "offer": "A"} for each in redemptions]
    put(store, "redemptions", own)
    for number, each in enumerate(redemptions, first):
        if each["event"]:
            store.connection.execute(
                "insert into outbox by name select redemption_no as event_no, redemption_no,"
                " redemption_id as subject_id, institution_id, run_no, '' as body,"
                " created_at as occurred_at, $state as state, 0 as attempts, 0 as failures,"
                " 'redemption.completed' as kind"
                " from redemptions where redemption_no = $number",
                {"state": each["event"], "number": number},
            )
        if each["reversed_at"]:
            take_back(store, number, each["reversed_at"])


def take_back(store: Store, number: int, at: datetime) -> None:
    """Reverse a redemption, in a run of its own."""
    run_no = write_run(store, kind="reverse", now=at, actor="tester", counts={})
    store.connection.execute(
        "update ledger_entries set status = 'reversed', reversed_at = $at"
        " where redemption_no = $number",
        {"at": at, "number": number},
    )
    store.connection.execute(
        "insert into ledger_moves values ($number, $run_no, 'reversed', $at, 'tester', 'why')",
        {"at": at, "number": number, "run_no": run_no},
    )


def send(store: Store, rows: list[Row], institutions: list[str]) -> None:
    """Write credited rows behind those that there are, as an import does.

    `institutions` are those of all redemptions, also of those that are still to come.
    """
    first = select(store, "select count(*) + 1 from credits")[0][0]
    ids = {slug: uid(slug) for slug in ("alder", "brook")}
    for number, row in enumerate(rows, first):
        of = row["of"]
        institution = row.get("institution") or institutions[of - 1]
        store.connection.execute(
            "insert into credits select $number, $owner, $ref, ref_hash($owner, $ref), $id, $of,"
            " $status, null, $amount, 'GBP', $at, $at, null, null",
            {
                "number": number,
                "owner": ids[institution],
                "ref": f"c{number}",
                "id": None if row["by"] == "ref" else uid(f"redemption {of or number * 1000}"),
                "of": REFS[row["by"]].format(of or number * 1000) or None,
                **{name: row[name] for name in ("status", "amount", "at")},
            },
        )


def told(store: Store) -> dict[str, Verdict]:
    """Return the verdicts that stand in a store, as `verdicts` does."""
    rows = select(
        store,
        "select left(subject, 1), subject_no, code, credited_amount, credited_rows"
        " from current_verdicts where code <> 'known_now'",
    )
    return {
        f"{subject}{number}": (code, amount, count) for subject, number, code, amount, count in rows
    }


def row_of(text: str, number: int | None, made: datetime, **more: Any) -> Row:
    """Read a credited row such as `c5.00@3`: its status, its amount, and days after `made`."""
    amount, _, days = text[1:].partition("@")
    status = {"c": "credited", "r": "reversed", "f": "failed"}[text[0]]
    at = made + timedelta(days=float(days))
    return {"of": number, "by": "id", "status": status, "amount": Decimal(amount), "at": at, **more}
