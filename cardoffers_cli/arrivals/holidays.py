"""A file of holidays, as text; what it says is read by `arrivals/schedules.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.intake.sources import open_input
from cardoffers_cli.kernel.words.errors import NotFound, UsageError

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1_000_000


def read_holidays(path: Path) -> str:
    """Return the text of a file of holidays; raise `NotFound`, or `UsageError` where it is none."""
    how = "Write a line for each holiday, such as 2026-12-25 Christmas Day."
    try:
        with open_input(path) as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise NotFound(
            f"The holidays {path} cannot be read: {error.strerror}.",
            code="holidays_missing",
            hint=how,
        ) from None
    try:
        if len(content) <= MOST_BYTES:
            return content.decode()
    except UnicodeDecodeError:
        pass
    raise UsageError(
        f"{path} is no list of holidays: it is not UTF-8, or has more than {MOST_BYTES:,} bytes.",
        code="holidays_invalid",
        hint=how,
    )
