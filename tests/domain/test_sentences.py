from __future__ import annotations

import pytest

from cardoffers_cli.domain.sentences import sentence


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("cardholder_token is missing.", "cardholder_token", "cardholder_token is missing."),
        ("limit is no number.", "limit", "limit is no number."),
        ("there is no such offer.", "limit", "There is no such offer."),
        ("send it again", None, "Send it again"),
    ],
)
def test_a_sentence_begins_with_a_capital_or_a_name(text: str, name: str | None, told: str) -> None:
    assert told == sentence(text, name)
