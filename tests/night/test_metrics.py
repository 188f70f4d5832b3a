"""The metrics of a nightly run: what it came to, what waits, and when the last one succeeded."""

from __future__ import annotations

import re
import stat
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.demo.help_commands import page_text
from cardoffers_cli.kernel.words.errors import ConfigurationError, NotFound
from cardoffers_cli.night.options import NightObserver, NightOptions
from cardoffers_cli.night.run import rehearse, resume_night, run_night
from exposed import complaints, one, values
from nights import real_now
from sizes import at_the_gate, slow
from work import settings, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

PAGE = page_text("watch").partition("\n## Metrics\n")[2]
HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
ROWS = (
    "c0,card-1,M0,20.00,r1,2026-05-30T12:00:00Z\n"
    "c1,card-2,M9,20.00,r2,2026-05-31T12:00:00Z\n"
    "c1,card-2,M0,-1,r3,2026-05-30T12:00:00Z\n"
)


class Watching(NightObserver):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    def ending(self, error: BaseException) -> tuple[int, str]:
        return (5, "folder_missing") if isinstance(error, NotFound) else (1, "unexpected")


def made(folder: Path) -> tuple[Job, NightOptions]:
    """Make a store, and what a collector reads beside it."""
    (folder / "drop" / "alder").mkdir(parents=True)
    (folder / "textfile").mkdir()
    order = NightOptions(drop=folder / "drop", metrics_file=folder / "textfile" / "cardoffers.prom")
    return with_catalogue(folder), order


@slow
def test_a_night_is_measured_and_a_failed_one_keeps_the_last_success(tmp_path: Path) -> None:
    job, order = made(tmp_path)
    (tmp_path / "drop" / "alder" / "a.csv").write_text(HEADER + ROWS)
    (tmp_path / "drop" / "alder" / "a.csv.done").touch()
    prom = tmp_path / "textfile" / "cardoffers.prom"
    began = real_now()
    result = run_night(job, order)

    text = prom.read_text()
    found = values(text)
    assert [] == complaints(text)
    assert "alder" not in text
    assert text == (tmp_path / "runs" / str(result.run_id) / "metrics.prom").read_text()
    assert 0o644 == stat.S_IMODE(prom.stat().st_mode)
    expected = {
        ("nightly_exit_code",): 3,
        ("nightly_files", "imported"): 1,
        ("nightly_files", "failed"): 0,
        ("nightly_rows", "received"): 3,
        ("nightly_rows", "accepted"): 2,
        ("nightly_rows", "invalid"): 1,
        ("nightly_redemptions",): 1,
        ("nightly_findings", "rows_rejected", "error"): 1,
        ("queue_length", "purchases_of_unknown_merchants"): 1,
        ("queue_oldest_age_seconds", "purchases_of_unknown_merchants"): 24 * 3600,
        ("queue_length", "purchases_to_match"): 0,
        ("queue_oldest_age_seconds", "purchases_to_match"): 0,
        ("queue_length", "webhooks"): 1,
        ("queue_length", "ledger_entries_pending"): 0,
        ("store_size_bytes",): job.path.stat().st_size,
    }
    assert expected == {name: one(found, *name) for name in expected}
    for step in result.steps:
        assert step.seconds == one(found, "nightly_step_duration_seconds", step.name)
    last = one(found, "nightly_last_success_timestamp_seconds")
    assert (began - EPOCH).total_seconds() <= last <= (real_now() - EPOCH).total_seconds()
    assert last == one(found, "nightly_last_run_timestamp_seconds")
    assert 0 < one(found, "disk_free_bytes", "store")
    told = re.findall(r"`((?:nightly|queue|disk|store|build)_[a-z_]+)(?:\{[a-z, ]+\})?`", PAGE)
    assert {name.removeprefix("cardoffers_") for name, *_ in found} == set(told)

    with pytest.raises(NotFound):
        run_night(job, replace(order, drop=tmp_path / "nowhere"), Watching())
    failed = values(prom.read_text())
    assert [] == complaints(prom.read_text())
    assert (5, last) == (
        one(failed, "nightly_exit_code"),
        one(failed, "nightly_last_success_timestamp_seconds"),
    )
    assert last < one(failed, "nightly_last_run_timestamp_seconds")
    assert ("cardoffers_nightly_rows", "received") not in failed
    assert ["cardoffers.prom"] == [path.name for path in prom.parent.iterdir()]


EPOCH = real_now().replace(1970, 1, 1, 0, 0, 0, 0)


def test_without_a_run_that_succeeded_nothing_is_said_of_it(tmp_path: Path) -> None:
    job, order = made(tmp_path)
    with pytest.raises(NotFound):
        run_night(job, replace(order, drop=tmp_path / "nowhere"), Watching())
    found = values((tmp_path / "textfile" / "cardoffers.prom").read_text())
    assert ("cardoffers_nightly_last_success_timestamp_seconds",) not in found
    assert 5 == one(found, "nightly_exit_code")


@at_the_gate
def test_a_run_that_breaks_off_is_measured_and_one_that_goes_on(tmp_path: Path) -> None:
    class Breaking(Watching):
        def begins(self, step: str, position: int, of: int) -> None:  # noqa: ARG002
            if step == "settle":
                raise RuntimeError

    job, order = made(tmp_path)
    prom = tmp_path / "textfile" / "cardoffers.prom"
    job = replace(job, settings=settings(metrics_file=prom, metrics_mode="0640"))
    with pytest.raises(RuntimeError):
        run_night(job, replace(order, metrics_file=None), Breaking())
    assert 1 == one(values(prom.read_text()), "nightly_exit_code")
    assert 0o640 == stat.S_IMODE(prom.stat().st_mode)
    (run,) = (tmp_path / "runs").iterdir()
    assert prom.read_text() == (run / "metrics.prom").read_text()
    resume_night(job, None)
    assert 0 == one(values(prom.read_text()), "nightly_exit_code")
    later = replace(job, now=job.now + timedelta(hours=1))
    assert "nothing_new" == run_night(later, replace(order, metrics_file=None)).status
    assert prom.read_text() != (run / "metrics.prom").read_text()


@at_the_gate
def test_metrics_that_cannot_be_written_change_nothing_and_are_said(tmp_path: Path) -> None:
    job, order = made(tmp_path)

    class Removing(Watching):
        def begins(self, step: str, position: int, of: int) -> None:  # noqa: ARG002
            if step == "settle":
                (tmp_path / "textfile").rmdir()
                (tmp_path / "textfile").touch()

    watching = Removing()
    assert "finished" == run_night(job, order, watching).status
    (said,) = watching.warnings
    assert said.startswith("The metrics of the nightly run were not written: ")


@pytest.mark.parametrize(
    ("says", "name"),
    [
        ("is a folder", "textfile"),
        ("would not be read", "textfile/cardoffers.txt"),
        ("cannot be written", "nowhere/cardoffers.prom"),
    ],
)
def test_a_file_that_cannot_be_is_found_before_anything_begins(
    tmp_path: Path, says: str, name: str
) -> None:
    job, order = made(tmp_path)
    for begin in (run_night, rehearse):
        with pytest.raises(ConfigurationError, match=says) as caught:
            begin(job, replace(order, metrics_file=tmp_path / name))
        assert "metrics_file_unusable" == caught.value.code
    assert not (tmp_path / "runs").exists()
