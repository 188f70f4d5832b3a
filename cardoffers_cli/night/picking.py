"""Fetching files before a night looks into the drop folder, and tidying up when it took them in.

Whatever goes wrong with it is a finding of the night, and what is in the drop folder is taken all
the same. Where no place is configured nothing is done, and nothing is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.night.options import WITHOUT_CONSEQUENCE, finding
from cardoffers_cli.pickup.work import visit_all

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.night.questions import NightFinding
    from cardoffers_cli.pickup.result import PickupFinding


def picked_up(job: Job, drop: Path, *, dry_run: bool = False) -> list[NightFinding]:
    """Fetch what is new at the places into the drop folder; return what is to be told of it."""
    if not job.settings.pickup:
        return []
    told = visit_all(job, drop, dry_run=dry_run)
    findings = [_told(each) for each in told.findings]
    if new := sum(file.state == "new" for file in told.files):
        message = f"{counted(new, 'file')} would be fetched first, and {_is(new)} not looked into."
        findings.append(finding("pickup_waiting", message, level=WITHOUT_CONSEQUENCE, count=new))
    return findings


def tidied_up(job: Job, drop: Path) -> list[NightFinding]:
    """Do with files that are imported by now, at their places, what the configuration says."""
    if not job.settings.pickup:
        return []
    return [_told(each) for each in visit_all(job, drop, fetches=False).findings]


def _told(found: PickupFinding) -> NightFinding:
    about = {name: found[name] for name in ("institution", "file", "count") if name in found}
    return finding(found.code, found.message, level=found.level, then=found.next, **about)


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
