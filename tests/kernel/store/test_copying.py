from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store import copying
from cardoffers_cli.kernel.store.layout import log_path, log_paths
from cardoffers_cli.kernel.store.opening import connected
from cardoffers_cli.kernel.words.errors import CardoffersError, StoreDamaged
from sizes import one_in
from tables import select
from work import kept, new_store, settings, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(made, merchants="merchant\nbakery\nbutcher")
    return made


def test_a_copy_has_every_table_view_and_macro(made: Job) -> None:
    objects = (
        "select function_name from duckdb_functions() where not internal union all"
        " select view_name from duckdb_views() where not internal union all"
        " select table_name || column_name || data_type || is_nullable from duckdb_columns()"
        " where not internal union all"
        " select table_name || constraint_text from duckdb_constraints() order by all"
    )
    draft = made.path.with_name("it's a copy")
    copying.copy_store(made.path, draft, settings())
    with made.store(read_only=True) as store, connected(draft, settings()) as copy:
        assert len(select(store, objects)) > 100
        assert select(store, objects) == select(copy, objects)
        assert copying.contents(store) == copying.contents(copy)


def test_a_copy_takes_the_place_of_a_draft(made: Job) -> None:
    draft = made.path.with_name("draft")
    draft.write_text("half a copy")
    log_path(draft).write_text("of which this was the log")
    copying.copy_store(made.path, draft, settings())
    with connected(draft, settings()) as copy:
        assert [(2,)] == select(copy, "select count(*) from merchants")


def test_what_cannot_be_copied_leaves_no_draft(made: Job) -> None:
    made.path.write_text("no store any more\n" * 1000)
    draft = made.path.with_name("draft")
    with pytest.raises(CardoffersError):
        copying.copy_store(made.path, draft, settings())
    assert not draft.exists()


@pytest.mark.parametrize(
    "change",
    [
        "delete from merchants where name = 'bakery'",
        "update merchants set name = 'baker' where name = 'bakery'",
        "update merchants set category = '' where name = 'bakery'",
        "create table more as select 1 as a",
        "drop table key_notices",
    ],
)
@one_in(3)
def test_a_copy_that_differs_is_found(made: Job, change: str) -> None:
    with made.store() as store:
        before = copying.contents(store)
        copying.check_copy(before, copying.contents(store))
        select(store, change)
        with pytest.raises(StoreDamaged) as caught:
            copying.check_copy(before, copying.contents(store))
    assert "copy_differs" == caught.value.code


def test_the_order_of_rows_makes_no_difference(made: Job) -> None:
    with made.store() as store:
        before = copying.contents(store)
        select(store, "create table ordered as from merchants order by name desc")
        select(store, "delete from merchants")
        select(store, "insert into merchants from ordered")
        select(store, "drop table ordered")
        assert before == copying.contents(store)


def test_nothing_is_put_beside_the_log_of_another_store(made: Job) -> None:
    before = kept(made)
    draft = made.path.with_name("draft")
    copying.copy_store(made.path, draft, settings())
    log = log_path(made.path)
    log.touch()
    with pytest.raises(StoreDamaged) as caught:
        copying.put_in_place(draft, made.path)
    assert "store_has_log" == caught.value.code
    log.unlink()
    copying.put_in_place(draft, made.path)
    assert before == kept(made)


def test_a_store_is_given_a_second_name_with_its_logs(made: Job) -> None:
    aside = made.path.with_name("aside")
    for log in log_paths(made.path):
        log.write_text(log.name)
    copying.keep_aside(made.path, aside)
    assert aside.samefile(made.path)
    assert [log.name for log in log_paths(made.path)] == [
        log.read_text() for log in log_paths(aside)
    ]
    assert [] == [log for log in log_paths(made.path) if log.exists()]
