from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.keys.notices import DueNotice, give_notices
from cardoffers_cli.keys.security import list_security
from cardoffers_cli.keys.work import revoke_key, rotate_key
from sizes import one_in, tries
from tables import given, moment, put, uid
from work import found, kept, new_store, tell

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

DAY = timedelta(days=1)
END = "2026-06-30T18:00Z"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    job = new_store(tmp_path)
    keys = f"key created expires\napp 2026-05-01 {END}"
    tell(job, institutions="institution\nalder\nbrook", keys=keys)
    return job


def given_at(job: Job, text: str, **options: bool) -> list[str]:
    """Run the job at a moment and return the notices that it gave."""
    given = give_notices(replace(job, now=moment(text)), **options)
    return [notice["notice"] for notice in given["notices"]]


def texts(job: Job) -> list[str]:
    """Return the messages in all inboxes, the oldest first."""
    return [text for (text,) in found(job, "select text from inbox_messages order by created_at")]


# When the job runs -> the notices it gives
RUNS = [
    ("each in its time", [("06-16", ["14_days"]), ("06-27", ["3_days"]), ("06-30", ["day_of"])]),
    ("from midnight on", [("06-15T23:59:59Z", []), ("06-16T00:00:00Z", ["14_days"])]),
    ("twice a day", [("06-16T02:00Z", ["14_days"]), ("06-16T14:00Z", []), ("06-17T02:00Z", [])]),
    ("late", [("06-20", ["14_days"]), ("06-29", ["3_days"])]),
    ("very late", [("06-28", ["3_days"]), ("07-20", ["day_of"]), ("07-21", [])]),
    ("too late", [("08-01", ["day_of"]), ("08-02", [])]),
    ("with a clock that goes back", [("06-27", ["3_days"]), ("06-16", [])]),
]


@pytest.mark.parametrize("runs", [runs for _, runs in RUNS], ids=[name for name, _ in RUNS])
@one_in(3)
def test_each_notice_is_given_once(job: Job, runs: list[tuple[str, list[str]]]) -> None:
    assert [notices for _, notices in runs] == [given_at(job, f"2026-{day}") for day, _ in runs]
    assert len(texts(job)) == sum(len(notices) for _, notices in runs)


# Which keys: created, expires, rotated, retires, revoked, replaced_by -> owed on 1 August
OWED = [
    (["day_of"], "2026-05-01 2026-07-31T18:00Z - - - -"),
    (["day_of"], "2026-07-17 2026-07-31T18:00Z - - - -"),
    (["day_of"], "2026-07-17T00:00:01Z 2026-07-31T18:00Z - - - -"),
    (["day_of"], "2026-07-30 2026-07-31T18:00Z - - - -"),
    ([], "2026-07-31T06:00Z 2026-07-31T18:00Z - - - -"),
    (["3_days"], "2026-05-01 2026-08-03T18:00Z - - - -"),
    (["14_days"], "2026-05-01 2026-08-15 - - - -"),
    ([], "2026-05-01 2026-08-16 - - - -"),
    ([], "2026-05-01 - - - - -"),
    ([], "2026-05-01 2026-07-31T18:00Z - - 2026-07-01 -"),
    ([], "2026-05-01 2026-07-31T18:00Z 2026-06-01 - - next"),
    (["3_days"], "2026-05-01 2026-08-03T18:00Z 2026-07-01 - - next"),
    ([], "2026-05-01 2027-05-01 2026-07-24 2026-07-31 - next"),
    (["3_days"], "2026-05-01 2027-05-01 2026-07-27 2026-08-03 - next"),
    (["3_days"], "2026-05-01 - 2026-07-27 2026-08-03 - next"),
    (["3_days"], "2026-05-01 2026-08-03 2026-07-27 2026-09-03 - next"),
]


@pytest.mark.parametrize(("owed", "times"), OWED)
def test_which_notices_are_owed(store: Store, owed: list[str], times: str) -> None:
    given(store, "institutions", "institution\nalder")
    header = "key created expires rotated retires revoked replaced_by"
    given(store, "keys", f"{header}\napp {times}")
    due = store.records(DueNotice, "keys/notices:due", now=moment("2026-08-01"))
    assert owed == [row["notice"] for row in due]


@profile(max_examples=tries(5, 30), deadline=None)
@examples(st.lists(st.integers(0, 40 * 24), max_size=30), st.integers(1, 24))
def test_however_often_and_late_it_runs_each_is_given_once(
    scratch: Store, hours: list[int], hour: int
) -> None:
    start, end = moment("2026-06-01"), moment("2026-06-30") + timedelta(hours=hour)
    count: Counter[str] = Counter()
    with scratch.transaction(keep=False):
        given(scratch, "institutions", "institution\nalder")
        put(scratch, "keys", [{"key": "app", "created": start, "expires": end}])
        for number in sorted(hours):
            now = start + timedelta(hours=number)
            for row in scratch.records(DueNotice, "keys/notices:due", now=now):
                which = {name: row[name] for name in ("key_id", "ends_at", "notice")}
                scratch.execute("keys/notices:give", **which, given_at=now)
                count[row["notice"]] += 1
    assert plainly([start + timedelta(hours=number) for number in sorted(hours)], end) == count


def plainly(moments: list[datetime], end: datetime) -> dict[str, int]:
    """Return which notices are given: at each moment the latest that is due, unless it was."""
    given = []
    for now in moments:
        days = {"14_days": 14, "3_days": 3, "day_of": 0}
        due = [name for name, left in days.items() if end.replace(hour=0) - left * DAY <= now]
        given += due[-1:]
    return dict.fromkeys(given, 1)


def test_a_notice_is_a_message_and_an_entry_of_the_log(job: Job) -> None:
    given = give_notices(replace(job, now=moment("2026-06-16T02:00Z")))
    (notice,) = given["notices"]
    assert ("alder", "app", "14_days", moment(END), uid("app"), False) == (
        *(notice[name] for name in ("institution", "name", "notice", "ends_at", "key_id")),
        given["dry_run"],
    )
    assert [(uid("alder"), "key_notice", None)] == found(
        job, "select institution_id, kind, read_at from inbox_messages"
    )
    (entry,) = list_security(job, "alder", event="key_notice")
    assert (uid("app"), {"notice": "14_days", "ends_at": "2026-06-30T18:00:00.000Z"}) == (
        entry["key_id"],
        entry["details"],
    )
    assert [("key_notices", '{"notices": 1}', given["run_id"])] == found(
        job, "select kind, counts, run_id from runs"
    )


def test_a_dry_run_gives_nothing(job: Job) -> None:
    before = kept(job)
    assert ["14_days"] == given_at(job, "2026-06-16", dry_run=True)
    assert before == kept(job)
    assert ["14_days"] == given_at(job, "2026-06-16")


def test_what_is_said_is_true_on_the_day_it_is_said(job: Job) -> None:
    for day in ("06-16T02:00Z", "06-29T02:00Z", "06-30T02:00Z"):
        given_at(job, f"2026-{day}")
    key = "The API key app (co_live_a172…) ends on 2026-06-30 at 18:00 UTC"
    todo = f"Make its successor with `cardoffers key rotate {uid('app')}`, and put it to use"
    assert [
        f"{key}, in 14 days. {todo} before then.",
        f"{key}, tomorrow. {todo} before then.",
        f"{key}, today. {todo} before then.",
    ] == texts(job)


def test_of_a_key_that_has_ended_it_is_said_that_it_has(job: Job) -> None:
    given_at(job, "2026-06-30T18:00Z")
    said = "ended on 2026-06-30 at 18:00 UTC, and calls with it are refused. Make a new one"
    assert [True] == [said in text for text in texts(job)]


def test_a_rotation_sets_another_end_with_notices_of_its_own(job: Job) -> None:
    early = replace(job, now=moment("2026-06-16T12:00Z"))
    assert ["14_days"] == given_at(job, "2026-06-16T02:00Z")
    rotate_key(str(uid("app")), early, overlap=7 * DAY)
    assert [] == given_at(job, "2026-06-19T23:00Z")
    assert ["3_days"] == given_at(job, "2026-06-20")
    assert ["day_of"] == given_at(job, "2026-06-23")
    assert "It has a successor" in texts(job)[-1]
    assert [] == given_at(job, "2026-07-15")


def test_a_key_that_was_revoked_is_not_spoken_of_again(job: Job) -> None:
    given_at(job, "2026-06-16")
    revoke_key(str(uid("app")), replace(job, now=moment("2026-06-17")))
    assert [] == given_at(job, "2026-06-30")


def test_each_institution_is_told_of_its_own_keys(job: Job) -> None:
    tell(job, keys=f"key institution created expires\nother brook 2026-05-01 {END}")
    notices = give_notices(replace(job, now=moment("2026-06-16")))["notices"]
    assert {("alder", "app"), ("brook", "other")} == {
        (notice["institution"], notice["name"]) for notice in notices
    }
    rows: list[Any] = found(job, "select institution_id, text from inbox_messages")
    assert {uid("alder"): "app", uid("brook"): "other"} == {
        owner: text.split()[3] for owner, text in rows
    }
