from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import duckdb
import pytest

from cardoffers_cli.domain.errors import CardoffersError
from cardoffers_cli.domain.money import MINOR_UNITS
from cardoffers_cli.jobs.river.decide import decide
from cardoffers_cli.jobs.river.export import export
from cardoffers_cli.jobs.storage.stores import info, migrate
from cardoffers_cli.services.explanations import explain
from cardoffers_cli.store.migrations import applied, apply, migrations, newest_version
from cardoffers_cli.store.opening import connected
from sizes import one_in
from tables import NOON, given, moment, select, snapshot, uid
from work import file_of, job, new_store, taken, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.jobs.context.job import Job


VERSIONS = [made.version for made in migrations()]


def test_every_migration_has_a_number_of_its_own() -> None:
    assert sorted(set(VERSIONS)) == VERSIONS


def test_each_is_recorded_with_its_digest_and_the_engine(tmp_path: Path) -> None:
    with new_store(tmp_path).store() as store:
        records = applied(store)
    assert [
        {
            "version": made.version,
            "name": made.name,
            "digest": made.digest,
            "engine_version": duckdb.__version__,
            "applied_at": NOON,
        }
        for made in migrations()
    ] == records


def test_a_current_store_is_left_as_it_is(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    with made.store() as store:
        before = snapshot(store)
    later = job(made.path, now=NOON + timedelta(days=1))
    assert [] == migrate(later)["applied"]
    with made.store() as store:
        assert before == snapshot(store)


def of_version(folder: Path, version: int) -> Job:
    """Make a store as a program of an older schema version left it."""
    made = job(folder / "older.duckdb")
    with connected(made.path, made.settings) as store, store.transaction():
        apply(store, NOON, have=later(version))
    return made


@pytest.mark.parametrize("version", VERSIONS[:-1])
@one_in(4)
def test_a_store_of_any_version_becomes_a_current_one(tmp_path: Path, version: int) -> None:
    made = of_version(tmp_path, version)
    assert later(version) == [int(name.split()[0]) for name in migrate(made)["applied"]]
    assert columns(new_store(tmp_path)) == columns(made)


def test_what_was_decided_by_the_newest_terms_is_told_by_them(tmp_path: Path) -> None:
    made = of_version(tmp_path, 9)
    with connected(made.path, made.settings) as store:
        given(store, "institutions", "institution\nalder")
        given(store, "merchants", "merchant\nbakery")
        given(store, "offers", "offer merchant min_spend\nA bakery 10.00")
        given(store, "versions", "offer known_at min_spend\nA 14:00:00 20.00\nA 18:00:00 30.00")
        given(store, "links", "cardholder offer\nann A")
        given(store, "redemptions", "offer\nA")  # of no purchase: it knew nothing of one then
        given(store, "purchases", "ref merchant amount at\nsmall bakery 15.00 12:00:00")
        select(store, "update runs set run_no = 4 where run_no = 2")
        select(store, "update offer_versions set run_no = 4 where run_no = 2")
        select(store, "insert into recent_decisions values (1, 2, 'not_redeemed', 1)")
        select(store, "insert into recent_outcomes values (1, 1, 2, 'below_min_spend')")
        select(store, "update redemptions set run_no = 2, purchase_no = 99")
    migrate(made)
    with made.store() as store:
        assert [(0,), (1,), (4,)] == select(store, "select run_no from offer_versions order by all")
        assert [(1,)] == select(store, "select version_no from redemptions")
        assert [(moment("14:00:00"),), (moment("18:00:00"),)] == select(
            store, "select known_at from offer_versions where run_no > 0 order by all"
        )
        small = explain(store, uid("alder"), ["small"])["small"]
        assert ("below_min_spend", "20.00", 2) == (
            small["reason"],
            str(small["evaluations"][0]["expected"]),
            small["evaluations"][0]["terms"]["version"],
        )
        select(store, "delete from redemptions")
        decide(store, made, rematch=True)
        again = explain(store, uid("alder"), ["small"])["small"]
        assert ("redeemed", 1) == (again["reason"], again["evaluations"][0]["terms"]["version"])


def test_a_dry_run_tells_what_would_be_applied(tmp_path: Path) -> None:
    made = of_version(tmp_path, 7)
    before = made.path.read_bytes()
    dry = migrate(made, dry_run=True)
    assert before == made.path.read_bytes()
    assert dry["dry_run"]
    assert {**dry, "dry_run": False} == migrate(made)
    assert [] == migrate(made, dry_run=True)["applied"]


def later(version: int) -> list[int]:
    return [each for each in VERSIONS if each > version]


def columns(made: Job) -> list[tuple[object, ...]]:
    """Return what tables and views a store has."""
    with made.store(read_only=True) as store:
        return select(
            store,
            "select table_name, column_name, data_type, is_nullable from duckdb_columns()"
            " where not internal order by all",
        )


def test_a_store_knows_every_currency(tmp_path: Path) -> None:
    with new_store(tmp_path).store() as store:
        assert MINOR_UNITS == dict(select(store, "select currency, minor_unit from currencies"))


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    with made.store() as store:
        store.connection.execute("delete from migrations where version = 1")
        before = snapshot(store)
    with pytest.raises(CardoffersError):
        migrate(made)  # the tables of the first one stand already
    with duckdb.connect(str(made.path)) as connection:
        assert before["migrations"] == connection.execute("from migrations").fetchall()


def test_info_tells_the_versions(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    told = info(made)
    assert (newest_version(), f"v{duckdb.__version__}") == (
        told["schema_version"],
        told["engine_version"],
    )
    assert told["size_bytes"] == made.path.stat().st_size


@pytest.mark.parametrize("is_archived", [False, True])
def test_what_waited_before_waits_after_and_is_found_by_its_hash(
    tmp_path: Path, is_archived: bool
) -> None:
    made = with_catalogue(tmp_path)
    taken(made, file_of(tmp_path / "tx.csv", "ref identifier\na M0\nb M7\nc M8"))
    with made.store() as store:
        decide(store, made)
    if is_archived:
        export(made, str(tmp_path / "history"))
    taken(made, file_of(tmp_path / "more.csv", "ref identifier\nd M0\ne M7"))
    kept = ("match_watermark", "unresolved_purchases", "purchase_refs")
    with made.store() as store:
        before = {name: select(store, f"from {name} order by all") for name in kept}
        assert [1, 2, 5] == [len(rows) for rows in before.values()]
        for statement in (
            *(f"drop table {name}" for name in (*kept, *COUNTED, *KEPT_SINCE)),
            *OF_BEFORE,
        ):
            select(store, statement)
    migrate(made)
    with made.store() as store:
        assert before == {name: select(store, f"from {name} order by all") for name in kept}
        looks = "select look_of(instrument_no, amount, transacted_at), purchase_no from purchases"
        expected = select(store, f"{looks} order by all")
        assert expected == select(store, "from purchase_looks order by all")


KEPT_SINCE = (
    "institution_profiles",
    "expectations",
    "purchase_looks",
    "refunds",
    "refund_links",
    "refund_outcomes",
    "refund_dismissals",
    "credits",
    "approvals",
    "credit_links",
    "reconciliation_verdicts",
    "finding_acceptances",
    "reconciliations",
    "reconciliation_totals",
    "statements",
    "statement_settlements",
    "institution_accounts",
    "payouts",
    "bank_files",
    "bank_entries",
    "invoice_periods",
    "invoiced_settlements",
    "invoices",
    "watched_institutions",
    "watch_findings",
    "import_shapes",
    "import_merchants",
    "watch_looks",
    "picked_files",
    "erasures",
    "legal_holds",
    "merchant_answers",
)
COUNTED = (
    "counted_up_to",
    "purchase_counts",
    "redemption_counts",
    "purchase_day_counts",
    "offer_counts",
)
OF_BEFORE = (
    "create table link_counts (counted_to bigint)",
    "alter table imports drop column kind_of_rows",
    "alter table institutions drop column refund_window_days",
    "alter table institutions drop column refund_auto_link",
    "alter table institutions drop column clawback_days",
    "alter table institutions drop column approvals",
    "alter table institutions drop column approval_limit",
    "alter table institutions drop column webhook_events",
    "alter table outbox drop column event",
    "alter table attempts drop column event",
    "alter table merchants drop column net_days",
    "alter table merchants drop column tax_id",
    "alter table merchants drop column tax_note",
    "alter table institutions drop column credit_days",
    "alter table institutions drop column tax_id",
    "alter table institutions drop column tax_note",
    "delete from migrations where version >= 14",
)
