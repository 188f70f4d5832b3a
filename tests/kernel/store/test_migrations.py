"""A store of this version, and the way of an older one to it.

No migration is packaged yet, so the tests bring one, in a copy of the folder of SQL.
"""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

import cardoffers_cli.kernel.store.statements as packaged
from cardoffers_cli.copies.work import backup
from cardoffers_cli.kernel.store import migrations
from cardoffers_cli.kernel.words.errors import CardoffersError, StoreVersion
from cardoffers_cli.kernel.words.money import MINOR_UNITS
from cardoffers_cli.storage.restore import restore
from cardoffers_cli.storage.stores import info, init, migrate
from sizes import slow
from tables import NOON, given, select, snapshot
from work import found, job, new_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cardoffers_cli.kernel.store.job import Job

COLUMN = "alter table merchants add column terminal varchar"
FILLED = "update merchants set terminal = 'T' || merchant_no"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a copy of the folder of SQL, of which the program reads what this test changes."""
    without = shutil.ignore_patterns("*.py*", "docs")
    copy = Path(shutil.copytree(str(packaged.sql_folder()), tmp_path / "sql", ignore=without))
    for module in (packaged, migrations):
        monkeypatch.setattr(module, "sql_folder", lambda: copy)
    yield copy
    monkeypatch.undo()
    read()


def read() -> None:
    """Let the program read the folder of SQL anew, as another version of it would."""
    for remembered in (packaged.statements, migrations.migrations, migrations.digest_of):
        remembered.cache_clear()


def bring(folder: Path, *statements: str) -> None:
    """Put a migration of these statements into a folder of SQL."""
    blocks = (f"-- name: step_{number}\n{text};\n" for number, text in enumerate(statements))
    (folder / "kernel/store/migrations").mkdir()
    (folder / "kernel/store/migrations/0002_terminals.sql").write_text("\n".join(blocks))
    read()


def replaced(file: Path, old: str, new: str) -> None:
    """Change the text of a file of SQL."""
    text = file.read_text()
    assert 1 == text.count(old)
    file.write_text(text.replace(old, new))
    read()


def other_views(folder: Path) -> None:
    """Let a macro of a folder of SQL be another one, as in the next version of the program."""
    file = folder / "events/views.sql"
    replaced(file, "else left(token, 4)", "else left(token, 3)")


def masked(made: Job) -> str:
    ((text,),) = found(made, "select masked('tok-123456789')")
    return str(text)


def test_a_new_store_is_of_schema_1_with_the_digest_of_its_tables(tmp_path: Path) -> None:
    told = info(new_store(tmp_path))
    assert [
        {
            "version": 1,
            "name": "baseline",
            "digest": migrations.digest_of("kernel/store/schema"),
            "engine_version": duckdb.__version__,
            "applied_at": NOON,
        }
    ] == told["migrations"]
    assert (1, f"v{duckdb.__version__}") == (told["schema_version"], told["engine_version"])


def test_a_current_store_is_left_as_it_is(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    with made.store() as store:
        before = snapshot(store)
    later = job(made.path, now=NOON + timedelta(days=1))
    assert [] == migrate(later)["applied"]
    with made.store() as store:
        assert before == snapshot(store)


def test_a_store_knows_every_currency(tmp_path: Path) -> None:
    with new_store(tmp_path).store() as store:
        assert MINOR_UNITS == dict(select(store, "select currency, minor_unit from currencies"))


# A later schema


@slow
def test_a_store_is_brought_to_a_later_schema_and_a_new_one_is_made_of_it(
    tmp_path: Path, folder: Path
) -> None:
    made = new_store(tmp_path)
    with made.store() as store:
        given(store, "merchants", "merchant\nbakery")
    bring(folder, COLUMN, FILLED)
    replaced(
        folder / "kernel/store/schema.sql",
        "    net_days integer,",
        "    terminal varchar, net_days integer,",
    )
    with pytest.raises(StoreVersion) as refused, made.store():
        pass
    assert {"found": 1, "expected": 2} == refused.value.details
    assert "store migrate" in str(refused.value.hint)
    would = migrate(made, dry_run=True)
    assert (["0002 terminals"], 2, True) == (would.applied, would.schema_version, would.dry_run)
    later = job(made.path, now=NOON + timedelta(days=1))
    assert ["0002 terminals"] == migrate(later).applied
    assert [] == migrate(later).applied
    assert [(True,)] == found(made, "select terminal = 'T' || merchant_no from merchants")
    records = info(made)["migrations"]
    assert [
        (1, "baseline", NOON),
        (2, "terminals", NOON + timedelta(days=1)),
    ] == [(each["version"], each["name"], each["applied_at"]) for each in records]
    assert migrations.digest_of("kernel/store/migrations/0002_terminals") == records[1]["digest"]
    new = job(tmp_path / "new.duckdb")
    init(new)
    assert columns(new) == columns(made)
    assert [1, 2] == [each["version"] for each in info(new)["migrations"]]


def columns(made: Job) -> list[tuple[object, ...]]:
    """Return what tables and views a store has."""
    return found(
        made,
        "select table_name, column_name, data_type, is_nullable from duckdb_columns()"
        " where not internal order by all",
    )


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path, folder: Path) -> None:
    made = new_store(tmp_path)
    before = columns(made)
    bring(folder, COLUMN, "alter table terminals add column name varchar")
    with pytest.raises(CardoffersError):
        migrate(made)
    shutil.rmtree(folder / "kernel/store/migrations")
    read()
    assert before == columns(made)
    assert [1] == [each["version"] for each in info(made)["migrations"]]


# Views and macros


def test_who_writes_has_other_views_made_anew_and_who_reads_is_told(
    tmp_path: Path, folder: Path
) -> None:
    made = new_store(tmp_path)
    assert "tok-…6789" == masked(made)
    other_views(folder)
    with pytest.raises(StoreVersion, match="views") as refused, made.store(read_only=True):
        pass
    assert "store migrate" in str(refused.value.hint)
    with made.store():
        pass
    assert "tok…6789" == masked(made)


def restored(made: Job) -> None:
    restore(made, made.path.with_name("b"))


@slow
@pytest.mark.parametrize("way", [migrate, restored])
def test_a_store_with_other_views_is_migrated_and_a_backup_of_it_restored(
    tmp_path: Path, folder: Path, way: Callable[[Job], object]
) -> None:
    made = new_store(tmp_path)
    backup(made, tmp_path / "b")
    other_views(folder)
    way(made)
    assert "tok…6789" == masked(made)


def test_a_comment_changes_no_digest(folder: Path) -> None:
    before = migrations.digest_of("kernel/store/schema"), migrations.digest_of(*packaged.VIEWS)
    for file in (folder / "kernel/store/schema.sql", folder / "kernel/store/views.sql"):
        file.write_text(file.read_text().replace("\n-- Grain: ", "\n-- It has this grain: "))
    read()
    assert before == (
        migrations.digest_of("kernel/store/schema"),
        migrations.digest_of(*packaged.VIEWS),
    )


def test_tables_of_schema_1_that_changed_before_its_release_are_another_store(
    tmp_path: Path, folder: Path
) -> None:
    made = new_store(tmp_path)
    replaced(
        folder / "kernel/store/schema.sql", "    net_days integer,", "    paid_within_days integer,"
    )
    with pytest.raises(StoreVersion) as refused, made.store():
        pass
    assert "store_too_old" == refused.value.code
