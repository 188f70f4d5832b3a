"""The reports of a night are the same bytes however many pages they were read in."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from cardoffers_cli.night import questions as nights
from cardoffers_cli.night import reports
from cardoffers_cli.night.options import NightObserver, NightOptions
from cardoffers_cli.night.run import run_night, work_of
from sizes import slow
from work import file_of, short_nights, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from cardoffers_cli.kernel.store.job import Job

ROWS = 7


class Reader(NightObserver):
    """Somebody who reads from when the first institution's turn comes: reports are read too."""

    def __init__(self, made: Job, reading: ExitStack) -> None:
        self._made, self._reading = made, reading

    def moves(self, what: str, done: int, total: int | None) -> None:  # noqa: ARG002
        self._reading.enter_context(self._made.store(read_only=True))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@slow
def test_reports_read_in_pages_are_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_nights(monkeypatch, "import", "match", "reports")
    made, drop = with_catalogue(tmp_path), tmp_path / "drop"
    (drop / "alder").mkdir(parents=True)
    rows = (f"r{row} c2 M1" for row in range(ROWS))
    file_of(drop / "alder" / "tx.csv", "\n".join(["ref cardholder identifier", *rows]))
    (drop / "alder" / "tx.csv.done").touch()
    result = run_night(made, NightOptions(drop=drop))
    expected = contents(tmp_path / "reports" / result["night"])
    assert 6 == len(expected)
    assert 1 + ROWS == len(expected["alder-redemptions.csv"].splitlines())
    with made.store(read_only=True) as store:
        night = nights.find(store, str(result["run_id"]))
    assert night
    monkeypatch.setattr(reports, "_AT_A_TIME", 2)
    with ExitStack() as reading:
        observer = Reader(made, reading)
        reports.write_reports(work_of(made, night, NightOptions(drop=drop), observer))
    assert expected == contents(tmp_path / "reports" / result["night"])
