"""Progress in a pipe: a plain line now and then, and nothing for those who want quiet."""

import sys
from typing import Any

import pytest

from cardoffers_cli.kernel.cli.progress import Plain, progress
from commands import screen


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def told(capsys: Any) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_there_is_at_most_one_line_in_ten_seconds(capsys: Any) -> None:
    clock = Clock()
    plain = Plain("Reading", 100_000, clock)
    for clock.seconds in range(31):
        plain.advance(1000)
    assert [
        "Reading: 11,000 of 100,000 (11 %)",
        "Reading: 21,000 of 100,000 (21 %)",
        "Reading: 31,000 of 100,000 (31 %)",
    ] == told(capsys)


def test_the_total_may_come_late_or_never(capsys: Any) -> None:
    clock = Clock()
    plain = Plain("Reading", None, clock)
    clock.seconds = 10
    plain.update(5)
    clock.seconds = 20
    plain.update(6, 8)
    assert ["Reading: 5", "Reading: 6 of 8 (75 %)"] == told(capsys)


@pytest.mark.parametrize("quiet", [False, True])
def test_short_work_and_quiet_work_say_nothing(capsys: Any, quiet: bool) -> None:
    with progress("Reading", 2, quiet=quiet) as shown:
        shown.advance()
        shown.update(2)
    assert [] == told(capsys)


@pytest.mark.parametrize("colour", [True, False])
def test_a_bar_is_for_those_who_want_what_moves(
    monkeypatch: pytest.MonkeyPatch, colour: bool
) -> None:
    with screen() as shown:
        monkeypatch.setattr("sys.stderr", sys.stdout)
        with progress("Reading", 2, colour=colour) as bar:
            bar.advance()
    assert colour == (b"\x1b[" in b"".join(shown))
