"""Which files are expected of institutions, and which came (watch.md#files-that-are-expected)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.arrivals.expectations import FileCalendar
from cardoffers_cli.arrivals.schedules import holidays_text, parse_expectation, parse_holidays
from cardoffers_cli.catalogue.questions import FieldChange
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.arrivals.schedules import Expectation
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store


class StoredCalendar(Record):
    """What is expected of an institution from `set_at` on: texts of a line each."""

    institution_id: UUID
    institution: str
    set_at: datetime
    expects: str
    holidays: str


class NightFileRow(Record):
    """A file that came, as `ReceivedFile` has it."""

    name: str
    received_at: datetime
    import_id: str | None
    fault: str | None


class CalendarChange(Record):
    """What was expected, or the holidays, before and after, as both are shown."""

    field: str
    old_value: str | None
    new_value: str | None


def kept_calendars(
    store: Store, institution_id: UUID | None = None
) -> dict[UUID, tuple[str, list[FileCalendar]]]:
    """Return slug and calendars, the oldest first, of an institution or of each that has any."""
    rows = store.records(
        StoredCalendar, "arrivals/calendars:calendars", institution_id=institution_id
    )
    by_id: dict[UUID, tuple[str, list[FileCalendar]]] = {}
    for row in rows:
        by_id.setdefault(row.institution_id, (row.institution, []))[1].append(_calendar(row))
    return by_id


def newest_calendar(store: Store, institution_id: UUID) -> FileCalendar | None:
    """Return what is expected of an institution now, if anything ever was."""
    calendars = kept_calendars(store, institution_id)
    return calendars[institution_id][1][-1] if calendars else None


def keep_calendar(
    store: Store,
    institution_id: UUID,
    slug: str,
    *,
    expects: Sequence[Expectation] | None,
    holidays: Mapping[date, str] | None,
    run_no: int,
    now: datetime,
    actor: str,
) -> list[CalendarChange]:
    """Expect other files from now on, and audit that; return each change. None keeps what is."""
    before = newest_calendar(store, institution_id) or FileCalendar(set_at=now, holidays={})
    after = FileCalendar(
        set_at=now,
        expects=before.expects if expects is None else tuple(dict.fromkeys(expects)),
        holidays=before.holidays if holidays is None else holidays,
    )
    changes = _changes(before, after)
    if changes:
        store.execute(
            "arrivals/calendars:keep",
            institution_id=institution_id,
            now=now,
            run_no=run_no,
            expects="\n".join(expectation.text for expectation in after.expects),
            holidays=holidays_text(after.holidays),
        )
    by = {"institution_id": institution_id, "run_no": run_no, "now": now, "actor": actor}
    for change in changes:
        store.execute("institutions/changes:keep_setting", **change, **by, slug=slug)
    return changes


def _calendar(row: StoredCalendar) -> FileCalendar:
    return FileCalendar(
        set_at=row.set_at,
        expects=tuple(map(parse_expectation, row.expects.splitlines())),
        holidays=parse_holidays(row.holidays, "holidays") if row.holidays else {},
    )


def calendar_texts(calendar: FileCalendar) -> dict[str, str]:
    """Return what is expected, and how many holidays there are, for people; empty for none."""
    days = sorted(calendar.holidays)
    text = f"{len(days)}, {days[0]} to {days[-1]}" if days else ""
    return {"expects": "; ".join(item.text for item in calendar.expects), "holidays": text}


def _changes(before: FileCalendar, after: FileCalendar) -> list[CalendarChange]:
    old, new = calendar_texts(before), calendar_texts(after)
    same = {
        "expects": before.expects == after.expects,
        "holidays": before.holidays == after.holidays,
    }
    return [
        CalendarChange(field=field, old_value=old[field] or None, new_value=new[field] or None)
        for field in old
        if not same[field]
    ]


# The files that are expected of an institution: changed by its settings.


NONE = "none"


@dataclass(frozen=True, kw_only=True)
class CalendarOptions:
    """What files are expected from now on, and the text of a file of holidays.

    NONE alone is nothing; None keeps what there is. `holidays_name` is what errors call the file.
    """

    expects: Sequence[str] | None = None
    holidays: str | None = None
    holidays_name: str = "holidays"


def change_calendar(
    store: Store, institution: Institution, options: CalendarOptions, run: Run
) -> list[FieldChange]:
    """Expect other files from now on; return each change. Raises `UsageError`."""
    expects = options.expects
    if expects and NONE in expects:
        if len(expects) > 1:
            raise UsageError(
                "--expects none takes all away, and stands alone.", hint="Leave one out."
            )
        expects = []
    holidays = None
    if options.holidays is not None:
        is_none = options.holidays == NONE
        holidays = {} if is_none else parse_holidays(options.holidays, options.holidays_name)
    changed = keep_calendar(
        store,
        institution.id,
        institution.slug,
        expects=None if expects is None else [parse_expectation(text) for text in expects],
        holidays=holidays,
        **run.by,
    )
    return [FieldChange(subject_id=institution.slug, **change) for change in changed]
