"""Wrong keys of one client are answered later and later."""

from __future__ import annotations

import pytest

from cardoffers_cli.http.arrivals import WrongKeys, is_wrong
from cardoffers_cli.http.contract.messages import Answer, Call
from cardoffers_cli.http.listening import ServerLimits


def waits(wrong: WrongKeys, times: int, *, every_s: float = 0, client: str = "a") -> list[float]:
    return [round(wrong.count(client, number * every_s), 2) for number in range(times)]


def test_the_first_are_answered_at_once_and_then_each_later_than_the_one_before() -> None:
    wrong = WrongKeys(ServerLimits(wrong_keys_per_minute=3, slowest_s=2))
    assert [0, 0, 0, 0.1, 0.2, 0.4, 0.8, 1.6, 2, 2] == waits(wrong, 10)


def test_who_is_not_too_fast_is_never_slowed() -> None:
    assert {0} == set(waits(WrongKeys(ServerLimits(wrong_keys_per_minute=10)), 100, every_s=6))


def test_a_client_is_slowed_for_its_own_keys_only() -> None:
    wrong = WrongKeys(ServerLimits())
    waits(wrong, 50)
    assert {0} == set(waits(wrong, 10, client="b"))


def test_what_was_is_forgotten_in_time_however_much_it_was() -> None:
    wrong = WrongKeys(ServerLimits(wrong_keys_per_minute=10))
    waits(wrong, 100_000)
    assert wrong.count("a", 30) > 0
    assert 0 == wrong.count("a", 200)


def test_a_flood_of_clients_takes_no_more_memory_than_many_do() -> None:
    wrong = WrongKeys(ServerLimits())
    for number in range(30_000):
        wrong.count(str(number), 0)
    assert 10_000 == len(wrong)


@pytest.mark.parametrize(
    ("expected", "code", "headers"),
    [
        (True, "unauthenticated", {"authorization": "Bearer x"}),
        (True, "token_revoked", {"authorization": "Bearer x"}),
        (True, "token_expired", {"authorization": "Bearer x"}),
        (False, "unauthenticated", {}),
        (False, "scope_missing", {"authorization": "Bearer x"}),
        (False, None, {"authorization": "Bearer x"}),
    ],
)
def test_a_wrong_key_is_one_that_opens_nothing(
    expected: bool, code: str | None, headers: dict[str, str]
) -> None:
    call = Call(method="GET", path="/", request_id="an id", headers=headers)
    assert expected == is_wrong(call, Answer(status=401, code=code))
