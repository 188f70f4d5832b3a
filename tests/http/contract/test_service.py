"""The service: calls together in one opening of the store, each with an answer of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from cardoffers_cli.copies.work import publish
from cardoffers_cli.http.contract.messages import Call
from cardoffers_cli.http.contract.service import Service
from cardoffers_cli.kernel.store.layout import snapshot_path
from cardoffers_cli.kernel.store.usage_journal import UsageJournal
from cardoffers_cli.kernel.words.errors import StoreBusy
from cardoffers_cli.keys.work import revoke_key
from doors import key_of
from tables import NOON, select
from work import found, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.http.contract.messages import Answer
    from cardoffers_cli.kernel.store.job import Job

REDEMPTIONS = ("GET", "/api/v1/reporting/redemptions")
SINGLE = ("POST", "/api/v1/transactions")
HEALTH = ("GET", "/healthz")
BATCH = ("POST", "/api/v1/transactions/batch")


@pytest.fixture
def job(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution\nalder\nbrook",
        keys="""
            key       institution  scopes                         created     expires
            alderall  alder        offers|reporting|transactions  2026-01-01  2027-01-01
            brookall  brook        offers|reporting|transactions  2026-01-01  2027-01-01
            """,
    )
    return made


def service(job: Job) -> Service:
    return Service(job, lambda: NOON)


def event(ref: str, **changes: Any) -> dict[str, Any]:
    usual = {
        "cardholder_token": "ann",
        "card_token": "card",
        "card_acceptor_id": "M1",
        "amount": 20,
        "transaction_ref": ref,
        "transacted_at": "2026-06-01T09:00:00Z",
    }
    return {**usual, **changes}


def call(endpoint: tuple[str, str], key: str | None = None, body: Any = None) -> Call:
    method, path = endpoint
    headers = {"content-type": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key_of(key)}"
    return Call(
        method=method,
        path=path,
        request_id=str(uuid4()),
        headers=headers,
        body=b"" if body is None else json.dumps(body).encode(),
    )


def told(answers: list[Answer]) -> list[tuple[int, Any]]:
    """Return the status of each answer with its code, or with the status of its event."""
    documents = [json.loads(answer.body) for answer in answers]
    return [
        (answer.status, document.get("code") or document.get("status"))
        for answer, document in zip(answers, documents, strict=True)
    ]


def test_each_call_has_its_own_answer_in_the_order_of_the_calls(job: Job) -> None:
    calls = [
        call(SINGLE, "alderall", event("A")),
        call(("GET", "/nowhere")),
        call(REDEMPTIONS, "brookall"),
        call(SINGLE, "brookall", event("A")),
        call(SINGLE, "alderall", event("A")),
        call(SINGLE, "alderall", event("B", amount=0)),
        call(SINGLE, None, event("C")),
        call(SINGLE, "alderall", event("D", institution_id=str(uuid4()))),
        call(("GET", "/openapi.json")),
    ]
    assert [
        (202, "accepted"),
        (404, "not_found"),
        (200, None),
        (202, "accepted"),
        (200, "duplicate"),
        (422, "invalid"),
        (401, "unauthenticated"),
        (403, "institution_mismatch"),
        (200, None),
    ] == told(service(job).answer_all(calls, wait_s=1))


def test_a_group_of_calls_is_one_run_for_each_institution(job: Job) -> None:
    calls = [call(SINGLE, key, event(ref)) for ref in "ABC" for key in ("alderall", "brookall")]
    service(job).answer_all(calls, wait_s=1)
    assert [(2,)] == found(job, "select count(*) from runs where kind = 'receive'")
    assert [(6,)] == found(job, "select count(*) from imports where file_kind = 'call'")


def test_where_a_group_fails_each_call_is_tried_alone(job: Job) -> None:
    """No request is known that makes the store fail, so here the store refuses one ref."""
    with job.store() as store:
        [(made,)] = select(
            store, "select sql from duckdb_tables() where table_name = 'recent_purchases'"
        )
        refusing = made.removesuffix(");") + ", check (transaction_ref <> 'BAD'));"
        store.connection.execute(f"drop table recent_purchases; {refusing}")
    faults: list[str] = []
    calls = [call(SINGLE, "alderall", event(ref)) for ref in ("A", "BAD", "B")]
    answering = Service(job, lambda: NOON, lambda request_id, _error: faults.append(request_id))
    assert [(202, "accepted"), (500, "internal"), (202, "accepted")] == told(
        answering.answer_all(calls, wait_s=1)
    )
    assert [calls[1].request_id] == faults
    assert [("A",), ("B",)] == found(job, "select transaction_ref from purchases order by 1")


def test_while_the_store_is_held_nothing_is_done(job: Job) -> None:
    with job.store(), pytest.raises(StoreBusy):
        service(job).answer_all([call(SINGLE, "alderall", event("A"))], wait_s=0)
    assert [] == found(job, "select transaction_ref from purchases")


def test_what_needs_no_store_is_answered_while_it_is_held(job: Job) -> None:
    with job.store():
        calls = [call(place) for place in (("GET", "/openapi.json"), HEALTH, ("PUT", SINGLE[1]))]
        assert [(200, None), (200, "ok"), (405, "method_not_allowed")] == told(
            service(job).answer_all(calls, wait_s=0)
        )


def test_reads_fall_back_to_the_snapshot_and_say_so(job: Job) -> None:
    publish(job)
    tell(job, keys="key institution scopes created expires\nnew alder - 2026-01-01 -")
    with job.store():
        calls = [
            call(REDEMPTIONS, "alderall"),
            call(REDEMPTIONS, "new"),
            call(REDEMPTIONS),
            call(("GET", "/api/v1/offers"), "alderall"),
            call(SINGLE, "alderall", event("A")),
        ]
        answers = service(job).answer_busy(calls)
    assert [(200, None), (503, "busy"), (401, "unauthenticated"), (503, "busy"), (503, "busy")] == (
        told(answers)
    )
    assert ["2026-06-01T12:00:00.000Z", None] == [
        answer.headers.get("x-snapshot-at") for answer in answers[:2]
    ]
    assert {"5"} == {answer.headers["retry-after"] for answer in answers if answer.status == 503}


def test_a_damaged_snapshot_is_as_good_as_none(job: Job) -> None:
    publish(job)
    snapshot_path(job.path).write_bytes(b"no snapshot")
    with job.store():
        assert [(503, "busy")] == told(service(job).answer_busy([call(REDEMPTIONS, "alderall")]))


def test_without_a_snapshot_everybody_is_told_to_come_back(job: Job) -> None:
    with job.store():
        assert [(503, "busy")] == told(service(job).answer_busy([call(REDEMPTIONS, "alderall")]))


def test_a_revoked_key_does_not_read_the_snapshot(job: Job) -> None:
    publish(job)
    [(key_id,)] = found(job, "select cast(key_id as varchar) from api_keys where name = 'alderall'")
    revoke_key(key_id, job)
    with job.store():
        assert [(503, "busy")] == told(service(job).answer_busy([call(REDEMPTIONS, "alderall")]))


def test_a_call_without_its_body_is_refused_and_never_done(job: Job) -> None:
    tell(job, keys="key institution revoked\nrevoked alder 2026-05-01")
    calls = [
        replace(call(SINGLE, key, event("A")), body=b"", is_head_only=True)
        for key in ("unknown", "revoked", "alderall")
    ]
    assert [(401, "unauthenticated"), (403, "token_revoked"), (503, "busy")] == told(
        service(job).answer_all(calls, wait_s=1)
    )
    assert [("key_refused",)] * 2 == found(job, "select kind from acts")
    assert [] == found(job, "select transaction_ref from purchases")


def test_keys_are_read_from_the_store_or_else_from_the_snapshot(job: Job) -> None:
    def seen() -> tuple[bool, int]:
        keyring = service(job).read_keyring(wait_s=0)
        return keyring.is_whole, sum(map(len, keyring.hashes.values()))

    with job.store():
        assert (False, 0) == seen()
    publish(job)
    tell(job, keys="key institution\nnew alder")
    with job.store():
        assert (False, 2) == seen()
    assert (True, 3) == seen()


def test_refused_keys_come_into_the_security_log(job: Job) -> None:
    service(job).answer_all([call(SINGLE, "unknown", event("A"))], wait_s=1)
    later = Service(job, lambda: NOON.replace(hour=13))
    later.answer_all([call(SINGLE, "alderall", event("A"))], wait_s=1)
    assert [("key_refused",)] == found(job, "select kind from acts order by act_no")


def test_a_log_that_cannot_be_kept_spoils_no_answer_and_waits_in_the_book(job: Job) -> None:
    """What is committed must not be answered 500 because of what is tidied up afterwards."""
    with job.store() as store:
        store.connection.execute("alter table acts rename to elsewhere")
    calls = [call(SINGLE, "unknown", event("A")), call(SINGLE, "alderall", event("A"))]
    assert [(401, "unauthenticated"), (202, "accepted")] == told(
        service(job).answer_all(calls, wait_s=1)
    )
    with UsageJournal(job.path) as book:
        assert ["unauthenticated"] == [failure.code for failure in book.entries().failures]
