"""Prove most rows clean with a few cheap checks, so that the rules run over the others only.

A screen decides nothing: a row it does not clear is judged by the rules. It must never clear a row
that breaks one; a property test holds that.
"""

from __future__ import annotations

import polars as pl

from cardoffers_cli.files.rules import (
    IDENTIFIER_TYPES,
    INSTRUMENT_TYPES,
    INVISIBLE,
    REF_LENGTH,
    STRONG_TOKEN_LENGTH,
    TEXTS,
    TOKEN_LENGTH,
    UUID,
)

_NOT_PLAIN = "[^!-?A-~]"
_MERCHANT = ("card_acceptor_id", "merchant_identifier", "merchant_id")


def cleared(present: set[str], *, visible: bool, decimals: int) -> pl.Expr:
    """Return the expression that is true for rows that break no rule.

    `present` are the columns the file has; `visible` promises that its text is visible ASCII
    without `@`, which makes looking at characters needless.
    """
    merchants = [name for name in _MERCHANT if name in present]
    checks = [
        *_token_checks(present, visible=visible),
        _amount_check(decimals),
        pl.col("at") <= pl.col("latest"),
        pl.any_horizontal(pl.lit(False), *(pl.col(n).is_not_null() for n in merchants)),
        *_option_checks(present),
        *(() if visible else _text_checks(present)),
    ]
    return pl.all_horizontal(checks).fill_null(False)


def _token_checks(present: set[str], *, visible: bool) -> list[pl.Expr]:
    holder, ref = pl.col("cardholder_token"), pl.col("transaction_ref")
    instruments = [n for n in ("card_token", "instrument_token") if n in present]
    checks = [
        holder.str.len_bytes().is_between(STRONG_TOKEN_LENGTH, TOKEN_LENGTH),
        ref.str.len_bytes() <= REF_LENGTH,
        *(pl.col(n).str.len_bytes() <= TOKEN_LENGTH for n in instruments),
        *(~pl.col(n).str.contains("^[0-9-]*$") for n in ("cardholder_token", *instruments)),
    ]
    if len(instruments) > 1:
        checks.append(pl.col("card_token") == pl.col("instrument_token"))
    if not visible:
        names = ("cardholder_token", "transaction_ref", *instruments)
        checks += [~pl.col(n).str.contains(_NOT_PLAIN) for n in names]
    return checks


def _amount_check(decimals: int) -> pl.Expr:
    fraction = rf"(?:\.[0-9]{{1,{decimals}}})?" if decimals else ""
    return pl.col("amount").str.contains(f"^[0-9]{{1,12}}{fraction}$") & (pl.col("value") > 0)


def _option_checks(present: set[str]) -> list[pl.Expr]:
    """Check the optional fields; where they are empty, or cannot be checked cheaply, say so."""
    checks = {
        "instrument_type": pl.col("instrument_type").is_in(INSTRUMENT_TYPES),
        "merchant_identifier_type": pl.col("merchant_identifier_type").is_in(IDENTIFIER_TYPES),
        "merchant_id": pl.col("merchant_id").str.contains(UUID),
        "institution_id": pl.lit(False),
        "mistyped": pl.lit(False),
    }
    both = {"card_acceptor_id", "merchant_identifier"} <= present
    return [
        *(pl.col(n).is_null() | check for n, check in checks.items() if n in present),
        *(
            [pl.any_horizontal(pl.col("card_acceptor_id", "merchant_identifier").is_null())]
            if both
            else []
        ),
    ]


def _text_checks(present: set[str]) -> list[pl.Expr]:
    names = [n for n in TEXTS if n in present]
    return [~pl.col(n).str.contains(INVISIBLE).fill_null(False) for n in names]
