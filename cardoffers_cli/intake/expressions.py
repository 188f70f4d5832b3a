"""The conditions of rules (`conditions.py`) as expressions of polars, for columns at once."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.intake import conditions
from cardoffers_cli.intake.numbers import are_card_numbers, may_be_card_numbers
from cardoffers_cli.intake.rules import begins_with_day
from cardoffers_cli.kernel.words.cards import is_token_card_number, may_hold_card_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.intake.conditions import Condition

    TellsColumn = Callable[[pl.Series], pl.Series]


def _begin_with_days(texts: pl.Series) -> pl.Series:
    days = texts.str.head(len("YYYY-MM-DD")).str.to_date("%Y-%m-%d", strict=False)
    return days.is_not_null()


TOLD: dict[Callable[[str], bool], TellsColumn] = {
    is_token_card_number: are_card_numbers,
    may_hold_card_number: may_be_card_numbers,
    begins_with_day: _begin_with_days,
}
"""What tells of a text -> what tells the same of a column of texts."""


@singledispatch
def expression(condition: Condition) -> pl.Expr:
    """Return an expression that is true, false or null as the condition is of a row."""
    raise TypeError(f"{type(condition).__name__} is no condition that is known here")


@expression.register(conditions.Both)
def _(it: conditions.Both) -> pl.Expr:
    return expression(it.one) & expression(it.other)


@expression.register(conditions.Either)
def _(it: conditions.Either) -> pl.Expr:
    return expression(it.one) | expression(it.other)


@expression.register(conditions.Not)
def _(it: conditions.Not) -> pl.Expr:
    return ~expression(it.condition)


@expression.register(conditions.KnownTrue)
def _(it: conditions.KnownTrue) -> pl.Expr:
    return expression(it.condition).fill_null(value=False)


@expression.register(conditions.Missing)
def _(it: conditions.Missing) -> pl.Expr:
    return pl.col(it.column).is_null()


@expression.register(conditions.Matches)
def _(it: conditions.Matches) -> pl.Expr:
    return pl.col(it.column).str.contains(it.pattern)


@expression.register(conditions.OneOf)
def _(it: conditions.OneOf) -> pl.Expr:
    return pl.col(it.column).is_in(it.words)


@expression.register(conditions.Sized)
def _(it: conditions.Sized) -> pl.Expr:
    text = pl.col(it.column).str
    return (text.len_bytes() if it.in_bytes else text.len_chars()).is_between(it.least, it.most)


@expression.register(conditions.TextTest)
def _(it: conditions.TextTest) -> pl.Expr:
    return pl.col(it.column).map_batches(TOLD[it.by], return_dtype=pl.Boolean)


@expression.register(conditions.Flagged)
def _(it: conditions.Flagged) -> pl.Expr:
    return pl.col(it.column)


@expression.register(conditions.Mistyped)
def _(it: conditions.Mistyped) -> pl.Expr:
    named = pl.col(it.column).str.contains(f"|{it.field}|", literal=True)
    return named.fill_null(value=False)


@expression.register(conditions.Differs)
def _(it: conditions.Differs) -> pl.Expr:
    one, other = pl.col(it.column), pl.col(it.other)
    return one.str.to_lowercase() != other.str.to_lowercase() if it.in_any_case else one != other


@expression.register(conditions.Exceeds)
def _(it: conditions.Exceeds) -> pl.Expr:
    return pl.col(it.column) > (pl.col(it.limit) if isinstance(it.limit, str) else it.limit)


@expression.register(conditions.MoreDecimals)
def _(it: conditions.MoreDecimals) -> pl.Expr:
    decimals = pl.col(it.column).str.extract(conditions.DECIMALS)
    return decimals.str.len_bytes() > pl.col(it.limit)
