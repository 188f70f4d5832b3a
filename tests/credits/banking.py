"""The serial meaning of the bank's side (rules.md#bank-verdicts) as a plain loop; and histories.

A statement is a row of `institution`, `payable`, `closed_at` and `payments`, each of these with its
`id` and the day it is `due`; an entry of a bank has `named`, `status`, `direction`, `amount` and
`currency`, and the `message` that says it. Both are numbered from 1 on, as they came.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import uuid5

from cardoffers_cli.kernel.store.runs import write_run
from cardoffers_cli.kernel.words.bank_accounts import payment_id
from crediting import NOTHING, Verdict
from tables import Row, uid

if TYPE_CHECKING:
    import random

    from cardoffers_cli.kernel.store.store import Store

UNEXPLAINED = {"returned", "rejected"}


def counting(entries: list[Row]) -> list[Row]:
    """Return the entries that count: of equals as many as the message has that says most."""
    found, seen, turns = [], set(), Counter[tuple[Any, ...]]()
    for each in entries:
        alike = tuple(each[name] for name in ("named", "status", "direction", "amount", "currency"))
        turns[*alike, each["message"]] += 1
        turn = (*alike, turns[*alike, each["message"]])
        found += [] if turn in seen else [each]
        seen.add(turn)
    return found


def verdict(statement: Row, entries: list[Row]) -> Verdict:
    """Return the verdict of a statement, of the entries that name one of its payments."""
    payments, paid, is_in_another, came_back, count = 0, NOTHING, False, False, 0
    is_told, is_withdrawn_told, kept = False, False, NOTHING
    for payment in statement["payments"]:  # the newest comes last
        own = counting([each for each in entries if each["named"] == payment["id"]])
        signs = [sign(each) for each in own]
        moved = sum((each["amount"] * by for each, by in zip(own, signs, strict=True)), NOTHING)
        came_back = any(each["status"] in UNEXPLAINED for each in own)
        count += len(own)
        is_withdrawn_told |= bool(own) and payment.get("is_withdrawn", False)
        if sum(signs) >= 1:
            payments += sum(signs)
            paid += moved
            is_told |= came_back
            is_in_another |= any(
                each["status"] in {"booked", "returned"} and each["currency"] != "GBP"
                for each in own
            )
        elif -1 in signs:
            kept += moved + (NOTHING if 1 in signs else statement["payable"])
    if payments >= 2 and paid > statement["payable"] and not is_in_another:
        code = "paid_twice"
    elif is_withdrawn_told:
        code = "withdrawn_told"
    elif payments and (is_in_another or paid != statement["payable"]):
        code = "paid_differs"
    elif payments and is_told:
        code = "return_unbooked"
    elif kept:
        code = "return_differs"
    elif payments:
        code = "paid"
    else:
        code = "returned" if came_back else "unpaid"
    return code, paid, count


def sign(entry: Row) -> int:
    """Return 1 of what left, -1 of what came back, and 0 of what moved nothing."""
    of = {("booked", "debit"): 1, ("returned", "credit"): -1}
    return of.get((entry["status"], entry["direction"]), 0)


def verdicts(statements: list[Row], entries: list[Row]) -> dict[str, Verdict]:
    """Return every verdict by its subject: `s1` the first statement, `e1` the first entry."""
    found = {f"s{number}": verdict(each, entries) for number, each in enumerate(statements, 1)}
    ids = {payment["id"] for each in statements for payment in each["payments"]}
    count = [id(each) for each in counting(entries)]
    for number, each in enumerate(entries, 1):
        if each["named"] not in ids and id(each) in count:
            is_unknown = each["status"] in UNEXPLAINED or sign(each) == 1
            code = "bank_unknown" if is_unknown else "bank_other"
            found[f"e{number}"] = (code, each["amount"], 1)
    return found


def findings(statements: list[Row], entries: list[Row], now: datetime) -> set[str]:
    """Return the subjects whose verdict is a finding."""
    found = set()
    for subject, (code, *_) in verdicts(statements, entries).items():
        if code == "unpaid":
            of = statements[int(subject[1:]) - 1]
            due = of["payments"][-1]["due"] if of["payments"] else of["closed_at"]
            if (now - due.replace(hour=0, minute=0, second=0)).days >= 7:
                found.add(subject)
        elif code not in {"paid", "bank_other"}:
            found.add(subject)
    return found


class Months:
    """Statements, payments and answers of a bank that come by chance, in a store."""

    def __init__(self, store: Store, chance: random.Random, slugs: tuple[str, ...]) -> None:
        self.store, self.chance, self.slugs = store, chance, slugs
        self.statements: list[Row] = []
        self.entries: list[Row] = []
        for slug in slugs:
            store.connection.execute(
                "insert into institution_accounts values"
                " ($1, 'X', 'X', '2026-01-01', null, 'x', '2026-01-01')",
                [uid(slug)],
            )

    def go_on(self, now: datetime, many: int) -> None:
        """Close and pay statements, pay some again that came back, and let the bank answer."""
        chance = self.chance
        for _ in range(many):
            slug, payable = chance.choice(self.slugs), chance.choice(["5.00", "2.50"])
            self.close(slug, payable, now, now - timedelta(days=chance.randrange(20)))
        for number, each in enumerate(self.statements, 1):
            code, *_ = verdict(each, self.entries)
            may = not each["payments"] or code == "returned"
            if may and chance.random() < 0.7:
                self.pay(number, now, now + timedelta(days=chance.randrange(-3, 4)))
        self.answer(now, [each for each in map(self._said, range(2 * many)) if each])

    def close(self, slug: str, payable: str, now: datetime, closed_at: datetime) -> None:
        """Close the next statement of an institution."""
        number = len(self.statements) + 1
        run_no = write_run(self.store, kind="statement_close", now=now, actor="t", counts={})
        self.store.connection.execute(
            "insert into statements select $no, $owner, $number, 'S', 2026, $no, $at, $at, 'GBP',"
            " 1, 0, 0, $payable, 0, 0, $payable, 0, 0, '', null, null, $at, $run_no, 't', null,"
            " null, null, null, null, null, null, null",
            {
                "no": number,
                "owner": uid(slug),
                "number": named(number),
                "at": closed_at,
                "payable": payable,
                "run_no": run_no,
            },
        )
        of = {"institution": slug, "closed_at": closed_at, "payments": []}
        self.statements.append({**of, "payable": Decimal(payable)})

    def pay(self, number: int, now: datetime, due_at: datetime) -> None:
        """Pay a statement, or pay it again, on the day of a moment."""
        statement = self.statements[number - 1]
        attempt, due = len(statement["payments"]) + 1, due_at.replace(hour=0)
        key = payment_id(named(number), attempt)
        run_no = write_run(self.store, kind="payout_export", now=now, actor="t", counts={})
        self.store.connection.execute(
            "insert into payment_files values (sha256($key), $key)", {"key": key}
        )
        self.store.connection.execute(
            "insert into payouts select coalesce(max(payout_no), 0) + 1, $owner, $number, $attempt,"
            " $key, null, $amount, 'GBP', 'csv', 'X', sha256($key), $due, $now, $now,"
            " $run_no, 't', 'why', null, null, null, null from payouts",
            {
                "owner": uid(statement["institution"]),
                "number": named(number),
                "attempt": attempt,
                "key": key,
                "amount": statement["payable"],
                "due": due.date(),
                "now": now,
                "run_no": run_no,
            },
        )
        statement["payments"].append({"id": key, "due": due})

    def withdraw(self, number: int, now: datetime) -> None:
        """Withdraw the newest payment of a statement."""
        statement = self.statements[number - 1]
        run_no = write_run(self.store, kind="payout_withdraw", now=now, actor="t", counts={})
        self.store.connection.execute(
            "update payouts set withdrawn_at = $now, withdrawn_by = 't', withdrawn_reason = 'why',"
            " withdrawn_run_no = $run_no where payment_id = $key",
            {"now": now, "run_no": run_no, "key": statement["payments"][-1]["id"]},
        )
        statement["payments"][-1]["is_withdrawn"] = True

    def _said(self, _: int) -> Row:
        """Return an entry: mostly of a payment, also of one that is made later, or of none."""
        chance = self.chance
        number = chance.randint(1, len(self.statements) + 1)
        of = self.statements[number - 1] if number <= len(self.statements) else None
        status = chance.choice(["booked"] * 6 + ["returned"] * 3 + ["rejected", "accepted"])
        is_sure = chance.random() < 0.8
        usual = of["payable"] if of and is_sure else Decimal(chance.choice(["5.00", "1.00"]))
        way = {"booked": "debit", "returned": "credit"}.get(status, "debit")
        return {
            "named": payment_id(named(number), chance.choice([1, 1, 1, 2])),
            "status": status,
            "direction": way if chance.random() < 0.9 else "credit",
            "amount": usual,
            "currency": "GBP" if chance.random() < 0.95 else "EUR",
            "message": chance.choice(["camt.053", "camt.053", "camt.054"]),
        }

    def answer(self, now: datetime, said: list[Row]) -> None:
        """Let the bank say so of payments, or of what is none."""
        run_no = write_run(self.store, kind="bank_import", now=now, actor="t", counts={})
        of = {"bank_file_no": int(self.store.value("payouts/bank:next_file", sha256="x"))}
        file = {"file_name": "f", "form": "csv", "sha256": "x", "received_at": now}
        self.store.execute("payouts/bank:keep_file", **of, **file, run_no=run_no)
        for each in said:
            self.entries.append(each)
            row = {
                "entry_id": str(uuid5(uid("entries"), str(len(self.entries)))),
                "place": "entry 1",
                "status": each["status"],
                "direction": each["direction"],
                "payment_id": each["named"],
                "trace": None,
                "amount": str(each["amount"]),
                "currency": each["currency"],
                "booked_at": now.isoformat(),
                "code": None,
                "bank_ref": None,
                "message": each["message"],
            }
            self.store.execute("payouts/bank:keep_entries", **of, said=[row])


def named(number: int) -> str:
    return f"S-2026-{number:06}"
