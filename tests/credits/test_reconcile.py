"""Verdicts of reconciliation as a table, and against the plain loop of `crediting.py`."""

from __future__ import annotations

import random
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import banking
from banking import Months
from cardoffers_cli.credits.rules import MEANINGS
from cardoffers_cli.credits.work import reconcile_in
from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.kernel.words.errors import StoreDamaged
from cardoffers_cli.storage.doctor import offending
from crediting import begin, redeem, row_of, send, take_back, told, verdicts
from paying import AUDITS
from sizes import FULL, slow, tries
from tables import NOON, read, select
from work import job, settings

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store

DAY = timedelta(days=1)
NOW = NOON + 100 * DAY
Row = dict[str, Any]

# Each line is one redemption of 5.00, so many days old; its rows credit, reverse or fail an amount
# so many days after it
VERDICTS = """
verdict                   stands  age  reversed  event      rows
credited                  5.00    10   -         -          c5.00@1
credited                  5.00    10   -         delivered  c5.00@1
credited                  5.00    0    -         delivered  c5.00@0
credited                  5.00    10   -         -          f5.00@1,c5.00@2
credited                  5.00    10   -         -          c5.00@1,f5.00@2
credited                  5.00    10   -         -          c2.00@1,c3.00@2
credited                  5.00    10   -         -          c4.00@1,r4.00@2,c5.00@3
credited                  5.00    10   -         -          c5.00@1,c5.00@2,r5.00@3
credited                  5.00    10   -         -          c5.00@2,r5.00@1
credited                  5.00    10   -         -          r9.00@1,c5.00@2
credited                  5.00    10   -         -          c6.00@1,r1.00@2
file_only                 5.00    10   -         exhausted  c5.00@1
file_only                 5.00    10   -         due        c5.00@1
credited_too_early        5.00    10   -         delivered  c5.00@-1.01
credited_too_early        5.00    10   -         due        c5.00@-700
credited                  5.00    10   -         delivered  c5.00@-1
credited                  5.00    10   -         delivered  f5.00@-2,c5.00@1
amount_differs            4.99    10   -         delivered  c4.99@1
amount_differs            5.01    10   -         exhausted  c5.01@1
amount_differs            4.00    10   -         -          c2.00@1,c2.00@2
amount_differs            2.00    10   -         -          c5.00@1,r3.00@2
amount_differs            6.00    10   -         -          c5.00@1,r5.00@2,c6.00@3
amount_differs            6.00    10   -         -          c5.00@1,c6.00@2,r5.00@3
credited_twice            10.00   10   -         -          c5.00@1,c5.00@2
credited_twice            9.00    10   -         -          c5.00@1,c4.00@2
credited_twice            10.00   10   -         exhausted  c5.00@1,c5.00@1,f5.00@2
credited_twice            10.00   10   -         -          c5.00@1,c5.00@2,c5.00@3,r5.00@4
credit_failed             0.00    10   -         delivered  f5.00@1
credit_failed             0.00    0    -         -          f5.00@0
credit_failed             0.00    10   -         -          c5.00@1,r5.00@2,f5.00@3
credit_awaited            0.00    0    -         -          -
credit_awaited            0.00    6.9  -         delivered  -
credit_awaited            0.00    6    -         -          c5.00@1,r5.00@2
not_credited              0.00    7    -         -          -
not_credited              0.00    60   -         exhausted  -
not_credited              0.00    10   -         due        c5.00@1,r5.00@2
not_credited              0.00    10   -         -          r5.00@1
webhook_only              0.00    7    -         delivered  -
webhook_only              0.00    30   -         delivered  f5.00@1,c5.00@2,r5.00@3
not_owed                  0.00    10   3         exhausted  -
not_owed                  0.00    10   3         delivered  f5.00@1
not_owed                  0.00    10   3         -          c5.00@1,r5.00@5
credited_before_reversal  5.00    10   3         -          c5.00@1
credited_before_reversal  5.00    10   3         due        c5.00@3
credited_before_reversal  5.00    10   3         -          c5.00@1,c5.00@4,r5.00@5
credited_after_reversal   5.00    10   3         -          c5.00@4
credited_after_reversal   10.00   10   3         -          c5.00@1,c5.00@4
credited_after_reversal   1.00    10   3         -          c5.00@1,r5.00@2,c1.00@4
"""

IN_ORDER = {"credited", "paid", "bank_other"}
FINAL = {"credited", "credited_before_reversal", "not_owed"}


def planted() -> tuple[list[Row], list[Row], list[str]]:
    """Return the redemptions of the table, their credited rows, and the verdicts it expects."""
    redemptions, rows, expected = [], [], []
    for number, line in enumerate(read(VERDICTS), 1):
        made = NOW - float(line["age"]) * DAY
        back = made + float(line["reversed"]) * DAY if line["reversed"] else None
        redemptions.append(redemption(made, event=line["event"], reversed_at=back))
        texts = line["rows"].split(",") if line["rows"] else []
        by = "ref" if number % 2 else "id"
        rows += [row_of(text, number, made, by=by) for text in texts]
        expected.append((line["verdict"], Decimal(line["stands"]), len(texts)))
    return redemptions, rows, expected


def redemption(at: datetime, owed: str = "5.00", institution: str = "alder", **more: Any) -> Row:
    return {
        "institution": institution,
        "owed": Decimal(owed),
        "at": at,
        "event": None,
        "reversed_at": None,
        **more,
    }


def run(store: Store, now: datetime = NOW) -> Any:
    return reconcile_in(store, job(now=now))


def filled(store: Store, redemptions: list[Row], rows: list[Row]) -> None:
    begin(store)
    redeem(store, redemptions)
    send(store, rows, [each["institution"] for each in redemptions])


def test_each_verdict_of_the_table(store: Store) -> None:
    redemptions, rows, expected = planted()
    filled(store, redemptions, rows)
    told_ = run(store)
    assert expected == [told(store)[f"r{number}"] for number in range(1, len(expected) + 1)]
    assert verdicts(redemptions, rows, NOW) == told(store)
    assert (len(expected), len(rows), len(expected)) == tuple(told_.control.values())
    open_ = sum(code not in {*FINAL, "credit_awaited"} for code, *_ in expected)
    assert (open_, 0, 0) == (told_.open, told_.accepted, told_.resolved)


# One of each, in a month that is in order: what is wrong with a redemption of 5.00 that is
# delivered and credited, or with a statement of 5.00 that is paid
DISCREPANCIES = """
verdict                  event      rows             by
amount_differs           delivered  c4.99@1          id
credited_twice           delivered  c5.00@1,c5.00@2  ref
credited_after_reversal  delivered  c5.00@4          id
credit_failed            delivered  f5.00@1          ref
webhook_only             delivered  -                id
not_credited             exhausted  -                id
file_only                exhausted  c5.00@1          ref
reference_differs        delivered  c5.00@1          both
credited_too_early       delivered  c5.00@-400       id
"""
OF_THE_BANK = """
verdict          entries
unpaid           -
paid_differs     booked4.99
paid_twice       booked5.00,booked5.00
returned         booked5.00,returned5.00
return_differs   booked5.00,returned4.00
return_unbooked  booked5.00,rejected5.00
withdrawn_told   booked5.00
"""
CLEAN = {
    "verdict": "",
    "event": "delivered",
    "rows": "c5.00@1",
    "by": "id",
    "entries": "booked5.00",
}
AMID = tries(4, 20)
"""How many are in order before each that is not."""


def amid(discrepancies: str) -> dict[int, Row]:
    """Return what is to be made, by its number: what is wrong amid what is in order."""
    wrong = {AMID * place: line for place, line in enumerate(read(discrepancies), 1)}
    return {number: wrong.get(number, CLEAN) for number in range(1, max(wrong) + AMID)}


def plant_redemptions(store: Store) -> dict[str, str]:
    """Write redemptions and credited rows; return the verdict of each subject that is wrong."""
    made, rows, at = [], [], NOW - 10 * DAY
    lines = amid(DISCREPANCIES)
    for number, line in lines.items():
        back = at + 3 * DAY if "reversal" in line["verdict"] else None
        made.append(redemption(at, event=line["event"], reversed_at=back))
        texts = line["rows"].split(",") if line["rows"] else []
        rows += [row_of(text, number, at, by=line["by"]) for text in texts]
    rows.append(row_of("c5.00@1", None, NOON, institution="alder"))
    filled(store, made, rows)
    wrong = {f"r{number}": line["verdict"] for number, line in lines.items() if line["verdict"]}
    return {**wrong, f"c{len(rows)}": "credited_unknown"}


def plant_payments(store: Store) -> dict[str, str]:
    """Write statements, payments and what the bank says of them; return the same of these."""
    months = Months(store, random.Random(), SLUGS[:1])  # noqa: S311 - nothing is left to chance
    entries = []
    lines = amid(OF_THE_BANK)
    for number, line in lines.items():
        months.close("alder", "5.00", NOW, NOW - 20 * DAY)
        months.pay(number, NOW, NOW - 10 * DAY)
        if line["verdict"] == "withdrawn_told":
            months.withdraw(number, NOW)
        texts = line["entries"].split(",") if line["entries"] else []
        entries += [(text, months.statements[-1]["payments"][-1]["id"]) for text in texts]
    entries += [("received7.00", "SALE"), ("unexplained3.00", "-"), ("booked5.00", "RENT")]
    months.answer(NOW, [said_by_the_bank(*each) for each in entries])
    entries.append(("booked9.00", "LOAN"))
    months.answer(NOW, [{**said_by_the_bank(*entries[-1]), "message": "camt.054"}])
    proved = {**dict.fromkeys(("from_on", "to_on"), NOW), "opening": 0, "closing": 0}
    book = {"bank_file_no": 1, "message": "camt.053", "account": "A", "currency": "GBP"}
    store.execute("payouts/bank:keep_statement", **book, **proved, is_proved=True)
    wrong = {f"s{number}": line["verdict"] for number, line in lines.items() if line["verdict"]}
    codes = ("entry_not_explained", "bank_unknown", "not_in_book")
    alone = {f"e{len(entries) - 2 + place}": code for place, code in enumerate(codes)}
    return {**wrong, **alone}


def said_by_the_bank(text: str, named: str) -> Row:
    """Read an entry of a bank such as `booked5.00`."""
    word = text.rstrip("0123456789.")
    return {
        "named": named,
        "status": "booked" if word == "received" else word,
        "direction": "credit" if word in {"received", "returned"} else "debit",
        "amount": Decimal(text.removeprefix(word)),
        "currency": "GBP",
        "message": "camt.053",
    }


def test_each_planted_discrepancy_has_its_own_verdict_and_nothing_else_has(store: Store) -> None:
    expected = {**plant_redemptions(store), **plant_payments(store)}
    assert {code for code, each in MEANINGS.items() if each.then} == {*expected.values()}
    assert len(expected) == len({*expected.values()})
    told_ = run(store)
    found = {subject: code for subject, (code, *_) in told(store).items()}
    assert expected == {each: code for each, code in found.items() if code not in IN_ORDER}
    assert len(amid(DISCREPANCIES)) + len(amid(OF_THE_BANK)) + 5 == len(found)
    assert (len(expected), 0, 0) == (told_.open, told_.accepted, told_.resolved)
    findings = select(store, "select left(subject, 1), subject_no from reconciliation_findings")
    assert expected.keys() == {f"{subject}{number}" for subject, number in findings}


def test_of_who_never_sent_a_credited_row_nothing_is_said(store: Store) -> None:
    old = redemption(NOW - 99 * DAY)
    begin(store)
    redeem(store, [old, {**old, "institution": "brook"}])
    without_account = Months(store, random.Random(), ())  # noqa: S311 - nothing is left to chance
    without_account.close("brook", "5.00", NOW, NOW - 99 * DAY)
    assert (None, [], 0) == tuple(run(store)[name] for name in ("run_id", "verdicts", "open"))
    assert [] == select(store, "from runs where kind = 'reconcile'")
    send(store, [row_of("c1.00@1", None, NOON, institution="brook")], [])
    run(store)
    run(store)  # of who was reconciled, as of its credited rows
    assert {"r2": "not_credited", "c1": "credited_unknown"} == {
        subject: code for subject, (code, *_) in told(store).items()
    }


@pytest.mark.parametrize("event", [None, "delivered", "exhausted"])
def test_a_row_that_names_another_purchase_is_told_where_the_money_is_right(
    store: Store, event: str | None
) -> None:
    made = [redemption(NOW - 10 * DAY, event=event)] * 3
    rows = [
        row_of(text, number, NOON, by="both")
        for number, text in ((1, "c5.00@1"), (2, "c4.00@1"), (3, "f5.00@1"))
    ]
    filled(store, made, rows)
    run(store)
    codes = ["reference_differs", "amount_differs", "credit_failed"]
    assert codes == [told(store)[f"r{number}"][0] for number in (1, 2, 3)]
    assert verdicts(made, rows, NOW) == told(store)


# expected, after so many days, of an institution of so many credit_days
@slow
@pytest.mark.parametrize(
    ("expected", "age", "days"),
    [
        ("credit_awaited", 2, 3),
        ("not_credited", 3, 3),
        ("credit_awaited", 7, 8),
        ("not_credited", 0, 0),
        ("not_credited", 7, None),
    ],
)
def test_an_institution_has_its_own_days(
    store: Store, expected: str, age: int, days: int | None
) -> None:
    filled(
        store, [redemption(NOW - age * DAY)], [row_of("c1.00@1", None, NOON, institution="brook")]
    )
    send(store, [row_of("c1.00@1", None, NOON, institution="alder")], [])
    store.connection.execute("update institutions set credit_days = $days", {"days": days})
    run(store)
    assert expected == told(store)["r1"][0]


def test_a_row_of_another_institution_or_currency_is_of_nothing_known(store: Store) -> None:
    made = redemption(NOW - 10 * DAY)
    begin(store)
    redeem(store, [made, {**made, "institution": "brook"}])
    rows = [row_of("c5.00@1", 1, NOON, institution="brook", by=by) for by in ("id", "ref")]
    send(store, [*rows, row_of("c5.00@1", 1, NOON)], ["alder"])
    store.connection.execute("update credits set currency = 'EUR' where credit_ref = 'c3'")
    told_ = run(store)
    assert {
        "r1": ("not_credited", Decimal(0), 0),
        "r2": ("not_credited", Decimal(0), 0),
        **{f"c{number}": ("credited_unknown", Decimal(5), 1) for number in (1, 2, 3)},
    } == told(store)
    assert {"EUR", "GBP"} == {each.currency for each in told_.verdicts}


def test_a_row_that_came_before_its_redemption_is_of_it_then(store: Store) -> None:
    first, second = redemption(NOW - 10 * DAY), redemption(NOW - 9 * DAY)
    begin(store)
    redeem(store, [first])
    rows = [row_of("c5.00@1", number, NOW - 10 * DAY, by="ref") for number in (1, 2)]
    send(store, rows, ["alder"] * 2)
    assert 1 == run(store).open
    redeem(store, [second])
    told_ = run(store)
    assert {"r1", "r2"} == {*told(store)}
    assert (0, 1) == (told_.open, told_.resolved)
    assert (2, 2, 2) == tuple(told_.control.values())


@slow
def test_running_again_says_nothing_new(store: Store) -> None:
    redemptions, rows, _ = planted()
    filled(store, redemptions, rows)
    first = run(store)
    tables = ("reconciliation_verdicts", "credit_links", "reconciliation_findings")
    before = [select(store, f"from {name} order by all") for name in tables]
    again = run(store)
    assert before == [select(store, f"from {name} order by all") for name in tables]
    same = [name for name in first if name != "run_id"]
    assert [first[name] for name in same] == [again[name] for name in same]


def test_totals_that_do_not_add_up_keep_nothing(store: Store) -> None:
    """As a credited row would be of two redemptions, where one purchase had two."""
    filled(store, [redemption(NOW - DAY)] * 2, [row_of("c5.00@0", 1, NOW, by="ref")])
    store.connection.execute("update redemptions set purchase_no = 1")
    with pytest.raises(StoreDamaged, match="The verdicts of alder do not come to") as caught:
        run(store)
    assert "control_totals_differ" == caught.value.code


@slow
@pytest.mark.parametrize("column", ["redemptions", "credited_rows", "amount", "moved_amount"])
def test_each_control_total_alone_is_noticed(store: Store, column: str) -> None:
    filled(store, [redemption(NOW - DAY)], [row_of("c5.00@0", 1, NOW, by="ref")])
    run(store)
    asked = store.make("credits/reconcile:asked", institution_id=None)
    ((run_no,),) = select(store, "select max(run_no) from reconciliations")
    differences, sides = (
        "credits/reconcile:differences",
        store.make("credits/reconcile:sides", asked),
    )
    assert [] == store.rows(differences, sides, run_no=run_no)
    store.connection.execute(f"update reconciliation_totals set {column} = {column} + 1")  # noqa: S608
    (found,) = store.rows(differences, sides, run_no=run_no)
    off = [found[name] for name in ("subjects", "rows", "amount", "moved_amount")]
    assert (1, 3) == (off.count(1), off.count(0))


FINDINGS = """
day  then                state     code
10   -                   open      not_credited
11   accept              accepted  not_credited
12   -                   accepted  not_credited
13   credited            resolved  not_credited
14   reversed            open      not_credited
"""


def test_the_life_of_a_finding(store: Store) -> None:
    """It has one id throughout, and what was accepted once is open when it comes again."""
    filled(store, [redemption(NOON)], [row_of("c1.00@1", None, NOON, institution="alder")])
    ids = set()
    for line in read(FINDINGS):
        now = NOON + int(line["day"]) * DAY
        if line["then"] == "accept":
            run_no = run(store, now) and select(store, "select max(run_no) + 1 from runs")[0][0]
            store.connection.execute(
                "insert into finding_acceptances select finding_id, institution_id, 'ann', 'known',"
                " $1, $2 from reconciliation_findings where subject = 'redemption'",
                [run_no, now],
            )
        elif line["then"]:
            send(store, [row_of(f"{line['then'][0]}5.00@0", 1, now)], ["alder"])
        run(store, now)
        ((finding_id, state, code),) = select(
            store,
            "select finding_id, state, code from reconciliation_findings"
            " where subject = 'redemption'",
        )
        assert (line["state"], line["code"]) == (state, code), line["day"]
        ids.add(finding_id)
    assert 1 == len(ids)


@pytest.mark.parametrize("seed", range(34 if FULL else 1))
def test_histories_in_any_cut_end_where_the_plain_loop_ends(seed: int) -> None:
    """Each seed is 30 redemptions at everyday size, 300 at the gate: 10,000 at full size.

    Statements are closed, paid and paid again meanwhile, and the bank answers (`banking.py`).
    """
    chance = random.Random(seed)  # noqa: S311 - examples, not secrets
    redemptions = [of_chance(chance) for _ in range(tries(30, 300))]
    rows = [
        row for number in range(1, len(redemptions) + 1) for row in rows_of_chance(chance, number)
    ]
    chance.shuffle(rows)
    institutions = [each["institution"] for each in redemptions]
    with scratch_store(settings()) as store:
        begin(store)
        send(store, [row_of("f1.00@0", None, NOON, institution=slug) for slug in SLUGS], [])
        sent = [row_of("f1.00@0", None, NOON) for _ in SLUGS]
        there: list[Row] = []
        months = Months(store, chance, SLUGS)
        cuts = chance.randint(2, 4)
        for cut in range(1, cuts + 1):
            now = NOON + 12 * cut * DAY
            new = redemptions[len(there) : len(redemptions) * cut // cuts]
            redeem(store, new)
            there += new
            for number, each in enumerate(there, 1):
                if each["reversed_at"] is None and chance.random() < 0.1:
                    each["reversed_at"] = now - chance.randrange(20) * DAY
                    take_back(store, number, each["reversed_at"])
            part = rows[len(sent) - len(SLUGS) : len(rows) * cut // cuts]
            send(store, part, institutions)
            sent += part
            months.go_on(now, tries(4, 10))
            run(store, now)
            of_bank = banking.verdicts(months.statements, months.entries)
            assert {**verdicts(there, sent, now), **of_bank} == told(store)
            assert banking.findings(months.statements, months.entries, now) == _found(store)
        assert [0, 0, 0] == [offending(store, audit)[0] for audit in AUDITS]
        assert len({code for code, *_ in told(store).values()}) > 9, "the histories hold hardly any"


def _found(store: Store) -> set[str]:
    """Return the statements and entries of which something is wrong."""
    rows = select(
        store,
        "select left(subject, 1), subject_no from current_verdicts"
        " where finding_id is not null and is_of_bank(subject) and code <> 'known_now'",
    )
    return {f"{subject}{number}" for subject, number in rows}


SLUGS = ("alder", "brook")


def of_chance(chance: random.Random) -> Row:
    event = chance.choice([None, "due", "delivered", "delivered", "exhausted"])
    at = NOON + chance.randrange(20) * DAY
    return redemption(at, chance.choice(["5.00", "2.50"]), chance.choice(SLUGS), event=event)


def rows_of_chance(chance: random.Random, number: int) -> list[Row]:
    """Return up to four credited rows of a redemption, mostly one of just its cashback."""
    many = chance.choice([0, 0, 1, 1, 1, 1, 2, 3, 4])
    return [
        row_of(
            f"{chance.choice('cccccrrf')}{chance.choice(['5.00', '5.00', '2.50', '1.00'])}@0",
            number,
            NOON + chance.randrange(40) * DAY,
            by=chance.choice(["id", "ref", "both"]),
        )
        for _ in range(many)
    ]
