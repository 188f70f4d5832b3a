"""The small parts of a history become few: everything is answered as before, whatever dies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from buckets import Files
from cardoffers_cli.archive.archive import TABLES
from cardoffers_cli.archive.export import MANY, compact, export
from cardoffers_cli.copies.work import backup, publish
from cardoffers_cli.kernel.store.lock import engine_lock
from cardoffers_cli.kernel.store.reading import open_published
from cardoffers_cli.kernel.words.errors import NoSpace, StoreBusy, StoreDamaged
from cardoffers_cli.night.status import status
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.storage.doctor import doctor
from cardoffers_cli.storage.restore import restore
from cardoffers_cli.storage.stores import info
from commands import cardoffers, in_a_pipe
from disks import fill, small_disk
from sizes import FULL, at_the_gate, one_in, slow
from tables import NOON, snapshot
from work import file_of, found, held, job, kept, taken, with_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.job import Job

MOMENTS = 40 if FULL else 3
OWN = ("runs", "history_parts", "history_left")
"""The tables that a merge writes to; it changes no other."""


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose nights of thirty purchases were exported, each into parts of its own."""
    made = with_catalogue(tmp_path_factory.mktemp("nights"))
    for number in range(MANY - 1):
        night(made, number)
    return made.path


def night(made: Job, number: int, root: str | None = None) -> dict[str, Any]:
    """Take in and match the purchases of a night, and export them."""
    taken(made, file_of(made.path.with_suffix(".csv"), rows(number)))
    match_purchases(made)
    return export(made, root or str(made.path.with_name("history")))


def rows(number: int, size: int = 30) -> list[dict[str, str]]:
    return [
        {
            "ref": f"R{each:04}",
            "cardholder": f"c{each % 7}",
            "identifier": f"M{each % 3}",
            "mcc": "5411" if each % 2 == 0 else "",
            "amount": f"{each % 90 + 1}.07",
        }
        for each in range(number * size, number * size + size)
    ]


@pytest.fixture
def made(nights: Path, tmp_path: Path) -> Job:
    return copy_of(nights, tmp_path)


def copy_of(store: Path, folder: Path) -> Job:
    """Copy a store with its history and its journal into a folder."""
    shutil.copytree(store.parent, folder, dirs_exist_ok=True)
    made = job(folder / store.name)
    move_archive(made, folder / "history")
    return made


def move_archive(made: Job, folder: Path) -> None:
    """Let the history of a store be in a folder, which is a copy of it or is made one."""
    if not folder.exists():
        shutil.copytree(made.path.with_name("history"), folder)
    with duckdb.connect(str(made.path)) as connection:
        connection.execute("update history set root = $1", [str(folder)])


def parts(made: Job) -> list[int]:
    """Return how many parts the history has of each table."""
    return [table["parts"] for table in info(made)["history"]["tables"]]


def folders(made: Job) -> list[int]:
    """Return how many parts of each table lie in the folder of the history."""
    root = made.path.with_name("history")
    return [len(list((root / table).iterdir())) for table in TABLES]


def left(made: Job) -> list[int]:
    """Return how many of them are left, and are read no more."""
    return [table["parts_left"] for table in info(made)["history"]["tables"]]


def audits(made: Job) -> list[str]:
    """Return the audits that find something."""
    return [each["name"] for each in doctor(made, strict=True)["audits"] if not each["ok"]]


def later(made: Job, days: float, **changes: Any) -> Job:
    return job(made.path, now=NOON + timedelta(days=days), **changes)


# What becomes of the parts


@slow
def test_compacting_merges_every_small_part_and_changes_no_row(made: Job) -> None:
    before = kept(made, *OWN)
    assert [9, 9, 9, 9] == parts(made)
    done = compact(made)
    assert (before, []) == (kept(made, *OWN), audits(made))
    assert ([1, 1, 1, 1], [9, 9, 9, 9], [10, 10, 10, 10]) == (
        *(parts(made), left(made), folders(made)),
    )
    [purchases, *_] = done["merged"]
    assert {"table_name": "purchases", "parts_before": 9, "parts": 1, "row_count": 270} == {
        name: purchases[name] for name in list(purchases)[:4]
    }
    assert 0 < purchases["size_bytes"] < purchases["size_bytes_before"]
    assert [] == compact(made)["merged"]


@slow
def test_a_dry_run_says_what_would_be_merged_and_writes_nothing(made: Job) -> None:
    before = kept(made), sorted(made.path.parent.rglob("*"))
    would = compact(made, dry_run=True)
    assert before == (kept(made), sorted(made.path.parent.rglob("*")))
    assert (None, True) == (would["size_bytes"], would["dry_run"])
    done = compact(made)["merged"]
    assert [{**table, "size_bytes": None} for table in done] == would["merged"]


@slow
def test_the_tenth_night_merges_the_parts_and_its_cost_is_recorded(made: Job) -> None:
    done = night(made, MANY - 1)
    assert (None, [MANY] * 4) == (
        done["unmerged"],
        [table["parts_before"] for table in done["merged"]],
    )
    assert ([1, 1, 1, 1], []) == (parts(made), audits(made))
    [(counts,)] = found(made, "select counts from runs where kind = 'merge'")
    counted = json.loads(counts)
    assert (done["merged"], True) == (counted["tables"], counted["seconds"] > 0)
    assert [] == night(made, MANY)["merged"]
    assert [2, 2, 2, 2] == parts(made)


@at_the_gate
def test_parts_in_a_bucket_are_merged_and_removed_alike(tmp_path: Path, bucket: str) -> None:
    made = with_catalogue(tmp_path)
    for number in range(3):
        night(made, number, bucket)
    before = kept(made, *OWN)
    assert [3, 3, 3, 3] == [table["parts_before"] for table in compact(made)["merged"]]
    assert (before, [], 16) == (kept(made, *OWN), audits(made), len(Files(bucket).folders()))
    compact(later(made, 31))
    assert (before, [], 4) == (kept(made, *OWN), audits(made), len(Files(bucket).folders()))


@slow
@pytest.mark.parametrize(
    "line",
    [
        *("status", "doctor --strict", "report redemptions", "report funnel -i alder"),
        *("why R0002 -i alder", "why R0003 -i alder", "why R0200 -i alder"),
        *("timeline R0100 -i alder", "find --ref R0100 -i alder", "find -i alder --amount 5.07"),
    ],
)
@one_in(3)
def test_every_answer_is_the_same(nights: Path, merged: Path, line: str) -> None:
    asked = (*line.split(), "--as-of", "2026-06-02", "--format", "json", "--store")
    before, after = (in_a_pipe([*asked, store]) for store in (nights, merged))
    assert 0 == before.exit_code, before.stderr
    names = {"store", "last_runs"}
    assert without(before.document, names) == without(after.document, names)


def without(document: Any, names: set[str]) -> Any:
    """Leave out what tells a store from its copy."""
    if isinstance(document, dict):
        return {
            name: without(value, names) for name, value in document.items() if name not in names
        }
    return [without(each, names) for each in document] if isinstance(document, list) else document


@pytest.fixture(scope="module")
def merged(nights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = copy_of(nights, tmp_path_factory.mktemp("merged"))
    compact(made)
    return made.path


@slow
def test_what_comes_in_later_is_told_apart_from_what_was_merged(made: Job) -> None:
    compact(made)
    again = taken(made, file_of(made.path.with_suffix(".csv"), rows(0)[:3]))
    assert (0, 3, 0) == (again["accepted"], again["duplicates"], again["conflicts"])


# What lists the parts of before


@slow
def test_left_parts_go_when_nothing_can_list_them_any_more(made: Job) -> None:
    compact(made)
    export(later(made, 30), None)
    assert ([9, 9, 9, 9], [10, 10, 10, 10]) == (left(made), folders(made))
    export(later(made, 30.1, history_keep_days=31), None)
    assert [9, 9, 9, 9] == left(made)
    export(later(made, 30.1), None)
    assert ([0, 0, 0, 0], [1, 1, 1, 1]) == (left(made), folders(made))
    assert [] == audits(made)


@slow
def test_a_snapshot_goes_on_answering(made: Job) -> None:
    publish(made)
    with open_published(made) as (store, _):
        before = snapshot(store)
    compact(made)
    with open_published(made) as (store, _):
        assert before == snapshot(store)
    export(later(made, 31), None)
    with pytest.raises(StoreDamaged) as caught, open_published(made):
        pass
    assert "history_incomplete" == caught.value.code
    assert "store publish" in str(caught.value.hint)
    publish(made)
    with open_published(made) as (store, _):
        assert before["purchases"] == snapshot(store)["purchases"]


@at_the_gate
def test_a_backup_from_before_is_whole_and_later_it_is_not(made: Job, tmp_path: Path) -> None:
    older = kept(made)
    backup(made, tmp_path / "older.duckdb")
    compact(made)
    done = restore(made, tmp_path / "older.duckdb", accept_loss=True)
    assert (older, []) == (kept(made), done["faults"])
    compact(made)
    assert (older["purchases"], []) == (kept(made)["purchases"], audits(made))
    assert [11, 11, 11, 11] == folders(made)
    export(later(made, 31), None)
    # What was merged before the store was put back may be listed by the store that it was then.
    assert [2, 2, 2, 2] == folders(made)
    done = restore(later(made, 31), tmp_path / "older.duckdb", accept_loss=True)
    assert {"history_is_whole"} <= {fault["name"] for fault in done["faults"]}
    with pytest.raises(StoreDamaged) as caught:
        status(made)
    assert "history_incomplete" == caught.value.code


@at_the_gate
def test_a_store_that_was_put_back_keeps_what_it_was_meanwhile(made: Job, tmp_path: Path) -> None:
    """Between the two it was a store that lists what this one has left; so do its backups."""
    backup(made, tmp_path / "older.duckdb")
    compact(made)
    backup(made, tmp_path / "newer.duckdb")
    restore(later(made, 1), tmp_path / "older.duckdb", accept_loss=True)
    backup(later(made, 20), tmp_path / "meanwhile.duckdb")
    restore(later(made, 20), tmp_path / "newer.duckdb", accept_loss=True)
    export(later(made, 31), None)
    assert ([9, 9, 9, 9], [10, 10, 10, 10]) == (left(made), folders(made))
    restore(later(made, 32), tmp_path / "meanwhile.duckdb", accept_loss=True)
    assert [] == audits(made)
    restore(later(made, 33), tmp_path / "newer.duckdb", accept_loss=True)
    export(later(made, 64), None)
    assert ([0, 0, 0, 0], [1, 1, 1, 1]) == (left(made), folders(made))


@slow
def test_a_part_that_was_left_and_is_listed_is_a_fault_and_stays(made: Job) -> None:
    [(run_id,)] = found(
        made, "select run_id from history_parts where table_name = 'outcomes' limit 1"
    )
    with made.store() as store:
        store.connection.execute(
            "insert into history_left values ('outcomes', $1, $2)", [run_id, NOON]
        )
    assert ["left_parts_are_not_listed"] == audits(made)
    export(later(made, 31), None)
    assert ["left_parts_are_not_listed"] == audits(made)


# What may go wrong


@slow
def test_nobody_merges_while_another_writes_there_or_has_the_store(made: Job) -> None:
    before = kept(made), folders(made)
    with engine_lock(made.path), pytest.raises(StoreBusy) as caught:
        compact(made)
    assert "history_busy" == caught.value.code
    with held(made.path), pytest.raises(StoreBusy):
        compact(job(made.path, lock_wait_s=0))
    assert before == (kept(made), folders(made))


@pytest.fixture
def disk(nights: Path, tmp_path: Path) -> Iterator[tuple[Job, Path]]:
    """A store whose history is on a full disk, and what fills it."""
    with small_disk(tmp_path / "disk", "6m") as disk:
        made = copy_of(nights, tmp_path / "beside")
        move_archive(made, disk / "history")
        fill(disk / "ballast")
        yield made, disk / "ballast"


@at_the_gate
def test_a_full_disk_ends_with_16_and_the_store_is_as_it_was(disk: tuple[Job, Path]) -> None:
    made, ballast = disk
    before, files = kept(made, "runs"), sorted(ballast.parent.rglob("*"))
    words = ("store", "compact", "--store", made.path, "--format", "json")
    assert "no_space" == cardoffers(*words, exit_code=16).error["code"]
    assert (before, files) == (kept(made, "runs"), sorted(ballast.parent.rglob("*")))
    assert [] == audits(made)
    ballast.unlink()
    compact(made)
    assert (before["purchases"], [1, 1, 1, 1]) == (kept(made)["purchases"], parts(made))


@slow
def test_an_export_is_done_where_there_is_no_room_to_merge(disk: tuple[Job, Path]) -> None:
    made, ballast = disk
    taken(made, file_of(made.path.with_suffix(".csv"), rows(MANY - 1)))
    match_purchases(made)
    done = None
    while done is None:  # until there is just enough room for what is exported
        os.truncate(ballast, ballast.stat().st_size - 4096)
        with suppress(NoSpace):
            done = export(made, None)
    assert 30 == done["moved"][0]["row_count"]
    assert ([], "full") == (done["merged"], done["unmerged"].rstrip(".").split()[-1])
    assert ([MANY] * 4, []) == (parts(made), audits(made))
    ballast.unlink()
    assert [MANY] * 4 == [table["parts_before"] for table in export(made, None)["merged"]]


@slow
def test_a_merged_part_that_is_not_what_it_was_made_of_is_not_listed(made: Job) -> None:
    [file, *_] = (made.path.with_name("history") / "purchases").rglob("*.parquet")
    shutil.copy(file, file.with_name("again.parquet"))
    before = kept(made, "runs")
    with pytest.raises(StoreDamaged) as caught:
        compact(made)
    assert "part_differs" == caught.value.code
    assert before == kept(made, "runs")
    file.with_name("again.parquet").unlink()
    compact(made)
    assert ([1, 1, 1, 1], [10, 10, 10, 10], []) == (parts(made), folders(made), audits(made))


WORK = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from cardoffers_cli.archive.export import merge, small
from cardoffers_cli.kernel.store.lock import engine_lock
from work import job
made = job(sys.argv[1])
with made.store() as store, engine_lock(made.path):
    print("begins", flush=True)
    merge(store, made, small)
    print("ends", flush=True)
"""


def killed_after(seconds: float | None, made: Job) -> float:
    """Merge in a process and kill it; return how long it took."""
    words = [sys.executable, "-c", WORK, str(made.path), str(Path(__file__).parents[1] / "kit")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as working:
        assert working.stdout
        working.stdout.readline()
        began = time.monotonic()
        if seconds is None:
            working.stdout.readline()
        else:
            time.sleep(seconds)
            working.send_signal(signal.SIGKILL)
        return time.monotonic() - began


@pytest.fixture(scope="module")
def seconds(nights: Path, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long a merge takes that nobody disturbs."""
    return killed_after(None, copy_of(nights, tmp_path_factory.mktemp("undisturbed")))


@at_the_gate
@pytest.mark.parametrize("moment", [(n + 0.5) / MOMENTS for n in range(MOMENTS)])
def test_a_merge_killed_at_any_moment_is_done_or_not_begun(
    made: Job, seconds: float, moment: float
) -> None:
    before = kept(made, *OWN)
    killed_after(moment * seconds, made)
    assert (before, []) == (kept(made, *OWN), audits(made))
    assert parts(made) in ([9, 9, 9, 9], [1, 1, 1, 1])
    compact(made)
    assert (before, []) == (kept(made, *OWN), audits(made))
    assert ([1, 1, 1, 1], [9, 9, 9, 9], [10, 10, 10, 10]) == (
        *(parts(made), left(made), folders(made)),
    )
