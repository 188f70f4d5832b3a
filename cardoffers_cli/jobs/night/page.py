"""The page of a night, `index.html` beside its reports: written last, when its audits are known."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.funnel import conversions
from cardoffers_cli.files.drop import clear_drafts
from cardoffers_cli.files.exports import replacing
from cardoffers_cli.files.html.night import Night, night_page
from cardoffers_cli.files.html.pages import write_page
from cardoffers_cli.files.lasting import make_folder
from cardoffers_cli.jobs.funnel import count_window, window_of
from cardoffers_cli.jobs.night.reports import reports_folder
from cardoffers_cli.jobs.report_pages import LATELY, MOST_MERCHANTS, running
from cardoffers_cli.services import nights, reports
from cardoffers_cli.services.imports import rejects_by_code
from cardoffers_cli.services.institutions import list_institutions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.jobs.night.order import Work
    from cardoffers_cli.store.store import Store

PAGE = "index.html"
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


def write_night_page(work: Work, result: dict[str, Any]) -> None:
    """Write the page of a night whose result is known."""
    folder = reports_folder(work.job.path, work.night.name)
    make_folder(folder)
    clear_drafts(folder)
    files = sorted(path.name for path in folder.iterdir() if path.name != PAGE)
    with work.job.store(read_only=True) as store:
        found = _read(store, work)
    counts = {step["name"]: step["counts"] for step in result["steps"]}
    page = night_page(
        Night(
            name=work.night.name,
            as_of=work.night.as_of,
            audits=counts["audits"]["audits"],
            findings=result["findings"],
            summary=result["institutions"],
            files=files,
            **found,
        )
    )
    with replacing(folder / PAGE, mode=work.job.settings.mode) as out:
        write_page(page, out)


def _read(store: Store, work: Work) -> dict[str, Any]:
    """Return the rows of the page: of the runs of the night, and of the 30 days up to it."""
    night, now = work.night, work.night.as_of
    lately = reports.Filters(from_at=_midnight(now) - LATELY + _DAY, to_at=now + _INSTANT)
    return {
        "rejects": rejects_by_code(
            store, after_run_no=night.after_run_no, to_run_no=night.to_run_no
        ),
        "days": reports.count_redemptions(store, lately, "day"),
        "merchants": reports.count_redemptions(store, lately, "merchant", limit=MOST_MERCHANTS),
        "totals": reports.settlement_totals(store, lately),
        "funnels": dict(_funnels(store, work)),
        "waiting": nights.waiting(store, now=now),
        **running(store, now),
    }


def _midnight(moment: datetime) -> datetime:
    return datetime.combine(moment.date(), time())


def _funnels(store: Store, work: Work) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    window = window_of(work.night.as_of, None, None)
    for institution in sorted(list_institutions(store), key=lambda each: each.slug):
        counted = count_window(store, institution.id, window)
        yield institution.slug, list(conversions(counted["data"]))
