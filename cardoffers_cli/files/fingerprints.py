"""Fingerprints: 64-bit hashes that stand for the long texts of a row while a file is taken in.

Tokens repeat in millions of rows. Hashed here once, in columns, they need not be carried, sorted or
compared as text again. The seed is drawn anew for every file, so nobody can prepare two texts with
the same hash; where a collision would mix up cardholders, the store checks that there is none
(`pipeline/number.py`).
"""

from __future__ import annotations

import polars as pl

_MICROSECONDS = 1_000_000
_IDENTIFIER = ("merchant_identifier_type", "merchant_identifier")
_PAYER = ("cardholder", "instrument")
_LOOK = ("payer", "identifier", "merchant_id", "amount")
_CONTENT = ("look", "transacted_at")


def with_fingerprints(rows: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Add u64 columns to valid transaction rows; every text is hashed once, then the hashes.

    `reference` is of the transaction_ref, `cardholder` and `instrument` of the tokens, `payer` of
    both, `identifier` of the merchant identifier with its type (null where there is none), `look`
    of all that look-alikes have in common (rules.md#look-alikes), and `content` of all that tells a
    duplicate from a conflict (rules.md#duplicates).
    """
    second = pl.col("transacted_at").cast(pl.Int64) // _MICROSECONDS
    tokens = rows.with_columns(
        reference=pl.col("transaction_ref").hash(seed),
        cardholder=pl.col("cardholder_token").hash(seed),
        instrument=pl.col("instrument_token").hash(seed),
        identifier=pl.when(pl.col("merchant_identifier").is_not_null()).then(
            pl.struct(_IDENTIFIER).hash(seed)
        ),
    )
    payers = tokens.with_columns(payer=pl.struct(_PAYER).hash(seed))
    looks = payers.with_columns(look=pl.struct(*_LOOK, second.alias("second")).hash(seed))
    return looks.with_columns(content=pl.struct(_CONTENT).hash(seed))
