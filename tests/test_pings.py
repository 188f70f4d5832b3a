"""A nightly run that is killed is noticed by whoever waits for its pings, within their interval.

The receiver is a real one. What it makes of pings is what services of this kind do: a check is up
while a success came within its period, and not down since a start that no success followed in time.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.events.receiver import Received, Receiver
from nights import FINISHED, World, real_now, said, started, world
from sizes import FULL, slow, tries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

KILLS = 40 if FULL else tries(2, 6)
NOT_STRUCK = 1.5
"""A moment of the runs after the end of an undisturbed one: some of them are not killed."""


@dataclass(frozen=True)
class Check:
    """A check of a ping service: a run is expected every `period`, and takes `grace` at most."""

    period: timedelta
    grace: timedelta

    def is_up(self, received: Sequence[Received], at: datetime) -> bool:
        """Say whether all is well at a moment, after what was received until then."""
        ended = [each for each in received if each.path == "/check"]
        begun = [each for each in received if each.path == "/check/start"]
        is_failed = bool(received) and received[-1].path == "/check/fail"
        if is_failed or not ended or at > ended[-1].at + self.period + self.grace:
            return False
        late = begun and begun[-1].at > ended[-1].at and at > begun[-1].at + self.grace
        return not late


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("pings"), rows=300, links=60, institutions=1) as found:
        yield found


@slow
@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_run_is_noticed_within_the_interval(
    made: World, tmp_path: Path, seed: int
) -> None:
    """The day before all was well; today the run is killed, and is not run again."""
    chance = random.Random(seed)  # noqa: S311
    check = Check(period=timedelta(days=1), grace=timedelta(minutes=10))
    folder = made.copy(tmp_path / "night")
    with Receiver(clock=real_now) as receiver:
        config = f'hooks_ping = "{receiver.url}check"\nlock_wait_s = 60\n'
        (folder / "config.toml").write_text(config)
        yesterday = _yesterday()
        night = started(folder, "--config", "config.toml")
        night.join(chance.random() * made.seconds * NOT_STRUCK)
        if is_killed := night.exitcode is None:
            night.kill()
        night.join()
        assert is_killed or night.exitcode in FINISHED, said(folder)
        received = [yesterday, *receiver.received]
    today = yesterday.at + check.period
    assert check.is_up([yesterday], today)
    has_ended = any(each.path == "/check" for each in received[1:])
    assert has_ended or is_killed
    assert has_ended == check.is_up(received, today + check.grace + timedelta(seconds=60))
    names = [each.path for each in received[1:]]
    assert names == ["/check/start", "/check"][: len(names)]
    assert 1 >= len({json.loads(each.body)["run_id"] for each in received[1:]})


def _yesterday() -> Received:
    """Return the success of the run a day ago."""
    at = real_now() - timedelta(days=1)
    return Received(number=0, at=at, path="/check", headers={}, body=b"{}", faults=[], status=200)


PERIOD, GRACE = timedelta(days=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("is_up", "hours", "pings"),
    [
        (False, 0, []),
        (True, 24, ["0 "]),
        (True, 25, ["0 "]),
        (False, 26, ["0 "]),
        (True, 25, ["0 ", "24.5 /start"]),
        (False, 26, ["0 ", "24.5 /start"]),
        (True, 26, ["0 ", "24.5 /start", "24.6 "]),
        (False, 25, ["0 ", "24.5 /start", "24.6 /fail"]),
    ],
)
def test_the_check_of_a_ping_service_is_one(is_up: bool, hours: float, pings: list[str]) -> None:
    begin = real_now()

    def received(ping: str) -> Received:
        hour, _, what = ping.partition(" ")
        at = begin + timedelta(hours=float(hour))
        path = f"/check{what}"
        return Received(number=0, at=at, path=path, headers={}, body=b"", faults=[], status=200)

    at = begin + timedelta(hours=hours)
    assert is_up == Check(PERIOD, GRACE).is_up([*map(received, pings)], at)
