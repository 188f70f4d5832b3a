from __future__ import annotations

from datetime import datetime

import pytest

from cardoffers_cli.kernel.net.transport import retry_after_s

NOW = datetime(2026, 5, 1, 12, 0, 0, 250_000)  # noqa: DTZ001 - moments are naive UTC


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (120, "120"),
        (120, " 120 "),
        (0, "0"),
        (60, "00060"),
        (999_999_999, "999999999"),
        (1_000_000_000, "9" * 5000),
        (60, "Fri, 01 May 2026 12:01:00 GMT"),
        (60, "Friday, 01-May-26 12:01:00 GMT"),
        (60, "Fri May  1 12:01:00 2026"),
        (0, "Fri, 01 May 2026 11:00:00 GMT"),
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (None, "Fri, 32 May 2026 12:01:00 GMT"),
        (None, "Fri, 01 May 99999999999 12:01:00 GMT"),
        (None, "soon"),
        (None, "GMT"),
        (None, ""),
        (None, "-5"),
        (None, "1.5"),
        (None, "1e3"),
        (None, "٣"),
        (None, "120, 240"),
        (None, "\udcff\x00"),
    ],
)
def test_seconds_and_dates_are_understood_and_nothing_else(seconds: int | None, text: str) -> None:
    assert seconds == retry_after_s(text, NOW)
