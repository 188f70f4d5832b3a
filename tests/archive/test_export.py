"""A store whose history lives outside of it answers, counts and goes on as it did before."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from buckets import Files
from cardoffers_cli.archive.archive import TABLES, archive_of
from cardoffers_cli.archive.archive import recent as recent_rows
from cardoffers_cli.archive.export import compact, export
from cardoffers_cli.copies.work import backup, publish
from cardoffers_cli.kernel.sheets.exports import copy_sample_data
from cardoffers_cli.kernel.store.layout import journal_path, make_folder
from cardoffers_cli.kernel.store.lock import engine_lock
from cardoffers_cli.kernel.store.opening import current
from cardoffers_cli.kernel.store.reading import open_published
from cardoffers_cli.kernel.store.runs import commit_run, start_run
from cardoffers_cli.kernel.words.errors import CardoffersError, StoreDamaged, UsageError
from cardoffers_cli.night.status import status
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.storage.doctor import doctor
from cardoffers_cli.storage.restore import restore
from cardoffers_cli.storage.stores import accept_loss, info
from commands import cardoffers, command
from sizes import FULL, at_the_gate, one_in, slow
from tables import NOON, select, snapshot
from test_story import IMPORTS, MONEY, REPORTS, STORY, reports, run, tell
from work import file_of, found, job, kept, taken, with_catalogue

if TYPE_CHECKING:
    from cardoffers_cli.archive.archive import Archive
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

MOMENTS = 40 if FULL else 3
DOCTOR = "doctor --strict"
OWN = ("runs", "history", "history_parts")
"""The tables that an export writes to; it changes no other."""


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of one institution: 300 purchases, most of them decided, some of them redeemed."""
    made = with_catalogue(tmp_path_factory.mktemp("decided"))
    for part in range(2):
        taken(made, file_of(made.path.with_suffix(".csv"), rows(part)))
        match_purchases(made)
    taken(made, file_of(made.path.with_suffix(".csv"), rows(2)))
    return made.path


def rows(part: int) -> list[dict[str, str]]:
    return [
        {
            "ref": f"R{number:04}",
            "cardholder": f"c{number % 7}",
            "identifier": f"M{number % 3}",
            "mcc": "5411" if number % 5 == 0 else "",
            "amount": f"{number % 90 + 1}.07",
        }
        for number in range(part * 100, part * 100 + 100)
    ]


@pytest.fixture
def made(decided: Path, tmp_path: Path) -> Job:
    """A copy of that store, with its journal."""
    shutil.copy(decided, tmp_path / decided.name)
    make_folder(tmp_path / decided.name)
    shutil.copy(journal_path(decided), journal_path(tmp_path / decided.name))
    return job(tmp_path / decided.name)


@pytest.fixture
def exported(made: Job, root: str) -> Job:
    export(made, root)
    return made


@pytest.fixture
def files(root: str) -> Files:
    return Files(root)


def recent(made: Job) -> list[str]:
    with made.store(read_only=True) as store:
        return sorted(recent_rows(store))


def test_an_export_moves_every_row_and_changes_none(made: Job, root: str, files: Files) -> None:
    before = kept(made, *OWN)
    assert sorted(TABLES) == recent(made)
    done = export(made, root)
    assert before == kept(made, *OWN)
    assert [] == recent(made)
    assert [len(before[table]) for table in TABLES] == [row["row_count"] for row in done["moved"]]
    listed = found(made, "select table_name || '/run=' || run_id from history_parts")
    assert {folder for (folder,) in listed} == files.folders()


def test_info_counts_the_parts(exported: Job, root: str) -> None:
    found_in = info(exported)["history"]
    assert root == found_in["root"]
    assert [(1, 300), (1, 60)] == [
        (table["parts"], table["row_count"]) for table in found_in["tables"][:2]
    ]


def test_an_export_again_has_nothing_to_do(exported: Job) -> None:
    before = kept(exported)
    assert {0} == {row["row_count"] for row in export(exported, None)["moved"]}
    assert before == kept(exported)


@slow
def test_what_comes_in_later_is_found_beside_it_and_is_exported_too(
    made: Job, exported: Job, tmp_path: Path
) -> None:
    plain = job(shutil.copy(made.path, tmp_path / "plain.duckdb"))
    export_later = job(exported.path)
    for each in (plain, export_later):
        again = taken(each, file_of(tmp_path / "tx.csv", [*rows(0)[:3], *rows(4)[:5]]))
        assert (5, 3, 0) == (again["accepted"], again["duplicates"], again["conflicts"])
        match_purchases(each)
    assert ["decisions", "outcomes", "purchase_details", "purchases"] == recent(exported)
    export(exported, None)
    assert [] == recent(exported)
    assert audits(exported) == []


def listed_by(store: Store) -> Archive:
    """Return the archive of a store that has one."""
    archive = archive_of(store)
    assert archive
    return archive


def audits(made: Job) -> list[str]:
    """Return the audits that find something."""
    return [each["name"] for each in doctor(made, strict=True)["audits"] if not each["ok"]]


@slow
def test_a_store_with_a_history_passes_every_audit(exported: Job) -> None:
    assert [] == audits(exported)


@slow
def test_a_match_after_an_export_decides_as_without_one(
    made: Job, root: str, tmp_path: Path
) -> None:
    plain = job(shutil.copy(made.path, tmp_path / "plain.duckdb"))
    export(made, root)
    ids = {
        each.path.name: match_purchases(each, rematch=rematch).redeemed
        for rematch in (False, True)
        for each in (plain, made)
    }
    assert ids["plain.duckdb"] == ids[made.path.name]
    sql = "select purchase_no, outcome, merchant_no from decisions order by all"
    assert found(plain, sql) == found(made, sql)


@pytest.mark.parametrize(
    ("where", "code"),
    [
        (None, "history_missing"),
        ("histor[iy]", "root_not_a_folder"),
        ("s3://bucket/histor[iy]", "root_not_a_folder"),
        ("s3://", "root_not_a_folder"),
        ("s3://bucket/a::memory://b", "root_not_a_folder"),
        ("memory://history", "root_not_a_folder"),
        ("tape://history", "root_not_a_folder"),
        ("s3://ann:secret@bucket/history", "root_holds_more"),
        ("s3://bucket/history#secret", "root_holds_more"),
        ("s3://bucket/history?token=secret", "root_not_a_folder"),
        ("abfs://history:secret@account.dfs.core.windows.net/", "root_holds_more"),
        ("gs://bucket/history", "extra_missing"),
        ("abfs://history@account.dfs.core.windows.net/", "extra_missing"),
    ],
)
@one_in(3)
def test_where_no_history_can_be_nothing_is_done(made: Job, where: str | None, code: str) -> None:
    before = kept(made)
    with pytest.raises(UsageError) as caught:
        export(made, where)
    assert code == caught.value.code
    assert "secret" not in f"{caught.value.message} {caught.value.hint}"
    assert before == kept(made)


def test_a_url_of_files_is_a_folder(made: Job, tmp_path: Path) -> None:
    export(made, (tmp_path / "a history").as_uri())
    export(made, f"{tmp_path}/a history")
    assert 4 == len(Files(f"{tmp_path}/a history").below())


@slow
def test_a_url_with_a_slash_at_its_end_is_the_same_place(made: Job, bucket: str) -> None:
    export(made, f"{bucket}/")
    assert bucket == export(made, bucket)["root"]


def test_a_history_stays_where_it_is(exported: Job, root: str) -> None:
    with pytest.raises(CardoffersError) as caught:
        export(exported, f"{root}/elsewhere")
    assert "history_elsewhere" == caught.value.code


def test_two_do_not_write_to_one_history(made: Job) -> None:
    with engine_lock(made.path), pytest.raises(CardoffersError) as caught:
        export(made, str(made.path.with_name("history")))
    assert "history_busy" == caught.value.code


@slow
def test_what_an_unfinished_run_left_is_never_seen_and_goes(exported: Job, files: Files) -> None:
    [(listed,)] = found(exported, "select run_id from history_parts where table_name = 'purchases'")
    with exported.store() as store, store.transaction():
        dead = start_run(store, kind="match", now=NOON, actor="tester").run_id
    foreign = UUID(int=7)
    for run_id in (dead, foreign):
        files.copy(f"purchases/run={listed}", f"purchases/run={run_id}")
    assert [] == audits(exported)
    export(exported, None)
    purchases = {folder for folder in files.folders() if folder.startswith("purchases/")}
    assert {f"purchases/run={foreign}", f"purchases/run={listed}"} == purchases


def test_what_a_dead_process_worked_on_goes(exported: Job, files: Files) -> None:
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    for name in (f"a.{gone.pid}", f"b.{os.getpid()}", "c"):
        files.write(f"work/{name}/0001-purchases/part.parquet", b"")
    export(exported, None)
    assert [f"work/{name}/0001-purchases/part.parquet" for name in (f"b.{os.getpid()}", "c")] == (
        files.below("work")
    )


@slow
def test_a_part_that_is_gone_is_said_and_nothing_is_read(exported: Job, files: Files) -> None:
    files.copy("decisions", "away")
    files.remove("decisions")
    with pytest.raises(CardoffersError) as caught:
        status(exported)
    assert "history_incomplete" == caught.value.code
    assert "history_is_whole" in audits(exported)
    files.copy("away", "decisions")
    assert [] == audits(exported)


@slow
def test_a_part_that_was_changed_is_found(exported: Job, files: Files) -> None:
    [file] = files.below("outcomes")
    files.write(file.replace("part", "again"), files.read(file))
    assert ["history_is_whole", "decided_once"] == audits(exported)


def test_a_part_that_was_cut_off_is_said(exported: Job, files: Files) -> None:
    [file] = files.below("decisions")
    files.write(file, files.read(file)[:-100])
    with pytest.raises(StoreDamaged) as caught:
        status(exported)
    assert "history_damaged" == caught.value.code
    with current(exported.opening(read_only=True)) as store:
        [fault] = listed_by(store).faults()
    assert ("decisions", None) == (fault["table"], fault["rows_found"])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("place", [0.0, 0.3, 0.5, 0.7, 0.99])
@pytest.mark.parametrize("root", ["folder"], indirect=True)
@one_in(4)
def test_one_byte_of_a_part_that_is_another_is_found(
    exported: Job, files: Files, table: str, place: float
) -> None:
    [file] = files.below(table)
    content = bytearray(files.read(file))
    content[int(place * len(content))] ^= 1
    files.write(file, bytes(content))
    with current(exported.opening(read_only=True)) as store:
        [fault] = listed_by(store).faults()
    assert (table, None) == (fault["table"], fault["rows_found"])


@slow
def test_rows_in_the_store_and_in_its_history_are_found(exported: Job) -> None:
    with exported.store() as store:
        names = "purchase_no, institution_id, transaction_ref, cardholder_no, instrument_no"
        store.connection.execute(
            f"insert into recent_purchases by name select {names}, amount, currency, transacted_at,"  # noqa: S608
            " received_at from purchases"
            " where purchase_no not in (select purchase_no from redemptions) limit 1"
        )
    counted = "purchases_are_counted"  # which notices another one as well
    assert [counted, "transaction_refs_unique", "numbers_unique"] == audits(exported)


@slow
def test_readers_a_snapshot_and_copies_see_the_history(
    exported: Job, root: str, tmp_path: Path
) -> None:
    expected = status(exported)[0]["institutions"]
    publish(exported)
    with open_published(exported) as (store, _):
        assert [(300,)] == select(store, "select count(*) from purchases")
        shown = snapshot(store, "runs")
    assert shown == kept(exported, "runs")
    before = exported.path.stat().st_size
    compact(exported)
    assert exported.path.stat().st_size < before
    assert shown == kept(exported, "runs")
    made = backup(exported, tmp_path / "copy.duckdb")
    assert root == made["history"]
    done = restore(exported, tmp_path / "copy.duckdb")
    assert ([], root) == (done["faults"], done["history"])
    assert expected == status(exported)[0]["institutions"]


@at_the_gate
def test_an_older_store_put_back_lists_fewer_parts(exported: Job, tmp_path: Path) -> None:
    older = kept(exported)
    backup(exported, tmp_path / "older.duckdb")
    taken(exported, file_of(tmp_path / "tx.csv", rows(5)))
    match_purchases(exported)
    export(exported, None)
    restore(exported, tmp_path / "older.duckdb", accept_loss=True)
    assert older == kept(exported)
    assert [] == audits(exported)


@at_the_gate
def test_parts_that_another_copy_lists_are_never_removed(exported: Job, tmp_path: Path) -> None:
    """A store is put back to a moment at which a run of its future had only begun."""
    taken(exported, file_of(tmp_path / "tx.csv", rows(5)))
    with exported.store() as store:
        with store.transaction():
            run = start_run(store, kind="export", now=NOON, actor="tester")
        shutil.copy(exported.path, tmp_path / "begun.duckdb")
        with store.transaction():
            moved = listed_by(store).move(run)
            commit_run(store, run, {})
    assert {"purchases", "purchase_details"} == moved.keys()
    listed = kept(exported)
    shutil.copy(exported.path, tmp_path / "later.duckdb")
    shutil.copy(tmp_path / "begun.duckdb", exported.path)
    accept_loss(exported)
    export(exported, None)
    assert [] == audits(exported)
    shutil.copy(tmp_path / "later.duckdb", exported.path)
    accept_loss(exported)
    assert listed == kept(exported)


def words(made: Job, root: str) -> tuple[object, ...]:
    return ("store", "export", "--to", root, "--store", made.path)


@pytest.fixture
def seconds(decided: Path, root: str, tmp_path: Path, known: dict[str, float]) -> float:
    """How long an export takes that nobody disturbs."""
    kind = root.partition(":")[0]
    if kind not in known:
        store = shutil.copy(decided, tmp_path / "undisturbed.duckdb")
        began = time.monotonic()
        cardoffers(*words(job(store), f"{root}-undisturbed"))
        known[kind] = time.monotonic() - began
    return known[kind]


@pytest.fixture(scope="module")
def known() -> dict[str, float]:
    """How long an undisturbed export takes, by the kind of its place; measured once for each."""
    return {}


@slow
@pytest.mark.parametrize(
    ("root", "moment"),
    [
        *(("folder", (n + 0.5) / MOMENTS) for n in range(MOMENTS)),
        *(("bucket", (n + 0.5) / MOMENTS) for n in range(0, MOMENTS, 2)),
    ],
    indirect=["root"],
)
@one_in(5)
def test_an_export_killed_at_any_moment_moves_all_or_nothing(
    made: Job, root: str, files: Files, seconds: float, moment: float
) -> None:
    before = kept(made, *OWN)
    with subprocess.Popen(
        command(*words(made, root)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as exporting:
        time.sleep((0.4 + 0.6 * moment) * seconds)  # Python itself takes the first part
        exporting.kill()
    assert before == kept(made, *OWN)
    assert recent(made) in ([], sorted(TABLES))
    assert [] == audits(made)
    export(made, root)
    assert (before, []) == (kept(made, *OWN), recent(made))
    listed = found(made, "select table_name || '/run=' || run_id from history_parts")
    assert {folder for (folder,) in listed} == files.folders()


@at_the_gate
def test_every_answer_is_the_same_after_an_export(tmp_path: Path, root: str) -> None:
    copy_sample_data(tmp_path)
    with contextlib.chdir(tmp_path):
        for step in STORY:
            if step not in REPORTS:
                tell(step)
        before = [reports(), answers()]
        assert {0} != {
            row["row_count"] for row in json.loads(run(f"store export --to {root}"))["moved"]
        }
        assert before == [reports(), answers()]
        for step in (*IMPORTS, MONEY[0]):
            run(step.line, step.as_of, exit_code=step.exit_code)
        run("store export")
        assert before[0] == reports()


def answers() -> list[str]:
    """Return what is said of some purchases of the story."""
    rows = Path("transactions/larkmere.csv").read_text("utf-8").splitlines()
    refs = [row.split(",")[4] for row in rows[1:40:2]]
    lines = ["find -i larkmere --day 2026-07-03", f"timeline {refs[0]} -i larkmere", DOCTOR]
    return [run(line) for line in [*lines, *(f"why {ref} -i larkmere" for ref in refs)]]
