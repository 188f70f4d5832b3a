"""The tables that an engine outside of the store is given or keeps: their columns and types.

The types are Spark's words. Ids are text, which every engine compares alike; times are UTC and have
no zone; money is exact.
"""

from __future__ import annotations

HISTORY = {
    "purchases": (
        "purchase_no bigint, institution_id string, transaction_ref string, cardholder_no bigint, "
        "instrument_no bigint, identifier_no bigint, merchant_id string, amount decimal(18,4), "
        "currency string, transacted_at timestamp_ntz, received_at timestamp_ntz, "
        "import_no bigint, line bigint"
    ),
    "purchase_details": (
        "purchase_no bigint, institution_id string, instrument_type string, mcc string, "
        "merchant_descriptor string, network string"
    ),
    "decisions": "purchase_no bigint, run_no bigint, outcome string, merchant_no int",
    "outcomes": "purchase_no bigint, offer_no int, run_no bigint, outcome string",
}
"""What grows with purchases, and may live as Parquet outside of the store."""

CATALOGUE = {
    "merchants": "merchant_no int, merchant_id string",
    "identifiers": "identifier_no bigint, merchant_id string",
    "terms_in_force": (
        "offer_no int, offer_id string, merchant_no int, version_no bigint, "
        "known_from timestamp_ntz, known_until timestamp_ntz, min_spend decimal(18,4), "
        "cashback_amount decimal(18,4), merchant_funded_amount decimal(18,4), "
        "max_redemptions_per_cardholder int, budget_amount decimal(18,4), "
        "starts_at timestamp_ntz, expires_at timestamp_ntz"
    ),
    "link_starts": "offer_no int, cardholder_no bigint, counts_from timestamp_ntz",
}
"""What plans read of the catalogue and the links: tables and views of the store, by name."""

HANDED = {
    "staged_refs": (
        "line bigint, institution_id string, transaction_ref string, cardholder_no bigint, "
        "instrument_no bigint, identifier_no bigint, merchant_id string, amount decimal(18,4), "
        "transacted_at timestamp_ntz"
    ),
    "reserved": "offer_no int, merchant_funded_amount decimal(38,4)",
    "uses": "offer_no int, cardholder_no bigint, used bigint",
    "this_run": "run_no bigint",
    "import_looked_at": "import_no bigint",
}
"""What plans are handed: what was staged, and what earlier runs hold of budgets and of uses."""

TABLES = HISTORY | CATALOGUE | HANDED


def columns(schema: str) -> list[str]:
    """Return the names of the columns of a schema, in their order."""
    return [column.split()[0] for column in schema.split(", ")]
