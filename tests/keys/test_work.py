from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store.layout import make_folder, snapshot_path
from cardoffers_cli.kernel.store.usage_journal import UsageJournal
from cardoffers_cli.kernel.words.errors import CardoffersError, NotFound, Refused, UsageError
from cardoffers_cli.keys.questions import find_key
from cardoffers_cli.keys.rules import is_well_formed
from cardoffers_cli.keys.work import (
    KeyRequest,
    check_key,
    create_key,
    list_keys,
    revoke_key,
    rotate_key,
    show_key,
)
from sizes import one_in
from tables import NOON, given, key_text, moment, uid
from work import found, kept, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

DAY = timedelta(days=1)
WANTED = KeyRequest(institution="alder", name="app", scopes=("reporting", "offers"))

KEYS = """
    key       scopes  created     expires     rotated     retires     revoked     replaced_by
    app       offers  2026-05-01  2027-05-01  -           -           -           -
    short     offers  2026-05-01  2026-06-30  -           -           -           -
    endless   offers  2026-05-01  -           -           -           -           -
    legacy    -       2026-05-01  2027-05-01  -           -           -           -
    replaced  offers  2026-05-01  2027-05-01  2026-05-30  -           -           app
    retiring  offers  2026-05-01  2027-05-01  2026-05-30  2026-06-30  -           app
    retired   offers  2026-05-01  2027-05-01  2026-05-20  2026-05-30  -           app
    expired   offers  2025-05-01  2026-05-01  -           -           -           -
    revoked   offers  2026-05-01  2027-05-01  -           -           2026-05-02  -
"""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    job = new_store(tmp_path)
    tell(job, institutions="institution\nalder\nbrook", keys=KEYS)
    return job


def later(job: Job, text: str) -> Job:
    return replace(job, now=moment(text))


def log(job: Job) -> list[tuple[str, str, dict[str, Any]]]:
    rows = found(job, "select kind, actor, details, key_id from acts order by act_no")
    return [(event, str(key_id), json.loads(details)) for event, _, details, key_id in rows]


def key_of(job: Job, text: str) -> Any:
    with job.store(read_only=True) as store:
        return find_key(store, text)


# Making


def test_a_key_is_made_shown_once_and_logged(job: Job) -> None:
    made = create_key(WANTED, job)
    assert is_well_formed(made["key"])
    assert {
        "key_id": made["key_id"],
        "key": made["key"],
        "key_file": None,
        "institution": "alder",
        "name": "app",
        "scopes": ["offers", "reporting"],
        "created_at": NOON,
        "expires_at": datetime(2027, 6, 1, 12),  # noqa: DTZ001
        "dry_run": False,
    } == made
    key = key_of(job, made["key"])
    assert (made["key_id"], uid("alder"), {"offers", "reporting"}, "valid") == (
        key.key_id,
        key.institution_id,
        key.scopes,
        key.state(NOON),
    )
    details = {"name": "app", "scopes": made["scopes"], "expires_at": "2027-06-01T12:00:00.000Z"}
    assert [("key_created", str(made["key_id"]), details)] == log(job)


@pytest.mark.parametrize(
    ("now", "expires", "expires_at"),
    [
        ("2026-06-01T12:00Z", None, "2027-06-01T12:00Z"),
        ("2028-02-29", None, "2029-02-28"),
        ("2026-06-01T12:00Z", "never", None),
        ("2026-06-01T12:00Z", "2026-06-02", "2026-06-02"),
    ],
)
def test_when_a_key_ends(job: Job, now: str, expires: str | None, expires_at: str | None) -> None:
    at: Any = moment(expires) if expires and "-" in expires else expires
    made = create_key(replace(WANTED, expires=at), later(job, now))
    assert (expires_at and moment(expires_at)) == made["expires_at"]
    assert made["expires_at"] == key_of(job, made["key"]).expires_at


# One fault less a row, in the order in which they are told.
REFUSALS: list[tuple[str, type[CardoffersError], dict[str, Any]]] = [
    ("name_invalid", UsageError, {"name": " ", "scopes": ("all",), "institution": "x"}),
    ("scope_unknown", UsageError, {"scopes": ("all",), "institution": "x", "expires": NOON}),
    ("expires_in_past", UsageError, {"institution": "x", "expires": NOON}),
    ("institution_not_found", NotFound, {"institution": "x"}),
]


@pytest.mark.parametrize(("code", "kind", "changes"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_what_cannot_be_made_leaves_nothing(
    job: Job, tmp_path: Path, code: str, kind: type[CardoffersError], changes: dict[str, Any]
) -> None:
    before = kept(job)
    with pytest.raises(kind) as caught:
        create_key(replace(WANTED, **changes), job, key_file=tmp_path / "key")
    assert code == caught.value.code
    assert before == kept(job)
    assert not (tmp_path / "key").exists()


def test_a_key_in_a_file_is_shown_nowhere_else(job: Job, tmp_path: Path) -> None:
    made = create_key(WANTED, job, key_file=tmp_path / "key")
    assert (None, str(tmp_path / "key")) == (made["key"], made["key_file"])
    assert 0o600 == (tmp_path / "key").stat().st_mode & 0o777
    assert made["key_id"] == key_of(job, (tmp_path / "key").read_text().strip()).key_id


def test_without_its_file_no_key_is_made(job: Job, tmp_path: Path) -> None:
    before = kept(job)
    (tmp_path / "key").write_text("mine")
    for path in (tmp_path / "key", tmp_path / "nowhere" / "key"):
        with pytest.raises(CardoffersError):
            create_key(WANTED, job, key_file=path)
        with pytest.raises(CardoffersError):
            rotate_key(str(uid("app")), job, key_file=path)
    assert before == kept(job)
    assert "mine" == (tmp_path / "key").read_text()


@pytest.mark.parametrize(
    "make",
    [
        lambda job, path: create_key(WANTED, job, key_file=path, dry_run=True),
        lambda job, path: rotate_key(
            str(uid("app")), job, overlap=DAY, key_file=path, dry_run=True
        ),
    ],
    ids=["create", "rotate"],
)
def test_a_dry_run_makes_and_shows_no_key(job: Job, tmp_path: Path, make: Any) -> None:
    before = kept(job)
    snapshot_path(job.path).touch()
    made = make(job, tmp_path / "key")
    assert (None, None, None, True) == tuple(
        made[name] for name in ("key_id", "key", "key_file", "dry_run")
    )
    assert before == kept(job)
    assert not (tmp_path / "key").exists()
    assert snapshot_path(job.path).exists()


# Rotation


def test_a_successor_is_like_the_key_before_it_and_both_work(job: Job) -> None:
    made = rotate_key(str(uid("app")), job)
    assert ("alder", "app", ["offers"], uid("app"), moment("2027-05-01")) == tuple(
        made[name] for name in ("institution", "name", "scopes", "replaces", "old_key_ends_at")
    )
    old, new = key_of(job, key_text("app")), key_of(job, made["key"])
    assert ("retiring", made["key_id"], NOON, None) == (
        old.standing(NOON),
        old.replaced_by,
        old.rotated_at,
        old.retires_at,
    )
    assert "valid" == old.state(NOON) == new.state(NOON)
    assert [
        ("key_created", str(made["key_id"])),
        ("key_rotated", str(uid("app"))),
    ] == [entry[:2] for entry in log(job)]
    assert {"replaced_by": str(made["key_id"]), "retires_at": None} == log(job)[1][2]


@pytest.mark.parametrize(
    ("key", "overlap", "ends_at"),
    [
        ("app", 7 * DAY, NOON + 7 * DAY),
        ("app", 0 * DAY, NOON),
        ("app", 900 * DAY, moment("2027-05-01")),
        ("endless", 900 * DAY, NOON + 900 * DAY),
        ("short", None, moment("2026-06-30")),
    ],
)
def test_an_overlap_ends_the_old_key(
    job: Job, key: str, overlap: timedelta | None, ends_at: datetime
) -> None:
    made = rotate_key(str(uid(key)), job, overlap=overlap)
    assert ends_at == made["old_key_ends_at"]
    old = key_of(job, key_text(key))
    tick = timedelta(microseconds=1)
    assert ("valid", "expired") == (old.state(ends_at - tick), old.state(ends_at))
    assert "valid" == key_of(job, made["key"]).state(ends_at)


@pytest.mark.parametrize(
    ("key", "expires", "expires_at"),
    [
        ("app", None, "2027-06-01T12:00Z"),
        ("short", None, "2026-07-31T12:00Z"),
        ("endless", None, None),
        ("endless", "2026-07-01", "2026-07-01"),
    ],
)
def test_a_successor_lives_as_long_if_nothing_else_is_said(
    job: Job, key: str, expires: str | None, expires_at: str | None
) -> None:
    made = rotate_key(str(uid(key)), job, expires=moment(expires) if expires else None)
    assert (expires_at and moment(expires_at)) == made["expires_at"]


def test_the_successor_of_a_key_from_before_scopes_is_given_them_all(job: Job) -> None:
    made = rotate_key(str(uid("legacy")), job)
    assert ["offers", "reporting", "transactions"] == made["scopes"]
    assert not key_of(job, made["key"]).is_legacy


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("replaced", "key_replaced"),
        ("retiring", "key_replaced"),
        ("retired", "key_expired"),
        ("expired", "key_expired"),
        ("revoked", "key_revoked"),
    ],
)
@one_in(3)
def test_a_key_that_has_had_its_time_has_no_successor(job: Job, key: str, code: str) -> None:
    before = kept(job)
    with pytest.raises(Refused) as caught:
        rotate_key(str(uid(key)), job)
    assert code == caught.value.code
    assert before == kept(job)


# Revocation


@pytest.mark.parametrize("key", ["app", "retiring", "expired"])
def test_a_key_is_revoked_once(job: Job, key: str) -> None:
    dry = revoke_key(str(uid(key)), job, dry_run=True)
    assert [] == log(job)
    ended = revoke_key(str(uid(key)), job)
    assert {**dry, "dry_run": False} == ended
    assert ("revoked", NOON) == (ended["state"], ended["revoked_at"])
    assert "revoked" == key_of(job, key_text(key)).state(NOON)
    assert [("key_revoked", str(uid(key)), {})] == log(job)
    with pytest.raises(Refused) as caught:
        revoke_key(str(uid(key)), later(job, "2026-07-01"))
    assert "already_revoked" == caught.value.code
    assert NOON == key_of(job, key_text(key)).revoked_at


def snapshot_of(job: Job) -> Path:
    make_folder(job.path)
    return snapshot_path(job.path)


@pytest.mark.parametrize(
    ("withdrawn", "end"),
    [
        (True, lambda job: revoke_key(str(uid("app")), job)),
        (True, lambda job: rotate_key(str(uid("app")), job, overlap=DAY)),
        (False, lambda job: rotate_key(str(uid("app")), job)),
        (False, lambda job: revoke_key(str(uid("app")), job, dry_run=True)),
        (False, lambda job: create_key(WANTED, job)),
    ],
    ids=["revoked", "overlap", "rotated", "dry run", "created"],
)
def test_no_snapshot_outlives_the_end_of_a_key(job: Job, withdrawn: bool, end: Any) -> None:
    snapshot_of(job).touch()
    end(job)
    assert withdrawn == (not snapshot_path(job.path).exists())


def test_a_snapshot_that_cannot_be_withdrawn_keeps_the_key(job: Job) -> None:
    snapshot_of(job).mkdir()
    with pytest.raises(OSError, match="snapshot"):
        revoke_key(str(uid("app")), job)
    assert "valid" == key_of(job, key_text("app")).state(NOON)


# Looking


def test_keys_are_listed_with_their_state_and_never_their_text(job: Job) -> None:
    shown = list_keys(job, "alder")
    states = {key["name"]: key["state"] for key in shown}
    assert {
        "app": "valid",
        "short": "valid",
        "endless": "valid",
        "legacy": "valid",
        "replaced": "retiring",
        "retiring": "retiring",
        "retired": "expired",
        "expired": "expired",
        "revoked": "revoked",
    } == states
    assert [] == list_keys(job, "brook")
    assert len(shown) == len(list_keys(job))
    assert not any(key_text(name) in str(shown) for name in states)


def test_one_key_is_shown(job: Job) -> None:
    shown = show_key(str(uid("retiring")), job)
    text = key_text("retiring")
    assert {
        "key_id": uid("retiring"),
        "institution": "alder",
        "name": "retiring",
        "key_masked": f"{text[:12]}…{text[-4:]}",
        "scopes": ["offers"],
        "is_legacy": False,
        "state": "retiring",
        "created_at": moment("2026-05-01"),
        "expires_at": moment("2027-05-01"),
        "ends_at": moment("2026-06-30"),
        "last_used_at": None,
        "rotated_at": moment("2026-05-30"),
        "replaced_by": uid("app"),
        "revoked_at": None,
    } == shown
    assert show_key(str(uid("legacy")), job)["is_legacy"]


def test_a_use_that_waits_in_the_usage_journal_is_seen(job: Job) -> None:
    with UsageJournal(job.path) as book:
        book.note_use(uid("app"), NOON)
    assert NOON == show_key(str(uid("app")), job)["last_used_at"]
    with UsageJournal(job.path) as book:
        book.note_use(uid("app"), NOON + DAY)
    assert {NOON + DAY, None} == {key["last_used_at"] for key in list_keys(job)}


@pytest.mark.parametrize("look", [show_key, revoke_key, rotate_key])
def test_an_unknown_id_is_not_found(job: Job, look: Any) -> None:
    for key_id in (str(uid("nobody")), "no id"):
        with pytest.raises(NotFound) as caught:
            look(key_id, job)
        assert "key_not_found" == caught.value.code


# Checking


def test_a_key_tells_what_it_may_do(job: Job) -> None:
    for name in ("app", "legacy", "retiring"):
        assert show_key(str(uid(name)), job) == check_key(key_text(name), job)


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        (key_text("app")[:-1], UsageError, "key_mistyped"),
        (key_text("app").swapcase(), UsageError, "key_mistyped"),
        ("", UsageError, "key_mistyped"),
        (key_text("nobody"), NotFound, "key_unknown"),
        (key_text("revoked"), Refused, "token_revoked"),
        (key_text("expired"), Refused, "token_expired"),
        (key_text("retired"), Refused, "token_expired"),
    ],
)
def test_a_key_that_does_not_work_says_why(
    job: Job, text: str, kind: type[CardoffersError], code: str
) -> None:
    with pytest.raises(kind) as caught:
        check_key(text, job)
    assert code == caught.value.code
    assert not text or text not in f"{caught.value.message}{caught.value.details}"


def test_a_mistyped_key_is_told_without_a_look_up(job: Job) -> None:
    job.path.unlink()
    with pytest.raises(UsageError):
        check_key("co_live_mistyped", job)


def test_a_key_that_has_ended_still_tells_whose_it_was(job: Job) -> None:
    with pytest.raises(Refused) as caught:
        check_key(key_text("revoked"), job)
    assert show_key(str(uid("revoked")), job) == caught.value.details


def test_keys_of_two_institutions_are_apart(job: Job) -> None:
    with job.store() as store:
        given(store, "keys", "key institution\nother brook")
    assert ["other"] == [key["name"] for key in list_keys(job, "brook")]
    assert "brook" == check_key(key_text("other"), job)["institution"]
