from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.usage_journal import Entries, UsageJournal
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.keys import security
from cardoffers_cli.keys.security import collect, list_security, verify_security
from sizes import one_in
from tables import NOON, given, select, uid
from work import new_store

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

ZEROS = "0" * 64


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A store with three entries in its log: two of alder's key, one of brook."""
    job = new_store(tmp_path)
    with job.store() as store:
        given(store, "institutions", "institution\nalder\nbrook")
        for number, (event, institution, key) in enumerate(
            [
                ("key_created", "alder", "key"),
                ("key_created", "brook", None),
                ("key_revoked", "alder", "key"),
            ],
            start=1,
        ):
            acts.append(
                store,
                event,
                acts.ChangeAuthor(
                    run_no=number, now=NOON + timedelta(minutes=number), actor="tester"
                ),
                event_id=uid(f"event {number}"),
                institution_id=uid(institution),
                key_id=uid(key) if key else None,
                details={"number": number},
            )
    return job


def tamper(job: Job, *statements: str) -> None:
    with job.store() as store:
        for sql in statements:
            store.connection.execute(sql)


def faults(job: Job, head: str | None = None) -> list[tuple[int, str]]:
    checked = verify_security(job, head)
    assert checked["ok"] == (not checked["faults"])
    return [(fault["entry_no"], fault["fault"]) for fault in checked["faults"]]


def head(job: Job) -> str:
    return str(verify_security(job)["head"])


# Listing


def numbers(job: Job, *words: Any, **filters: Any) -> list[int]:
    return [entry["details"]["number"] for entry in list_security(job, *words, **filters)]


def test_an_entry_is_shown_with_all_that_is_known(job: Job) -> None:
    (shown,) = list_security(job, limit=1)
    assert {
        "entry_no": 3,
        "event_id": uid("event 3"),
        "happened_at": NOON + timedelta(minutes=3),
        "institution": "alder",
        "key_id": uid("key"),
        "event": "key_revoked",
        "subject": None,
        "actor": "tester",
        "approver": None,
        "details": {"number": 3},
        "recorded_at": None,
    } == shown


def test_entries_are_filtered_the_newest_first(job: Job) -> None:
    second = NOON + timedelta(minutes=2)
    assert [3, 2, 1] == numbers(job)
    assert [3, 1] == numbers(job, "alder")
    assert [2, 1] == numbers(job, event="key_created")
    assert [3, 2] == numbers(job, from_at=second)
    assert [1] == numbers(job, to_at=second)
    assert [3] == numbers(job, "alder", limit=1)
    with pytest.raises(NotFound):
        numbers(job, "nobody")


# Proof


def test_a_log_that_nobody_touched_is_whole(job: Job) -> None:
    checked = verify_security(job)
    assert (True, 3, []) == (checked["ok"], checked["entries"], checked["faults"])
    assert [] == faults(job, checked["head"])
    assert [] == faults(job, f"0:{ZEROS}")


def test_an_empty_log_is_whole_and_has_a_head(tmp_path: Path) -> None:
    checked = verify_security(new_store(tmp_path))
    assert {"ok": True, "entries": 0, "head": f"0:{ZEROS}", "faults": []} == checked


CHANGES = {
    "act_no": "7",
    "event_id": f"cast('{uid('other')}' as uuid)",
    "run_no": "null",
    "happened_at": "happened_at + interval 1 microsecond",
    "institution_id": f"cast('{uid('other')}' as uuid)",
    "key_id": "null",
    "kind": "'key_rotated'",
    "subject": "'other'",
    "actor": "'nobody'",
    "approver": "'nobody'",
    "row_sha256": f"'{ZEROS}'",
    "details": "'{}'",
    "previous_hash": f"'{ZEROS[1:]}1'",
    "hash": f"'{ZEROS[1:]}1'",
}


@pytest.mark.parametrize("column", CHANGES)
@one_in(4)
def test_a_change_of_any_column_of_any_row_is_found(job: Job, column: str) -> None:
    for number in (1, 2, 3):
        value = CHANGES[column] if (column, number) != ("key_id", 2) else CHANGES["event_id"]
        change = f"update acts set {column} = {value} where act_no = {number}"  # noqa: S608
        with job.store() as store, store.transaction(keep=False):
            store.connection.execute(change)
            first = acts.faults(store)[0]
        renumbered = {"entry_no": {1: 2, 2: 3, 3: 7}[number], "fault": "entries_missing_before"}
        changed = {"entry_no": number, "fault": "entry_changed"}
        assert (renumbered if column == "act_no" else changed) == first


def test_every_column_is_changed_in_turn(job: Job) -> None:
    with job.store(read_only=True) as store:
        columns = [name for name, *_ in select(store, "describe acts")]
    assert columns == list(CHANGES)


COPY = "insert into acts select {}, * exclude (act_no) from acts where act_no = 3"
MOVES = [
    ("the first is removed", "delete from acts where act_no = 1", (2, "missing_before")),
    ("one is removed", "delete from acts where act_no = 2", (3, "missing_before")),
    (
        "two change places",
        "update acts set act_no = 5 - act_no where act_no in (2, 3)",
        (2, "changed"),
    ),
    (
        "one is there twice",
        "insert into acts select * from acts where act_no = 2",
        (2, "doubled"),
    ),
    (
        "one is made up between two others",
        COPY.format(2),
        (2, "doubled"),
    ),
    (
        "one is made up at the end",
        COPY.format(4),
        (4, "changed"),
    ),
]


@pytest.mark.parametrize(
    ("sql", "expected"), [move[1:] for move in MOVES], ids=[move[0] for move in MOVES]
)
@one_in(3)
def test_a_row_out_of_its_place_is_found(job: Job, sql: str, expected: tuple[int, str]) -> None:
    tamper(job, sql)
    number, fault = expected
    assert any(found == number and name.endswith(fault) for found, name in faults(job)), faults(job)


FORGE = """
with forged as (
    select * replace ({change}) from acts where act_no = {number}
)
update acts
set act_no = forged.act_no, actor = forged.actor, hash = act_hash(forged)
from forged
where acts.act_no = {number}
"""


def test_a_row_with_a_hash_that_was_computed_anew_is_found_at_the_next(job: Job) -> None:
    tamper(job, FORGE.format(change="'nobody' as actor", number=2))
    assert [(3, "entry_not_chained")] == faults(job)


def test_a_row_that_was_removed_and_the_next_numbered_anew_is_found(job: Job) -> None:
    tamper(
        job,
        "delete from acts where act_no = 2",
        FORGE.format(change="2 as act_no", number=3),
    )
    assert [(2, "entry_not_chained")] == faults(job)


def test_an_end_that_was_cut_off_is_found_by_the_head(job: Job) -> None:
    kept = head(job)
    tamper(job, "delete from acts where act_no = 3")
    assert [] == faults(job)
    assert [(3, "log_cut_off")] == faults(job, kept)


def test_an_end_that_was_written_anew_is_found_by_the_head(job: Job) -> None:
    kept = head(job)
    tamper(job, FORGE.format(change="'nobody' as actor", number=3))
    assert [] == faults(job)
    assert [(3, "head_differs")] == faults(job, kept)


def test_an_old_head_holds_for_a_log_that_has_grown(job: Job) -> None:
    kept = head(job)
    with job.store() as store:
        acts.append(store, "more", job)
    assert [] == faults(job, kept)


HEADS = {
    "nobody touched it": ([], []),
    "the last is cut": (["delete from acts where act_no > 4"], ["log_cut_off"]),
    "the last three are cut": (["delete from acts where act_no > 2"], ["log_cut_off"] * 3),
    "all are cut": (["delete from acts"], ["log_cut_off"] * 5),
    "it is made anew": (
        ["delete from acts", *["AGAIN"] * 5],
        ["head_differs"] * 5,
    ),
}
"""What is done to a log of five rows -> what is found by a file with the head after each."""


@pytest.mark.parametrize(("sql", "expected"), HEADS.values(), ids=HEADS)
def test_each_head_of_a_file_is_still_in_the_log(
    job: Job, tmp_path: Path, sql: list[str], expected: list[str]
) -> None:
    with job.store() as store:
        for kind in ("more", "last"):
            acts.append(store, kind, job)
        rows = select(store, "select act_no, hash from acts order by act_no")
        for each in sql:
            if each == "AGAIN":
                acts.append(store, "forged", job)
            else:
                store.connection.execute(each)
    heads = tmp_path / "heads.csv"
    heads.write_text("".join(f"{number},{text},2026-06-01T12:00:00Z\n" for number, text in rows))
    assert expected == [fault for _, fault in faults(job, str(heads))]
    heads.write_text("")
    with pytest.raises(UsageError, match="nor a file of them"):
        verify_security(job, str(heads))


@pytest.mark.parametrize(
    "text",
    ["3", "3:abc", f"-1:{ZEROS}", f"x:{ZEROS}", f"3:{ZEROS}0", "no name" * 99, "\0", "/"],
)
def test_what_is_no_head_is_refused(job: Job, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        verify_security(job, text)
    assert "head_invalid" == caught.value.code


# What waits in the usage journal


def noted(job: Job) -> None:
    with UsageJournal(job.path) as book:
        for event, second, request in (("failed use", 1, "req-a"), ("another", 2, "req-b")):
            at = NOON + timedelta(seconds=second)
            book.note_failure(uid(event), "unauthenticated", at, request)
        book.note_failure(
            uid("revoked use"),
            "token_revoked",
            NOON + timedelta(seconds=3),
            "req-c",
            key_id=uid("key"),
            institution_id=uid("alder"),
        )


def refusals(store: Store) -> list[tuple[Any, ...]]:
    return select(
        store,
        "select event_id, happened_at, institution_id, key_id, details from acts"
        " where kind = 'key_refused' order by act_no",
    )


REFUSALS = [
    (
        uid("failed use"),
        NOON + timedelta(seconds=1),
        None,
        None,
        '{"code": "unauthenticated", "request_id": "req-a", "times": 2}',
    ),
    (
        uid("revoked use"),
        NOON + timedelta(seconds=3),
        uid("alder"),
        uid("key"),
        '{"code": "token_revoked", "request_id": "req-c", "times": 1}',
    ),
]


@pytest.mark.parametrize("look", [list_security, verify_security])
def test_whoever_looks_at_the_log_has_what_waits_brought_in_first(job: Job, look: Any) -> None:
    noted(job)
    look(job)
    with job.store(read_only=True) as store:
        assert REFUSALS == refusals(store)
    with UsageJournal(job.path) as book:
        assert Entries(uses=(), failures=()) == book.entries()
    assert [] == faults(job)


def test_a_crash_before_or_after_the_commit_loses_and_repeats_nothing(job: Job) -> None:
    noted(job)
    with job.store() as store, UsageJournal(job.path) as book:
        for keep in (False, True, True):  # never forgotten, as if it crashed each time
            with store.transaction(keep=keep):
                collect(store, book)
            assert (REFUSALS if keep else []) == refusals(store)
    assert 2 == len(list_security(job, event=security.REFUSED))
