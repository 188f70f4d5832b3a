"""The schema is told once: tables in `schema.sql`, views and macros in `views.sql` of a slice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.archive.export import export
from cardoffers_cli.kernel.store.statements import VIEWS, sql_folder, statements
from cardoffers_cli.storage.doctor import audits
from tables import select
from work import file_of, found, taken, with_catalogue

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store


def test_every_file_of_views_is_made() -> None:
    assert files_named("views.sql") == {*VIEWS}


def test_every_file_of_audits_is_asked() -> None:
    assert files_named("audits.sql") == {address.partition(":")[0] for address in audits().values()}


def files_named(name: str) -> set[str]:
    """Return the files of a name below the package, without their suffix."""
    root = Path(str(sql_folder()))
    return {file.relative_to(root).with_suffix("").as_posix() for file in root.rglob(name)}


def test_a_store_has_just_the_views_and_macros_of_the_files(store: Store) -> None:
    named = sorted(name for stem in VIEWS for name in statements(stem))
    assert [(name,) for name in named] == select(
        store,
        "select view_name from duckdb_views() where not internal and not temporary"
        " union all select function_name from duckdb_functions() where not internal order by all",
    )


def test_every_view_can_be_read(store: Store) -> None:
    """A view is bound when it is read: what it names may have gone since it was made."""
    views = select(store, "select view_name from duckdb_views() where not internal")
    assert [[]] * len(views) == [select(store, f"from {view} limit 0") for (view,) in views]


def test_views_show_what_is_in_the_history(tmp_path: Path) -> None:
    made = with_catalogue(tmp_path)
    taken(made, file_of(tmp_path / "tx.csv", "ref cardholder identifier\nr-1 c0 M0"))
    asked = "select transaction_ref, merchant_name from identified_purchases"
    before = found(made, asked)
    assert [("r-1", "bakery")] == before
    export(made, str(tmp_path / "history"))
    assert [] == found(made, "from recent_purchases")
    assert before == found(made, asked)
