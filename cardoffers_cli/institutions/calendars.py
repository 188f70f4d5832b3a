"""Which files are expected of institutions, and which came (watch.md#files-that-are-expected)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.institutions.changes import record_changes
from cardoffers_cli.institutions.schedules import holidays_text, parse_expectation, parse_holidays
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.catalogue.questions import FieldChange
    from cardoffers_cli.institutions.schedules import Expectation
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store


@dataclass(frozen=True, kw_only=True)
class FileCalendar:
    """What was expected of an institution from a moment on, and its holidays by their day."""

    set_at: datetime
    expects: tuple[Expectation, ...] = ()
    holidays: Mapping[date, str]


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


def kept_calendars(
    store: Store, institution_id: UUID | None = None
) -> dict[UUID, tuple[str, list[FileCalendar]]]:
    """Return slug and calendars, the oldest first, of an institution or of each that has any."""
    rows = store.records(
        StoredCalendar, "institutions/calendars:calendars", institution_id=institution_id
    )
    by_id: dict[UUID, tuple[str, list[FileCalendar]]] = {}
    for row in rows:
        by_id.setdefault(row.institution_id, (row.institution, []))[1].append(
            FileCalendar(
                set_at=row.set_at,
                expects=tuple(map(parse_expectation, row.expects.splitlines())),
                holidays=parse_holidays(row.holidays, "holidays") if row.holidays else {},
            )
        )
    return by_id


def newest_calendar(store: Store, institution_id: UUID) -> FileCalendar | None:
    """Return what is expected of an institution now, if anything ever was."""
    calendars = kept_calendars(store, institution_id)
    return calendars[institution_id][1][-1] if calendars else None


def calendar_texts(calendar: FileCalendar) -> dict[str, str]:
    """Return what is expected, and how many holidays there are, for people; empty for none."""
    days = sorted(calendar.holidays)
    text = f"{len(days)}, {days[0]} to {days[-1]}" if days else ""
    return {"expects": "; ".join(item.text for item in calendar.expects), "holidays": text}


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
    before = newest_calendar(store, institution.id) or FileCalendar(set_at=run.as_of, holidays={})
    after = FileCalendar(
        set_at=run.as_of,
        expects=before.expects
        if expects is None
        else tuple(dict.fromkeys(map(parse_expectation, expects))),
        holidays=before.holidays if holidays is None else holidays,
    )
    old, new = calendar_texts(before), calendar_texts(after)
    changes = {
        field: (old[field] or None, new[field] or None)
        for field in ("expects", "holidays")
        if getattr(before, field) != getattr(after, field)
    }
    if changes:
        store.execute(
            "institutions/calendars:keep",
            institution_id=institution.id,
            now=run.as_of,
            run_no=run.run_no,
            expects="\n".join(expectation.text for expectation in after.expects),
            holidays=holidays_text(after.holidays),
        )
    return record_changes(store, institution, changes, run)
