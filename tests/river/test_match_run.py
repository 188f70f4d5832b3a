from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.river.engines import match_purchases
from sizes import slow, tries
from tables import NOON
from work import RECORDS, file_of, found, job, kept, new_store, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from cardoffers_cli.kernel.store.job import Job

CATALOGUE = {
    "institutions": "institution\nalder\nbrook",
    "merchants": "merchant\nbakery\ncinema",
    "identifiers": "identifier merchant\nM1 bakery\nM2 cinema",
    "offers": """
        offer  merchant  cashback  rate   budget  uses
        A      bakery    3.00      0.1    7.00    -
        B      bakery    2.00      0.015  -       1
        C      bakery    1.00      0      2.00    -
        D      cinema    5.00      0      16.00   2
        """,
    "links": """
        institution  cardholder  offer
        alder        ann         A
        alder        ann         B
        alder        ann         D
        alder        ben         A
        alder        ben         C
        brook        ann         A
        brook        ann         C
        brook        ann         D
        brook        ben         D
        """,
}


def store_with_catalogue(folder: Path) -> Job:
    made = new_store(folder)
    tell(made, **CATALOGUE)
    return made


def redemptions(made: Job) -> list[tuple[Any, ...]]:
    """Return every redemption with its amounts; what differs is when a number was given."""
    return found(
        made,
        "select redemption_id, entry_id, transaction_ref, offer_id, merchant_funded_amount,"
        " commission_amount, institution_payout_amount, ledger_entries.created_at, status"
        " from redemptions join ledger_entries using (redemption_no)"
        " join offers on offers.offer_no = redemptions.offer_no order by all",
    )


def outcomes(made: Job) -> list[tuple[Any, ...]]:
    return found(
        made,
        "select purchases.institution_id, transaction_ref, offer_id, outcome from outcomes"
        " join purchases using (purchase_no) join offers using (offer_no) order by all",
    )


PURCHASE = st.fixed_dictionaries(
    {
        "cardholder": st.sampled_from(["ann", "ben"]),
        "identifier": st.sampled_from(["M1", "M1", "M2", "M9", None]),
        "amount": st.sampled_from(["5.00", "20.00"]),
        "at": st.sampled_from([f"2026-06-01T12:00:0{n}Z" for n in range(5)]),
    }
)
INPUT = st.lists(
    st.tuples(st.sampled_from(["alder", "brook"]), PURCHASE), min_size=8, max_size=25
).map(lambda rows: [(where, {"ref": f"r{n}", **row}) for n, (where, row) in enumerate(rows)])


@profile(max_examples=tries(2, 6), deadline=None)
@examples(rows=INPUT, data=st.data())
def test_shuffling_and_cutting_the_input_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], data: st.DataObject
) -> None:
    answers = []
    shuffled = data.draw(st.permutations(rows))
    files = data.draw(st.lists(st.integers(1, 2), min_size=len(rows), max_size=len(rows)))
    for order, cut in ((rows, [1] * len(rows)), (shuffled, files)):
        folder = tmp_path_factory.mktemp("cut")
        made = store_with_catalogue(folder)
        for part in sorted(set(cut)):
            for where in ("brook", "alder"):
                chosen = [
                    row
                    for (owner, row), number in zip(order, cut, strict=True)
                    if (owner, number) == (where, part)
                ]
                taken(made, file_of(folder / "tx.csv", chosen), where)
        match_purchases(made)
        answers.append((redemptions(made), outcomes(made)))
    assert answers[0] == answers[1]


def test_everything_again_changes_nothing(tmp_path: Path) -> None:
    made = store_with_catalogue(tmp_path)
    path = file_of(
        tmp_path / "tx.csv",
        """
        ref  cardholder  identifier
        1    ann         M1
        2    ann         M1
        3    ben         M1
        4    ben         M2
        5    cat         M1
        6    ann         M9
        1    ann         M1
        """,
    )
    taken(made, path)
    match_purchases(made)
    before = kept(made, *RECORDS)
    later = job(made.path, now=NOON + timedelta(days=3))
    taken(later, path)
    told = match_purchases(later).document()
    assert (1, 0, 1) == tuple(
        told[name] for name in ("considered", "redeemed", "merchant_unresolved")
    )
    assert before == kept(made, *RECORDS)


@slow
def test_a_dry_run_tells_the_same_and_keeps_nothing(tmp_path: Path) -> None:
    made = store_with_catalogue(tmp_path)
    taken(made, file_of(tmp_path / "tx.csv", "ref identifier\n1 M1\n2 M2"))
    before = kept(made)
    dry = match_purchases(made, dry_run=True).document()
    assert before == kept(made)
    wet = match_purchases(made).document()
    assert [True, False] == [told["dry_run"] for told in (dry, wet)]
    assert {**dry, "run_id": wet["run_id"], "dry_run": False} == wet
    assert 2 == wet["redeemed"]


def test_a_run_is_recorded(tmp_path: Path) -> None:
    made = store_with_catalogue(tmp_path)
    told = match_purchases(made).document()
    assert [(told["run_id"], "match", NOON, "tester")] == found(
        made, "select run_id, kind, as_of, actor from runs"
    )
