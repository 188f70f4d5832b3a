"""Fingerprints: 64-bit hashes that stand for the long texts of a row while a file is taken in.

Tokens repeat in millions of rows. Hashed here once, in columns, they need not be carried, sorted or
compared as text again. The seed is drawn anew for every file, so nobody can prepare two texts with
the same hash; where a collision would mix up cardholders, the store checks that there is none
(`river/number.py`).
"""

from __future__ import annotations

import polars as pl

from cardoffers_cli.intake import rules
from cardoffers_cli.intake.chunks import VALID_SCHEMA
from cardoffers_cli.intake.predicates import predicate
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.findings import CODES

_MICROSECONDS = 1_000_000


def with_fingerprints(rows: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Add u64 columns to valid rows; every text is hashed once.

    `reference` is of the transaction_ref, `cardholder` and `instrument` of the tokens, `payer` of
    both (null where there is no cardholder), `identifier` of the merchant identifier with its type
    (null where there is none), `look` of all that look-alikes have in common
    (rules.md#look-alikes), which is odd where the time is a bare date, and `content` of all that
    tells a duplicate from a conflict (rules.md#duplicates), the fields that only some kinds have
    among it. What is of several fields has the bits of their hashes put together: each field is
    hashed by a seed of its own, so none cancels another.
    """

    def hashed(field: str | pl.Expr, number: int) -> pl.Expr:
        return (pl.col(field) if isinstance(field, str) else field).hash(seed ^ number)

    identifier = hashed("merchant_identifier_type", 3) ^ hashed("merchant_identifier", 4)
    second = pl.col("transacted_at").cast(pl.Int64) // _MICROSECONDS
    texts = rows.with_columns(
        reference=hashed("transaction_ref", 0),
        cardholder=hashed("cardholder_token", 1),
        instrument=hashed("instrument_token", 2),
        identifier=pl.when(pl.col("merchant_identifier").is_not_null()).then(identifier),
    )
    payer = pl.col("cardholder") ^ pl.col("instrument")
    merchant = pl.col("identifier").fill_null(0) ^ hashed("merchant_id", 5)
    look = payer ^ merchant ^ hashed("amount", 6) ^ hashed(second, 7)
    content = look ^ hashed("transacted_at", 8)
    further = (name for name in rows.columns if name not in VALID_SCHEMA)
    for number, name in enumerate(further, start=9):
        content ^= hashed(name, number)
    if rows["cardholder_token"].null_count():
        payer = pl.when(pl.col("cardholder_token").is_not_null()).then(payer)
    is_day = pl.col("is_day").fill_null(False).cast(pl.UInt64)
    return texts.with_columns(payer=payer, look=look // 2 * 2 + is_day, content=content)


# A token that came by another way than a file, judged by the rules of transaction files.


def check_token(column: str, token: str) -> None:
    """Raise `UsageError` with the code of the first rule that a token breaks.

    `column` is what the token would be in a file: one of `TOKENS`. The message names the column
    and the rule, never the value.
    """
    row = {column: _text(token) or None}
    for rule in rules.RULES:
        code = CODES[rule.code]
        if rule.column == column and code.level == "error" and predicate(rule.broken)(row):
            raise UsageError(f"The {rule.message}.", code=code.code, hint=code.advice)


def _text(token: str) -> str:
    """Mark what is no Unicode text: a command line carries such bytes as lone surrogates."""
    return token.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
