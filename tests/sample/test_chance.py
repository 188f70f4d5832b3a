from __future__ import annotations

import re
from collections import Counter

import polars as pl
import pytest

from cardoffers_cli.sample.chance import (
    Chance,
    _mixed,
    hexadecimal,
    money,
    unit,
    uuid,
)

CHANCE = Chance(7).by("row_no")
ROWS = pl.select(row_no=pl.int_range(20_000, dtype=pl.UInt64))


def column(expression: pl.Expr) -> list[object]:
    return ROWS.select(value=expression)["value"].to_list()


def test_mixing_is_the_published_splitmix64() -> None:
    # The first outputs of SplitMix64 for the state 1234567, as other implementations give them.
    gamma = 0x9E3779B97F4A7C15
    states = pl.Series([(1234567 + step * gamma) % 2**64 for step in (1, 2, 3)], dtype=pl.UInt64)
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert expected == _mixed(states).to_list()


def test_a_draw_does_not_depend_on_the_rows_around_it() -> None:
    draw = CHANCE.draw("amount")
    whole = ROWS.select(draw.alias("bits"))
    halves = pl.concat([part.select(draw.alias("bits")) for part in (ROWS[:777], ROWS[777:])])
    assert whole.equals(halves)


@pytest.mark.parametrize(
    "other",
    [
        Chance(8).by("row_no").draw("amount"),
        CHANCE.draw("time"),
        CHANCE.within("larkmere").draw("amount"),
        Chance(7).by("row_no", pl.lit(0)).draw("amount"),
    ],
)
def test_seed_name_part_and_keys_each_change_a_draw(other: pl.Expr) -> None:
    assert set(column(CHANCE.draw("amount"))).isdisjoint(column(other))


def test_a_draw_by_one_key_never_repeats() -> None:
    assert ROWS.height == len(set(column(CHANCE.draw("ref"))))


def test_below_is_even() -> None:
    counts = Counter(column(CHANCE.below("die", 6)))
    assert set(range(6)) == set(counts)
    assert all(3_100 < count < 3_570 for count in counts.values())


def test_chosen_takes_so_many_in_a_thousand() -> None:
    assert 1_400 < sum(column(CHANCE.chosen("few", 80))) < 1_800


def test_weights_are_kept() -> None:
    counts = Counter(column(CHANCE.weighted("weighted", pl.Series([1, 0, 3]).cum_sum())))
    assert {0, 2} == set(counts)
    assert 4_700 < counts[0] < 5_300


def test_unit_stays_under_one() -> None:
    bits = pl.Series([0, 2**63, 2**64 - 1], dtype=pl.UInt64)
    values = pl.select(unit(pl.lit(bits))).to_series().to_list()
    assert [0.0, 0.5] == values[:2]
    assert values[2] < 1.0


def test_hexadecimal_is_what_python_writes() -> None:
    numbers = [0, 255, 2**64 - 1, 0x0123456789ABCDEF]
    made = pl.select(hexadecimal(pl.lit(pl.Series(numbers, dtype=pl.UInt64)))).to_series()
    assert [f"{number:016x}" for number in numbers] == made.to_list()


def test_a_uuid_is_a_version_4_uuid() -> None:
    form = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert all(form.fullmatch(str(made)) for made in column(uuid("merchant", CHANCE)))


def test_money_has_two_decimals() -> None:
    cents = pl.Series([1, 99, 100, 123456], dtype=pl.UInt64)
    made = pl.select(money(pl.lit(cents))).to_series().to_list()
    assert ["0.01", "0.99", "1.00", "1234.56"] == made
