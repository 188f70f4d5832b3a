"""The kinds of catalogue files: their columns, and what must hold within one of their rows.

The table to read, and to change, for the format of catalogue files is `catalogue.txt`;
`catalogue.py` reads files by it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

import polars as pl

from cardoffers_cli.catalogue.forms import Form, form_of
from cardoffers_cli.intake.conditions import Condition
from cardoffers_cli.intake.expressions import expression
from cardoffers_cli.intake.fields import INVISIBLE
from cardoffers_cli.intake.numbers import are_card_numbers
from cardoffers_cli.intake.predicates import settled
from cardoffers_cli.intake.rules import RULES, Rule
from cardoffers_cli.kernel.sheets.tabulated import read_tables
from cardoffers_cli.kernel.words.money import MINOR_UNITS

TOKEN_CODES = (
    "card_number",
    "personal_data",
    "token_placeholder",
    "spreadsheet_damage",
    "token_invalid",
)
"""What a token is refused for here as in transaction files."""


@dataclass(frozen=True, eq=False)
class CellRule:
    """One rule: `broken` is true in the rows whose cell of a column breaks it."""

    code: str
    column: str | None
    message: str
    broken: pl.Expr


@dataclass(frozen=True)
class CatalogueColumn:
    """One column: its form, whether a cell may be empty, what an empty one means, an example.

    In one that is `prose` there may be no card number.
    """

    name: str
    form: Form
    optional: bool = False
    default: str | None = None
    example: str = ""
    prose: bool = False

    @property
    def text(self) -> pl.Expr:
        """The text of the cell."""
        return pl.col(self.name)

    @property
    def value(self) -> pl.Expr:
        """The value read from the cell, null where it is empty or does not have the form."""
        value = self.form.read(pl.when(self.form.fits(self.text)).then(self.text))
        return value.alias(_read(self.name))

    @property
    def rules(self) -> tuple[CellRule, ...]:
        """What must hold for the cell alone, in order of precedence."""
        missing = pl.lit(False) if self.optional else self.text.is_null()
        wrong = self.text.is_not_null() & pl.col(_read(self.name)).is_null()
        holds = self.text.map_batches(partial(are_card_numbers, field=self.name), pl.Boolean)
        card = CellRule("card_number", self.name, f"{self.name} holds a card number", holds)
        return (
            *([card] if self.prose else []),
            CellRule("required_missing", self.name, f"{self.name} is empty", missing),
            CellRule(
                "control_character",
                self.name,
                f"{self.name} holds an invisible control character",
                self.text.str.contains(INVISIBLE),
            ),
            CellRule("value_invalid", self.name, f"{self.name} must be {self.form.says}", wrong),
        )


@dataclass(frozen=True)
class Kind:
    """One kind of file: its columns, and rules of its own beyond those of the columns."""

    name: str
    columns: tuple[CatalogueColumn, ...]
    own_rules: tuple[CellRule, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the columns that a CSV header must have."""
        return tuple(column.name for column in self.columns if not column.optional)

    @property
    def example(self) -> dict[str, str]:
        """One row, by column; columns that are left out are empty."""
        return {column.name: column.example for column in self.columns if column.example}

    @property
    def rules(self) -> tuple[CellRule, ...]:
        """Every rule, in order of precedence."""
        return (*self.own_rules, *(rule for column in self.columns for rule in column.rules))


def _read(name: str) -> str:
    return f"read:{name}"


def _precision(name: str) -> CellRule:
    """Return the rule that an amount has at most as many decimals as its currency."""
    units = pl.col("currency").replace_strict(MINOR_UNITS, default=None, return_dtype=pl.Int64)
    decimals = pl.col(name).str.extract(r"^[0-9]+\.([0-9]{1,4})$").str.len_bytes()
    message = f"{name} has more decimals than its currency"
    return CellRule("amount_precision", name, message, decimals > units)


_ENDS_LATER = CellRule(
    "value_invalid",
    "expires_at",
    "expires_at must be after starts_at",
    pl.col(_read("expires_at")) <= pl.col(_read("starts_at")),
)

_OF_AN_OFFER = (
    CellRule(
        "required_missing",
        "offer_id",
        "offer_id is empty, but an offer_impression is of an offer",
        (pl.col("event") == "offer_impression") & pl.col("offer_id").is_null(),
    ),
    CellRule(
        "value_invalid",
        "offer_id",
        "offer_id must be empty: a widget_view is of no single offer",
        (pl.col("event") == "widget_view") & pl.col("offer_id").is_not_null(),
    ),
)


def _token_rules(*columns: str) -> tuple[CellRule, ...]:
    """Refuse a token here as it is refused in transaction files, by the same rules."""
    return tuple(
        CellRule(rule.code, rule.column, rule.message, expression(_undeclared(rule)))
        for rule in RULES
        if rule.column in columns and rule.code in TOKEN_CODES
    )


def _undeclared(rule: Rule) -> Condition:
    """Return the condition of a rule of tokens whose lengths nobody declared."""
    broken = settled(rule.broken, {f"declared_{rule.column}": False})
    return broken if isinstance(broken, Condition) else rule.broken


_OWN_RULES = {
    "offers": (*map(_precision, ("min_spend", "cashback_amount", "budget_amount")), _ENDS_LATER),
    "links": _token_rules("cardholder_token", "card_token"),
    "engagement": (*_token_rules("cardholder_token"), *_OF_AN_OFFER),
}


def _column(line: str) -> CatalogueColumn:
    name, form, needed, *example = re.split(" {2,}", line)
    return CatalogueColumn(
        name,
        form_of(form),
        optional=needed != "needed",
        default=needed.removeprefix("else ") if needed.startswith("else ") else None,
        example=example[0] if example else "",
        prose=form in {"text", "long text"} and name != "webhook_url",
    )


KINDS = {
    name: Kind(name, tuple(map(_column, lines)), _OWN_RULES.get(name, ()))
    for name, lines in read_tables(__package__, "catalogue.txt").items()
}
"""The kinds of files by name, in the order of import."""
