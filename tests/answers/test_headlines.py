from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.answers.headlines import answer
from cardoffers_cli.kernel.words.texts import languages, texts_in
from cardoffers_cli.river.outcomes import CHECK_OF
from languages import with_spanish

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = texts_in("en")["answers"]
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


@pytest.mark.parametrize("code", TEXTS)
def test_every_reason_is_told(code: str) -> None:
    told = answer({**FOUND, "reason": code}, {"en": "Bread!"}, "en")
    assert told.endswith(".")
    assert not re.search(r"[{}]|None|\s\s|\s[.,;:]", told)


def test_every_reason_has_a_text() -> None:
    reasons = {*CHECK_OF, "no_offer", "merchant_unresolved", "not_matched_yet"}
    rows = {"rejected", "not_received"}
    assert {*reasons - {"outranked"}, *rows} == set(TEXTS)


ENGLISH = (
    "Your purchase of GBP 1,234.50 at bakery on 9 March 2026 earned no cashback: the offer"
    " “{title}” asks for at least GBP 2,000.00 in one purchase, so GBP 765.50 were missing."
)
SPANISH = (
    "Su compra de GBP 1.234,50 en bakery del 9 de marzo de 2026 no generó reembolso: la oferta"
    " «¡Pan!» exige GBP 2.000,00; faltaron GBP 765,50."
)


@pytest.mark.parametrize(
    ("locale", "title"), [("en", "Bread!"), ("es", "¡Pan!"), ("pt-BR", "Bread!"), ("fr", "Bread!")]
)
def test_a_language_without_texts_is_told_in_english_with_its_own_title(
    locale: str, title: str
) -> None:
    told = answer(FOUND, {"es": "¡Pan!", "en": "Bread!"}, locale)
    assert ENGLISH.format(title=title) == told


def test_a_language_with_a_file_speaks_itself_and_english_for_what_it_lacks(
    tmp_path: Path,
) -> None:
    with with_spanish(tmp_path):
        assert ("en", "es") == languages()
        assert SPANISH == answer(FOUND, {"es": "¡Pan!", "en": "Bread!"}, "es")
        told = answer({**FOUND, "reason": "not_received"}, {}, "es")
        assert TEXTS["not_received"] == told


def test_a_long_or_hostile_name_does_no_harm() -> None:
    purchase = {**FOUND["purchase"], "merchant_name": "\x1b]0;" + "x" * 10_000}
    told = answer({**FOUND, "purchase": purchase}, {}, "en")
    assert "\x1b" not in told
    assert len(told) < 400
    braces = {**FOUND["purchase"], "merchant_name": "{offer.__class__}"}
    assert "{offer.__class__}" in answer({**FOUND, "purchase": braces}, {}, "en")
