"""The watch of a night: what it found is told until a person accepts it; it stops no night."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.counting import counted
from cardoffers_cli.domain.visible import shortened
from cardoffers_cli.domain.watching import TOLD_ONCE, watch_meaning
from cardoffers_cli.jobs.night.expected import tell_of_files
from cardoffers_cli.jobs.night.order import Done, finding
from cardoffers_cli.services.watch import open_watch_findings

if TYPE_CHECKING:
    from cardoffers_cli.jobs.night.order import Work
    from cardoffers_cli.services.nights import NightFinding
    from cardoffers_cli.services.watch import OpenWatchFindings
    from cardoffers_cli.store.store import Store


def watch(work: Work, store: Store) -> Done:
    """Tell what the watch found and nobody accepted, one finding for each institution and code.

    What there is to say of expected files is told first, and once.
    """
    files = tell_of_files(work, store)
    found = open_watch_findings(store)
    counts = {"open": sum(each.findings for each in found)} if found else {}
    again = [_told(each) for each in found if each.code not in TOLD_ONCE]
    return Done(counts={**files.counts, **counts}, findings=[*files.findings, *again])


def _told(found: OpenWatchFindings) -> NightFinding:
    """Say how many findings are open, of what the newest is, and how to look at them."""
    is_one = found.findings == 1
    many = "" if is_one else f", the newest of {counted(found.findings, 'open finding')}"
    asked = f"list --state open -i {found.institution} --code {found.code}"
    return finding(
        found.code,
        f"{found.institution}, {shortened(found.about)}: {watch_meaning(found.code).says}{many}.",
        level="warning",
        then=f"cardoffers watch {f'show {found.newest_id}' if is_one else asked}",
        institution=found.institution,
        count=found.findings,
    )
