from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from cardoffers_cli.domain.answers import LOCALES, TEXTS, answer
from cardoffers_cli.domain.outcomes import CHECK_OF

AT = datetime(2026, 3, 9, 23, 59)  # noqa: DTZ001 - moments are naive UTC
FOUND: dict[str, Any] = {
    "reason": "below_min_spend",
    "purchase": {
        "amount": Decimal("1234.50"),
        "currency": "GBP",
        "transacted_at": AT,
        "merchant_name": "bakery",
    },
    "redemption": None,
    "nearest": {
        "currency": "GBP",
        "amount": Decimal("1234.50"),
        "min_spend": Decimal(2000),
        "expires_at": AT,
        "starts_at": AT,
        "added_at": AT,
        "max_redemptions_per_cardholder": 2,
    },
}


EARNED = {
    "pending": ("pending", "delivered"),
    "settled": ("settled", "delivered"),
    "reversed": ("reversed", "stopped"),
    "to_settle": ("pending", "no_webhook"),
    "only_settled": ("settled", "no_webhook"),
    "to_pass_on": ("settled", "to_retry"),
    "not_passed_on": ("settled", "failed"),
}
"""What is told of a redemption, by its state and how far its webhook is."""


@pytest.mark.parametrize("code", TEXTS)
@pytest.mark.parametrize("locale", LOCALES)
def test_every_reason_is_told_in_every_language(code: str, locale: str) -> None:
    status, delivery = EARNED.get(code, ("", ""))
    redemption = {
        "status": status,
        "delivery": delivery,
        "currency": "GBP",
        "institution_payout_amount": Decimal("1.50"),
        **dict.fromkeys(("settles_at", "settled_at", "reversed_at", "delivered_at"), AT),
    }
    found = {**FOUND, "reason": code, "redemption": redemption if code in EARNED else None}
    told = answer(found, {"en": "Bread!"}, locale)
    assert told.endswith(".")
    assert not re.search(r"[{}]|None|\s\s|\s[.,;:]", told)


def test_every_reason_has_a_text() -> None:
    reasons = {*CHECK_OF, "no_offer", "merchant_unresolved", "not_matched_yet"}
    rows = {"rejected", "not_received"}
    assert {*reasons - {"outranked"}, *rows, *EARNED} == set(TEXTS)
    assert {LOCALES} == {tuple(texts) for texts in TEXTS.values()}


@pytest.mark.parametrize(
    ("locale", "amount", "day", "title"),
    [
        ("en", "GBP 1,234.50", "9 March 2026", "“Bread!”"),
        ("es", "GBP 1.234,50", "9 de marzo de 2026", "«¡Pan!»"),
        ("pt-BR", "GBP 1.234,50", "9 de março de 2026", "“Bread!”"),
    ],
)
def test_amounts_and_days_are_written_as_the_language_does(
    locale: str, amount: str, day: str, title: str
) -> None:
    told = answer(FOUND, {"es": "¡Pan!", "en": "Bread!"}, locale)
    assert [] == [part for part in (amount, day, title) if part not in told]


def test_a_long_or_hostile_name_does_no_harm() -> None:
    purchase = {**FOUND["purchase"], "merchant_name": "\x1b]0;" + "x" * 10_000}
    told = answer({**FOUND, "purchase": purchase}, {}, "en")
    assert "\x1b" not in told
    assert len(told) < 400
    braces = {**FOUND["purchase"], "merchant_name": "{offer.__class__}"}
    assert "{offer.__class__}" in answer({**FOUND, "purchase": braces}, {}, "en")
