"""The kinds of catalogue files: their columns, and what must hold within one of their rows.

This is the table to read, and to change, for the format of catalogue files; `catalogue.py` reads
files by it. Kinds stand in the order of import: a row may point only to kinds before its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from cardoffers_cli.domain.money import MINOR_UNITS
from cardoffers_cli.files import forms
from cardoffers_cli.files.fields import IDENTIFIER_TYPES, INVISIBLE
from cardoffers_cli.files.forms import Form, amount, one_of, whole
from cardoffers_cli.files.rules import RULES, Rule

_TOKEN_CODES = (
    "card_number",
    "personal_data",
    "token_placeholder",
    "spreadsheet_damage",
    "token_invalid",
)


@dataclass(frozen=True)
class CatalogueColumn:
    """One column: its form, whether a cell may be empty, and what an empty one means."""

    name: str
    form: Form
    optional: bool = False
    default: str | None = None

    @property
    def text(self) -> pl.Expr:
        """The text of the cell."""
        return pl.col(self.name)

    @property
    def value(self) -> pl.Expr:
        """The value read from the cell, null where it is empty or does not have the form."""
        fits = self.text.str.contains(self.form.pattern)
        value = self.form.read(pl.when(fits).then(self.text))
        return value.alias(_read(self.name))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What must hold for the cell alone, in order of precedence."""
        missing = pl.lit(False) if self.optional else self.text.is_null()
        wrong = self.text.is_not_null() & pl.col(_read(self.name)).is_null()
        return (
            Rule("required_missing", self.name, f"{self.name} is empty", missing),
            Rule(
                "control_character",
                self.name,
                f"{self.name} holds an invisible control character",
                self.text.str.contains(INVISIBLE),
            ),
            Rule("value_invalid", self.name, f"{self.name} must be {self.form.says}", wrong),
        )


@dataclass(frozen=True)
class Kind:
    """One kind of file: its columns, and rules of its own beyond those of the columns."""

    name: str
    columns: tuple[CatalogueColumn, ...]
    own_rules: tuple[Rule, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the columns that a CSV header must have."""
        return tuple(column.name for column in self.columns if not column.optional)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule, in order of precedence."""
        return (*self.own_rules, *(rule for column in self.columns for rule in column.rules))


def _read(name: str) -> str:
    return f"read:{name}"


def _precision(name: str) -> Rule:
    """Return the rule that an amount has at most as many decimals as its currency."""
    units = pl.col("currency").replace_strict(MINOR_UNITS, default=None, return_dtype=pl.Int64)
    decimals = pl.col(name).str.extract(r"^[0-9]+\.([0-9]{1,4})$").str.len_bytes()
    message = f"{name} has more decimals than its currency"
    return Rule("amount_precision", name, message, decimals > units)


_ENDS_LATER = Rule(
    "value_invalid",
    "expires_at",
    "expires_at must be after starts_at",
    pl.col(_read("expires_at")) <= pl.col(_read("starts_at")),
)

_OF_AN_OFFER = (
    Rule(
        "required_missing",
        "offer_id",
        "offer_id is empty, but an offer_impression is of an offer",
        (pl.col("event") == "offer_impression") & pl.col("offer_id").is_null(),
    ),
    Rule(
        "value_invalid",
        "offer_id",
        "offer_id must be empty: a widget_view is of no single offer",
        (pl.col("event") == "widget_view") & pl.col("offer_id").is_not_null(),
    ),
)


def _token_rules(*columns: str) -> tuple[Rule, ...]:
    """Refuse a token here as it is refused in transaction files, by the same rules."""
    return tuple(rule for rule in RULES if rule.column in columns and rule.code in _TOKEN_CODES)


_TEXTS = tuple(
    CatalogueColumn(f"{part}_{language}", form, optional=(part, language) != ("title", "en"))
    for part, form in (("title", forms.TEXT), ("description", forms.LONG_TEXT))
    for language in ("en", "es", "pt-BR")
)

_ALL = (
    Kind(
        "institutions",
        (
            CatalogueColumn("slug", forms.SLUG),
            CatalogueColumn("institution_id", forms.UUID, optional=True),
            CatalogueColumn("name", forms.TEXT),
            CatalogueColumn("plan", one_of("starter", "growth", "enterprise")),
            CatalogueColumn("currency", forms.CURRENCY),
            CatalogueColumn("languages", forms.LANGUAGES),
            CatalogueColumn("max_active_offers", whole(1)),
            CatalogueColumn("widget_limit", whole(1)),
            CatalogueColumn("settlement_hold_days", whole(0), optional=True, default="0"),
            CatalogueColumn("webhook_url", forms.LONG_TEXT, optional=True),
            CatalogueColumn("require_marker", forms.FLAG, optional=True),
        ),
    ),
    Kind(
        "merchants",
        (
            CatalogueColumn("merchant_id", forms.UUID),
            CatalogueColumn("name", forms.TEXT),
            CatalogueColumn("category", forms.TEXT),
        ),
    ),
    Kind(
        "merchant_identifiers",
        (
            CatalogueColumn("merchant_id", forms.UUID),
            CatalogueColumn(
                "merchant_identifier_type",
                one_of(*IDENTIFIER_TYPES),
                optional=True,
                default="card_acceptor",
            ),
            CatalogueColumn("merchant_identifier", forms.words(256)),
        ),
    ),
    Kind(
        "offers",
        (
            CatalogueColumn("offer_id", forms.CODE),
            CatalogueColumn("merchant_id", forms.UUID),
            *_TEXTS,
            CatalogueColumn("min_spend", amount()),
            CatalogueColumn("cashback_amount", amount(positive=True)),
            CatalogueColumn("currency", forms.CURRENCY),
            CatalogueColumn("commission_rate", forms.SHARE, optional=True, default="0"),
            CatalogueColumn("budget_amount", amount(), optional=True),
            CatalogueColumn("starts_at", forms.TIME),
            CatalogueColumn("expires_at", forms.TIME),
            CatalogueColumn("segments", forms.SEGMENTS, optional=True),
            CatalogueColumn("max_redemptions_per_cardholder", whole(1), optional=True),
            CatalogueColumn("paused", forms.FLAG, optional=True, default="false"),
            CatalogueColumn("effective_at", forms.TIME, optional=True),
        ),
        (*map(_precision, ("min_spend", "cashback_amount", "budget_amount")), _ENDS_LATER),
    ),
    Kind(
        "program_offers",
        (
            CatalogueColumn("institution", forms.SLUG),
            CatalogueColumn("offer_id", forms.CODE),
            CatalogueColumn("position", whole(0)),
        ),
    ),
    Kind(
        "links",
        (
            CatalogueColumn("institution", forms.SLUG),
            CatalogueColumn("cardholder_token", forms.TOKEN),
            CatalogueColumn("card_token", forms.TOKEN),
            CatalogueColumn("offer_id", forms.CODE),
            CatalogueColumn("added_at", forms.TIME),
        ),
        _token_rules("cardholder_token", "card_token"),
    ),
    Kind(
        "engagement",
        (
            CatalogueColumn("institution", forms.SLUG),
            CatalogueColumn("cardholder_token", forms.TOKEN),
            CatalogueColumn("event", one_of("widget_view", "offer_impression")),
            CatalogueColumn("offer_id", forms.CODE, optional=True),
            CatalogueColumn("occurred_at", forms.TIME),
        ),
        (*_token_rules("cardholder_token"), *_OF_AN_OFFER),
    ),
)

KINDS = {kind.name: kind for kind in _ALL}
"""The kinds of files by name, in the order of import."""
