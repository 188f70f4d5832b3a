"""The same events by file, by batch and one by one: the same store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from doors import open_door
from sizes import slow, tries
from tables import select
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

CATALOGUE = {
    "institutions": "institution\nalder",
    "merchants": "merchant\nbakery\ncinema",
    "identifiers": "identifier merchant\nM1 bakery\nM2 cinema",
    "offers": """
        offer  merchant  cashback  budget  uses  min_spend
        A      bakery    3.00      9.00    -     10.00
        B      bakery    2.00      -       1     0
        C      cinema    5.00      -       -     0
        """,
    "links": "cardholder offer\nann A\nann B\nben A\nben C",
    "keys": "key scopes\nsender transactions",
}
OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "instrument_type": st.sampled_from(["card", "wallet", "bogus"]),
    "mcc": st.sampled_from(["5411", "é", "a,b"]),
    "network": st.sampled_from(["visa", 'q"uote']),
    "merchant_descriptor": st.sampled_from(["CORNER SHOP", "x" * 40]),
    "merchant_id": st.just("6c84fb90-12c4-11e1-840d-7b25c5ee775a"),
}
EVENTS = st.lists(
    st.fixed_dictionaries(
        {
            "cardholder_token": st.sampled_from(["ann", "ben", "cat", "4111111111111111"]),
            "card_token": st.sampled_from(["card", "other"]),
            "card_acceptor_id": st.sampled_from(["M1", "M2", "M9", ""]),
            "amount": st.sampled_from(["20.00", "9.99", "10", "0", "10.001"]),
            "transaction_ref": st.sampled_from([f"r{number}" for number in range(6)]),
            "transacted_at": st.sampled_from(
                ["2026-06-01T10:00:00Z", "2026-06-01T11:30:00+02:00", "2026-06-01"]
            ),
        },
        optional=OPTIONAL,
    ),
    min_size=1,
    max_size=12,
)

KEPT = {
    "purchases": """
        select transaction_ref, cardholder_token, instrument_token, merchant_identifier_type,
            merchant_identifier, purchases.merchant_id, amount, currency, transacted_at,
            received_at, instrument_type, mcc, merchant_descriptor, network
        from purchases
        join cardholders using (cardholder_no)
        join instruments using (instrument_no)
        left join identifiers using (identifier_no)
        left join purchase_details using (purchase_no)
        order by transaction_ref
        """,
    "redemptions": """
        select redemption_id, transaction_ref, offer_id, status, merchant_funded_amount, entry_id
        from redemptions
        join ledger_entries using (redemption_no)
        join offers on offers.offer_no = redemptions.offer_no
        order by transaction_ref
        """,
    "rejects": "select transaction_ref, field, code from rejects order by all",
    "duplicates": "select transaction_ref, is_conflict from duplicates order by all",
    "counts": """
        select sum(received), sum(accepted), sum(duplicates), sum(conflicts), sum(invalid)
        from imports
        """,
}
"""What must be the same, by the query that shows it, without the numbers of rows."""


def body_of(event: dict[str, str]) -> bytes:
    """Write an event as JSON, its amount as the number token it is in the file."""
    others = {name: value for name, value in event.items() if name != "amount"}
    return f'{{"amount": {event["amount"]}, {json.dumps(others)[1:]}'.encode()


def by_file(job: Job, events: list[dict[str, str]]) -> None:
    columns = list(dict.fromkeys(name for event in events for name in event))
    lines = [columns, *([event.get(name, "") for name in columns] for event in events)]
    path = job.path.with_name("events.csv")
    path.write_text("".join(",".join(map(quoted, line)) + "\n" for line in lines))
    import_file(str(path), "alder", job, ImportOptions(), outputs=Outputs())


def quoted(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'


def by_batch(job: Job, events: list[dict[str, str]]) -> None:
    body = b'{"transactions": [' + b", ".join(map(body_of, events)) + b"]}"
    with open_door("command", job) as door:
        reply = door.call("POST", "/api/v1/transactions/batch", key="sender", body=body)
    assert 202 == reply.status


def one_by_one(job: Job, events: list[dict[str, str]]) -> None:
    with open_door("command", job) as door:
        for event in events:
            reply = door.call("POST", "/api/v1/transactions", key="sender", body=body_of(event))
            assert reply.status in {200, 202, 422}


WAYS: dict[str, Callable[[Job, list[dict[str, str]]], None]] = {
    "file": by_file,
    "batch": by_batch,
    "single": one_by_one,
}


def store_after(folder: Path, way: str, events: list[dict[str, str]]) -> dict[str, Any]:
    """Send the events into a new store and match; return what it holds."""
    folder.mkdir(parents=True)
    job = new_store(folder)
    tell(job, **CATALOGUE)
    WAYS[way](job, events)
    match_purchases(job)
    with job.store(read_only=True) as store:
        return {name: select(store, query) for name, query in KEPT.items()}


@slow
@profile(
    max_examples=tries(2, 6),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(events=EVENTS)
def test_the_way_in_makes_no_difference(
    tmp_path_factory: Any, events: list[dict[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("ways")
    stores = {way: store_after(folder / way, way, events) for way in WAYS}
    assert stores["file"] == stores["batch"]
    assert stores["file"] == stores["single"]


ALL_SORTS = [
    {"cardholder_token": "ann", "card_acceptor_id": "M1", "amount": "20.00"},
    {"cardholder_token": "ann", "card_acceptor_id": "M1", "amount": "9.99", "mcc": "5411"},
    {"cardholder_token": "ben", "card_acceptor_id": "M2", "amount": "10", "network": "visa"},
    {"cardholder_token": "ben", "card_acceptor_id": "M9", "amount": "10"},
    {"cardholder_token": "cat", "card_acceptor_id": "M1", "amount": "0"},
    {"cardholder_token": "cat", "card_acceptor_id": "", "amount": "1", "instrument_type": "card"},
]


@slow
def test_what_is_compared_is_really_there(tmp_path: Path) -> None:
    """Purchases with details, redemptions, rejects and duplicates of both kinds."""
    usual = {"card_token": "card", "transacted_at": "2026-06-01T10:00:00Z"}
    events = [
        {**usual, **event, "transaction_ref": f"r{number}"}
        for number, event in enumerate(ALL_SORTS)
    ]
    events += [events[0], {**events[0], "amount": "21.00"}]
    stores = {way: store_after(tmp_path / way, way, events) for way in WAYS}
    assert stores["file"] == stores["batch"] == stores["single"]
    assert {"purchases": 5, "redemptions": 3, "rejects": 1, "duplicates": 2, "counts": 1} == {
        name: len(rows) for name, rows in stores["single"].items()
    }
    assert [(8, 5, 2, 1, 1)] == [tuple(map(int, row)) for row in stores["single"]["counts"]]
