"""Amounts are read as a profile says in plain Python and by columns, to the same text."""

from __future__ import annotations

import random

import polars as pl
import pytest

from cardoffers_cli.intake.layout_model import AmountSource
from cardoffers_cli.intake.profiles.translation import plain_amounts
from cardoffers_cli.intake.profiles.written import UNREADABLE, PlainAmounts
from sizes import tries

SOURCES = [
    {},
    {"decimal": ",", "thousands": "."},
    {"thousands": ",", "currency": "$", "parentheses": True},
    {"decimal": ",", "thousands": " ", "currency": "€", "negate": True},
    {"thousands": "'", "currency": "CHF"},
    {"minor_units": True},
    {"minor_units": True, "thousands": ".", "decimal": ",", "negate": True},
    {"currency": "R$", "decimal": ","},
    {"currency": "Fr.", "parentheses": True, "negate": True},
    {"currency": "\U0001f4b0"},
]
PARTS = [
    *"0123456789.,' ()+-$",
    *("\N{EURO SIGN}", "\N{RIGHT SINGLE QUOTATION MARK}", "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}"),
    *(
        "\N{NARROW NO-BREAK SPACE}",
        "R$",
        "CHF",
        "Fr.",
        "\U0001f4b0",
        "\u0663",
    ),
]


def texts(chance: random.Random) -> list[str]:
    """Return amounts as they are often written, and what chance makes of them."""
    found = []
    for _ in range(tries(400, 4_000)):
        text = f"{chance.choice(['', '-', '+', '(', '$', '€ ', 'R$ '])}{chance.randrange(10**7)}"
        text += chance.choice(["", ".5", ",50", ")", "-", " €", ".50-", " CHF", ".000,25", "'000"])
        for _ in range(chance.choice([0, 0, 1, 3])):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(PARTS) + text[at + chance.randrange(2) :]
        found.append(text)
    return found


@pytest.mark.parametrize("source", SOURCES, ids=str)
@pytest.mark.parametrize("decimals", [0, 2, 3])
def test_both_readings_of_amounts_agree(source: dict[str, object], decimals: int) -> None:
    chance = random.Random(decimals)  # noqa: S311
    how = AmountSource(column=1, **source)  # type: ignore[arg-type]
    given = texts(chance)
    expected = plain_amounts(pl.Series("amount", given), how, decimals).to_list()
    amounts = PlainAmounts(how, decimals)
    assert expected == [amounts[text] or UNREADABLE for text in given]
    assert 1 < len({*expected}) < len(given)
