from __future__ import annotations

import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import example
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.kernel.store import usage_journal
from cardoffers_cli.kernel.store import usage_journal as usage_file
from cardoffers_cli.kernel.store.layout import folder_of, kept_files, usage_logs, usage_path
from cardoffers_cli.kernel.store.statements import statements
from cardoffers_cli.kernel.store.usage_journal import Entries, UsageJournal, Use
from cardoffers_cli.kernel.words.errors import CardoffersError, NoSpace, StoreBusy
from disks import fill, small_disk
from sizes import FULL, slow, tries
from tables import NOON, uid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FLIPS = 300 if FULL else 25
STORE = "store.duckdb"
KEY, OTHER = uid("key"), uid("other key")
PARAMETER = re.compile(r"\$(\w+)")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.duckdb"


@pytest.fixture
def usage(path: Path) -> Iterator[UsageJournal]:
    with UsageJournal(path) as usage:
        yield usage


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def fail(
    usage: UsageJournal, event: str, seconds: float, *, code: str = "x", key: str = ""
) -> None:
    """Note a failure; the request has the name of the event."""
    known = {"key_id": uid(key), "institution_id": uid("alder")} if key else {}
    usage.note_failure(uid(event), code, at(seconds), event, **known)


def told(usage: UsageJournal) -> list[tuple[str, str, int]]:
    return [(found.request_id, found.code, found.times) for found in usage.entries().failures]


# The limit: second of each call -> what it is answered (most=3, window_s=60)
TURNS = [
    ("up to the limit", [(0, None), (0, None), (0, None), (0, 60)]),
    ("the oldest leaves", [(0, None), (10, None), (20, None), (59.5, 1), (60, None), (60, 10)]),
    ("a refusal is not counted", [(0, None), (1, None), (2, None), (3, 57), (59, 1), (60, None)]),
    ("a part of a second is a whole one", [(0, None), (0, None), (0.2, None), (30.1, 30)]),
    ("a clock that is behind", [(50, None), (50, None), (50, None), (0, 110), (110, None)]),
    ("a clock that is far behind", [(60, None), (60, None), (60, None), (0, None), (60, 60)]),
]


@pytest.mark.parametrize("calls", [calls for _, calls in TURNS], ids=[name for name, _ in TURNS])
def test_the_limit(usage: UsageJournal, calls: list[tuple[float, int | None]]) -> None:
    answers = [usage.take_turn(KEY, at(second), most=3) for second, _ in calls]
    assert [answer for _, answer in calls] == answers


def test_each_key_has_a_limit_of_its_own(usage: UsageJournal) -> None:
    assert [None, 60, None] == [usage.take_turn(key, NOON, most=1) for key in (KEY, KEY, OTHER)]


def test_sixty_a_minute_if_nothing_else_is_said(usage: UsageJournal) -> None:
    assert [None] * 60 + [60] == [usage.take_turn(KEY, NOON) for _ in range(61)]


@profile(max_examples=tries(10, 30), deadline=None)
@examples(st.lists(st.integers(0, 400), max_size=60), st.integers(1, 4))
@example(pauses=[182, 141, 109], most=2)
def test_no_window_ever_holds_more_and_who_waits_is_let_through(
    tmp_path_factory: pytest.TempPathFactory, pauses: list[int], most: int
) -> None:
    tenths, passed = 0, []
    with UsageJournal(tmp_path_factory.mktemp("usage") / "s") as usage:
        for pause in pauses:
            tenths += pause
            wait = usage.take_turn(KEY, at(tenths / 10), most=most, window_s=30)
            if wait is not None:
                assert usage.take_turn(KEY, at(tenths / 10 + wait - 1), most=most, window_s=30)
                tenths += 10 * wait
                assert usage.take_turn(KEY, at(tenths / 10), most=most, window_s=30) is None
            passed.append(tenths)
    assert [] == [
        first for first in passed if most < sum(first <= each < first + 300 for each in passed)
    ]


COUNT = """
import sys
from datetime import datetime
from pathlib import Path
from uuid import UUID
from cardoffers_cli.kernel.store.usage_journal import UsageJournal
with UsageJournal(Path(sys.argv[1])) as usage:
    now = datetime.fromisoformat(sys.argv[3])
    print(sum(usage.take_turn(UUID(sys.argv[2]), now) is None for _ in range(30)))
"""


@slow
def test_of_many_processes_exactly_as_many_calls_pass_as_may(path: Path) -> None:
    words = [sys.executable, "-c", COUNT, str(path), str(KEY), NOON.isoformat()]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    passed = [int(process.communicate()[0]) for process in running]
    assert [0] * 4 == [process.returncode for process in running]
    assert 60 == sum(passed)


def test_of_many_threads_exactly_as_many_calls_pass_as_may(usage: UsageJournal) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: usage.take_turn(KEY, NOON), range(100)))
    assert (60, 40) == (answers.count(None), answers.count(60))


def test_a_limit_survives_that_the_book_is_closed(path: Path) -> None:
    for expected in (None, None, 60):
        with UsageJournal(path) as usage:
            assert expected == usage.take_turn(KEY, NOON, most=2)


def test_calls_that_count_no_more_are_forgotten(usage: UsageJournal) -> None:
    for minute in range(50):
        usage.take_turn(KEY, at(60 * minute))
    assert 3 > usage._connection.execute("select count(*) from calls").fetchone()[0]


# What the store is to be told


def test_the_last_use_of_each_key_is_kept(usage: UsageJournal) -> None:
    for key, second in ((KEY, 1), (KEY, 3.000001), (OTHER, 2), (KEY, 2)):
        usage.note_use(key, at(second))
    uses = [Use(key_id=KEY, used_at=at(3.000001)), Use(key_id=OTHER, used_at=at(2))]
    assert sorted(uses, key=str) == sorted(usage.entries().uses, key=str)


def test_a_failure_is_kept_as_it_was(usage: UsageJournal) -> None:
    fail(usage, "first", 1.5, code="token_revoked", key="key")
    (found,) = usage.entries().failures
    assert (
        usage_journal.Failure(
            event_id=uid("first"),
            code="token_revoked",
            happened_at=at(1.5),
            request_id="first",
            key_id=KEY,
            institution_id=uid("alder"),
            times=1,
        )
        == found
    )


def test_failures_alike_are_one_row_a_minute(usage: UsageJournal) -> None:
    for event, second, code, key in [
        ("a", 0, "unknown", ""),
        ("b", 59.9, "unknown", ""),
        ("c", 60, "unknown", ""),
        ("d", 60, "mistyped", ""),
        ("e", 61, "unknown", "key"),
        ("f", 62, "unknown", "other key"),
        ("g", 63, "unknown", "key"),
    ]:
        fail(usage, event, second, code=code, key=key)
    assert [
        ("a", "unknown", 2),
        ("c", "unknown", 1),
        ("d", "mistyped", 1),
        ("e", "unknown", 2),
        ("f", "unknown", 1),
    ] == sorted(told(usage))


def test_an_event_that_is_noted_again_is_the_same_one(usage: UsageJournal) -> None:
    for event in ("a", "a", "b", "a"):
        fail(usage, event, 0)
    assert [("a", "x", 2)] == told(usage)
    fail(usage, "a", 0)
    assert [("a", "x", 2)] == told(usage)


def test_a_flood_is_a_few_rows(usage: UsageJournal) -> None:
    for number in range(500):
        fail(usage, f"flood {number}", number / 10)
    assert [("flood 0", "x", 500)] == told(usage)


def test_what_the_store_was_told_is_forgotten_and_nothing_else(usage: UsageJournal) -> None:
    usage.note_use(KEY, at(1))
    usage.note_use(OTHER, at(1))
    fail(usage, "a", 0)
    entries = usage.entries()
    usage.note_use(KEY, at(2))
    fail(usage, "b", 1)
    usage.forget(entries)
    left = usage.entries()
    assert (Use(key_id=KEY, used_at=at(2)),) == left.uses
    assert [("b", "x", 1)] == told(usage)
    usage.forget(left)
    assert Entries(uses=(), failures=()) == usage.entries()


def test_what_is_not_forgotten_is_told_again_and_has_not_changed(path: Path) -> None:
    with UsageJournal(path) as usage:
        fail(usage, "a", 0)
        usage.note_use(KEY, NOON)
        entries = usage.entries()
    with UsageJournal(path) as usage:
        fail(usage, "b", 1)
        again = usage.entries()
    assert entries == Entries(uses=again.uses, failures=again.failures[:1])
    assert [("a", 1), ("b", 1)] == [(each.request_id, each.times) for each in again.failures]


# The file


def test_it_is_for_its_owner_only(path: Path, usage: UsageJournal) -> None:
    usage.note_use(KEY, NOON)
    modes = {file.name: file.stat().st_mode & 0o777 for file in usage_path(path).parent.iterdir()}
    assert dict.fromkeys([usage_path(path).name + end for end in ("", "-wal", "-shm")], 0o600) == (
        modes
    )


# A damaged journal makes no call fail


def no_book(file: Path) -> None:
    file.write_bytes(b"something else" * 100)


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])


def zeroed(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def a_page_lost(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:4096] + bytes(4096) + file.read_bytes()[8192:])


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def of_somebody_else(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("create table uses (bird text)")


def a_table_lost(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("drop table failures")
        connection.execute("create table failures (key_id text, minute int, code, is_closed int)")


def rows_of_no_sense(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("update failures set happened_at = 'birds'")
        connection.commit()


def another_count(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("update failures set times = 2")
        connection.commit()


def another_use(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("update uses set used_at = used_at + 1")
        connection.commit()


def a_word_for_a_moment(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("update calls set called_at = 'birds'")
        connection.commit()


DAMAGE = [
    no_book,
    cut_off,
    zeroed,
    a_page_lost,
    a_folder,
    of_somebody_else,
    a_table_lost,
    rows_of_no_sense,
    another_count,
    another_use,
]


def write_down(path: Path) -> None:
    """Let a journal be written whose file is the whole of it."""
    with UsageJournal(path) as usage:
        use_everything(usage)
    with closing(sqlite3.connect(usage_path(path))) as connection:
        connection.execute("pragma journal_mode = delete")


def use_everything(usage: UsageJournal) -> Entries:
    usage.take_turn(KEY, NOON, most=3)
    usage.note_use(KEY, NOON)
    fail(usage, "event", 0, key="key")
    return usage.entries()


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_book_is_put_aside_and_a_new_one_is_begun(
    path: Path, damage: Callable[[Path], None]
) -> None:
    file = usage_path(path)
    write_down(path)
    assert [] == usage_journal.faults(path)
    damage(file)
    with UsageJournal(path) as usage:
        use_everything(usage)  # what is found damaged last takes along what was written before
        entries = use_everything(usage)
    assert (1, 1) == (len(entries.uses), len(entries.failures))
    (kept,) = kept_files(file)
    (fault,) = usage_journal.faults(path)
    assert (str(kept), "calls_put_aside") == (fault["file"], fault["fault"])
    assert "failed uses of keys" in fault["lost"]
    shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
    assert [] == usage_journal.faults(path)


@pytest.mark.parametrize("damage", [each for each in DAMAGE if each is not a_folder])
def test_who_looks_at_a_damaged_book_says_so_and_leaves_it(
    path: Path, damage: Callable[[Path], None]
) -> None:
    file = usage_path(path)
    write_down(path)
    damage(file)
    for _ in range(2):
        (fault,) = usage_journal.faults(path)
        assert (str(file), "calls_damaged") == (fault["file"], fault["fault"])
    assert [] == kept_files(file)


def test_who_looks_for_a_book_makes_none(path: Path) -> None:
    assert [] == usage_journal.faults(path)
    assert [] == list(path.parent.iterdir())


def test_calls_that_make_no_sense_are_no_reason_to_fail(path: Path) -> None:
    write_down(path)
    a_word_for_a_moment(usage_path(path))
    with UsageJournal(path) as usage:
        answers = [usage.take_turn(KEY, NOON, most=2) for _ in range(3)]
    assert [None, None, 60] == answers


def test_a_book_that_is_damaged_while_it_is_used_is_put_aside_once(path: Path) -> None:
    write_down(path)
    with UsageJournal(path) as one, UsageJournal(path) as other:
        use_everything(one)
        for log in usage_logs(usage_path(path)):
            log.unlink()
        zeroed(usage_path(path))
        with ThreadPoolExecutor(8) as pool:
            books = [one, other] * 20
            list(pool.map(lambda usage: usage.note_use(KEY, NOON), books))
    assert 1 == len(kept_files(usage_path(path)))
    with UsageJournal(path) as usage:
        assert 1 == len(usage.entries().uses)


@pytest.mark.parametrize("seed", range(FLIPS))
def test_of_one_bit_that_flips_nothing_comes_that_was_not_written(path: Path, seed: int) -> None:
    chance, file = random.Random(seed), usage_path(path)  # noqa: S311 - no secret
    write_down(path)
    with UsageJournal(path) as usage:
        written = usage.entries()
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)
    seen = usage_journal.faults(path)
    with UsageJournal(path) as usage:
        entries = usage.entries()
        use_everything(usage)
    assert set(entries.uses) <= set(written.uses)
    assert set(entries.failures) <= set(written.failures)
    if entries != written:
        assert seen
        assert usage_journal.faults(path)


def test_who_cannot_have_it_is_told_so(
    path: Path, usage: UsageJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_file, "_LONGEST_WAIT_S", 0)
    with UsageJournal(path) as other, usage._writing(), pytest.raises(StoreBusy):
        other.note_use(KEY, NOON)
    usage.note_use(KEY, NOON)


@pytest.mark.parametrize("is_made", [False, True])
def test_a_full_disk_is_told_as_such_wherever_it_strikes(tmp_path: Path, *, is_made: bool) -> None:
    heard: Counter[type[BaseException]] = Counter()
    with small_disk(tmp_path / "disk", "2m") as disk:
        for pages_left in range(60):
            room = disk / "room"
            if is_made:
                with UsageJournal(disk / STORE) as usage:
                    usage.note_use(KEY, NOON)
            room.write_bytes(bytes(4096 * pages_left))
            fill(disk / "filler")
            room.unlink()
            heard[used_up(disk / STORE)] += 1
            (disk / "filler").unlink()
            shutil.rmtree(folder_of(disk / STORE), ignore_errors=True)
    assert {NoSpace: 60} == heard


def test_a_disk_without_room_for_another_file_is_full(tmp_path: Path) -> None:
    heard = []
    for files in range(2, 7):  # itself, the folder, the journal, and two of SQLite's
        with small_disk(tmp_path / str(files), "2m", files=files) as disk:
            heard.append(used_up(disk / STORE, times=1))
    assert [NoSpace, NoSpace, NoSpace, None, None] == heard


def used_up(store: Path, times: int = 1_000) -> type[BaseException] | None:
    """Note uses of new keys, and return what that ended with."""
    try:
        with UsageJournal(store) as usage:
            for number in range(times):
                usage.note_use(uid(str(number)), NOON)
    except CardoffersError as error:
        return type(error)
    return None


def test_what_fails_half_way_leaves_nothing(usage: UsageJournal) -> None:
    def fail_half_way() -> None:
        with usage._writing():
            usage._run("note_use", key_id=str(KEY), used_at=0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert () == usage.entries().uses


def test_every_statement_binds() -> None:
    connection = sqlite3.connect(":memory:")
    connection.create_function("seal", -1, usage_file.seal, deterministic=True)
    for name, sql in statements("kernel/store/usage_journal").items():
        values = dict.fromkeys(PARAMETER.findall(sql))
        if not name.startswith(("make_", "index_")):
            connection.execute(f"explain {sql}", values)
        else:
            connection.execute(sql, values)
    connection.close()
