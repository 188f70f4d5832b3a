from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from cardoffers_cli.domain.card_forms import FieldForm
from cardoffers_cli.domain.cards import has_check_digit
from cardoffers_cli.files.number_forms import NumberForms

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


def frame_of(values: Iterable[str | None], name: str) -> pl.DataFrame:
    texts = pl.Series(name, [*values], dtype=pl.String)
    return pl.DataFrame([pl.Series("line", range(len(texts)), dtype=pl.UInt64), texts])


def told(
    values: Iterable[str | None], name: str = "transaction_ref", stretch: int = 1000
) -> tuple[int, list[FieldForm]]:
    """Return how many values are refused, and the forms of references."""
    forms = NumberForms()
    found = pl.concat(map(forms.note, frame_of(values, name).iter_slices(stretch)))
    references = forms.references()
    refused = [
        row
        for row in found.rows(named=True)
        if not any(
            form.length == row["length"] and row["head"].startswith(form.prefix)
            for form in references
        )
    ]
    return len(refused), references


REF = "transaction_ref"
FILES = {
    "letters": ([f"TX-{n}" for n in range(50)], 0),
    "one card number among others": ([*(f"TX-{n}" for n in range(50)), CARD], 1),
    "nothing but one": ([CARD], 1),
    "few numbers, one of them right": (in_order(4000000000000000, 9), 1),
    "cards alone": (cards("411111", 200), 200),
    "cards of many issuers": ([CARD, *OTHERS], 4),
    "cards with dashes": (["4111-1111-1111-1111"], 1),
    "in order": (in_order(4000000000000000, 1000), 0),
    "in order, and one card": ([*in_order(4000000000000000, 1000), OTHERS[0]], 1),
    "in order, and cards": ([*in_order(5200000000000000, 1000), *cards("411111", 5)], 5),
    "in order, over several stretches": (in_order(4000000000000000, 5000), 0),
    "scattered": (scattered(2000), 0),
    "scattered, and as many cards": ([*scattered(500), *cards("4111", 500)], 500 + 26),
    "few numbers among letters": ([*(f"T{n}" for n in range(90)), *cards("4111", 10)], 10),
    "of two lengths": ([*in_order(400000000000000, 500), *in_order(4000000000000000, 500)], 0),
    "of two lengths, and a card": (
        [*in_order(400000000000000, 500), *in_order(5000000000000000, 500), CARD],
        1,
    ),
    "a tenth of the file": ([*(f"T{n}" for n in range(850)), *in_order(4 * 10**15, 150)], 0),
    "empty": ([None, "", "-"], 0),
}


@pytest.mark.parametrize("name", FILES)
def test_references_of_one_form_are_no_card_numbers(name: str) -> None:
    values, refused = FILES[name]
    assert refused == told(values)[0]


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (in_order(4000000000000000, 1000), FieldForm(REF, 16, "4000")),
        (
            [*in_order(4000000000000000, 500), *in_order(4100000000000000, 500)],
            FieldForm(REF, 16, "4"),
        ),
        (scattered(2000), FieldForm(REF, 16, "")),
    ],
)
def test_the_form_is_as_narrow_as_the_file(values: list[str], form: FieldForm) -> None:
    assert [form] == told(values)[1]


IDENTIFIERS = {
    "a card": ([CARD], 1),
    "15 digits, as acceptors have": (cards("49875000", 40)[0][:15], 0),
    "15 digits of American Express": (["378282246310005"], 1),
    "18 digits, as accounts have": (["646180157000000004"], 0),
    "one that comes a thousand times": ([CARD] * 1000, 1000),
    "in order, each many times": (in_order(4000000000000000, 100) * 20, 0),
}


@pytest.mark.parametrize("name", IDENTIFIERS)
@pytest.mark.parametrize("column", ["card_acceptor_id", "merchant_identifier"])
def test_identifiers_have_forms_of_their_own(column: str, name: str) -> None:
    values, refused = IDENTIFIERS[name]
    assert refused == told([values] if isinstance(values, str) else values, column)[0]


def test_a_warning_says_how_many_look_like_cards() -> None:
    forms = NumberForms()
    refs = in_order(4000000000000000, 1000)
    frame = pl.DataFrame(
        {"line": range(1000), REF: refs}, schema={"line": pl.UInt64, REF: pl.String}
    )
    forms.note(frame)
    (finding,) = forms.findings()
    assert ("reference_like_card", REF, "warning") == (finding.code, finding.column, finding.level)
    assert (
        "100 transaction_ref have the form and the check digit of card numbers, by chance:"
        " 1,000 have the form"
    ) == finding.message
