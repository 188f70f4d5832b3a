"""Reports: redemptions and settlements in pages, and the funnel (rules.md#pages).

They only read, so they may be answered from a snapshot. Every one is restricted to the caller's
institution, also by its cursors, which are good for no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.http.contract.messages import Answer, Problem, invalid
from cardoffers_cli.http.contract.parameters import QUERY, moment, one_of, read_query, text, whole
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.ids import CursorInvalid
from cardoffers_cli.reports import questions as reports
from cardoffers_cli.reports.work import count_window, window_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cardoffers_cli.http.contract.gate import Caller
    from cardoffers_cli.http.contract.messages import Call
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

MOST_ROWS = 1000
USUAL_ROWS = 100
STATES = ("pending", "settled", "reversed")
_LONGEST_CURSOR = 1000

WINDOW = (
    moment("from", "From this time on, included."),
    moment("to", "Up to this time, excluded."),
)
PAGE = (
    *WINDOW,
    text(
        "cursor",
        "The next_cursor of the page before; the filters stay as they were.",
        _LONGEST_CURSOR,
    ),
    whole("limit", "Rows of the page.", MOST_ROWS, USUAL_ROWS),
)
LEDGER_PAGE = (one_of("status", "Only entries in this state.", STATES), *PAGE)


def redemptions(
    store: Store, caller: Caller, call: Call, _parameters: Mapping[str, str], _job: Job
) -> Answer:
    """Answer with a page of redemptions."""
    return _page(reports.redemptions, store, caller, read_query(call.query, PAGE))


def settlements(
    store: Store, caller: Caller, call: Call, _parameters: Mapping[str, str], _job: Job
) -> Answer:
    """Answer with a page of ledger entries."""
    return _page(reports.settlements, store, caller, read_query(call.query, LEDGER_PAGE))


def funnel(
    store: Store, caller: Caller, call: Call, _parameters: Mapping[str, str], job: Job
) -> Answer:
    """Answer with the funnel of a window, the last 30 days if none is named."""
    query = read_query(call.query, WINDOW)
    try:
        window = window_of(job.now, query["from"], query["to"])
    except UsageError as error:
        raise invalid(f"{QUERY}/from", error.code, error.message) from None
    return Answer.of(200, count_window(store, caller.institution.id, window))


def _page(
    report: Callable[..., reports.ReportPage],
    store: Store,
    caller: Caller,
    query: Mapping[str, Any],
) -> Answer:
    limit = query["limit"]
    try:
        filters = reports.Filters(
            institution_id=caller.institution.id,
            status=query.get("status"),
            from_at=query["from"],
            to_at=query["to"],
        )
        page = report(store, filters, limit=limit, cursor=query["cursor"])
    except CursorInvalid as error:
        detail = {"pointer": f"{QUERY}/cursor", "code": error.code, "detail": error.message}
        raise Problem(422, error.code, error.message, [detail]) from None
    return Answer.of(
        200, {"data": page.rows, "pagination": {"limit": limit, "next_cursor": page.next_cursor}}
    )
