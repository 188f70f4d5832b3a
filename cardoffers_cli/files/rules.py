"""The rules of a transaction row, as one table that every door reads rows through.

Each rule is an expression over the text columns of a row that is true where the row breaks it. Of
several rules broken by one column the first in the table speaks, so a card number is not also
called a token with spaces. Levels and advice stand in `domain/findings.py`. To add a rule, add its
code there and a line here: `rulebook.py` derives all else. Messages name the column and the rule,
never the value. In words they stand in rules.md#columns, rules.md#amounts, rules.md#currency,
rules.md#merchant-fields and rules.md#control-characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.domain.money import MINOR_UNITS
from cardoffers_cli.files.fields import (
    COLUMNS,
    E_MAIL,
    FREE_TEXTS,
    IDENTIFIER_TYPES,
    IDENTIFIERS,
    INSTRUMENT_TYPES,
    INVISIBLE,
    NOBODY,
    NOT_PLAIN,
    NOT_VISIBLE_ASCII,
    NUMBER,
    OTHERS,
    PLACEHOLDER,
    PLACEHOLDER_LENGTH,
    REF_LENGTH,
    REQUIRED,
    SPREADSHEET,
    STRONG_TOKEN_LENGTH,
    TEXTS,
    TOKEN_LENGTH,
    TOKENS,
    UUID,
)
from cardoffers_cli.files.numbers import (
    CARD_LIKE,
    are_card_numbers,
    are_identifiers_card_numbers,
    are_references_card_numbers,
    hold_card_numbers,
)
from cardoffers_cli.files.timestamps import WITH_OFFSET, WITHOUT_OFFSET

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, eq=False)
class Suspicion:
    """A cheap condition that is true wherever a rule that carries it is broken, and else seldom.

    One that holds in no plain text (`delimited.Page.is_plain`) need not be looked at there.
    """

    holds: pl.Expr
    unless_plain: bool = False


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule: `broken` is true where the column breaks it.

    Of the rules of one column the first that is broken is the cause, and the others follow from it;
    a rule that stands `apart` is a cause of its own. Where none of its `suspicions` holds the rule
    is not broken; one without suspicions is always looked at itself.
    """

    code: str
    column: str | None
    message: str
    broken: pl.Expr
    suspicions: tuple[Suspicion, ...] = ()
    apart: bool = False

    @property
    def cause(self) -> str:
        """What the rule is about: its column, or itself."""
        return f"{self.column} {self.code}" if self.apart else str(self.column)


def _mistyped(column: str) -> pl.Expr:
    """Say whether a JSON value had the wrong type (`mistyped` names such columns: `|a|b|`)."""
    return pl.col("mistyped").str.contains(f"|{column}|", literal=True).fill_null(False)


def _has_length(column: str, least: int, most: int) -> pl.Expr:
    return pl.col(column).str.len_bytes().is_between(least, most)


ALONE = {
    name: Suspicion(pl.col("is_alone") & pl.col(name).str.contains(CARD_LIKE))
    for name in ("transaction_ref", *IDENTIFIERS)
}
"""In a file the other rows say whether numbers are references (`number_forms.py`)."""

MISTYPED = Suspicion(pl.col("mistyped").is_not_null())
PLAIN = {
    name: Suspicion(pl.col(name).str.contains(NOT_PLAIN), unless_plain=True)
    for name in (*TOKENS, *IDENTIFIERS, "transaction_ref")
}
"""Every rule about the characters of a token, a reference or an identifier has this one."""

HOLDER_LENGTH = Suspicion(
    ~_has_length("cardholder_token", STRONG_TOKEN_LENGTH, TOKEN_LENGTH).fill_null(False)
)
REFERENCE_LENGTH = Suspicion(
    ~_has_length("transaction_ref", PLACEHOLDER_LENGTH + 1, REF_LENGTH).fill_null(False)
)
LENGTH = {
    "cardholder_token": HOLDER_LENGTH,
    "transaction_ref": REFERENCE_LENGTH,
    **{
        name: Suspicion(~_has_length(name, PLACEHOLDER_LENGTH + 1, TOKEN_LENGTH))
        for name in ("card_token", "instrument_token", *IDENTIFIERS)
    },
}
UNUSUAL_AMOUNT = Suspicion(~(pl.col("is_usual_amount") & (pl.col("value") > 0)).fill_null(False))
UNUSUAL_TIME = Suspicion(~(pl.col("at") <= pl.col("latest")).fill_null(False))
SEVERAL_IDENTIFIERS = Suspicion(
    pl.col("card_acceptor_id").is_not_null() & pl.col("merchant_identifier").is_not_null()
)


def _is(told: Callable[[pl.Series], pl.Series], column: str) -> pl.Expr:
    return pl.col(column).map_batches(told, return_dtype=pl.Boolean)


def _unknown(column: str, known: tuple[str, ...]) -> pl.Expr:
    return _mistyped(column) | ~pl.col(column).is_in(known)


_amount = pl.col("amount")
_at = pl.col("transacted_at")
_merchant = pl.col("merchant_identifier")
_acceptor = pl.col("card_acceptor_id")
_names_acceptor = pl.col("merchant_identifier_type").fill_null("card_acceptor") == "card_acceptor"
_currency = pl.col("currency")
_is_local = _at.str.contains(WITHOUT_OFFSET)
_has_date = _at.str.head(10).str.to_date("%Y-%m-%d", strict=False).is_not_null()

RULES: tuple[Rule, ...] = (
    *(
        Rule("card_number", name, f"{name} is a real card number", _is(are_card_numbers, name))
        for name in TOKENS
    ),
    *(
        Rule(
            "card_number",
            name,
            f"{name} is a real card number",
            pl.col("is_alone") & _is(are_card_numbers_of, name),
            (ALONE[name],),
        )
        for name, are_card_numbers_of in (
            ("transaction_ref", are_references_card_numbers),
            *((name, are_identifiers_card_numbers) for name in IDENTIFIERS),
        )
    ),
    *(
        Rule("card_number", name, f"{name} holds a real card number", _is(hold_card_numbers, name))
        for name in FREE_TEXTS
    ),
    *(
        Rule(
            "personal_data",
            name,
            f"{name} is an e-mail address",
            pl.col(name).str.contains(E_MAIL),
            (PLAIN[name],),
        )
        for name in TOKENS
    ),
    *(
        Rule(
            "control_character",
            name,
            f"{name} holds an invisible control character",
            pl.col(name).str.contains(INVISIBLE),
            (
                PLAIN.get(name)
                or Suspicion(pl.col(name).str.contains(INVISIBLE), unless_plain=True),
            ),
        )
        for name in COLUMNS
    ),
    Rule(
        "control_character",
        None,
        "a field that is not known holds an invisible control character",
        pl.col(OTHERS).str.contains(INVISIBLE),
        (Suspicion(pl.col(OTHERS).str.contains(INVISIBLE), unless_plain=True),),
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
            "token_placeholder",
            name,
            f"{name} is what a program writes where it has no value",
            pl.col(name).str.contains(PLACEHOLDER),
            (LENGTH[name], PLAIN[name]),
        )
        for name in (*TOKENS, "transaction_ref", *IDENTIFIERS)
    ),
    Rule(
        "token_placeholder",
        "cardholder_token",
        "cardholder_token is what a program writes where it knows nobody",
        pl.col("cardholder_token").str.contains(NOBODY),
        (HOLDER_LENGTH,),
    ),
    *(
        Rule(
            "spreadsheet_damage",
            name,
            f"{name} is not as it was: a spreadsheet has rounded it, quoted it or put blanks to it",
            pl.col(name).str.contains(SPREADSHEET),
            (PLAIN[name],),
        )
        for name in (*TOKENS, *IDENTIFIERS, "transaction_ref")
    ),
    *(
        Rule(
            "token_invalid",
            name,
            f"{name} is not visible ASCII text of at most {length} characters",
            _mistyped(name)
            | pl.col(name).str.contains(NOT_VISIBLE_ASCII)
            | (pl.col(name).str.len_chars() > length),
            (MISTYPED, PLAIN[name], LENGTH[name]),
        )
        for name, length in (
            *((token, TOKEN_LENGTH) for token in TOKENS),
            ("transaction_ref", REF_LENGTH),
        )
    ),
    *(
        Rule("text_invalid", name, f"{name} is not text", _mistyped(name), (MISTYPED,))
        for name in TEXTS
    ),
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
        (SEVERAL_IDENTIFIERS,),
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
        "amount is text: write the number without quotes",
        _mistyped("amount") & _amount.str.contains(NUMBER),
        (MISTYPED,),
    ),
    Rule(
        "amount_invalid",
        "amount",
        "amount is not digits with an optional decimal part",
        _mistyped("amount") | ~_amount.str.contains(NUMBER),
        (MISTYPED, UNUSUAL_AMOUNT),
    ),
    Rule(
        "amount_not_positive",
        "amount",
        "amount is zero or negative",
        _amount.str.starts_with("-") | ~_amount.str.contains("[1-9]"),
        (UNUSUAL_AMOUNT,),
    ),
    Rule(
        "amount_too_large",
        "amount",
        "amount is 10^12 or more",
        _amount.str.contains("^0*[1-9][0-9]{12}"),
        (UNUSUAL_AMOUNT,),
    ),
    Rule(
        "amount_precision",
        "amount",
        "amount has more decimals than its currency",
        _amount.str.contains(NUMBER)
        & (_amount.str.extract(r"\.([0-9]*[1-9])0*$").str.len_bytes() > pl.col("decimals")),
        (UNUSUAL_AMOUNT,),
        apart=True,
    ),
    Rule(
        "currency_mismatch",
        "currency",
        "currency is none of ISO 4217, or not the program's",
        _unknown("currency", tuple(MINOR_UNITS)) | (_currency != pl.col("program_currency")),
    ),
    Rule(
        "timestamp_no_offset",
        "transacted_at",
        "transacted_at names no time zone: neither Z nor an offset",
        ~_mistyped("transacted_at") & _is_local & _has_date & ~pl.col("assumed"),
        (UNUSUAL_TIME,),
    ),
    Rule(
        "timestamp_invalid",
        "transacted_at",
        "transacted_at is not YYYY-MM-DDTHH:MM:SS with Z or an offset, or not a real time",
        _mistyped("transacted_at")
        | ~(_at.str.contains(WITH_OFFSET) | _is_local)
        | (_at.is_not_null() & pl.col("at").is_null()),
        (MISTYPED, UNUSUAL_TIME),
    ),
    Rule(
        "timestamp_in_future",
        "transacted_at",
        "transacted_at is more than 24 hours ahead",
        pl.col("at") > pl.col("latest"),
        (UNUSUAL_TIME,),
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
        (MISTYPED, Suspicion(pl.col("institution_id").is_not_null())),
    ),
    Rule(
        "token_weak",
        "cardholder_token",
        f"cardholder_token is shorter than {STRONG_TOKEN_LENGTH} characters",
        pl.col("cardholder_token").str.len_chars() < STRONG_TOKEN_LENGTH,
        (HOLDER_LENGTH,),
    ),
    Rule(
        "merchant_missing",
        "card_acceptor_id",
        "no merchant field is filled",
        _acceptor.is_null() & _merchant.is_null() & pl.col("merchant_id").is_null(),
    ),
)
"""The rules in order of precedence. They read the text columns `COLUMNS`, `OTHERS` and `mistyped`,
what is derived from them (`at`, `value`, `assumed`, `is_usual_amount`), and the limits `decimals`,
`program_currency`, `latest`, `caller` and `is_alone`. A column that a file does not have is empty
in every row."""
