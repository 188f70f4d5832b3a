from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.imports import ImportOptions
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.simulate import simulate_event, simulate_file
from sizes import one_in, slow, tries
from tables import moment, uid
from work import file_of, found, kept, new_store, once, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

CATALOGUE = {
    "institutions": "institution plan\nalder growth\nbrook growth\ncedar starter",
    "merchants": "merchant\nbakery\ncinema",
    "identifiers": "identifier merchant\nM1 bakery\nM2 cinema",
    "offers": """
        offer  merchant  cashback  rate  budget  uses  min_spend  starts_at  expires_at
        A      bakery    3.00      0.1   6.60    -     0          11:00:00   14:00:00
        B      bakery    2.00      0     -       1     0          11:00:00   14:00:00
        C      cinema    5.00      0     -       -     10.00      11:00:00   14:00:00
        """,
    "programs": "offer\nA\nB\nC",
    "links": """
        institution  cardholder  offer  added_at
        alder        ann         A      10:00:00
        alder        ann         B      12:30:00
        alder        ben         C      10:00:00
        brook        ann         A      10:00:00
        """,
}
PURCHASES = """
ref  cardholder  identifier  amount  at
r1   ann         M1          20.00   2026-06-01T12:00:00Z
r2   ann         M1          20.00   2026-06-01T12:30:00Z
r3   ann         M1          20.00   2026-06-01T12:31:00Z
r4   ben         M2          9.99    2026-06-01T12:00:00Z
r5   ben         M2          10.00   2026-06-01T10:59:59Z
r6   ben         M2          10.00   2026-06-01T14:00:00Z
r7   ben         M9          10.00   2026-06-01T12:00:00Z
r8   cat         M1          10.00   2026-06-01T12:00:00Z
r9   ann         M1          0       2026-06-01T12:00:00Z
r1   ann         M1          20.00   2026-06-01T12:00:00Z
"""


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return where_one_waits(tmp_path)


@once
def where_one_waits(folder: Path) -> Job:
    """Make a store in which one purchase of another institution waits for a match."""
    made = new_store(folder)
    tell(made, **CATALOGUE)
    waiting = "ref cardholder identifier at\nw1 ann M1 2026-06-01T11:30:00Z"
    taken(made, file_of(folder / "waiting.csv", waiting), "brook")
    return made


def simulated(made: Job, path: Path, institution: str = "alder", **outputs: Path) -> dict[str, Any]:
    done = simulate_file(str(path), institution, made, ImportOptions(), outputs=Outputs(**outputs))
    return done.document()


@slow
def test_nothing_is_written_whatever_comes_of_it(made: Job, tmp_path: Path) -> None:
    before = kept(made)
    simulated(made, file_of(tmp_path / "tx.csv", PURCHASES))
    simulated(made, file_of(tmp_path / "tx.csv", PURCHASES), "cedar")
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"")
    with pytest.raises(FileUnusable):
        simulated(made, broken)
    assert before == kept(made)


@slow
def test_every_purchase_is_told_with_its_reasons(made: Job, tmp_path: Path) -> None:
    told = simulated(made, file_of(tmp_path / "tx.csv", PURCHASES))
    assert (True, 10, 8, 1, 1) == tuple(
        told[name] for name in ("simulated", "received", "accepted", "duplicates", "invalid")
    )
    items = {
        item["transaction_ref"]: (
            item["outcome"],
            item["reason"],
            {check["offer_id"]: check["outcome"] for check in item["evaluations"]},
        )
        for item in told["items"]
    }
    assert {
        "r1": ("match", "redeemed", {"A": "redeemed", "B": "enrolled_after_purchase"}),
        "r2": ("match", "redeemed", {"A": "budget_exhausted", "B": "redeemed"}),
        "r3": (
            "no_match",
            "redemption_limit_reached",
            {"A": "budget_exhausted", "B": "redemption_limit_reached"},
        ),
        "r4": ("no_match", "below_min_spend", {"C": "below_min_spend"}),
        "r5": ("no_match", "offer_not_started", {"C": "offer_not_started"}),
        "r6": ("no_match", "offer_expired", {"C": "offer_expired"}),
        "r7": ("no_match", "merchant_unresolved", {"C": "merchant_unresolved"}),
        "r8": ("no_match", "not_enrolled", {"A": "not_enrolled", "B": "not_enrolled"}),
    } == items
    assert (2, 6) == (told["match"], told["no_match"])


def test_amounts_are_those_of_the_ledger(made: Job, tmp_path: Path) -> None:
    told = simulated(made, file_of(tmp_path / "tx.csv", PURCHASES))
    amounts = {
        item["transaction_ref"]: [
            str(item[f"{name}_amount"])
            for name in ("merchant_funded", "commission", "institution_payout")
        ]
        for item in told["items"]
        if item["outcome"] == "match"
    }
    assert {"r1": ["3.30", "0.30", "3.00"], "r2": ["2.00", "0.00", "2.00"]} == amounts


def test_import_and_match_give_what_was_simulated(made: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", PURCHASES)
    outputs = {name: tmp_path / f"{name}.csv" for name in ("errors", "valid", "rejected")}
    told = simulated(made, path, **outputs)
    foreseen = {
        (item["transaction_ref"], check["offer_id"]): check["outcome"]
        for item in told["items"]
        for check in item["evaluations"]
        if check["outcome"] not in {"not_enrolled", "merchant_unresolved"}
    }
    written = {name: output.read_bytes() for name, output in outputs.items()}
    imported = taken(made, path, **outputs)
    assert written == {name: output.read_bytes() for name, output in outputs.items()}
    assert {name: told[name] for name in ("sha256", "findings", "amount_accepted")} == {
        name: imported[name] for name in ("sha256", "findings", "amount_accepted")
    }
    match_purchases(made)
    came = found(
        made,
        "select transaction_ref, offer_id, outcome from outcomes"
        " join purchases using (purchase_no) join offers using (offer_no)"
        " join institutions using (institution_id) where slug = 'alder'",
    )
    assert foreseen == {(ref, offer): outcome for ref, offer, outcome in came}


ROW = st.fixed_dictionaries(
    {
        "ref": st.integers(0, 30).map(str),
        "cardholder": st.sampled_from(["ann", "ann", "ben", "cat"]),
        "identifier": st.sampled_from(["M1", "M1", "M2", "M9", None]),
        "amount": st.sampled_from(["9.99", "10.00", "0"]),
        "at": st.sampled_from([f"2026-06-01T{hour}:30:00Z" for hour in (10, 11, 12, 13, 14)]),
    }
)


@slow
@profile(max_examples=tries(2, 6), deadline=None)
@examples(rows=st.lists(ROW, min_size=10, max_size=25))
def test_whatever_the_file_what_is_simulated_comes_true(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("simulated")
    made = new_store(folder)
    tell(made, **CATALOGUE)
    path = file_of(folder / "tx.csv", rows)
    before = kept(made)
    told = simulated(made, path)
    assert before == kept(made)
    assert told["accepted"] == taken(made, path)["accepted"]
    match_purchases(made)
    came = found(
        made,
        "select transaction_ref, offer_id, merchant_funded_amount from ledger_entries"
        " join redemptions using (redemption_no)"
        " join offers on offers.offer_no = redemptions.offer_no order by all",
    )
    assert came == sorted(
        (item["transaction_ref"], item["offer_id"], item["merchant_funded_amount"])
        for item in told["items"]
        if item["outcome"] == "match"
    )


# One event

EVENT = {
    "cardholder_token": "ann",
    "card_token": "card",
    "card_acceptor_id": "M1",
    "amount": 20,
    "transaction_ref": "e1",
    "transacted_at": "2026-06-01T12:00:00Z",
}


def simulated_event(made: Job, institution: str = "alder", **changes: Any) -> dict[str, Any]:
    with made.store() as store:
        owner = find_institution(store, institution)
        simulated = simulate_event(store, owner, {**EVENT, **changes}, made)
    assert simulated.item is not None, simulated.errors
    return simulated.item


def test_an_event_says_what_it_would_redeem(made: Job) -> None:
    assert {
        "line": 0,
        "transaction_ref": "e1",
        "outcome": "match",
        "reason": "redeemed",
        "merchant_id": uid("bakery"),
        "offer_id": "A",
        "merchant_funded_amount": Decimal("3.30"),
        "commission_amount": Decimal("0.30"),
        "institution_payout_amount": Decimal("3.00"),
        "currency": "GBP",
        "evaluations": [
            {"offer_id": "A", "outcome": "redeemed", "expected": None, "actual": None},
            {
                "offer_id": "B",
                "outcome": "enrolled_after_purchase",
                "expected": moment("12:00:00"),
                "actual": moment("12:30:00"),
            },
        ],
    } == simulated_event(made)


OUTCOMES = [
    ({"card_acceptor_id": "M9"}, "merchant_unresolved"),
    ({"card_acceptor_id": "M2"}, "not_enrolled"),
    ({"cardholder_token": "zoe"}, "not_enrolled"),
    ({"cardholder_token": "ben", "card_acceptor_id": "M2", "amount": 9}, "below_min_spend"),
    ({"transacted_at": "2026-06-01T10:59:59Z"}, "offer_not_started"),
    ({"transacted_at": "2026-06-01T14:00:00Z"}, "offer_expired"),
    ({"card_acceptor_id": None}, "merchant_unresolved"),
]


@pytest.mark.parametrize(("changes", "reason"), OUTCOMES)
@one_in(2)
def test_an_event_says_why_it_would_redeem_nothing(
    made: Job, changes: dict[str, Any], reason: str
) -> None:
    item = simulated_event(made, **changes)
    assert ("no_match", None, reason) == (item["outcome"], item["offer_id"], item["reason"])


def test_an_event_keeps_nothing_row_for_row(made: Job, tmp_path: Path) -> None:
    taken(made, file_of(tmp_path / "tx.csv", PURCHASES))
    match_purchases(made)
    before = kept(made)
    for _ in range(2):
        simulated_event(made)
        simulated_event(made, transaction_ref="r1")
        simulated_event(made, "brook", card_token="new", card_acceptor_id="new")  # noqa: S106
    assert before == kept(made)


@slow
def test_a_known_ref_counts_as_new(made: Job, tmp_path: Path) -> None:
    rows = "ref cardholder identifier at\nr7 ann M9 2026-06-01T12:00:00Z"
    taken(made, file_of(tmp_path / "tx.csv", rows))
    match_purchases(made)
    item = simulated_event(made, transaction_ref="r7")
    assert ("match", "A") == (item["outcome"], item["offer_id"])


@slow
def test_an_event_meets_what_is_decided_and_nothing_that_waits(made: Job, tmp_path: Path) -> None:
    """The budget of A is for two: one purchase waits, two are decided before a third asks."""
    assert "A" == simulated_event(made)["offer_id"]
    rows = "ref cardholder identifier at\nr1 ann M1 2026-06-01T12:00:00Z"
    taken(made, file_of(tmp_path / "tx.csv", rows))
    assert "A" == simulated_event(made)["offer_id"]
    match_purchases(made)
    item = simulated_event(made)
    assert ("no_match", "budget_exhausted") == (item["outcome"], item["reason"])


CONTESTED = [
    # what brook's purchase and these leave of the budget of A, which is for two, and of B's one use
    ("r1 12:00:00", None, ["budget_exhausted", "enrolled_after_purchase"]),
    ("r1 12:45:00", "B", ["budget_exhausted", "redeemed"]),
    ("r1 12:00:00\nr3 12:45:00", None, ["budget_exhausted", "redemption_limit_reached"]),
]


@slow
@pytest.mark.parametrize(("before", "offer", "outcomes"), CONTESTED)
def test_an_event_takes_its_turn_with_each_offer(
    made: Job, tmp_path: Path, before: str, offer: str | None, outcomes: list[str]
) -> None:
    rows = [line.split() for line in before.splitlines()]
    at = "12:00:00" if outcomes[1] == "enrolled_after_purchase" else "12:50:00"
    text = "\n".join(f"{ref} ann M1 2026-06-01T{time}Z" for ref, time in rows)
    taken(made, file_of(tmp_path / "tx.csv", f"ref cardholder identifier at\n{text}"))
    match_purchases(made)
    event = {**EVENT, "transacted_at": f"2026-06-01T{at}Z"}
    item = simulated_event(made, **event)
    path = tmp_path / "event.json"
    path.write_text(json.dumps([event]))
    assert simulated(made, path)["items"] == [item]
    assert (offer, outcomes) == (
        item["offer_id"],
        [evaluation["outcome"] for evaluation in item["evaluations"]],
    )


def test_an_event_comes_to_what_a_file_with_it_comes_to(made: Job, tmp_path: Path) -> None:
    """As no other purchase waits in its way, the two answers are the same."""
    match_purchases(made)
    path = tmp_path / "event.json"
    path.write_text(json.dumps([EVENT]))
    (item,) = simulated(made, path)["items"]
    assert item == simulated_event(made)
