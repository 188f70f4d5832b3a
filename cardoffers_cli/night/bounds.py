"""What one file may come to before the night gives it up: bytes, rows and time, by the settings.

The time is looked at wherever the file is read, and ends the statement that runs in the store when
it is over. So one file takes no longer, whatever is in it, and what it began is rolled back.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock, Timer
from time import monotonic
from typing import TYPE_CHECKING

from cardoffers_cli.intake.sources import Limits
from cardoffers_cli.kernel.words.errors import FileUnusable, Interrupted
from cardoffers_cli.kernel.words.findings import unusable
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.night.options import WITHOUT_CONSEQUENCE, finding
from cardoffers_cli.pickup.work import visit_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.intake.transactions import TransactionFile
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.settings import Settings
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.questions import NightFinding
    from cardoffers_cli.pickup.result import PickupFinding


class Bounds:
    """The bounds of one file, whose time begins now. `room_bytes` is what the disk has for it."""

    def __init__(self, settings: Settings, *, room_bytes: int) -> None:
        self._settings = settings
        self._ends = monotonic() + settings.file_most_seconds
        self.limits = Limits(
            stored_bytes=settings.file_most_bytes,
            unpacked_bytes=min(settings.file_most_unpacked_bytes, room_bytes),
            ratio=settings.file_most_ratio,
            check_time=self.check_time,
        )

    def check_time(self) -> None:
        """Raise `FileUnusable` when the time of the file is over."""
        if monotonic() > self._ends:
            raise self._too_slow()

    def check_rows(self, file: TransactionFile) -> None:
        """Raise `FileUnusable` for a file that has more invalid rows than anybody will read."""
        if file.invalid > self._settings.file_most_rejects:
            raise unusable(
                "too_many_rejects",
                f"Over {self._settings.file_most_rejects:,} rows of the file are invalid.",
            )

    @contextmanager
    def over(self, store: Store) -> Iterator[None]:
        """Break off what runs in the store for the file when its time is over.

        To be left before the transaction ends: what is committed must not be broken off any more.
        """
        lock, is_left = Lock(), False

        def strike() -> None:
            with lock:
                if not is_left:
                    store.interrupt()

        timer = Timer(max(0.0, self._ends - monotonic()), strike)
        timer.daemon = True
        timer.start()
        try:
            yield
        except Interrupted:
            raise self._too_slow() from None
        finally:
            with lock:
                is_left = True
            timer.cancel()
        self.check_time()

    def _too_slow(self) -> FileUnusable:
        most = self._settings.file_most_seconds
        return unusable("file_too_slow", f"The file took over {most:g} seconds.")


# Fetching files before a night looks into the drop folder, and tidying up when it took them in.
#
# Whatever goes wrong with it is a finding of the night, and what is in the drop folder is taken all
# the same. Where no place is configured nothing is done, and nothing is told.


def picked_up(job: Job, drop: Path, *, dry_run: bool = False) -> list[NightFinding]:
    """Fetch what is new at the places into the drop folder; return what is to be told of it."""
    if not job.settings.pickup:
        return []
    result = visit_all(job, drop, dry_run=dry_run)
    findings = [_told(item) for item in result.findings]
    if new := sum(file.state == "new" for file in result.files):
        verb = "is" if new == 1 else "are"
        message = f"{counted(new, 'file')} would be fetched first, and {verb} not looked into."
        findings.append(finding("pickup_waiting", message, level=WITHOUT_CONSEQUENCE, count=new))
    return findings


def tidied_up(job: Job, drop: Path) -> list[NightFinding]:
    """Do with files that are imported by now, at their places, what the configuration says."""
    if not job.settings.pickup:
        return []
    return [_told(item) for item in visit_all(job, drop, fetches=False).findings]


def _told(item: PickupFinding) -> NightFinding:
    about = {name: item[name] for name in ("institution", "file", "count") if name in item}
    return finding(item.code, item.message, level=item.level, then=item.next, **about)
