"""Refunds against the plain loop of `refunding.py`, and the mistakes that others made with them."""

from __future__ import annotations

import random
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.refunds.apply import apply_in
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.redemptions import reverse_redemption
from cardoffers_cli.river.settlements import settle_in
from cardoffers_cli.storage.doctor import audits, offending
from refunding import Ledger
from serial import Service
from sizes import FULL, GATE, slow, tries
from tables import NOON, given, log_acts, put, read, select
from work import job, settings

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

DAY = timedelta(days=1)
Row = dict[str, Any]


def bought(
    store: Store, purchases: str, offers: str = "offer merchant min_spend\nA bakery 10.00"
) -> None:
    """Write purchases of ann, who added all offers, at the bakery."""
    given(store, "institutions", "institution\nalder\nbrook")
    given(store, "merchants", "merchant\nbakery\ncinema")
    given(store, "identifiers", "identifier merchant\nM1 bakery\nM2 cinema")
    given(store, "offers", offers)
    put(store, "links", [{"offer": row["offer"]} for row in read(offers)])
    put(store, "purchases", [{"merchant": "bakery", **row} for row in read(purchases)])


def later(days: float) -> Any:
    return job(now=NOON + days * DAY)


def settled(store: Store, days: float) -> Decimal:
    """Settle, and return what the institutions are paid."""
    made = settle_in(store, later(days)).settlements
    return sum((each.institution_payout_amount for each in made), Decimal(0))


def told(store: Store) -> list[tuple[Any, ...]]:
    return select(
        store,
        "select refund_ref, state, outcome, net_after from refund_states order by refund_ref",
    )


def meant(refunds: str) -> list[tuple[Any, ...]]:
    """Return what a table of refunds shows in its columns state, outcome and left."""
    return [
        (row["ref"], row["state"], row["outcome"], row["left"] and Decimal(row["left"]))
        for row in sorted(read(refunds), key=lambda row: str(row["ref"]))
    ]


def statuses(store: Store) -> dict[str, str]:
    return dict(select(store, "select transaction_ref, status from redemption_facts"))


def unsound(store: Store) -> list[str]:
    log_acts(store)  # of what was settled and taken back without a command
    return [name for name in audits() if offending(store, name)[0]]


REFUNDS = [
    pytest.param(
        """
        ref  original  amount  at        state   outcome   left
        a    1         15.00   13:00:00  linked  kept      10.00
        b    2         15.01   13:00:00  linked  reversed  9.99
        c    3         25.00   12:00:00  linked  reversed  0.00
        """,
        {"1": "pending", "2": "reversed", "3": "reversed"},
        id="the minimum itself keeps the cashback, a cent less or nothing takes it back",
    ),
    pytest.param(
        """
        ref  original  amount  at        state   outcome                     left
        a    1         25.01   13:00:00  refused refund_exceeds_purchase     25.00
        b    2         20.00   13:00:00  linked  reversed                    5.00
        c    2         5.01    14:00:00  refused refund_exceeds_purchase     5.00
        d    2         5.00    15:00:00  linked  already_reversed            0.00
        e    2         0.01    16:00:00  refused refund_exceeds_purchase     0.00
        """,
        {"1": "pending", "2": "reversed", "3": "pending"},
        id="more than what is left is refused whole, and what fits after it is taken",
    ),
    pytest.param(
        """
        ref  original  amount  at        state   outcome                  left
        a    1         10.00   15:00:00  linked  kept                     15.00
        b    1         16.00   16:00:00  refused refund_exceeds_purchase  15.00
        z    2         10.00   13:00:00  linked  reversed                 5.00
        y    2         10.00   13:00:00  linked  kept                     15.00
        """,
        {"1": "pending", "2": "reversed", "3": "pending"},
        id="turns are by time, then reference",
    ),
    pytest.param(
        """
        ref  original  cardholder  amount  at        state    outcome                     left
        a    1         ben         5.00    13:00:00  refused  refund_of_other_cardholder  25.00
        b    1         -           5.00    13:00:00  linked   kept                        20.00
        c    2         ann         5.00    11:59:59  refused  refund_before_purchase      25.00
        d    nobody    ann         5.00    13:00:00  waiting  purchase_not_received       -
        e    -         ann         5.00    13:00:00  waiting  -                           -
        """,
        {"1": "pending", "2": "pending", "3": "pending"},
        id="a refund has its cardholder, its order and its purchase",
    ),
    pytest.param(
        """
        ref  original  kind        amount  at        state   outcome   left
        a    1         void        25.00   12:00:00  linked  reversed  0.00
        b    2         adjustment  3.00    13:00:00  linked  kept      22.00
        """,
        {"1": "reversed", "2": "pending", "3": "pending"},
        id="a void and an adjustment count as a refund does",
    ),
]


@pytest.mark.parametrize(("refunds", "expected"), REFUNDS)
def test_what_becomes_of_refunds(store: Store, refunds: str, expected: dict[str, str]) -> None:
    bought(store, "ref amount\n1 25.00\n2 25.00\n3 25.00")
    decide(store, job())
    given(store, "refunds", refunds)
    first = apply_in(store, later(1))
    assert meant(refunds) == told(store)
    assert expected == statuses(store)
    rows = read(refunds)
    assert (len(rows), sum(row["state"] == "refused" for row in rows)) == (
        first.considered,
        first.refused,
    )
    assert [] == unsound(store)
    before = told(store), statuses(store)
    again = apply_in(store, later(2))
    assert before == (told(store), statuses(store))
    assert (first.waiting, first.waiting, 0) == (again.considered, again.waiting, again.refused)


def test_a_settled_redemption_is_taken_off_the_next_settlement(store: Store) -> None:
    """Kept after a full return is what others got wrong."""
    bought(store, "ref\n1\n2")
    decide(store, job())
    assert Decimal(2) == settled(store, 1)
    given(store, "refunds", "ref original at\na 1 13:00:00")
    told_ = apply_in(store, later(2))
    assert (1, {"GBP": Decimal("1.00")}) == (told_.reversed, told_.merchant_funded_amount)
    assert [Decimal(-1), Decimal(0)] == [settled(store, 2), settled(store, 3)]
    assert [("refunded",)] == select(
        store, "select reason from ledger_moves where status = 'reversed'"
    )
    assert [] == unsound(store)


def test_what_came_back_is_never_taken_twice(store: Store) -> None:
    """Nor by a part refund after a reversal by hand, nor counted against the next purchase."""
    bought(store, "ref at\n1 12:00:00\n2 12:30:00")
    decide(store, job())
    (found,) = select(
        store, "select redemption_id from redemption_facts where transaction_ref = '1'"
    )
    by = {"now": NOON + DAY, "actor": "tester"}
    with run_record(store, kind="reverse", **by) as run:
        reverse_redemption(store, str(found[0]), reason="by hand", run_no=run.run_no, **by)
    given(store, "refunds", "ref original amount at\na 1 15.00 13:00:00\nb 1 5.00 14:00:00")
    assert 2 == apply_in(store, later(2)).already_reversed
    assert {"1": "reversed", "2": "pending"} == statuses(store)
    assert [] == unsound(store)


def test_the_purchase_of_an_expired_offer_is_taken_back(store: Store) -> None:
    bought(store, "ref", "offer merchant expires_at\nA bakery 12:30:00")
    put(store, "purchases", [{"ref": "1", "merchant": "bakery"}])
    decide(store, job())
    given(store, "refunds", "ref original at\na 1 2026-11-01T00:00:00Z")
    assert 1 == apply_in(store, later(300)).reversed


def test_budget_and_use_come_back_for_the_next_purchase(store: Store) -> None:
    bought(store, "ref\n1", "offer merchant cashback budget uses\nA bakery 1.00 1.00 1")
    decide(store, job())
    put(store, "purchases", [{"ref": "2", "merchant": "bakery"}])
    decide(store, later(1))
    given(store, "refunds", "ref original\na 1")
    apply_in(store, later(2))
    put(store, "purchases", [{"ref": "3", "merchant": "bakery"}])
    decide(store, later(3))
    assert {"1": "reversed", "3": "pending"} == statuses(store)
    assert [] == unsound(store)


def test_a_purchase_is_matched_by_what_is_left_of_it(store: Store) -> None:
    """The refunds came while nobody knew the merchant; the offer asks for 10.00."""
    bought(store, "ref identifier merchant amount\n1 M9 - 25.00\n2 M9 - 25.00\n3 M9 - 25.00")
    decide(store, job())
    refunds = "ref original amount at\na 1 15.00 13:00:00\nb 2 15.01 13:00:00\nc 3 25.00 13:00:00"
    given(store, "refunds", refunds)
    assert 3 == apply_in(store, later(1)).not_matched_yet
    given(store, "identifiers", "identifier merchant\nM9 bakery")
    decide(store, later(2))
    assert {"1": "redeemed", "2": "below_min_spend", "3": "refunded"} == dict(
        select(
            store,
            "select transaction_ref, outcome from outcomes join purchases using (purchase_no)",
        )
    )
    assert [] == unsound(store)


def test_a_refund_waits_for_its_purchase(store: Store) -> None:
    bought(store, "ref\n1")
    given(store, "refunds", "ref original at\na 2 13:00:00")
    assert 1 == apply_in(store, later(0)).waiting
    put(store, "purchases", [{"ref": "2", "merchant": "bakery"}])
    decide(store, later(1))
    assert 1 == apply_in(store, later(1)).reversed
    assert [("a", "linked", "reversed", Decimal(0))] == told(store)


@slow
def test_what_a_clock_of_before_cannot_reverse_waits(store: Store) -> None:
    """A nightly run that was broken off goes on by the clock it had."""
    bought(store, "ref\n1\n2")
    decide(store, later(2))
    given(store, "refunds", "ref original amount at\na 1 20.00 13:00:00\nb 1 1.00 14:00:00")
    assert (2, 2) == (
        *(getattr(apply_in(store, later(1)), each) for each in ("considered", "waiting")),
    )
    assert [("a", "waiting", None, None), ("b", "waiting", None, None)] == told(store)
    done = apply_in(store, later(2))
    assert (1, 1, 0) == (done.reversed, done.refused, done.waiting)


@pytest.mark.parametrize(
    ("outcome", "days", "refunded_at"),
    [
        ("reversed", None, "2030-01-01T00:00:00Z"),
        ("reversed", 10, "2026-06-12T12:00:00Z"),
        ("outside_clawback_window", 10, "2026-06-12T12:00:01Z"),
    ],
)
def test_money_settled_long_ago_stays(
    store: Store, outcome: str, days: int | None, refunded_at: str
) -> None:
    """It was settled on 2 June at noon."""
    bought(store, "ref\n1")
    store.connection.execute("update institutions set clawback_days = $1", [days])
    decide(store, job())
    settled(store, 1)
    given(store, "refunds", f"ref original at\na 1 {refunded_at}")
    apply_in(store, later(2000))
    assert [("a", "linked", outcome, Decimal(0))] == told(store)
    assert [] == unsound(store)


# What a policy links of refunds without a reference, at the identifier M1, of 20.00, on the card
POLICY = [
    pytest.param("1 20.00 card", "linked", id="one of its amount and instrument"),
    pytest.param("1 20.00 other", "waiting", id="another instrument"),
    pytest.param("1 20.00 card\n2 20.00 card", "waiting", id="two of its amount"),
    pytest.param("1 20.00 card\n2 25.00 card", "linked", id="one of its amount, and a larger one"),
    pytest.param("1 25.00 card", "waiting", id="a larger one only"),
]


@slow
@pytest.mark.parametrize(("purchases", "state"), POLICY)
@pytest.mark.parametrize("policy", ["never", "unique_exact"])
def test_a_policy_links_what_is_unique_and_exact(
    store: Store, policy: str, purchases: str, state: str
) -> None:
    bought(store, "ref")
    put(
        store,
        "purchases",
        [{**row, "identifier": "M1"} for row in read(f"ref amount card\n{purchases}")],
    )
    store.connection.execute("update institutions set refund_auto_link = $1", [policy])
    decide(store, job())
    given(store, "refunds", "ref original identifier at\na - M1 13:00:00")
    apply_in(store, later(1))
    expected = state if policy == "unique_exact" else "waiting"
    assert [expected] == [each[1] for each in told(store)]


def test_a_policy_goes_by_the_merchant_where_there_is_no_identifier(store: Store) -> None:
    bought(store, "ref\n1")
    store.connection.execute("update institutions set refund_auto_link = 'unique_exact'")
    given(store, "refunds", "ref original merchant at\na - bakery 13:00:00\nb - cinema 13:00:00")
    apply_in(store, later(1))
    assert [("a", "linked"), ("b", "waiting")] == [each[:2] for each in told(store)]


@slow
def test_what_a_policy_linked_makes_nothing_else_unique(store: Store) -> None:
    """Of two purchases a refund has both for candidates; another has one, by its window."""
    bought(store, "ref")
    purchases = "ref identifier at\n1 M1 2026-05-01T12:00:00Z\n2 M1 12:00:00"
    given(store, "purchases", purchases)
    store.connection.execute("update institutions set refund_auto_link = 'unique_exact'")
    store.connection.execute("update institutions set refund_window_days = 31")
    decide(store, job())
    refunds = "ref original identifier at\na - M1 13:00:00\nb - M1 2026-06-01T12:00:00Z"
    given(store, "refunds", refunds.replace("13:00:00", "2026-06-02T13:00:00Z"))
    for _ in range(2):
        apply_in(store, later(2))
        assert [("a", "linked"), ("b", "waiting")] == [each[:2] for each in told(store)]


# Against the plain loop


@pytest.mark.parametrize("seed", range(100 if FULL else 2 if GATE else 1))
def test_histories_in_any_cut_end_where_the_plain_loop_ends(seed: int) -> None:
    """Each seed is 100 histories, at everyday size 30, in one store: 2 s."""
    chance = random.Random(seed)  # noqa: S311 - examples, not secrets
    histories = [history(chance, number) for number in range(100 if GATE else 30)]
    with scratch_store(settings()) as store:
        loop = begin(store, histories)
        cuts = chance.randint(1, 5)
        parts = [[chance.randrange(cuts) for _ in rows] for rows in histories_rows(histories)]
        for cut in range(cuts):
            now = NOON + (cut + 1) * DAY
            purchases, refunds = (
                [row for row, part in zip(rows, where, strict=True) if part == cut]
                for rows, where in zip(histories_rows(histories), parts, strict=True)
            )
            if cut == cuts // 2:
                known = [each["later"] for each in histories]
                put(store, "identifiers", known)
                loop.service.merchant_of |= {each["identifier"]: each["merchant"] for each in known}
            put(store, "purchases", purchases)
            loop.buy(purchases)
            put(store, "refunds", refunds)
            loop.come_back(refunds)
            steps = [step for step in ("match", "apply", "settle") if chance.random() < 0.8]
            for step in steps if cut < cuts - 1 else ("match", "apply"):
                if step == "match":
                    decide(store, job(now=now))
                    loop.match(now)
                elif step == "apply":
                    apply_in(store, job(now=now))
                    loop.apply()
                else:
                    settle_in(store, job(now=now))
                    loop.settle(now)
        assert loop.outcomes == outcomes(store)
        assert {key: state for key, (state, _) in loop.states.items()} == ledger(store)
        assert (
            loop.adjustments
            == select(store, "select coalesce(sum(institution_payout_amount), 0) from adjustments")[
                0
            ][0]
        )
        assert [] == unsound(store)
        kinds = {outcome for _, outcome, _ in loop.outcomes.values()}
        assert len(kinds) > 6, "the histories hold hardly anything"


@slow
@pytest.mark.parametrize("seed", range(20 if FULL else tries(1, 2)))
def test_the_order_of_arrival_does_not_matter(seed: int) -> None:
    """Orders and cuts of the same refunds, which come to no more than their purchases: 2 s."""
    chance = random.Random(seed)  # noqa: S311 - examples, not secrets
    histories = [history(chance, number) for number in range(tries(6, 12))]
    purchases, _ = histories_rows(histories)
    refunds = [
        {
            **{name: each[name] for name in ("institution", "cardholder", "card", "identifier")},
            "ref": f"r{number}-{part}",
            "original": each["ref"],
            "merchant": None,
            "amount": each["amount"] * chance.choice([1, 2, 4]) / 8,
            "at": each["at"] + chance.randrange(99) * timedelta(hours=1),
        }
        for number, each in enumerate(purchases)
        for part in range(2)
    ]
    ends = []
    for _ in range(tries(3, 10)):
        with scratch_store(settings()) as store:
            begin(store, histories)
            put(store, "purchases", purchases)
            decide(store, job())
            chance.shuffle(refunds)
            cut = chance.randrange(len(refunds))
            for part in (refunds[:cut], refunds[cut:]):
                put(store, "refunds", part)
                apply_in(store, later(1))
            states = {key: said[0] for key, said in outcomes(store).items()}
            ends.append((ledger(store), states))
    assert ends[:1] * len(ends) == ends


def histories_rows(histories: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return all purchases and all refunds."""
    purchases = [row for each in histories for row in each["purchases"]]
    return purchases, [row for each in histories for row in each["refunds"]]


def begin(store: Store, histories: list[Row]) -> Ledger:
    """Write the catalogue; return the loop that begins with it."""
    put(store, "institutions", [each["institution"] for each in histories])
    for each in histories:
        store.connection.execute(
            "update institutions set refund_auto_link = $auto_link,"
            " refund_window_days = $window_days, clawback_days = $clawback_days"
            " where slug = $institution",
            {
                name: each["institution"][name]
                for name in ("auto_link", "window_days", "clawback_days", "institution")
            },
        )
    merchants = [each["merchant"] for each in histories]
    put(store, "merchants", [{"merchant": name} for name in merchants])
    put(store, "identifiers", [each["known"] for each in histories])
    offers = [row for each in histories for row in each["offers"]]
    links = [row for each in histories for row in each["links"]]
    put(store, "offers", offers)
    put(store, "links", links)
    merchant_of = {row["known"]["identifier"]: row["known"]["merchant"] for row in histories}
    return Ledger(
        Service(offers, links, set(merchants), merchant_of),
        {each["institution"]["institution"]: each["institution"] for each in histories},
    )


def history(chance: random.Random, number: int) -> Row:
    """Draw an institution with offers of one merchant, purchases and refunds."""
    slug, merchant = f"bank-{number:03}", f"shop-{number:03}"
    offers = [
        {
            "offer": f"{merchant}-{place}",
            "merchant": merchant,
            "cashback": Decimal(1 + place),
            "rate": Decimal("0.1"),
            "budget": chance.choice([None, None, Decimal("2.20"), Decimal("4.40")]),
            "uses": chance.choice([None, None, 1, 2]),
            "min_spend": chance.choice([Decimal(0), Decimal(10), Decimal(15)]),
            "starts_at": NOON - 9 * DAY,
            "expires_at": NOON + 9 * DAY,
        }
        for place in range(2)
    ]
    whose = [{"institution": slug, "cardholder": who} for who in ("ann", "ben")]
    purchases = [
        {
            **chance.choice(whose),
            "ref": f"p{place}",
            "merchant": None,
            "identifier": f"{merchant}-{chance.choice('aaab')}",
            "card": chance.choice(["card", "card", "watch"]),
            "amount": Decimal(chance.choice([10, 20, 20, 30])),
            "at": NOON + timedelta(hours=chance.randrange(6)),
        }
        for place in range(chance.randint(3, 8))
    ]
    refunds = [
        refund(chance, chance.choice(purchases), f"r{place}")
        for place in range(chance.randint(3, 9))
    ]
    return {
        "institution": {
            "institution": slug,
            "institution_id": f"00000000-0000-0000-0000-{number:012}",
            "auto_link": chance.choice(["never", "unique_exact"]),
            "window_days": chance.choice([1, 180]),
            "clawback_days": chance.choice([None, None, 0, 30]),
        },
        "merchant": merchant,
        "known": {"identifier": f"{merchant}-a", "merchant": merchant},
        "later": {"identifier": f"{merchant}-b", "merchant": merchant},
        "offers": offers,
        "links": [
            {**each, "offer": offer["offer"], "added_at": NOON - DAY}
            for each in whose
            for offer in offers
        ],
        "purchases": purchases,
        "refunds": refunds,
    }


def refund(chance: random.Random, of: Row, ref: str) -> Row:
    """Draw a refund: full, in part, in excess, early, late, with a reference or not."""
    original = chance.choice([of["ref"]] * 4 + [None, None, "nobody"])
    others = ["ann", "ben"] if original is None else [None, "ann", "ben"]
    return {
        "institution": of["institution"],
        "ref": ref,
        "original": original,
        "cardholder": chance.choice([of["cardholder"]] * 6 + others),
        "card": chance.choice([of["card"]] * 4 + ["watch"]),
        "merchant": None,
        "identifier": of["identifier"],
        "amount": of["amount"] * chance.choice([1, 1, 1, 2]) / chance.choice([1, 1, 2, 4]),
        "at": of["at"] + chance.choice([-1, 0, 1, 1, 30, 24 * 40, 24 * 200]) * timedelta(hours=1),
    }


def outcomes(store: Store) -> Row:
    found = select(
        store,
        "select slug, refund_ref, state, outcome, net_after"
        " from refund_states join institutions using (institution_id)",
    )
    return {(slug, ref): (state, outcome, left) for slug, ref, state, outcome, left in found}


def ledger(store: Store) -> dict[tuple[str, str], str]:
    found = select(store, "select institution, transaction_ref, status from redemption_facts")
    return {(institution, ref): status for institution, ref, status in found}


# The audits find what must not be

BREAKS = {
    "update refund_links set amount = 26": "refunds_take_no_more_than_was_paid",
    "insert into refund_links from refund_links limit 1": "refunds_are_used_once",
    "update refund_links set amount = amount - 1": "refunds_are_used_once",
    "update refunds set cardholder_no = 99": "refunds_are_used_once",
    "update refunds set refunded_at = '2020-01-01'": "refunds_are_used_once",
    "insert into refunds from refunds limit 1": "refunds_are_used_once",
    "insert into refund_dismissals select refund_no, institution_id, 'a', 'b', 9, '2026-06-01'"
    " from refunds": "refunds_are_used_once",
    "update refund_outcomes set outcome = 'kept'": "refunds_cause_their_reversals",
    "update refund_outcomes set redemption_no = 2": "refunds_cause_their_reversals",
    "delete from ledger_moves where status = 'reversed'": "refunds_cause_their_reversals",
    "update refund_outcomes set net_after = 1": "refunds_leave_what_they_say",
    "delete from refund_outcomes": "refunds_leave_what_they_say",
}


@pytest.mark.parametrize("change", BREAKS)
def test_an_audit_finds_what_must_not_be(store: Store, change: str) -> None:
    bought(store, "ref amount\n1 25.00\n2 25.00")
    decide(store, job())
    given(store, "refunds", "ref original amount at\na 1 25.00 13:00:00")
    apply_in(store, later(1))
    assert [] == unsound(store)
    store.connection.execute(change)
    assert BREAKS[change] in unsound(store)


def test_every_audit_of_refunds_is_broken() -> None:
    names = {name for name in audits() if name.startswith("refunds_")}
    assert names == {*BREAKS.values()}
