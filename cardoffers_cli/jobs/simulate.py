"""Simulate: what an import and a match of a file would do, with nothing written.

The same river runs in one transaction that is never kept, so there is no second code path whose
answers could differ. Purchases that wait in the store take their turn too, as they would in a real
match, and use up budget before later ones of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.files.transactions import open_transactions
from cardoffers_cli.jobs.imports import ImportOptions, ImportReport, reading_for, take_in
from cardoffers_cli.jobs.intake import Outputs, write_outputs
from cardoffers_cli.jobs.match import MatchReport, decide
from cardoffers_cli.services.decisions import decisions_of_import
from cardoffers_cli.services.institutions import find_institution

if TYPE_CHECKING:
    from cardoffers_cli.jobs.intake import Progress
    from cardoffers_cli.jobs.job import Job


@dataclass(frozen=True, kw_only=True)
class SimulateReport:
    """What the file held, and what each of its purchases would come to."""

    taken: ImportReport
    matched: MatchReport
    items: list[dict[str, Any]]

    def document(self) -> dict[str, Any]:
        """Return the file's report, the outcome in all, and one item per purchase."""
        found = self.taken.document()
        for name in ("import_id", "already_imported", "dry_run"):
            del found[name]
        outcomes = [item["outcome"] for item in self.items]
        return {
            "simulated": True,
            **found,
            "match": outcomes.count("match"),
            "no_match": outcomes.count("no_match"),
            "rounds": self.matched.redeemed.rounds,
            "items": self.items,
        }


def simulate_file(
    source: str,
    institution: str,
    job: Job,
    options: ImportOptions,
    *,
    outputs: Outputs,
    progress: Progress | None = None,
) -> SimulateReport:
    """Import and match a file, return what came of it, and keep nothing."""
    with job.store() as store, store.transaction(keep=False):
        owner = find_institution(store, institution)
        with open_transactions(source, reading_for(owner, job, options)) as file:
            taken = take_in(store, file, owner, job, options, progress=progress)
            write_outputs(store, file, outputs)
        matched = decide(store, job, dry_run=True)
        items = decisions_of_import(store, owner.id, taken.import_id)
    return SimulateReport(taken=taken, matched=matched, items=items)
