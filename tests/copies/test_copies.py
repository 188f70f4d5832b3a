"""Points in a repository: taken, listed, restored, pruned; and who is erased stays erased."""

from __future__ import annotations

import random
import shutil
import tempfile
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from cardoffers_cli.archive.export import compact
from cardoffers_cli.copies import work
from cardoffers_cli.copies.plain import PlainRepository
from cardoffers_cli.copies.points import take
from cardoffers_cli.copies.work import (
    POINT,
    backup,
    copy,
    entries,
    prune,
    put_erasures,
    repository_of,
)
from cardoffers_cli.events.sending import send
from cardoffers_cli.events.subscriptions import set_webhook
from cardoffers_cli.http.contract.messages import Call
from cardoffers_cli.http.contract.service import Service
from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.store.erasures import own_list
from cardoffers_cli.kernel.store.layout import folder_of, snapshot_path
from cardoffers_cli.kernel.store.signing_secrets import read_secrets
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.night.options import NightOptions, exit_code_of
from cardoffers_cli.night.run import run_night
from cardoffers_cli.privacy.erase import erase_cardholder, reapply
from cardoffers_cli.privacy.traces import holds_any
from cardoffers_cli.storage.doctor import COPIES, doctor
from cardoffers_cli.storage.drill import drill
from cardoffers_cli.storage.restore import restore
from killing import killed_everywhere
from sizes import FULL, slow, tries
from tables import NOON, given
from work import found, job, kept, new_store, next_run, once, tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.kernel.store.job import Job

TOKEN = "ch_9f8e7d6c5b4a3kanarie0f1e2d3c4b5a6"  # noqa: S105 - a token of a test
OTHER_DISK = Path("/dev/shm")  # noqa: S108 - a disk of its own, for repositories
HAS_BORG = shutil.which("borg") is not None
KINDS = [
    "plain",
    pytest.param("borg", marks=pytest.mark.skipif(not HAS_BORG, reason="borg is not installed")),
]


@once
def with_cardholder(folder: Path) -> Job:
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        offers="offer merchant\nbread bakery",
        programs="offer\nbread",
        links=f"cardholder offer\n{TOKEN} bread\nbea bread",
    )
    with made.store() as store, store.transaction():
        next_run(store)
    return made


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a folder on another disk than that of the tests."""
    with tempfile.TemporaryDirectory(dir=OTHER_DISK) as folder:
        yield Path(folder)


def keeping(made: Job, place: Path, kind: str = "plain", now: datetime = NOON, **more: Any) -> Job:
    """Return a job whose copies are kept in a folder."""
    settings = replace(made.settings, copies=f"{kind}:{place}", copies_passphrase=TOKEN, **more)
    return replace(made, settings=settings, now=now)


def elsewhere(made: Job, folder: Path) -> Job:
    """Lose the machine of a store; return a job on another one."""
    shutil.rmtree(made.path.parent)
    folder.mkdir()
    return replace(made, path=folder / "store.duckdb")


def run(made: Job) -> None:
    """Commit a run that leaves something."""
    with made.store() as store, store.transaction():
        given(store, "merchants", f"merchant\nm-{next_run(store, made.now)}")


def erase(made: Job) -> None:
    erase_cardholder(made, "alder", TOKEN, "asked")
    compact(made)
    assert put_erasures(made) is None


def holding(folder: Path) -> list[str]:
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    return [str(each.relative_to(folder)) for each in files if holds_any(each, [TOKEN])]


def code_of(work: Any) -> str:
    with pytest.raises(CardoffersError) as caught:
        work()
    return caught.value.code


def test_what_is_written_while_a_point_is_put_is_in_the_next_one(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = keeping(with_cardholder(tmp_path / "one"), place)

    def taken_and_written(*given: Any, **more: Any) -> Any:
        try:
            return take(*given, **more)
        finally:
            run(made)

    with monkeypatch.context() as patched:
        patched.setattr(work, "take", taken_and_written)
        first = copy(made)
    second = copy(made)
    assert first.run_no < second.run_no
    assert second.point == copy(made).point, "nothing was written since"


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_that_is_restored_elsewhere_is_the_snapshot_byte_for_byte(
    tmp_path: Path, place: Path, kind: str
) -> None:
    made = keeping(with_cardholder(tmp_path / "one"), place, kind)
    set_webhook(made, "alder", "https://hooks.alder.example/redemptions")
    secrets, done = read_secrets(made.path), copy(made)
    digest = sha256(snapshot_path(made.path).read_bytes()).hexdigest()
    assert [] == [path.name for path in folder_of(made.path).glob(".*.part")]
    assert 0 == copy(made).added_bytes < done.added_bytes
    assert [done.point] == [each.point for each in entries(made, repository_of(made), POINT)]
    there = elsewhere(made, tmp_path / "two")
    assert [] == restore(there).secrets_missing
    assert digest == sha256(there.path.read_bytes()).hexdigest()
    assert secrets == read_secrets(there.path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("newest", [True, False])
def test_who_was_erased_is_in_no_point_that_is_restored(
    tmp_path: Path, place: Path, kind: str, newest: bool
) -> None:
    made = keeping(with_cardholder(tmp_path / "one"), place, kind)
    oldest = copy(made).point
    erase(made)
    if newest:
        copy(made)
    there = elsewhere(made, tmp_path / "two")
    done = restore(there, named=None if newest else oldest)
    assert "erasures_unknown_since" not in done
    assert [] == holding(there.path.parent)
    assert [] == [each.name for each in doctor(there, strict=True).audits if not each.ok]


@slow
def test_a_list_that_cannot_be_put_is_told_and_the_next_copy_takes_it(
    tmp_path: Path, place: Path
) -> None:
    made = keeping(with_cardholder(tmp_path / "one"), place)
    first = copy(made).point
    erase_cardholder(made, "alder", TOKEN, "asked")
    away = place.rename(place.with_name(f"{place.name}-away"))
    assert "There is no repository of copies at" in (put_erasures(made) or "")
    away.rename(place)
    copy(made)
    there = elsewhere(made, tmp_path / "two")
    restore(there, named=first)
    assert [] == holding(there.path.parent)


def test_an_erasure_whose_list_is_not_copied_ends_with_3(tmp_path: Path) -> None:
    made = with_cardholder(tmp_path)
    line = f"privacy erase -i alder --cardholder - --reason asked --yes --store {made.path}"
    ended = CliRunner().invoke(
        main.app, line.split(), input=TOKEN, env={"CARDOFFERS_COPIES": "plain:/nowhere"}
    )
    assert (3, True) == (ended.exit_code, "erasure_not_copied" in ended.stderr)
    assert [] == holding(tmp_path)


@slow
def test_a_repository_answers_what_a_bare_file_cannot(tmp_path: Path, place: Path) -> None:
    made = keeping(with_cardholder(tmp_path / "one"), place)
    copy(made)
    file = Path(shutil.copytree(place, tmp_path / "safe")) / copy(made).point
    erase(made)
    there = replace(elsewhere(made, tmp_path / "two"), settings=job(made.path).settings)
    assert NOON == restore(there, file).erasures_unknown_since
    assert not doctor(there, strict=True).ok
    (nothing := tmp_path / "nothing").mkdir()
    for named, code in [("away", "copies_away"), ("nothing", "nothing_of_store")]:
        source = f"plain:{nothing.with_name(named)}"
        assert code == code_of(lambda source=source: reapply(there, source))
        assert not doctor(there, strict=True).ok, "no answer is not the answer that there are none"
    assert 1 == reapply(there, f"plain:{place}").erasures
    compact(there)
    assert [] == holding(there.path.parent)
    assert doctor(there, strict=True).ok


@pytest.mark.parametrize(
    ("keep", "days", "kept_days"),
    [
        ("2d", [0, 1, 2, 3], [2, 3]),
        ("1d 2w", [0, 6, 7, 8, 14, 15], [8, 15]),
        ("9d", [0, 1], [0, 1]),
        ("1d", [0, 0, 0], [0]),
        ("1m", [0, 29, 30], [30]),
    ],
)
def test_points_are_kept_for_so_many_days_and_weeks(
    tmp_path: Path, place: Path, keep: str, days: list[int], kept_days: list[int]
) -> None:
    made = keeping(with_cardholder(tmp_path), place, copies_keep=keep)
    for day in days:
        run(now := replace(made, now=NOON + timedelta(days=day)))
        copy(now)
    gone = prune(now, dry_run=True)
    assert gone == prune(now)
    left = entries(now, repository_of(now), POINT)
    assert kept_days == [(point.taken_at - NOON).days for point in left]
    assert len(days) == len(left) + len(gone)


@slow
def test_what_is_older_than_a_day_is_pruned_but_the_newest(tmp_path: Path, place: Path) -> None:
    made = keeping(with_cardholder(tmp_path), place)
    names = [copy(made).point]
    run(made)
    names.append(copy(made).point)
    assert names[:1] == [point.point for point in prune(made, before=NOON + timedelta(days=9))]


@pytest.mark.parametrize("kind", KINDS)
def test_one_flipped_byte_is_found(tmp_path: Path, place: Path, kind: str) -> None:
    made = keeping(with_cardholder(tmp_path), place, kind)
    copy(made)
    repository = repository_of(made)
    points = entries(made, repository, POINT)
    assert [] == repository.faults(points)
    largest = max(
        (each for each in place.rglob("*") if each.is_file()), key=lambda e: e.stat().st_size
    )
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    assert [] != repository.faults(points)


@slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_drill_says_what_would_be_lost_and_for_how_long(
    tmp_path: Path, place: Path, kind: str
) -> None:
    made = keeping(with_cardholder(tmp_path), place, kind)
    copy(made)
    erase(made)
    later = replace(made, now=NOON + timedelta(hours=2))
    done = drill(later, keeps=True)
    assert (7200, True, 1) == (done.rpo_s, done.ok, done.erased_again)
    assert ["restore", "erase", "audit"] == [step["name"] for step in done.steps]
    assert done.rto_s == pytest.approx(sum(step["s"] for step in done.steps), abs=0.01)
    assert ("drill",) in found(made, "select kind from runs")
    assert drill(later).ok
    assert [] == list(folder_of(made.path).glob(".*.part"))
    spoil(place)
    spoiled = drill(later)
    assert (False, [done.point]) == (spoiled.ok, [*spoiled.damaged])


def test_an_answer_says_when_the_store_was_copied_last(tmp_path: Path, place: Path) -> None:
    made = keeping(with_cardholder(tmp_path), place)

    def headers(path: str) -> Mapping[str, str]:
        (answer,) = Service(made, lambda: NOON).answer_all(
            [Call(method="GET", path=path, request_id="r")], wait_s=5
        )
        return answer.headers

    assert "x-copied-at" not in headers("/healthz")
    copy(made)
    assert format_moment(NOON) == headers("/healthz")["x-copied-at"]
    assert "x-copied-at" not in headers("/nowhere")


def spoil(place: Path) -> None:
    """Flip one bit of the largest file."""
    files = (each for each in place.rglob("*") if each.is_file())
    largest = max(files, key=lambda each: each.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)


@slow
def test_two_stores_in_one_repository_are_told_apart(tmp_path: Path, place: Path) -> None:
    stores = [keeping(new_store(tmp_path), place)]
    (tmp_path / "other").mkdir()
    stores.append(keeping(new_store(tmp_path / "other"), place))
    for made in stores:
        run(made)
        copy(made)
        assert 1 == len(entries(made, repository_of(made), POINT))
    nobody = replace(stores[0], path=tmp_path / "new.duckdb")
    assert "points_of_two_stores" == code_of(lambda: restore(nobody))


@pytest.mark.parametrize(
    ("copies", "code"),
    [
        (None, "copies_unset"),
        ("plain:/nowhere/at/all", "folder_missing"),
        pytest.param("borg:/proc/no", "copies_failed", marks=KINDS[1].marks),
        pytest.param("borg:ssh://nobody@127.0.0.1:1/x", "network", marks=KINDS[1].marks),
    ],
)
def test_a_repository_that_cannot_be_used_is_said_to_be_so(
    tmp_path: Path, copies: str | None, code: str
) -> None:
    made = keeping(with_cardholder(tmp_path), tmp_path)
    made = replace(made, settings=replace(made.settings, copies=copies))
    assert code == code_of(lambda: copy(made))
    assert [] == list(folder_of(made.path).glob(".*.part"))


@slow
@pytest.mark.skipif(not HAS_BORG, reason="borg is not installed")
@pytest.mark.parametrize(
    ("harm", "code"),
    [("passphrase", "copies_failed"), ("program", "borg_missing"), ("away", "copies_away")],
)
def test_a_repository_of_borg_that_is_not_as_it_was_is_said_to_be_so(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch, harm: str, code: str
) -> None:
    made = keeping(with_cardholder(tmp_path), place / "repository", "borg")
    copy(made)
    run(made)
    match harm:
        case "passphrase":
            made = replace(made, settings=replace(made.settings, copies_passphrase=TOKEN[1:]))
        case "program":
            monkeypatch.setenv("PATH", "/nowhere")
        case "away":
            shutil.rmtree(place / "repository")
    assert code == code_of(lambda: copy(made))


@slow
def test_a_night_copies_and_says_what_is_wrong_with_copies(tmp_path: Path, place: Path) -> None:
    made = with_cardholder(tmp_path)
    (drop := tmp_path / "drop").mkdir()

    def night(of: Job) -> tuple[int, set[str]]:
        result = run_night(of, NightOptions(drop=drop))
        return exit_code_of(result), {each.code for each in result.findings}

    def later(days: int) -> Job:
        return keeping(made, place, now=NOON + timedelta(days=days))

    assert (0, {"copy_missing"}) == night(made)
    audits = {audit.name: audit for audit in doctor(made).audits}
    assert (True, "copy_missing") == (audits[COPIES].ok, (audits[COPIES].example or {})["fault"])
    assert (0, set()) == night(later(1))
    assert doctor(later(1)).ok
    assert [COPIES] == [audit.name for audit in doctor(later(3)).audits if not audit.ok]
    away = replace(later(2).settings, copies="plain:/nowhere")
    assert (3, {"copy_old"}) == night(replace(later(2), settings=away))
    assert snapshot_path(made.path).exists()


def test_two_machines_are_never_the_store_at_once(tmp_path: Path, place: Path) -> None:
    made = keeping(with_cardholder(tmp_path / "one"), place)
    (drop := tmp_path / "drop").mkdir()
    copy(made)
    (tmp_path / "two").mkdir()
    other = replace(made, path=tmp_path / "two" / "store.duckdb")
    acts = (copy, lambda of: run_night(of, NightOptions(drop=drop)))
    assert restore(other).is_scratch
    assert ["store_scratch"] * 3 == [code_of(lambda act=act: act(other)) for act in (*acts, send)]
    assert restore(other).is_scratch  # as it was
    assert "is_scratch" not in restore(other, promote=True)
    before = {point.point for point in entries(made, repository_of(made))}
    run(made)
    assert ["store_superseded"] * 2 == [code_of(lambda act=act: act(made)) for act in acts]
    assert before == {point.point for point in entries(made, repository_of(made))}
    run(other)
    newest = copy(other)
    assert f"{copy(other).lineage}-" in newest.point
    restore(made, accept_loss=True, promote=True)
    assert ["store_superseded"] * 2 == [code_of(lambda act=act: act(other)) for act in acts]
    copy(made)
    assert doctor(made, strict=True).ok


@pytest.mark.parametrize("kind", KINDS)
def test_no_machine_is_promoted_beside_a_repository_that_is_away(
    tmp_path: Path, place: Path, kind: str
) -> None:
    """One of borg would be made anew on the disk that it is not on, and nobody superseded."""
    made = keeping(with_cardholder(tmp_path / "one"), place / "repository", kind)
    (place / "repository").mkdir()
    copy(made)
    file = Path(backup(made, tmp_path / "copy.duckdb").point)
    shutil.rmtree(place / "repository")
    before = kept(made)
    act = lambda: restore(made, file, accept_loss=True, promote=True)  # noqa: E731
    assert "copies_away" == code_of(act)
    assert (before, False) == (kept(made), (place / "repository").exists())


COPY = """
from dataclasses import replace
from pathlib import Path
from cardoffers_cli.copies.work import copy
from work import job

def work(folder):
    copy(job(folder / "store.duckdb", copies=f"plain:{folder / 'points'}"))
"""


@slow
def test_a_copy_that_is_killed_leaves_whole_points(tmp_path: Path) -> None:
    made = with_cardholder(tmp_path / "template")
    (made.path.parent / "points").mkdir()
    copy(keeping(made, made.path.parent / "points"))
    run(made)
    about = "^point|copied|snapshot|[.]part$"
    for each in killed_everywhere(made.path.parent, tmp_path / "killed", COPY, about):
        repository = PlainRepository(each / "points")
        points = repository.points()
        assert points
        assert [] == repository.faults(points)
        left = keeping(job(each / "store.duckdb"), each / "points")
        copy(left)
        there = replace(left, path=each / "elsewhere.duckdb")
        restore(there)
        assert kept(left) == kept(there)


@pytest.mark.parametrize("seed", range(500 if FULL else tries(1, 10)))
def test_in_any_order_nobody_comes_back_without_a_word(
    tmp_path: Path, place: Path, seed: int
) -> None:
    """Copies, erasures, returns, restores of any point here and elsewhere."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    made = keeping(with_cardholder(tmp_path / "0"), place)
    copy(made)
    is_erased = False
    for step in range(1, 12):
        made = replace(made, now=NOON + timedelta(hours=step))
        match chance.choice(["copy", "erase", "run", "restore", "elsewhere"]):
            case "copy":
                copy(made)
            case "erase" if not is_erased:
                erase(made)
                is_erased = True
            case "run":
                run(made)
            case "restore" | "elsewhere" as where:
                names = [point.point for point in entries(made, repository_of(made), POINT)]
                if where == "elsewhere":
                    made = elsewhere(made, tmp_path / str(step))
                restore(made, named=chance.choice(names), accept_loss=True, promote=True)
        for old in made.path.parent.rglob("*.kept"):  # an erasure names them
            old.unlink()
        assert not is_erased or [] == holding(made.path.parent)
        assert not is_erased or 1 == len(own_list(made.path).erasures)
    assert [] == [each.name for each in doctor(made, strict=True).audits if not each.ok]
    assert work.last_trace_on(made) == made.now + timedelta(days=14 + 42)
