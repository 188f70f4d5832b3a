"""Files that are unlike those before: real ones, clean nights of a sample, and planted faults."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.row_kinds import REFUNDS
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.watch import questions as abuse
from cardoffers_cli.watch.questions import accept_watch
from cardoffers_cli.watch.scan import keep_shape, look, look_at, look_at_imports
from drifting import FAULTS, REAL, Days, days_of, real_months
from sizes import FULL, at_the_gate, slow
from tables import uid
from work import file_of, found, settings, short_nights, taken, with_catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.watch.scan import MissingShape

NIGHTS = 60


ODD_MONTHS = {"2019-02", "2021-03", "2020-05"}
"""Files with rows of other months, rows that repeat, or known ones: a finding there is right."""


@at_the_gate
@pytest.mark.skipif(not REAL.is_dir(), reason="the data is not beside the repository")
def test_of_95_real_files_just_the_two_that_are_wrong_are_found(tmp_path: Path) -> None:
    """Takes a minute, as it takes in 95 files one after the other."""
    assert [("2020-02", "file_wholly_known"), ("2021-11", "rows_unusual")] == [
        each for each in real_months(tmp_path) if each[0] not in ODD_MONTHS
    ]


@pytest.fixture(scope="module", params=[11, 7] if FULL else [11])
def days(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Days, list[set[str]]]:
    """The clean nights of a sample, and what each found; the floors were chosen by seed 7."""
    sample = days_of(tmp_path_factory.mktemp("days"), days=NIGHTS + 1, rows=300, seed=request.param)
    return sample, [sample.night(day) for day in range(NIGHTS)]


@at_the_gate
def test_there_is_one_false_alarm_in_60_clean_nights_at_most(
    days: tuple[Days, list[set[str]]],
) -> None:
    """Takes a minute for the nights of each seed, which the faults need too."""
    _, alarms = days
    assert sum(map(bool, alarms)) <= 1


@at_the_gate
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_the_same_night(
    days: tuple[Days, list[set[str]]], name: str, tmp_path: Path
) -> None:
    sample, _ = days
    assert sample.found_of(NIGHTS, name, tmp_path)


KEPT = "select cardholders, new_cardholders, unknown_merchants, redeemed from import_shapes"
ROWS = """
    ref cardholder card identifier
    r-1 c0         k0   M0
    r-2 c1         k1   M9
    r-3 c8         k8   M0
    r-4 c8         k8   -
"""


def test_what_a_file_looked_like_is_kept_of_whoever_is_watched(tmp_path: Path) -> None:
    made = with_catalogue(tmp_path)
    path = file_of(tmp_path / "tx.csv", ROWS)
    taken(made, path, dry_run=True)
    assert [] == found(made, KEPT)
    set_institution(made, "alder", {}, watch=True)
    taken(made, path)
    assert [(3, 1, 2, None)] == found(made, KEPT)
    taken(made, path)
    assert (0, 0, 0, None) == found(made, f"{KEPT} order by import_no")[1]


@slow
def test_the_middle_amount_of_a_file_is_of_its_rows_alone(tmp_path: Path) -> None:
    made, path = with_catalogue(tmp_path), tmp_path / "refunds.csv"
    set_institution(made, "alder", {}, watch=True)
    for amount in (3, 9):
        row = f"R-{amount},r-1,{amount}.00,2026-06-01T10:00:00Z"
        path.write_text(f"refund_ref,original_transaction_ref,amount,refunded_at\n{row}\n")
        options = ImportOptions(kind=REFUNDS)
        import_file(str(path), "alder", made, options, outputs=Outputs(), look=look_at_imports)
    medians = "select median_amount from import_shapes order by import_no"
    assert [(3,), (9,)] == found(made, medians)


def many(folder: Path, day: int, rows: int) -> Path:
    """Write the file of a day, with so many rows."""
    lines = [
        f"r-{day}-{row} c{row % 7} k{row % 7} M0 2026-06-01T11:{day:02}:{row:02}Z"
        for row in range(rows)
    ]
    return file_of(folder / f"{day}.csv", "\n".join(["ref cardholder card identifier at", *lines]))


def look_again(made: Job) -> None:
    """Look as the next nightly run does, at files that nothing is kept of too."""

    def failed(error: Exception, _: str) -> None:
        raise error

    look_at(made, uid("alder"), failed)


def import_one(made: Job, path: Path, *, dry_run: bool = False) -> Sequence[str]:
    """Import a file, and return what it says of what is unusual."""
    options = ImportOptions(dry_run=dry_run, is_own=True)
    done = import_file(str(path), "alder", made, options, outputs=Outputs(), look=look_at_imports)
    return [*done.unusual]


@slow
def test_an_import_says_and_records_what_is_unusual_in_its_file(tmp_path: Path) -> None:
    made = with_catalogue(tmp_path)
    for day in range(4):
        assert [] == import_one(made, many(tmp_path, day, 60))
    assert [] == found(made, KEPT)
    assert [] == import_one(made, many(tmp_path, 4, 6))
    set_institution(made, "alder", {}, watch=True)
    for day in range(5, 9):
        assert [] == import_one(made, many(tmp_path, day, 60))
    assert not import_one(made, many(tmp_path, 9, 15), dry_run=True)
    (line,) = import_one(made, tmp_path / "9.csv")
    ((finding_id,),) = found(made, "select finding_id from watch_findings")
    assert line.endswith(f"Next: `cardoffers watch show {finding_id}`.")
    assert "9.csv: far more or fewer rows than in the files before (rows 15, usual 60" in line
    accept_watch(made, str(finding_id), "a bank holiday")
    with made.store() as store, store.transaction():
        look(store, made, find_institution(store, "alder").id)
    assert [("accepted",)] == found(made, "select state from watch_findings")


@slow
@pytest.mark.parametrize("step", ["keep_shapes", "compare", "record_findings"])
def test_an_import_stands_whatever_fails_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The error is one of the engine, after which a transaction takes no more statements."""
    made = with_catalogue(tmp_path)
    set_institution(made, "alder", {}, watch=True)

    def fails(store: Store, *_: object, **__: object) -> None:
        store.connection.execute("select error('c8')")

    with monkeypatch.context() as patched:
        patched.setattr(f"cardoffers_cli.watch.scan.{step}", fails)
        (line,) = import_one(made, file_of(tmp_path / "tx.csv", ROWS))
    assert "The file is taken, but could not be compared" in line
    assert "c8" not in line
    assert [(4, 1)] == found(made, "select count(*), min(import_no) from purchases")
    assert ([], []) == (found(made, KEPT), found(made, "from watch_findings"))
    look_again(made)
    assert [(3, 1, 2, 0)] == found(made, KEPT)


@slow
def test_a_night_looks_once_and_goes_on_when_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_nights(monkeypatch, "import", "match", "watch")
    made = with_catalogue(tmp_path)
    set_institution(made, "alder", {}, watch=True)
    drop = tmp_path / "drop"
    (drop / "alder").mkdir(parents=True)
    made = replace(made, settings=settings(quiet_s=0))
    file_of(drop / "alder" / "tx.csv", ROWS)
    first = run_night(made, NightOptions(drop=drop))
    assert [1] == [row[-1] for row in found(made, KEPT)]
    assert [] == [each.code for each in first.findings if each.level != "note"]
    file_of(drop / "alder" / "again.csv", ROWS)
    (told,) = [
        each for each in run_night(made, NightOptions(drop=drop)).findings if each.level != "note"
    ]
    assert ("file_wholly_known", "alder") == (told.code, told.others["institution"])
    assert "every row was known already" in told.message

    def fails(*_: object) -> None:
        raise ValueError("c8")

    monkeypatch.setattr("cardoffers_cli.watch.scan.find_abuse", fails)
    assert abuse.find_abuse is not fails
    file_of(drop / "alder" / "more.csv", "ref cardholder card identifier\nr-9 c0 k0 M0")
    last = run_night(made, NightOptions(drop=drop))
    failed = [each for each in last.findings if each.code == "watch_failed"]
    assert ["finished", 1] == [last.status, len(failed)]
    assert "(ValueError)" in failed[0].message
    assert "c8" not in failed[0].message
    of_last = f"{KEPT} where import_no = 3"
    assert [(1, 0, 0, None)] == found(made, of_last)
    monkeypatch.undo()
    look_again(made)
    assert [(1, 0, 0, 1)] == found(made, of_last)


@slow
def test_a_file_that_cannot_be_kept_keeps_no_other_from_being_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_nights(monkeypatch, "watch")
    made = with_catalogue(tmp_path)
    set_institution(made, "alder", {}, watch=True)

    def fails(store: Store, *_: object) -> None:
        store.connection.execute("select error('c8')")

    with monkeypatch.context() as patched:
        patched.setattr("cardoffers_cli.watch.scan.keep_shapes", fails)
        import_one(made, many(tmp_path, 1, 3))
        import_one(made, many(tmp_path, 2, 4))

    def first_fails(store: Store, of: UUID, file: MissingShape) -> None:
        (fails if file.import_no == 1 else keep_shape)(store, of, file)

    monkeypatch.setattr("cardoffers_cli.watch.scan.keep_shape", first_fails)
    (tmp_path / "drop").mkdir()
    result = run_night(made, NightOptions(drop=tmp_path / "drop"))
    (told,) = [each for each in result.findings if each.code == "watch_failed"]
    assert told.message.startswith("The file ")
    assert "1.csv of alder could not be looked at (InvalidInputException)" in told.message
    assert [(2, 0)] == found(made, "select import_no, redeemed from import_shapes")
