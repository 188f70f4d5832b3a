"""Reports: pages of redemptions and ledger entries, counts, the funnel, and what offers brought.

The store is opened for one page at a time and never while rows are written out, so that a slow
reader of a long report keeps no nightly waiting; the cursors keep the pages stable meanwhile. A
report that begins in the snapshot, which nobody waits for, stays in it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.offers.budgets import BudgetUse, band, outlook, planned_share, spent_share
from cardoffers_cli.reports import funnel
from cardoffers_cli.reports import questions as reports
from cardoffers_cli.reports.funnel import Window
from cardoffers_cli.river.settlements import find_settlement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


T = TypeVar("T")
ROWS_AT_A_TIME = 10_000

REPORTS: dict[str, Callable[..., reports.ReportPage]] = {
    "redemptions": reports.exported_redemptions,
    "settlements": reports.exported_settlements,
}
"""The reports that come in pages."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Every row of a report, which is read once; `is_reconciled` as a `ReportPage` is."""

    rows: Iterator[Record]
    is_reconciled: bool


def report_page(
    report: str, job: Job, *, limit: int, cursor: str | None = None, **filters: Any
) -> reports.ReportPage:
    """Return a page of a report; filters are those of `Filters`, `institution` a slug or an id."""
    read = partial(REPORTS[report], limit=limit, cursor=cursor)
    return read_filtered(job, read, **filters)


def whole_report(report: str, job: Job, **filters: Any) -> Report:
    """Return a report, its rows read page by page; the filters are those of `report_page`.

    The first page is read at once.
    """
    pages = _pages(report, job, **filters)
    first = next(pages)
    rows = chain(first.rows, (row for page in pages for row in page.rows))
    return Report(rows=rows, is_reconciled=first.is_reconciled)


def read_filtered(job: Job, read: Callable[[Store, reports.Filters], T], **filters: Any) -> T:
    """Return what is read of the store with filters, those of `report_page`."""
    with reading(job) as source:
        return read(source.store, filters_of(source.store, **filters))


def _pages(report: str, job: Job, **filters: Any) -> Iterator[reports.ReportPage]:
    def read(store: Store, cursor: str | None = None) -> reports.ReportPage:
        chosen = filters_of(store, **filters)
        return REPORTS[report](store, chosen, limit=ROWS_AT_A_TIME, cursor=cursor)

    with reading(job) as source:
        page = read(source.store)
        if source.snapshot_at is not None:
            yield page
            while page.next_cursor is not None:
                page = read(source.store, page.next_cursor)
                yield page
            return
    yield page
    while page.next_cursor is not None:
        with job.store(read_only=True) as store:
            page = read(store, page.next_cursor)
        yield page


def filters_of(
    store: Store, *, institution: str | None = None, settlement: str | None = None, **others: Any
) -> reports.Filters:
    """Return the filters of a report; `institution` is a slug or an id.

    `settlement` is the id of one, or the beginning of it. Raises `NotFound` and `UsageError`.
    """
    owner = find_institution(store, institution).id if institution else None
    number = find_settlement(store, settlement) if settlement else None
    return reports.Filters(institution_id=owner, settlement_no=number, **others)


USUAL_LENGTH = timedelta(days=30)


class WindowFunnel(Record):
    """The funnel of one window, `from` and `to` (rules.md#funnel)."""

    window: dict[str, datetime]
    data: funnel.FunnelCounts


class PeopleFunnel(WindowFunnel):
    """The funnel of one window, with its cardholders."""

    people: funnel.FunnelPeople


class Funnel(PeopleFunnel):
    """The funnel of a window, with what was asked for beside it.

    `previous` is the window of the same length before it, `by` the rows of days, offers or
    merchants.
    """

    previous: PeopleFunnel | None = if_any()
    by: Sequence[funnel.FunnelRow] | None = if_any()


def read_funnel(
    job: Job,
    institution: str,
    *,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    by: funnel.By | None = None,
    compare: bool = False,
) -> Funnel:
    """Return a funnel; raise `UsageError` for a window in which there is no time."""
    window = window_of(job.now, from_at, to_at)
    earlier = before(window) if compare else None
    with reading(job) as source:
        owner = find_institution(source.store, institution).id
        return Funnel(
            **people_funnel(source.store, owner, window),
            previous=people_funnel(source.store, owner, earlier) if earlier else None,
            by=funnel.count_by(source.store, owner, window, by) if by else None,
        )


def people_funnel(store: Store, institution_id: UUID, window: Window) -> PeopleFunnel:
    """Return the funnel of one window, with its cardholders."""
    return PeopleFunnel(
        **count_window(store, institution_id, window),
        people=funnel.count_people(store, institution_id, window),
    )


def count_window(store: Store, institution_id: UUID, window: Window) -> WindowFunnel:
    """Return the funnel of one window."""
    counts = funnel.count_funnel(store, institution_id, window)
    return WindowFunnel(window={"from": window.from_at, "to": window.to_at}, data=counts)


def window_of(now: datetime, from_at: datetime | None, to_at: datetime | None) -> Window:
    """Return the window of a funnel (rules.md#windows): until now, 30 days long, if not told.

    One that ends now includes what happened at this very moment, such as a night's own redemptions.
    Raises `UsageError` if there is no time in it.
    """
    end = to_at or now
    start = from_at or _earlier(end, USUAL_LENGTH)
    if start >= end:
        raise UsageError.from_table("reports", "window_empty")
    return Window(from_at=start, to_at=end, ends_now=to_at is None)


def before(window: Window) -> Window:
    """Return the window of the same length that ends where this one begins."""
    length = window.to_at - window.from_at
    return Window(from_at=_earlier(window.from_at, length), to_at=window.from_at)


def _earlier(moment: datetime, length: timedelta) -> datetime:
    try:
        return moment - length
    except OverflowError:
        raise UsageError.from_table("reports", "window_too_early") from None


Order = Literal["spend", "redemptions", "ends"]
_BURN = tuple(field.name for field in fields(BudgetUse))
_FOUR_DECIMALS = Decimal("0.0001")


class OfferSums(Record):
    """What one offer brought in a window.

    Counts are of all redemptions; amounts and `cardholders` of those that were not reversed, but
    for `spent_amount`, which is all that is spent of the budget now.
    """

    offer_id: str = shown("offer id", "id", gives_way=5)
    title: str | None = shown("offer")
    merchant_id: UUID = shown("merchant id", gives_way=19)
    merchant_name: str = shown("merchant", gives_way=4)
    currency: str
    redemptions: int
    reversed: int = shown(gives_way=14)
    cardholders: int = shown(gives_way=9)
    spend_amount: Amount = shown("spend")
    merchant_funded_amount: Amount = shown("cost", gives_way=3)
    commission_amount: Amount = shown("commission", gives_way=12)
    institution_payout_amount: Amount = shown("cashback", gives_way=11)
    spent_amount: Amount = shown("spent in all", gives_way=13)


class MeasuredOffer(OfferSums):
    """An offer as the statement returns it, with what tells when its budget ends (`BudgetUse`).

    The weeks are the last four, the newest first; `place` is that of its order in its currency.
    """

    budget_amount: Decimal | None
    next_amount: Decimal
    starts_at: datetime
    expires_at: datetime
    is_running: bool
    recent_amount: Decimal
    week_1_amount: Decimal
    week_2_amount: Decimal
    week_3_amount: Decimal
    week_4_amount: Decimal
    last_redeemed_at: datetime | None
    capped: int | None
    offers: int
    spent_offers: int
    redeemed: int
    spend_in_all: Decimal
    cashback_in_all: Decimal
    place: int


class OfferResult(
    OfferSums,
    sheet="title merchant_name currency spend_amount * spent_amount spent_share planned_share"
    " outlook ends_on ends_from ends_until starts_at expires_at offer_id merchant_id -state"
    " -offers -redeemed -spent_offers -spend_in_all -cashback_in_all -capped_share",
):
    """What one offer brought in a window, and how far its budget is now.

    `cashback_share` is the payout as a share of what was spent at the merchant; `capped_share`, of
    a percent offer, the share of redemptions that got the most that it gives. Of the budget:
    `spent_share`, `planned_share` (were it spent evenly), `outlook` in words, and the day it runs
    out, `ends_on`, with its band, `ends_from` and `ends_until` (None where it is open). The
    currency has so many `offers`, of which `redeemed` were redeemed and `spent_offers` have spent
    their budgets; `spend_in_all` and `cashback_in_all` are what they come to.
    """

    cashback_share: Decimal | None = shown("cashback per spend", "share", gives_way=7)
    capped_share: Decimal | None = if_any()
    budget_amount: Amount | None = shown("budget in all", gives_way=10)
    spent_share: Decimal | None = shown("spent", "share", gives_way=2)
    planned_share: Decimal | None = shown("planned", "share", gives_way=8)
    outlook: str = shown("budget", gives_way=1)
    state: str
    ends_on: date | None = shown("budget ends", gives_way=15)
    ends_from: date | None = shown("at the earliest", gives_way=16)
    ends_until: date | None = shown("at the latest", gives_way=17)
    starts_at: datetime = shown("starts", gives_way=18)
    expires_at: datetime = shown("offer ends", gives_way=6)
    offers: int
    redeemed: int
    spent_offers: int
    spend_in_all: Decimal
    cashback_in_all: Decimal


def offer_results(
    store: Store,
    now: datetime,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    order: Order = "spend",
    limit: int,
) -> list[OfferResult]:
    """Return the offers that run or redeemed in a window, with what they brought in it.

    Of each currency there are the first `limit` in an order.
    """
    rows = store.records(
        MeasuredOffer,
        "reports/work:list",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        now=now,
        order=order,
        limit=limit,
    )
    return [_result(row, now) for row in rows]


def _result(row: MeasuredOffer, now: datetime) -> OfferResult:
    burn = BudgetUse(**{name: row[name] for name in _BURN})
    seen = outlook(burn, now)
    weeks = [row.week_1_amount, row.week_2_amount, row.week_3_amount, row.week_4_amount]
    limits = band(burn, weeks, now) if row.is_running else None
    share = row.institution_payout_amount / row.spend_amount if row.spend_amount else None
    capped = None if row.capped is None else Decimal(row.capped) / (row.redemptions - row.reversed)
    values = {
        **row,
        "cashback_share": share and share.quantize(_FOUR_DECIMALS, ROUND_HALF_UP),
        "capped_share": capped and capped.quantize(_FOUR_DECIMALS, ROUND_HALF_UP),
        "spent_share": spent_share(burn),
        "planned_share": None if row.budget_amount is None else planned_share(burn, now),
        "outlook": seen.text if row.is_running else "ended",
        "state": seen.state if row.is_running else "ended",
        "ends_on": seen.day if row.is_running else None,
        "ends_from": limits and limits.first,
        "ends_until": limits and limits.last,
    }
    return OfferResult.of({field.name: values[field.name] for field in fields(OfferResult)})


# What merchants funded.


MerchantOrder = Literal["funded", "redemptions"]


class MerchantSums(Record):
    """What one merchant funded in one currency in a window, net of what was reversed since.

    `redemptions` counts all, `reversed` those of them that were reversed, whose money is
    `reversed_amount`; amounts and `cardholders` are of the others. The currency has so many
    `merchants`, which come to `redemptions_in_all`, `reversed_in_all` and `funded_in_all`.
    """

    merchant_id: UUID = shown("merchant id", gives_way=8)
    merchant_name: str = shown("merchant")
    category: str | None = shown(gives_way=7)
    currency: str
    redemptions: int
    reversed: int = shown(gives_way=4)
    cardholders: int = shown(gives_way=1)
    spend_amount: Amount = shown("spend", gives_way=5)
    merchant_funded_amount: Amount = shown("funded")
    commission_amount: Amount = shown("commission", gives_way=2)
    institution_payout_amount: Amount = shown("payout")
    reversed_amount: Amount = shown("reversed, money", gives_way=6)
    merchants: int
    redemptions_in_all: int
    reversed_in_all: int
    funded_in_all: Amount


class MerchantResult(
    MerchantSums,
    sheet="* redemptions reversed reversed_amount cardholders spend_amount average_amount category"
    " merchant_id -merchants -redemptions_in_all -reversed_in_all -funded_in_all",
):
    """What one merchant funded, and the mean purchase of what was not reversed, if anything.

    The mean is rounded half up: it is no money that anybody is owed.
    """

    average_amount: Amount | None = shown("average purchase", gives_way=3)


def merchant_results(
    store: Store,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    order: MerchantOrder = "funded",
    limit: int,
) -> list[MerchantResult]:
    """Return what each merchant funded: of each currency the first `limit` in an order."""
    rows = store.records(
        MerchantSums,
        "reports/merchant_results:list",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        order=order,
        limit=limit,
    )
    results = []
    for row in rows:
        count = row.redemptions - row.reversed
        average = row.spend_amount / count if count else None
        results.append(MerchantResult.of({**row, "average_amount": average}))
    return results


Result = OfferResult | MerchantResult
RESULTS: Mapping[str, type[Result]] = {"offers": OfferResult, "merchants": MerchantResult}
ORDERS: Mapping[str, tuple[str, ...]] = {
    "offers": get_args(Order),
    "merchants": get_args(MerchantOrder),
}
"""The orders of what is read of offers and of merchants."""


def results(name: str, store: Store, now: datetime, **asked: Any) -> Sequence[Result]:
    """Return what offers brought, or what merchants funded."""
    if name == "offers":
        return offer_results(store, now, **asked)
    return merchant_results(store, **asked)
