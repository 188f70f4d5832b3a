"""Simulate: what an import and a match would do, with nothing written.

The same river runs in one transaction that is never kept, so there is no second code path whose
answers could differ. With a file, purchases that wait in the store take their turn too, as they
would in a real match, and use up budget before later ones of the file. A single event is decided
alone, against what is in the store now: it answers a call, and must not wait for a match of
everything. Its ref counts as new, whether it is known or not.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.chunks import Judge, with_fingerprints
from cardoffers_cli.intake.documents import as_objects
from cardoffers_cli.intake.layouts import open_layout
from cardoffers_cli.intake.records import judge_pages
from cardoffers_cli.intake.sources import aside
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.row_kinds import PURCHASES
from cardoffers_cli.river import imports
from cardoffers_cli.river.admit import admit
from cardoffers_cli.river.decide import MatchReport, decide_one
from cardoffers_cli.river.engines import decide_at, target_of
from cardoffers_cli.river.judge import findings, no_repeats, refuse_card_numbers
from cardoffers_cli.river.number import number
from cardoffers_cli.river.outcomes import decisions_of_import
from cardoffers_cli.river.receiving import FileResult, Outputs, write_outputs
from cardoffers_cli.river.stage import stage_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount
    from cardoffers_cli.river.outcomes import SimulatedPurchase
    from cardoffers_cli.river.receiving import Progress


_NO_IMPORT = -1
"""The number of the import that a simulated event is, which no import has."""


class SimulateResult(FileResult):
    """What was found in a file, and what each purchase would come to (`simulate --format json`)."""

    institution_id: UUID
    accepted: int
    amount_accepted: Amount
    currency: str
    match: int
    no_match: int
    rounds: int
    items_: Sequence[SimulatedPurchase]


@dataclass(frozen=True, kw_only=True)
class SimulateReport:
    """What the file held, and what each of its purchases would come to."""

    taken: imports.ImportReport
    matched: MatchReport
    items: Sequence[SimulatedPurchase]

    def document(self) -> SimulateResult:
        """Return the file's report, the outcome in all, and one item per purchase."""
        outcomes = [item.outcome for item in self.items]
        return SimulateResult.part(
            self.taken.document(),
            simulated=True,
            match=outcomes.count("match"),
            no_match=outcomes.count("no_match"),
            rounds=self.matched.redeemed.rounds,
            items_=self.items,
        )


def simulate_file(
    source: str,
    institution: str,
    job: Job,
    options: imports.ImportOptions,
    *,
    outputs: Outputs,
    progress: Progress | None = None,
) -> SimulateReport:
    """Import and match a file, return what came of it, and keep nothing."""
    with aside(source) as copy, job.store() as store, store.transaction(keep=False):
        target = target_of(store, job)
        owner = find_institution(store, institution)
        with open_layout(copy, imports.reading_for(store, owner, job, options)) as file:
            imports.check_kind(file, owner, options)
            intake = imports.take_in(
                store, file, owner, job, options, target=target, progress=progress
            )
            write_outputs(store, file, intake.judged, outputs, mode=job.settings.mode)
        report = intake.made
        matched = decide_at(target, store, job, import_no=report.import_no)
        items = decisions_of_import(store, owner.id, report.import_no)
    return SimulateReport(taken=report, matched=matched, items=items)


@dataclass(frozen=True, kw_only=True)
class SimulatedEvent:
    """What one event would come to, as an item of `decisions_of_import`; or its errors.

    Each of these has field, code and message.
    """

    item: SimulatedPurchase | None = None
    errors: Sequence[Mapping[str, Any]] = ()


def simulate_event(
    store: Store, owner: Institution, event: dict[str, Any], job: Job
) -> SimulatedEvent:
    """Return what one parsed event would come to, or what is wrong with it.

    The store must be open and in no transaction; none of this is kept.
    """
    judge = Judge(imports.reading_for(store, owner, job, imports.ImportOptions()))
    judged = judge_pages([as_objects([event])], judge)
    if errors := judged.errors():
        return SimulatedEvent(errors=errors)
    rows = with_fingerprints(judged.rows, secrets.randbits(64))
    with store.transaction(keep=False):
        chunk = (rows, judged.findings.clear(), judged.doubts)
        (staged,) = stage_whole(store, [(chunk,)], [PURCHASES], is_file=False)
        if refuse_card_numbers(store, staged, judge.numbers):
            return SimulatedEvent(errors=[*findings(store, staged.findings)])
        # Admit the event as if the institution had no history.
        numbered = number(store, staged, owner.id)
        admit(
            store,
            staged,
            numbered,
            no_repeats(store),
            import_no=_NO_IMPORT,
            institution_id=owner.id,
            currency=owner.currency,
            received_at=job.now,
            is_kept=False,
        )
        decide_one(store, job, _NO_IMPORT)
        (item,) = decisions_of_import(store, owner.id, _NO_IMPORT)
    return SimulatedEvent(item=item)
