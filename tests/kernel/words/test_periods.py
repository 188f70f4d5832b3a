"""Months that are closed: which one a moment is in, and those beside it."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from cardoffers_cli.kernel.words.periods import Period


@pytest.mark.parametrize(
    ("before", "period", "after"),
    [
        ("2025-12", "2026-01", "2026-02"),
        ("2026-11", "2026-12", "2027-01"),
    ],
)
def test_a_month_is_between_two_others(before: str, period: str, after: str) -> None:
    month = Period(date.fromisoformat(f"{period}-01"))
    assert (before, period, after) == (str(month.before), str(month), str(month.after))
    assert datetime.fromisoformat(f"{after}-01") == month.to_at
