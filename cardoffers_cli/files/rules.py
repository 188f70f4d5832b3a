"""The rules of a transaction row, as one table that every door reads rows through.

Each rule is an expression over the text columns of a row that is true where the row breaks it. Of
several rules broken by one column the first in the table speaks, so a card number is not also
called a token with spaces. Levels and advice stand in `domain/findings.py`. To add a rule, add its
code there and a line here. Messages name the column and the rule, never the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import polars as pl

from cardoffers_cli.domain.cards import is_card_number
from cardoffers_cli.domain.findings import CODES
from cardoffers_cli.files.timestamps import WITH_OFFSET, WITHOUT_OFFSET

INSTRUMENT_TYPES = ("card", "wallet", "account")
IDENTIFIER_TYPES = ("card_acceptor", "pix_key", "upi_vpa", "codi", "psp_merchant_id")
TOKENS = ("cardholder_token", "card_token", "instrument_token")
TEXTS = ("card_acceptor_id", "merchant_identifier", "mcc", "merchant_descriptor", "network")
COLUMNS = (
    *TOKENS,
    "instrument_type",
    *TEXTS,
    "merchant_identifier_type",
    "merchant_id",
    "amount",
    "transaction_ref",
    "transacted_at",
    "institution_id",
)
"""The fields of a transaction event, as text columns."""

REQUIRED = ("cardholder_token", "amount", "transaction_ref", "transacted_at")
TOKEN_LENGTH = 256
REF_LENGTH = 128
STRONG_TOKEN_LENGTH = 32
UUID = r"^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
INVISIBLE = (
    "[\\x00-\\x1f\\x7f-\\x{9f}"  # C0, DEL, C1
    "\\x{61c}\\x{200e}\\x{200f}\\x{202a}-\\x{202e}\\x{2066}-\\x{2069}"  # direction of text
    "\\x{180e}\\x{200b}-\\x{200d}\\x{2060}\\x{feff}]"  # no width
)
CARD_LIKE = r"^[0-9\s\p{Pd}\x{2212}]{12,}$"
E_MAIL = r"^\s*[^@\s]+@[^@\s]+\.[^@\s]+\s*$"
NOT_VISIBLE_ASCII = "[^!-~]"
NUMBER = r"^-?[0-9]+(?:\.[0-9]+)?$"


@dataclass(frozen=True)
class Rule:
    """One rule: `broken` is true where the column breaks it.

    Of the rules of one column the first that is broken is the cause, and the others follow from it;
    a rule that stands `apart` is a cause of its own.
    """

    code: str
    column: str
    message: str
    broken: pl.Expr
    apart: bool = False

    @property
    def cause(self) -> str:
        """What the rule is about: its column, or itself."""
        return f"{self.column} {self.code}" if self.apart else self.column


def _mistyped(column: str) -> pl.Expr:
    """Say whether a JSON value had the wrong type (`mistyped` names such columns: `|a|b|`)."""
    return pl.col("mistyped").str.contains(f"|{column}|", literal=True).fill_null(False)


def _is_card_number(column: str) -> pl.Expr:
    return (
        pl.when(pl.col(column).str.contains(CARD_LIKE))
        .then(pl.col(column))
        .map_batches(_card_numbers, return_dtype=pl.Boolean)
    )


def _card_numbers(texts: pl.Series) -> pl.Series:
    found = [text is not None and is_card_number(text) for text in texts]
    return pl.Series(texts.name, found, dtype=pl.Boolean)


def _is_bad_token(column: str, length: int) -> pl.Expr:
    text = pl.col(column)
    return (
        _mistyped(column) | text.str.contains(NOT_VISIBLE_ASCII) | (text.str.len_chars() > length)
    )


def _unknown(column: str, known: tuple[str, ...]) -> pl.Expr:
    return _mistyped(column) | ~pl.col(column).is_in(known)


_amount = pl.col("amount")
_at = pl.col("transacted_at")
_merchant = pl.col("merchant_identifier")
_acceptor = pl.col("card_acceptor_id")
_names_acceptor = pl.col("merchant_identifier_type").fill_null("card_acceptor") == "card_acceptor"
_is_local = _at.str.contains(WITHOUT_OFFSET)
_has_date = _at.str.head(10).str.to_date("%Y-%m-%d", strict=False).is_not_null()

RULES: tuple[Rule, ...] = (
    *(
        Rule("card_number", name, f"{name} is a real card number", _is_card_number(name))
        for name in TOKENS
    ),
    *(
        Rule(
            "personal_data", name, f"{name} is an e-mail address", pl.col(name).str.contains(E_MAIL)
        )
        for name in TOKENS
    ),
    *(
        Rule(
            "control_character",
            name,
            f"{name} holds an invisible control character",
            pl.col(name).str.contains(INVISIBLE),
        )
        for name in COLUMNS
    ),
    *(
        Rule("required_missing", name, f"{name} is empty", pl.col(name).is_null())
        for name in REQUIRED
    ),
    Rule(
        "required_missing",
        "card_token",
        "card_token and instrument_token are both empty",
        pl.col("card_token").is_null() & pl.col("instrument_token").is_null(),
    ),
    *(
        Rule(
            "token_invalid",
            name,
            f"{name} is not visible ASCII text of at most {length} characters",
            _is_bad_token(name, length),
        )
        for name, length in (
            *((token, TOKEN_LENGTH) for token in TOKENS),
            ("transaction_ref", REF_LENGTH),
        )
    ),
    *(Rule("text_invalid", name, f"{name} is not text", _mistyped(name)) for name in TEXTS),
    Rule(
        "instrument_conflict",
        "instrument_token",
        "card_token and instrument_token differ",
        pl.col("card_token") != pl.col("instrument_token"),
    ),
    Rule(
        "instrument_type_unknown",
        "instrument_type",
        f"instrument_type is none of {', '.join(INSTRUMENT_TYPES)}",
        _unknown("instrument_type", INSTRUMENT_TYPES),
    ),
    Rule(
        "merchant_identifier_type_unknown",
        "merchant_identifier_type",
        f"merchant_identifier_type is none of {', '.join(IDENTIFIER_TYPES)}",
        _unknown("merchant_identifier_type", IDENTIFIER_TYPES),
    ),
    Rule(
        "merchant_conflict",
        "merchant_identifier",
        "card_acceptor_id and merchant_identifier differ",
        _names_acceptor & (_acceptor != _merchant),
    ),
    Rule(
        "merchant_id_invalid",
        "merchant_id",
        "merchant_id is not a UUID",
        _mistyped("merchant_id") | ~pl.col("merchant_id").str.contains(UUID),
    ),
    Rule(
        "amount_invalid",
        "amount",
        "amount is not digits with an optional decimal part",
        _mistyped("amount") | ~_amount.str.contains(NUMBER),
    ),
    Rule(
        "amount_not_positive",
        "amount",
        "amount is zero or negative",
        _amount.str.starts_with("-") | ~_amount.str.contains("[1-9]"),
    ),
    Rule(
        "amount_too_large",
        "amount",
        "amount is 10^12 or more",
        _amount.str.contains("^0*[1-9][0-9]{12}"),
    ),
    Rule(
        "amount_precision",
        "amount",
        "amount has more decimals than its currency",
        _amount.str.contains(NUMBER)
        & (_amount.str.extract(r"\.([0-9]+)$").str.len_bytes() > pl.col("decimals")),
        apart=True,
    ),
    Rule(
        "timestamp_no_offset",
        "transacted_at",
        "transacted_at names no time zone: neither Z nor an offset",
        ~_mistyped("transacted_at") & _is_local & _has_date & ~pl.col("assumed"),
    ),
    Rule(
        "timestamp_invalid",
        "transacted_at",
        "transacted_at is not YYYY-MM-DDTHH:MM:SS with Z or an offset, or not a real moment",
        _mistyped("transacted_at")
        | ~(_at.str.contains(WITH_OFFSET) | _is_local)
        | (_at.is_not_null() & pl.col("at").is_null()),
    ),
    Rule(
        "timestamp_in_future",
        "transacted_at",
        "transacted_at is more than 24 hours ahead",
        pl.col("at") > pl.col("latest"),
    ),
    Rule(
        "institution_mismatch",
        "institution_id",
        "institution_id is not the institution this is read for",
        pl.col("caller").is_not_null()
        & (
            _mistyped("institution_id")
            | (pl.col("institution_id").str.to_lowercase() != pl.col("caller").str.to_lowercase())
        ),
    ),
    Rule(
        "token_weak",
        "cardholder_token",
        f"cardholder_token is shorter than {STRONG_TOKEN_LENGTH} characters",
        pl.col("cardholder_token").str.len_chars() < STRONG_TOKEN_LENGTH,
    ),
    Rule(
        "merchant_missing",
        "card_acceptor_id",
        "no merchant field is filled",
        _acceptor.is_null() & _merchant.is_null() & pl.col("merchant_id").is_null(),
    ),
)
"""The rules in order of precedence. They read the text columns `COLUMNS` and `mistyped`, and what
is derived from them: `at`, `assumed`, and the limits `decimals`, `latest` and `caller`."""

_CATALOGUE = pl.DataFrame(
    [
        (number, rule.column, rule.code, CODES[rule.code].level, rule.message)
        for number, rule in enumerate(RULES)
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


def _first_broken() -> list[pl.Expr]:
    """Return one expression per cause: the number of the first rule it breaks, or null."""
    numbered = sorted(enumerate(RULES), key=lambda pair: pair[1].cause)
    return [
        pl.coalesce(
            pl.when(rule.broken).then(pl.lit(number, pl.UInt16)) for number, rule in rules
        ).alias(f"broken:{cause}")
        for cause, rules in groupby(numbered, key=lambda pair: pair[1].cause)
    ]


_FIRST_BROKEN = _first_broken()
_CLEAN_REF = (
    pl.col("transaction_ref").str.contains(f"^[ -~]{{1,{REF_LENGTH}}}$")
    & ~pl.col("transaction_ref").str.contains(E_MAIL)
    & ~_is_card_number("transaction_ref")
    & ~_mistyped("transaction_ref")
)


def apply_rules(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per finding, as `FINDING_SCHEMA` of `chunks.py`, in line order.

    The reference is shown only where it can be nothing but a reference.
    """
    return (
        rows.select(
            "line",
            pl.when(_CLEAN_REF).then("transaction_ref").alias("transaction_ref"),
            *_FIRST_BROKEN,
        )
        .unpivot(index=["line", "transaction_ref"], value_name="rule")
        .drop_nulls("rule")
        .join(_CATALOGUE, on="rule")
        .sort("line", "rule")
        .select("line", "transaction_ref", "column", "code", "level", "message")
    )
