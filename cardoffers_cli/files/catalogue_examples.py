"""A catalogue of one row of each kind, and a purchase that redeems by it.

They are the templates that somebody fills in, what `cardoffers init --example` begins with, and one
example of every column. All rows fit each other, so that what is written can be imported as it is.
"""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import Refused
from cardoffers_cli.files.catalogue_kinds import KINDS
from cardoffers_cli.files.exports import replacing
from cardoffers_cli.files.lasting import make_folder

if TYPE_CHECKING:
    from pathlib import Path

_BANK, _OFFER = "example-bank", "example-offer"
_MERCHANT = "6f1d2c11-9c4e-4d0b-8f43-5a86c3f0b2e7"
_CARDHOLDER = "9b5e0c8d41f7a2366cd0e4158fb93a7d2c16e05b84f9d7a3316e8c205b4da97f"
_CARD = "tok_4f6c1e9a72d8b3505f1ac7e2"
_IDENTIFIER = "526101883310029"
_STARTS, _ENDS = "2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z"

EXAMPLES: dict[str, dict[str, str]] = {
    "institutions": {
        "slug": _BANK,
        "name": "Example Bank",
        "plan": "growth",
        "currency": "GBP",
        "languages": "en|es",
        "max_active_offers": "50",
        "widget_limit": "20",
        "settlement_hold_days": "0",
    },
    "merchants": {"merchant_id": _MERCHANT, "name": "Example Bakery", "category": "food"},
    "merchant_identifiers": {
        "merchant_id": _MERCHANT,
        "merchant_identifier_type": "card_acceptor",
        "merchant_identifier": _IDENTIFIER,
    },
    "offers": {
        "offer_id": _OFFER,
        "merchant_id": _MERCHANT,
        "title_en": "1.50 back on 10.00 at Example Bakery",
        "min_spend": "10.00",
        "cashback_amount": "1.50",
        "currency": "GBP",
        "commission_rate": "0.10",
        "budget_amount": "1000.00",
        "starts_at": _STARTS,
        "expires_at": _ENDS,
        "paused": "false",
    },
    "program_offers": {"institution": _BANK, "offer_id": _OFFER, "position": "1"},
    "links": {
        "institution": _BANK,
        "cardholder_token": _CARDHOLDER,
        "card_token": _CARD,
        "offer_id": _OFFER,
        "added_at": "2026-01-02T09:00:00Z",
    },
    "engagement": {
        "institution": _BANK,
        "cardholder_token": _CARDHOLDER,
        "event": "offer_impression",
        "offer_id": _OFFER,
        "occurred_at": "2026-01-02T08:59:00Z",
    },
}
"""One row of each kind of catalogue file; columns that are left out are empty."""

PURCHASE = {
    "cardholder_token": _CARDHOLDER,
    "card_token": _CARD,
    "card_acceptor_id": _IDENTIFIER,
    "amount": "12.40",
    "transaction_ref": "example-0001",
    "transacted_at": "2026-01-03T12:30:00Z",
}
"""A purchase that redeems the offer."""

TRANSACTIONS = "transactions"


def templates() -> dict[str, str]:
    """Return the text of every template by the name of its file."""
    files = {f"{name}.csv": _csv(list(kind.names), EXAMPLES[name]) for name, kind in KINDS.items()}
    return {**files, f"{TRANSACTIONS}.csv": _csv(list(PURCHASE), PURCHASE)}


def write_templates(folder: Path, *, dry_run: bool = False) -> list[Path]:
    """Write the templates into a folder; return their paths. Raises `Refused` where one is."""
    paths = {folder / name: text for name, text in templates().items()}
    for path in paths:
        if path.exists():
            raise Refused(
                f"There is a file already at {path}.",
                code="file_exists",
                hint="Name another folder: a template is never written over something else.",
            )
    if not dry_run:
        make_folder(folder)
        for path, text in paths.items():
            with replacing(path) as out:
                out.write(text.encode())
    return list(paths)


def _csv(names: list[str], row: dict[str, str]) -> str:
    out = StringIO()
    writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerow(row)
    return out.getvalue()
