"""What the steps of the river hand to each other, in the order of the river.

A handle names the temporary tables behind it, whose columns stand where they are made (`-- makes:`
in the SQL). Of few rows no table is made: it stands for its rows or its SELECT
(`kernel/store/binding.py`). A handle lasts as long as the transaction of the job that called the
step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.words.row_kinds import RowKind


@dataclass(frozen=True, kw_only=True, eq=False)
class Staged:
    """What was read of a file, for a check: valid rows of one kind, and findings.

    `doubts` are the numbers that may be card numbers, None where there are none. `differ` says that
    no two rows have one ref; where rows are many, that is not known before they are looked through.
    """

    kind: RowKind
    rows: Table
    findings: Table
    doubts: Table | None
    differ: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class StagedImport(Staged):
    """What was read of a file or of calls, for an import.

    `tokens` and `merchants` are the texts behind the fingerprints of the rows; `collides` says that
    two of one chunk share one. `details` are the optional fields, None where no row carries any.
    """

    tokens: Table
    merchants: Table
    collides: bool
    details: Table | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Numbered:
    """The numbers of what was staged, by fingerprint, and the rows with their numbers (`refs`)."""

    payers: Table
    identifiers: Table
    refs: Table


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownReferences:
    """The staged rows whose refs the history has; where it `is_none` that needs no statement."""

    refs: Table
    is_none: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Repeats:
    """The staged rows that are not taken, as their refs came before; conflicts are among them."""

    rows: Table
    duplicates: int
    conflicts: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Waiting:
    """What waits for a match: all behind the watermark, and those whose merchant is known now.

    `still_unknown` purchases before the watermark go on waiting for their merchant; `refunded` is
    what came back of any purchase.
    """

    watermark: Table
    known_now: Table
    refunded: Table
    still_unknown: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Undecided:
    """The purchases that a match looks at, and those whose merchant was said to be unknown.

    `refunded` is what came back of any of them, or of others. `still_unknown` others wait as they
    did, and need not be looked at.
    """

    purchases: Table
    said_unknown: Table
    refunded: Table
    still_unknown: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Resolutions:
    """These purchases, each with its merchant where somebody knows it; the others as they were."""

    rows: Table
    said_unknown: Table
    still_unknown: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """The offers that each purchase fits, best first.

    `enrolled` are all offers that its cardholder had a link to, with the first check that failed;
    `terms` the versions in force in their order of preference, which is that of each purchase
    unless it `is_priced`: then `rows` say what each would cost.
    """

    terms: Table
    enrolled: Table
    rows: Table
    is_priced: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class ReservedTables:
    """What earlier runs hold of budgets and of uses, and the number of this run."""

    reserved: Table
    uses: Table
    this_run: Table


@dataclass(frozen=True, kw_only=True, eq=False)
class Decided:
    """What a match came to: decisions, outcomes, and the purchases that redeem an offer.

    The others are what a match counts: the purchases that it looked at, those whose merchant nobody
    knows, the offers that purchases fit, refusals, and rounds; where no offer can refuse there is
    none, as nobody needs to propose. `still_unknown` purchases need not be looked at.
    """

    decisions: Table
    outcomes: Table
    redemptions: Table
    considered: Table
    unresolved: Table
    candidates: Table
    refusals: Table
    rounds: int
    still_unknown: int


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenRefunds:
    """The refunds that wait: neither linked nor refused nor dismissed."""

    rows: Table


@dataclass(frozen=True, kw_only=True, eq=False)
class Claims:
    """Open refunds with the purchase that each is to be of, and what is against it.

    `how` says who found the purchase: referenced, policy or person.
    """

    rows: Table
    how: str


@dataclass(frozen=True, kw_only=True, eq=False)
class ReversalTables:
    """What becomes of each claim, and the redemptions that are to be reversed for it."""

    effects: Table
    reversals: Table


@dataclass(frozen=True, kw_only=True, eq=False)
class CreditTables:
    """The institutions that are asked, and their credited rows whose redemption was looked for."""

    asked: Table
    rows: Table


@dataclass(frozen=True, kw_only=True, eq=False)
class ReconciliationTables:
    """The redemptions to look at, and what stands of the credited rows of each that has any."""

    redemptions: Table
    credited: Table


@dataclass(frozen=True, kw_only=True)
class MatchCounts:
    """Purchases that a match considered, and how many rounds of proposals it took.

    Those that wait for their merchant were considered, be it that nobody needed to look at them.
    """

    considered: int
    merchant_unresolved: int
    rounds: int
    refusals: int
