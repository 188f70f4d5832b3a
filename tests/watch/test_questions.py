"""Findings of the watch: recorded once, resolved, accepted, listed, and audited."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.storage.doctor import offending
from cardoffers_cli.watch.observations import Observation, figures_text, watch_meaning
from cardoffers_cli.watch.questions import (
    find_watch_finding,
    list_watch_findings,
    open_watch_findings,
    record_findings,
)
from tables import NOON, given, select, uid
from work import fresh_store, next_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.watch.questions import WatchFinding

DAY = date(2026, 6, 1)
ALDER, BROOK = uid("alder"), uid("brook")
FIGURES = {"rows": 96, "share": Decimal("0.1250"), "usual": 819}


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Store]:
    """A store of two institutions."""
    with fresh_store(tmp_path) as store:
        given(store, "institutions", "institution\nalder\nbrook")
        yield store


def record(store: Store, *found: tuple[str, str, int], of: str = "alder") -> int:
    """Record findings of code, subject and day of June."""
    told = [Observation(code, about, DAY.replace(day=day), FIGURES) for code, about, day in found]
    return record_findings(store, uid(of), told, run_no=next_run(store), now=NOON)


def states(store: Store) -> list[tuple[str, str, str, str]]:
    """Return institution, code, subject and state of every finding, as they are listed."""
    return [
        (each.institution, each.code, each.subject, each.state)
        for each in list_watch_findings(store, limit=100)
    ]


def accept(store: Store, finding: WatchFinding, actor: str, reason: str) -> None:
    """Accept a finding, as `watch accept` does."""
    by = {"actor": actor, "reason": reason, "now": NOON}
    store.execute("watch/questions:accept", finding_id=finding.finding_id, **by)


def resolve(store: Store, owner: UUID, about_on: date | None = None) -> int:
    """Resolve what was told of b.csv, of a day or of all, as a night does; return how many."""
    about = {"code": "file_missed", "subject": "b.csv", "about_on": about_on}
    by = {"reason": "it came", "actor": "night", "now": NOON}
    return store.execute("watch/questions:resolve", institution_id=owner, **about, **by)


def test_what_is_recorded_twice_is_there_once(watched: Store) -> None:
    assert 2 == record(watched, ("rows_unusual", "a.csv", 1), ("rows_unusual", "b.csv", 1))
    assert 1 == record(watched, ("rows_unusual", "a.csv", 1), ("rows_unusual", "a.csv", 2))
    assert 1 == record(watched, ("rows_unusual", "a.csv", 1), of="brook")
    assert 0 == record(watched)
    assert 4 == len(states(watched))


def test_one_that_is_closed_stays_so_when_it_is_recorded_again(watched: Store) -> None:
    record(watched, ("rows_unusual", "a.csv", 1), ("file_missed", "b.csv", 1))
    (first,) = list_watch_findings(watched, code="rows_unusual", limit=9)
    accept(watched, first, "ann", "holiday")
    assert 1 == resolve(watched, ALDER)
    assert 0 == resolve(watched, ALDER)
    assert 0 == record(watched, ("rows_unusual", "a.csv", 1), ("file_missed", "b.csv", 1))
    accept(watched, first, "bob", "holiday")
    assert [
        ("alder", "rows_unusual", "a.csv", "accepted"),
        ("alder", "file_missed", "b.csv", "resolved"),
    ] == states(watched)
    found = find_watch_finding(watched, str(first.finding_id))
    assert ("ann", "holiday", NOON) == (found.closed_by, found.reason, found.closed_at)


def test_only_the_day_that_is_named_is_resolved(watched: Store) -> None:
    record(watched, *(("file_missed", "b.csv", day) for day in (1, 2, 3)))
    assert 1 == resolve(watched, ALDER, DAY)
    assert 0 == resolve(watched, BROOK)
    assert 2 == resolve(watched, ALDER)


def test_figures_come_back_exact(watched: Store) -> None:
    record(watched, ("rows_unusual", "a.csv", 1))
    (found,) = list_watch_findings(watched, limit=9)
    assert FIGURES == found.figures
    assert "rows 96, share 0.1250, usual 819" == figures_text(found.figures)


def test_open_ones_come_first_then_the_newest(watched: Store) -> None:
    record(watched, ("rows_unusual", "a.csv", 1), ("rows_unusual", "b.csv", 3))
    record(watched, ("rows_unusual", "c.csv", 2), of="brook")
    (newest,) = list_watch_findings(watched, limit=1)
    assert ("b.csv", 3) == (newest.subject, newest.findings)
    accept(watched, newest, "ann", "known")
    found = list_watch_findings(watched, limit=9)
    assert ["c.csv", "a.csv", "b.csv"] == [each.subject for each in found]
    assert ["a.csv"] == [
        each.subject
        for each in list_watch_findings(watched, institution_id=ALDER, state="open", limit=9)
    ]
    assert [("alder", 1, "a.csv"), ("brook", 1, "c.csv")] == [
        (each.institution, each.findings, each.about) for each in open_watch_findings(watched)
    ]
    assert [] == open_watch_findings(watched, uid("cedar"))


def test_whom_a_finding_is_about_is_told_masked(watched: Store) -> None:
    given(
        watched,
        "purchases",
        """
        ref  cardholder                        card
        1    9fb6f85a8aac50e20c422cac18b44258  ct_527b0abb_of_ann
        2    0c2a7bfa8aac50e20c422cac18b4f1e9  ct_9c1f77d3_of_bob
        """,
    )
    numbers = "select instrument_no, cardholder_no from purchases where transaction_ref = '2'"
    ((card, holder),) = select(watched, numbers)
    record(
        watched,
        ("cardholder_busy", f"cardholder {holder}", 1),
        ("instrument_shared", f"instrument {card}", 1),
    )
    assert ["cardholder 0c2a…f1e9", "instrument ct_9…_bob"] == [
        each.about for each in list_watch_findings(watched, limit=9)
    ]


def test_a_code_without_words_is_told_by_itself() -> None:
    assert "file odd" == watch_meaning("file_odd").says


def test_what_is_not_there_is_not_found(watched: Store) -> None:
    record(watched, ("rows_unusual", "a.csv", 1))
    (found,) = list_watch_findings(watched, limit=9)
    with pytest.raises(NotFound, match="no finding with this id"):
        find_watch_finding(watched, str(found.finding_id), BROOK)


AUDIT = "watch_findings_are_whole"
BREACHES = (
    "subject = 'x'",
    "about_on = '2026-06-02'",
    "run_no = 99",
    "institution_id = uuid()",
    "figures = 'x'",
    "state = 'done'",
    "state = 'resolved'",
    "closed_at = found_at",
    "reason = 'x'",
)


@pytest.mark.parametrize("breach", BREACHES)
def test_the_audit_finds_a_breach(watched: Store, breach: str) -> None:
    record(watched, ("rows_unusual", "a.csv", 1), ("rows_unusual", "b.csv", 1))
    assert 0 == offending(watched, AUDIT)[0]
    select(watched, f"update watch_findings set {breach} where subject = 'a.csv'")  # noqa: S608
    assert 1 == offending(watched, AUDIT)[0]


SHAPES, MERCHANTS, LOOKS = (
    "shapes_fit_their_import",
    "merchants_of_files_fit_their_shape",
    "looks_are_of_runs",
)
KEPT_BREACHES = (
    *(
        (SHAPES, f"update import_shapes set {breach}")  # noqa: S608 - ours
        for breach in (
            "institution_id = uuid()",
            "import_no = 9",
            "median_amount = null",
            "unknown_merchants = -1",
            "cardholders = 21",
            "new_cardholders = cardholders + 1",
            "redeemed = 21",
        )
    ),
    *(
        (MERCHANTS, breach)
        for breach in (
            "update import_merchants set purchases = 2",
            "update import_merchants set purchases = 21",
            "update import_merchants set institution_id = uuid()",
            "insert into import_merchants from import_merchants",
            "delete from import_shapes",
        )
    ),
    *(
        (LOOKS, f"update watch_looks set {breach}")  # noqa: S608 - ours
        for breach in (
            "institution_id = uuid()",
            "run_no = 99",
            "redemption_no = 1",
            "instrument_no = -1",
        )
    ),
)


@pytest.mark.parametrize(("audit", "breach"), KEPT_BREACHES)
def test_what_is_kept_of_files_is_audited(watched: Store, audit: str, breach: str) -> None:
    watched.execute("river/stored_imports:record", **{**IMPORT, "run_no": next_run(watched)})
    of = f"'{ALDER}'"
    for made in (
        f"import_shapes values (1, {of}, '2026-06-01', 15, 2, 7, 1, null)",
        f"import_merchants values (1, {of}, '{uid('bakery')}', 12)",
        f"watch_looks values ({of}, {next_run(watched)}, 0, 0)",
    ):
        select(watched, f"insert into {made}")
    assert [0, 0, 0] == [offending(watched, each)[0] for each in (SHAPES, MERCHANTS, LOOKS)]
    select(watched, breach)
    assert 1 == offending(watched, audit)[0]


IMPORT = {
    **dict.fromkeys(("duplicates", "conflicts", "invalid", "blank_lines"), 0),
    **dict.fromkeys(("received", "accepted"), 20),
    **dict.fromkeys(("import_no", "size_bytes"), 1),
    "import_id": uid("import"),
    "institution_id": ALDER,
    "file_name": "a.csv",
    "file_kind": "csv",
    "kind_of_rows": "purchases",
    "file_sha256": "",
    "options": "{}",
    "amount_accepted": 300,
    "currency": "GBP",
    "imported_at": NOON,
}
"""A file of which 20 rows were taken."""
