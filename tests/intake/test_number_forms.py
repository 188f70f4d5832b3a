from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from cardoffers_cli.intake.chunks import note_numbers, refused
from cardoffers_cli.intake.plain.findings import note_numbers as note_plainly
from cardoffers_cli.intake.plain.slices import RowSlice
from cardoffers_cli.kernel.words.card_forms import NumberEvidence
from cardoffers_cli.kernel.words.cards import has_check_digit
from cardoffers_cli.kernel.words.row_kinds import PURCHASES

if TYPE_CHECKING:
    from collections.abc import Iterable

CARD = "4111111111111111"
OTHERS = ("5555555555554444", "6011000990139424", "2223003122003222")


def in_order(first: int, count: int) -> list[str]:
    return [str(first + number) for number in range(count)]


def cards(start: str, count: int) -> list[str]:
    """Return card numbers, all of them right."""
    heads = [f"{start}{number:0{15 - len(start)}}" for number in range(count)]
    return [h + next(d for d in "0123456789" if has_check_digit(h + d)) for h in heads]


def scattered(count: int) -> list[str]:
    """Return 16-digit numbers with nothing in common."""
    return [str(10**15 + number * 7_919_999_999_993 % (9 * 10**15)) for number in range(count)]


def refusals(values: Iterable[str | None], name: str, stretch: int = 1000) -> tuple[int, int]:
    """Return how many doubts are refused, by columns and in plain Python."""
    texts = pl.Series(name, [*values], dtype=pl.String)
    frame = pl.DataFrame([pl.Series("line", range(len(texts)), dtype=pl.UInt64), texts])
    evidence, plain = NumberEvidence(), NumberEvidence()
    found, doubts = [], []
    for part in frame.iter_slices(stretch):
        found.append(note_numbers(evidence, PURCHASES, part, part))
        columns = {name: [text or "" for text in part[name]]}
        rows = RowSlice(numbers=part["line"].to_list(), columns=columns, lines=part.height)
        doubts += note_plainly(plain, PURCHASES, rows)
    assert evidence.findings() == plain.findings()
    refused_plainly = [each for each in doubts if plain.is_refused(each.form)]
    return refused(pl.concat(found), evidence).height, len(refused_plainly)


FILES = {
    "letters": ([f"TX-{n}" for n in range(50)], 0),
    "one card number among others": ([*(f"TX-{n}" for n in range(50)), CARD], 1),
    "nothing but one": ([CARD], 1),
    "99 of them, which tell nothing": (in_order(4 * 10**15, 99), 10),
    "100, which do": (in_order(4 * 10**15, 100), 0),
    "cards alone": (cards("411111", 200), 200),
    "cards of many issuers": ([CARD, *OTHERS], 4),
    "cards with dashes": (["4111-1111-1111-1111"], 1),
    "in order, and one card": ([*in_order(4 * 10**15, 1000), OTHERS[0]], 0),
    "in order, and many cards": ([*in_order(52 * 10**14, 1000), *cards("411111", 40)], 140),
    "in order, over several stretches": (in_order(4 * 10**15, 5000), 0),
    "scattered": (scattered(2000), 0),
    "scattered, and as many cards": ([*scattered(500), *cards("4111", 500)], 500 + 26),
    "of two lengths": ([*in_order(4 * 10**14, 500), *in_order(4 * 10**15, 500)], 0),
    "of two lengths, and cards of a third": (
        [*in_order(4 * 10**14, 500), *in_order(4 * 10**15, 500), "4222222222222"],
        1,
    ),
    "lengths that are few each, and many together": (
        [*in_order(4 * 10**14, 60), *in_order(4 * 10**15, 60)],
        0,
    ),
    "one number a thousand times": ([CARD] * 1000, 1000),
    "parted by underscores, as numbers are": (["4111_1111_1111_1111"], 1),
    "as on a stripe, among numbers": (
        [*in_order(4 * 10**15, 500), f";{CARD}=2912?", f"%B{CARD}^DOE/J^2912"],
        2,
    ),
    "behind letters, few": ([f"INV{CARD}"], 0),
    "behind letters, by chance": ([f"INV{n}" for n in in_order(4 * 10**15, 200)], 0),
    "behind letters, all right": ([f"INV{n}" for n in cards("411111", 100)], 100),
    "empty": ([None, "", "-"], 0),
}


@pytest.mark.parametrize("name", FILES)
def test_numbers_of_a_field_tell_whether_they_are_cards(name: str) -> None:
    values, expected = FILES[name]
    assert (expected, expected) == refusals(values, "transaction_ref")


IDENTIFIERS = {
    "a card": ([CARD], 1),
    "15 digits, as acceptors have": (cards("49875000", 40)[0][:15], 0),
    "15 digits of American Express": (["378282246310005"], 1),
    "18 digits, as accounts have": (["646180157000000004"], 0),
    "in order, each many times": (in_order(4 * 10**15, 100) * 20, 0),
}


@pytest.mark.parametrize("name", IDENTIFIERS)
@pytest.mark.parametrize("column", ["card_acceptor_id", "merchant_identifier"])
def test_identifiers_have_forms_of_their_own(column: str, name: str) -> None:
    values, expected = IDENTIFIERS[name]
    given = [values] if isinstance(values, str) else values
    assert (expected, expected) == refusals(given, column)


@pytest.mark.parametrize("column", ["cardholder_token", "card_token", "instrument_token"])
def test_no_evidence_excuses_a_token(column: str) -> None:
    """Of those set off from letters a rule speaks, so there is nothing to be doubted here."""
    assert (0, 0) == refusals(in_order(4 * 10**15, 200), column)
    assert (100, 100) == refusals([f"ct{n}" for n in cards("411111", 100)], column)


def test_a_warning_says_how_many_look_like_cards() -> None:
    evidence = NumberEvidence()
    refs = in_order(4 * 10**15, 1000)
    frame = pl.DataFrame(
        {"line": range(1000), "transaction_ref": refs},
        schema={"line": pl.UInt64, "transaction_ref": pl.String},
    )
    note_numbers(evidence, PURCHASES, frame, frame)
    (finding,) = evidence.findings()
    assert ("reference_like_card", "transaction_ref") == (finding.code, finding.column)
    assert (
        "100 transaction_ref have the form and the check digit of card numbers, by chance:"
        " 1,000 have the form"
    ) == finding.message
