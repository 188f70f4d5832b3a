from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from cardoffers_cli.kernel.store.store import guarded
from cardoffers_cli.kernel.words.errors import CardoffersError, NoSpace
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.redeem import find_all_held
from disks import small_disk
from sizes import slow
from tables import given, select, snapshot
from work import fresh_store, job, new_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as store:
        yield store


def test_rows_are_dictionaries_and_values_are_exact(store: Store) -> None:
    given(store, "institutions", "institution currency\nalder CLF\nbrook JPY")
    rows = store.rows("kernel/store/institutions:find", slug_or_id=None)
    assert [("alder", 4), ("brook", 0)] == [(row["slug"], row["minor_unit"]) for row in rows]
    assert "alder" == store.row("kernel/store/institutions:find", slug_or_id="alder")["slug"]
    assert store.row("kernel/store/institutions:find", slug_or_id="elm") is None
    assert store.value("kernel/store/institutions:find", slug_or_id="elm") is None


def test_a_frame_comes_out_with_and_without_parameters(store: Store) -> None:
    given(store, "institutions", "institution\nalder\nbrook")
    assert ["alder", "brook"] == store.frame("kernel/cli/completing:institutions")[
        "value"
    ].to_list()
    found = store.frame("kernel/store/institutions:find", slug_or_id="brook")
    assert ["brook"] == found["slug"].to_list()


def test_a_frame_goes_in_and_is_forgotten(store: Store) -> None:
    columns = ("purchase_no", "offer_no", "run_no", "outcome")
    frame = pl.DataFrame([range(2)] * 4, schema=columns)
    assert 2 == store.load("river/redeem:fetched_outcomes", frame)
    with pytest.raises(CardoffersError):
        store.execute("river/redeem:fetched_outcomes")


def test_a_transaction_keeps_all_or_nothing(store: Store) -> None:
    empty = snapshot(store)
    for keep, error in ((False, None), (True, RuntimeError), (True, KeyboardInterrupt)):
        with _expected(error), store.transaction(keep=keep):
            given(store, "merchants", "merchant\nbakery")
            if error:
                raise error
        assert empty == snapshot(store)
    with store.transaction():
        given(store, "merchants", "merchant\nbakery")
    assert empty != snapshot(store)


def _expected(error: type[BaseException] | None) -> object:
    return pytest.raises(error) if error else guarded()


@pytest.mark.parametrize("keep", [True, False])
def test_temporary_tables_go_with_the_transaction_that_made_them(store: Store, keep: bool) -> None:
    left = "select table_name from duckdb_tables() where temporary"
    left += " union all select view_name from duckdb_views() where temporary and not internal"
    with store.transaction(keep=keep):
        dropped = find_all_held(store, 1)
        assert 3 == len(select(store, left))
        store.drop(dropped.uses)
        assert 2 == len(select(store, left))
        held = find_all_held(store, 2)
    assert [] == select(store, left)
    with store.transaction(), pytest.raises(LookupError, match="a run that is over"):
        store.make("river/redeem:reserved", held.this_run)


def test_a_frame_that_waits_holds_its_own_text_only(store: Store) -> None:
    """Or a few rows of each chunk of a file would hold all of its chunks."""
    chunk = pl.DataFrame({"text": [f"{n:0100}" for n in range(10_000)]})
    few = chunk.filter(pl.int_range(pl.len()) % 1000 == 0)
    assert few.equals(pl.from_arrow(store.apart(few)))
    assert store.apart(few).get_total_buffer_size() < 5_000
    assert store.apart(chunk).get_total_buffer_size() > 1_000_000


def test_an_error_of_the_engine_never_quotes_data(store: Store) -> None:
    with pytest.raises(CardoffersError) as caught, guarded():
        store.connection.execute("select cast('4111111111111111x' as integer)")
    told = (caught.value.message, caught.value.hint, str(caught.value.details))
    assert "store_error" == caught.value.code
    assert "4111" not in str(told)


def test_work_that_does_not_fit_is_told_with_what_to_do(tmp_path: Path) -> None:
    small = job(new_store(tmp_path).path, memory_limit="2MiB", temp_directory=tmp_path / "t")
    with small.store() as store, pytest.raises(CardoffersError) as caught, guarded():
        store.connection.execute("select list(md5(i::varchar)) from range(1_000_000) r(i)")
    assert "memory" == caught.value.code
    assert "memory_limit" in str(caught.value.hint)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "6m") as disk:
        yield disk


@slow
def test_a_full_disk_ends_as_such_and_leaves_nothing_half_done(disk: Path, tmp_path: Path) -> None:
    made = new_store(disk)
    with made.store() as store:
        given(store, "institutions", "institution\nalder")
        before = snapshot(store)
    file = tmp_path / "purchases.csv"
    lines = [f"ch_{n:040},ct_{n:040},,1.00,{n:0100},2026-05-01T00:00:00Z" for n in range(60_000)]
    header = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
    file.write_text("\n".join([header, *lines]))
    with pytest.raises(NoSpace):
        import_file(str(file), "alder", made, ImportOptions(), outputs=Outputs())
    with made.store(read_only=True) as store:
        assert before == snapshot(store)
    with made.store() as store:
        assert [(0,)] == select(store, "select count(*) from purchases")
