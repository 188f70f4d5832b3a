"""Fingerprints: 64-bit hashes that stand for the long texts of a row while a file is taken in.

Tokens repeat in millions of rows. Hashed here once, in columns, they need not be carried, sorted or
compared as text again. The seed is drawn anew for every file, so nobody can prepare two texts with
the same hash; where a collision would mix up cardholders, the store checks that there is none
(`pipeline/number.py`).
"""

from __future__ import annotations

import polars as pl

_CONTENT = (
    "cardholder_token",
    "instrument_token",
    "merchant_id",
    "merchant_identifier_type",
    "merchant_identifier",
    "amount",
    "transacted_at",
)
_PAYER = ("cardholder_token", "instrument_token")
_IDENTIFIER = ("merchant_identifier_type", "merchant_identifier")


def with_fingerprints(rows: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Add to valid transaction rows the fingerprints a check needs, u64.

    `reference` is of the transaction_ref, `content` of what tells a duplicate from a conflict
    (decisions, Duplicates), `cardholder` of the cardholder token.
    """
    return rows.with_columns(
        reference=pl.col("transaction_ref").hash(seed),
        content=pl.struct(_CONTENT).hash(seed),
        cardholder=pl.col("cardholder_token").hash(seed),
    )


def with_all_fingerprints(rows: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Add those an import needs too: `payer` of both tokens, `identifier` of the merchant's.

    `identifier` is of the merchant identifier with its type, null where there is none.
    """
    return with_fingerprints(rows, seed).with_columns(
        payer=pl.struct(_PAYER).hash(seed),
        identifier=pl.when(pl.col("merchant_identifier").is_not_null()).then(
            pl.struct(_IDENTIFIER).hash(seed)
        ),
    )
