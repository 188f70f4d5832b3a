"""Events of calls: taken together, each call an import of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.intake.documents import parse_marked
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.river.events import EventCall, EventCallResult, take_events
from tables import NOON, uid
from work import found, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder\nbrook")
    return made


def event(ref: str, amount: str = "20.00", more: str = "") -> str:
    return (
        f'{{"cardholder_token": "ann", "card_token": "card", "card_acceptor_id": "M1",'
        f' "amount": {amount}, "transaction_ref": "{ref}",'
        f' "transacted_at": "2026-06-01T09:00:00Z"{more}}}'
    )


def sent(name: str, *events: str) -> EventCall:
    items, marked = parse_marked(f"[{','.join(events)}]".encode())
    return EventCall(
        call_id=uid(name),
        items=items,
        body_sha256="0" * 64,
        size_bytes=1,
        key_prefix="co_live_abcd",
        marked=marked,
    )


def take(job: Job, *calls: EventCall, institution: str = "alder") -> list[EventCallResult]:
    with job.store() as store:
        return take_events(store, find_institution(store, institution), calls, job)


def told(taken: EventCallResult) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return (item, code) of each error, and (item, ref, conflict) of each known ref."""
    receipt = taken.receipt
    return (
        [(row["item"], row["code"]) for row in receipt.errors],
        [(row["item"], row["transaction_ref"], row["is_conflict"]) for row in receipt.repeated],
    )


def test_each_call_learns_of_its_own_items(job: Job) -> None:
    first = sent("first", event("A"), "5", event("A"), event("B", "0"))
    second = sent("second", event("A", "9.99"), event("C"))
    third = sent("third")
    assert [
        ([(1, "not_an_object"), (3, "amount_not_positive")], [(2, "A", False)]),
        ([], [(0, "A", True)]),
        ([], []),
    ] == [told(taken) for taken in take(job, first, second, third)]
    assert [("A", 1, 0), ("C", 2, 1)] == found(
        job, "select transaction_ref, import_no, line from purchases order by 1"
    )


def test_each_call_is_an_import_that_adds_up(job: Job) -> None:
    take(
        job,
        sent("first", event("A", more=', "colour": "red", "size": 5'), "5", event("A")),
        sent("second", event("A", "9.99"), event("C")),
    )
    assert [
        (uid("first"), "call", 3, 1, 1, 0, 1, '{"key": "co_live_abcd", "unknown_fields": 2}'),
        (uid("second"), "call", 2, 1, 1, 1, 0, '{"key": "co_live_abcd", "unknown_fields": 0}'),
    ] == found(
        job,
        "select import_id, file_kind, received, accepted, duplicates, conflicts, invalid, options"
        " from imports order by import_no",
    )
    assert [(1, 1)] == found(job, "select import_no, line from rejects")
    assert [(1, 2, False), (2, 0, True)] == found(
        job, "select import_no, line, is_conflict from duplicates order by all"
    )


def test_the_next_group_goes_on_where_the_last_one_ended(job: Job) -> None:
    take(job, sent("first", event("A")), sent("second", event("B")))
    take(job, sent("third", event("C"), event("A")))
    assert [("A", 1, 0), ("B", 2, 0), ("C", 3, 0)] == found(
        job, "select transaction_ref, import_no, line from purchases order by purchase_no"
    )


def test_a_ref_has_one_receipt_however_often_it_comes(job: Job) -> None:
    (new,) = take(job, sent("new", event("A")))
    later = job.__class__(**{**vars(job), "now": NOON.replace(hour=13)})
    (again,) = take(later, sent("again", event("A")))
    (other,) = take(later, sent("other", event("A", "1.00")))
    assert new.receipt.first is not None
    expected = {**new.receipt.first, "is_duplicate": True}
    assert (False, False, NOON) == tuple(
        new.receipt.first[name] for name in ("is_duplicate", "is_conflict", "received_at")
    )
    assert expected == again.receipt.first
    assert {**expected, "is_conflict": True} == other.receipt.first


def test_institutions_do_not_share_refs(job: Job) -> None:
    (ours,) = take(job, sent("ours", event("A")))
    (theirs,) = take(job, sent("theirs", event("A")), institution="brook")
    assert ours.receipt.first is not None
    assert theirs.receipt.first is not None
    assert not theirs.receipt.first["is_duplicate"]
    assert ours.receipt.first["transaction_id"] != theirs.receipt.first["transaction_id"]


def test_optional_fields_stay_with_their_purchase(job: Job) -> None:
    take(
        job,
        sent("first", event("A"), event("B", more=', "mcc": "5411"')),
        sent("second", event("C", more=', "network": "visa"')),
    )
    assert [("B", "5411", None), ("C", None, "visa")] == found(
        job,
        "select transaction_ref, mcc, network from purchase_details"
        " join purchases using (purchase_no) order by 1",
    )


def test_a_field_named_twice_makes_its_item_invalid(job: Job) -> None:
    (taken,) = take(job, sent("call", event("A", more=', "amount": 3.00'), event("B")))
    assert ([(0, "duplicate_key")], []) == told(taken)
