from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis.strategies import integers, none

from cardoffers_cli.events.deliver import DELAYS_S, MOST_JITTER_PERMILLE, delay_ms

JITTERS = integers(-MOST_JITTER_PERMILLE, MOST_JITTER_PERMILLE)


def test_the_schedule_takes_about_two_hours() -> None:
    assert 7650 == sum(DELAYS_S)


@pytest.mark.parametrize(
    ("failures", "jitter", "expected"),
    [
        (1, 0, 30_000),
        (1, -100, 27_000),
        (1, 100, 33_000),
        (2, 0, 60_000),
        (3, 7, 120_840),
        (7, 0, 1_920_000),
        (8, 0, 3_840_000),
        (8, -100, 3_456_000),
        (9, 0, None),
        (10, 100, None),
    ],
)
def test_a_delay_doubles_with_each_failure(
    failures: int, jitter: int, expected: int | None
) -> None:
    assert expected == delay_ms(failures, jitter)


@pytest.mark.parametrize(
    ("retry_after_s", "expected"),
    [(None, 30_000), (0, 30_000), (29, 30_000), (31, 31_000), (60, 60_000), (61, 60_000)],
)
def test_a_receiver_may_make_a_delay_up_to_twice_as_long(
    retry_after_s: int | None, expected: int
) -> None:
    assert expected == delay_ms(1, 0, retry_after_s=retry_after_s)


def test_nothing_follows_the_last_failure_whatever_the_receiver_asks_for() -> None:
    assert delay_ms(9, 0, retry_after_s=60) is None


@given(failures=integers(1, 8), jitter=JITTERS, retry_after_s=none() | integers(0, 10**9))
def test_a_delay_is_never_shorter_than_its_own_and_never_longer_than_twice(
    failures: int, jitter: int, retry_after_s: int | None
) -> None:
    own = delay_ms(failures, jitter)
    asked = delay_ms(failures, jitter, retry_after_s=retry_after_s)
    assert own is not None
    assert asked is not None
    assert own <= asked <= 2 * own
