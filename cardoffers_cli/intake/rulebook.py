"""The rules as they are applied: which rows break none, and what is wrong with the others.

Most rows are proven clean by the suspicions of the rules, which are cheap; the rules themselves run
over the others only, as expressions of polars. Of few rows the rules themselves are asked, one row
after the other: to have expressions planned takes longer than that. All is derived from the table
of `rules.py` and from nothing else. A column that the rows lack is empty in every row, for a
suspicion as for a rule.
"""

from __future__ import annotations

from functools import cached_property, lru_cache, singledispatch
from itertools import groupby
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.intake import conditions, rules
from cardoffers_cli.intake.conditions import MISTYPED, predicate
from cardoffers_cli.intake.fields import OTHERS
from cardoffers_cli.intake.numbers import are_card_numbers, may_be_card_numbers
from cardoffers_cli.intake.rules import begins_with_day
from cardoffers_cli.kernel.words.cards import is_token_card_number, may_hold_card_number
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.row_kinds import PURCHASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.intake.conditions import Condition, Predicate
    from cardoffers_cli.intake.rules import QuickTest, Rule
    from cardoffers_cli.kernel.words.row_kinds import RowKind


FEW_ROWS = 30
"""How many rows are asked one after the other: of more, columns are quicker."""


def optional(kind: RowKind) -> tuple[str, ...]:
    """Return the text columns that rows of a kind may lack."""
    return (*kind.columns, OTHERS, MISTYPED)


def rulebook(kind: RowKind = PURCHASES) -> RuleBook:
    """Return the rules of the table that hold of a kind of rows, ready to be applied."""
    return _made(rules.RULES, kind)


@lru_cache(maxsize=8)
def _made(table: tuple[Rule, ...], kind: RowKind) -> RuleBook:
    return RuleBook(table, kind)


class RuleBook:
    """The rules of a kind of rows in order of precedence, with what is derived from them."""

    def __init__(self, table: tuple[Rule, ...], kind: RowKind) -> None:
        self._rules = tuple(rule for rule in table if rule.holds_of(kind))
        self._optional = optional(kind)
        self._reference = kind.reference

    def suspicious(self, rows: pl.DataFrame, *, is_plain: bool) -> pl.Series:
        """Say of each row whether it may break a rule; `is_plain` as `delimited.Page` says it."""
        if rows.height <= FEW_ROWS:
            tests = self._asked(frozenset(rows.columns))
            doubtful = [any(broken(row) for broken in tests) for row in rows.iter_rows(named=True)]
            return pl.Series("suspicious", doubtful, dtype=pl.Boolean)
        conditions, missing = self._screen(frozenset(rows.columns), is_plain=is_plain)
        absent = [_EMPTY.alias(name) for name in missing]
        doubts = pl.any_horizontal(pl.lit(False), *conditions).fill_null(False)
        series = rows.with_columns(absent).select(doubts.alias("suspicious")).to_series()
        return series.new_from_index(0, rows.height) if len(series) == 1 else series

    @lru_cache(maxsize=64)  # noqa: B019 - there are few rule books, and they stay
    def _screen(
        self, present: frozenset[str], *, is_plain: bool
    ) -> tuple[list[pl.Expr], list[str]]:
        """Return what to look at in rows with these columns, and which columns it needs besides.

        What reads only columns that are not there comes to the same for every row, so it is looked
        at once, here.
        """
        conditions = []
        missing: dict[str, None] = {}
        for condition in self._conditions(is_plain=is_plain):
            read = condition.columns
            if read.isdisjoint(present):
                conditions += [pl.lit(True)] if predicate(condition)({}) else []
            else:
                conditions.append(expression(condition).fill_null(False))
                missing |= dict.fromkeys(sorted(read - present))
        return conditions, [*missing]

    @lru_cache(maxsize=64)  # noqa: B019 - as above
    def _asked(self, present: frozenset[str]) -> list[Predicate]:
        """Return the rules that one row with these columns may break, as they are asked of it."""
        rules = [predicate(rule.broken) for rule in self._rules]
        return [
            broken
            for rule, broken in zip(self._rules, rules, strict=True)
            if broken({}) or not rule.broken.columns.isdisjoint(present)
        ]

    def _conditions(self, *, is_plain: bool) -> list[Condition]:
        """Return every suspicion once, and the rules that have none."""
        suspicions: dict[QuickTest, None] = {}
        conditions = []
        for rule in self._rules:
            suspicions |= dict.fromkeys(rule.suspicions)
            conditions += [] if rule.suspicions else [rule.broken]
        tests = [test for test in suspicions if not (test.unless_plain and is_plain)]
        return [*(test.holds for test in tests), *conditions]

    def findings(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return one row per finding, as `FINDING_SCHEMA` of `chunks.py`, in line order.

        The reference is shown only where it can be nothing but a reference.
        """
        filled = rows.with_columns(
            _EMPTY.alias(name) for name in self._optional if name not in rows.columns
        )
        return (
            filled.select(
                "line",
                pl.when(expression(rules.shown_reference(self._reference)))
                .then(self._reference)
                .alias("transaction_ref"),
                *self._first_broken,
            )
            .unpivot(index=["line", "transaction_ref"], value_name="rule")
            .drop_nulls("rule")
            .join(self._catalogue, on="rule")
            .sort("line", "rule")
            .select("line", "transaction_ref", "column", "code", "level", "message")
        )

    @cached_property
    def _first_broken(self) -> list[pl.Expr]:
        """One expression per cause: the number of the first rule it breaks, or null."""
        numbered = sorted(enumerate(self._rules), key=lambda pair: pair[1].cause)
        return [
            pl.coalesce(
                pl.when(expression(rule.broken)).then(pl.lit(number, pl.UInt16))
                for number, rule in group
            ).alias(f"broken:{cause}")
            for cause, group in groupby(numbered, key=lambda pair: pair[1].cause)
        ]

    @cached_property
    def _catalogue(self) -> pl.DataFrame:
        return pl.DataFrame(
            [
                (number, rule.column, rule.code, CODES[rule.code].level, rule.message)
                for number, rule in enumerate(self._rules)
            ],
            schema={
                "rule": pl.UInt16,
                "column": pl.String,
                "code": pl.String,
                "level": pl.String,
                "message": pl.String,
            },
            orient="row",
        )


_EMPTY = pl.lit(None, pl.String)


if TYPE_CHECKING:
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
