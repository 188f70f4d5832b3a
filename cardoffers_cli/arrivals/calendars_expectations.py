"""The files that are expected of an institution: changed by its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.arrivals.calendars import keep_calendar
from cardoffers_cli.arrivals.schedules import parse_expectation, parse_holidays
from cardoffers_cli.catalogue.questions import FieldChange
from cardoffers_cli.kernel.words.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store

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
    store: Store, institution: Institution, given: CalendarOptions, run: Run
) -> list[FieldChange]:
    """Expect other files from now on; return each change. Raises `UsageError`."""
    expects = given.expects
    if expects and NONE in expects:
        if len(expects) > 1:
            raise UsageError(
                "--expects none takes all away, and stands alone.", hint="Leave one out."
            )
        expects = []
    holidays = None
    if given.holidays is not None:
        is_none = given.holidays == NONE
        holidays = {} if is_none else parse_holidays(given.holidays, given.holidays_name)
    changed = keep_calendar(
        store,
        institution.id,
        institution.slug,
        expects=None if expects is None else [parse_expectation(each) for each in expects],
        holidays=holidays,
        **run.by,
    )
    return [FieldChange(subject_id=institution.slug, **each) for each in changed]
