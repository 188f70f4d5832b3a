from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from card_shapes import SHAPES
from cardoffers_cli.kernel.store import statements as sql
from cardoffers_cli.kernel.store.card_numbers import (
    Mask,
    card_numbers,
    keep_numbers,
    mask,
    numbers_of,
)
from cardoffers_cli.kernel.store.statements import sql_folder, statements
from cardoffers_cli.kernel.words.card_forms import NumberForm
from cardoffers_cli.kernel.words.row_kinds import FREE_TEXTS
from tables import given, put, select, uid

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

RIGHT = ("4111111111111111", "5555555555554444", "378282246310005", "6011000990139424")
WRONG = ("4111111111111112", "5555555555554445", "378282246310006", "6011000990139425")


@pytest.fixture(autouse=True)
def alder(store: Store) -> None:
    given(store, "institutions", "institution\nalder\nbirch")
    given(store, "merchants", "merchant\nbakery")


def places(store: Store) -> dict[str, int]:
    return {found["place"]: found["card_numbers"] for found in card_numbers(store)}


def test_there_is_none_in_a_good_store(store: Store) -> None:
    given(store, "purchases", "ref cardholder identifier\nref-1 ann M1")
    assert {} == places(store)


APART = ("4111-1111-1111-1111", "4111 1111 1111 1111", "4111\u20101111\u00a01111\u22121111")


@pytest.mark.parametrize("text", [*RIGHT, *APART])
def test_a_token_is_none(store: Store, text: str) -> None:
    put(store, "purchases", [{"ref": "ref-1", "cardholder": text}])
    found = card_numbers(store)
    assert {"cardholders.cardholder_token": 1} == places(store)
    assert uid("alder") == found[0]["institution_id"]
    assert text not in str(found)


@pytest.mark.parametrize("text", [*WRONG, "x4111111111111111", "41111111111111110000000"])
def test_what_only_looks_like_one_is_none(store: Store, text: str) -> None:
    put(store, "purchases", [{"ref": "ref-1", "cardholder": text}])
    assert {} == places(store)


OF_ONE_LENGTH = ("4111111111111111", "5555555555554444", "6011000990139424", "2223003122003222")
NOT_RIGHT = ("4111111111111112", "5555555555554445", "6011000990139425", "2223003122003223")


@pytest.mark.parametrize(("right", "wrong", "found"), [(4, 0, 4), (3, 2, 3), (2, 2, 2), (1, 4, 1)])
def test_of_a_few_references_each_right_one_is_a_card_number(
    store: Store, right: int, wrong: int, found: int
) -> None:
    put(store, "purchases", [{"ref": ref} for ref in [*OF_ONE_LENGTH[:right], *NOT_RIGHT[:wrong]]])
    assert ({"purchases.transaction_ref": found} if found else {}) == places(store)


def test_each_institution_is_judged_by_its_own_references(store: Store) -> None:
    put(store, "purchases", [{"ref": ref} for ref in RIGHT])
    put(store, "purchases", [{"ref": ref, "institution": "birch"} for ref in WRONG])
    assert [uid("alder")] == [found["institution_id"] for found in card_numbers(store)]


@pytest.mark.parametrize("text", ["card 4111 1111 1111 1111 of ann", "(378282246310005)"])
def test_it_is_found_inside_of_what_people_write(store: Store, text: str) -> None:
    put(store, "merchants", [{"merchant": text}])
    assert {"merchants.name": 1} == places(store)


@pytest.mark.parametrize("number", [*RIGHT, "30569309025904", "4222222222222"])
@pytest.mark.parametrize("letters", range(1, 6))
@pytest.mark.parametrize("form", ["{} {}", "{1} {0}"])
def test_letters_beside_a_card_number_make_it_no_merchants_number(
    store: Store, number: str, letters: int, form: str
) -> None:
    """Though 15 and 18 digits may be a merchant's, a text of as many characters is none."""
    put(store, "merchants", [{"merchant": form.format("C" * letters, number)}])
    assert {"merchants.name": 1} == places(store)


@pytest.mark.parametrize("text", ["411111111111116", "CO 411111111111116"])
def test_a_merchants_number_is_none_inside_of_a_text_either(store: Store, text: str) -> None:
    put(store, "merchants", [{"merchant": text}])
    assert {} == places(store)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_audit_and_the_masker_see_what_the_doors_do(store: Store, shape: str) -> None:
    text, is_card = SHAPES[shape]
    put(store, "merchants", [{"merchant": text}])
    put(store, "purchases", [{"ref": text, "cardholder": text}])
    expected = ["cardholders.cardholder_token", "merchants.name", "purchases.transaction_ref"]
    assert dict.fromkeys(expected if is_card else [], 1) == places(store)


def test_what_an_institution_took_by_evidence_is_never_blamed(store: Store) -> None:
    """Not even when later numbers of the same length are card numbers more often than by chance."""
    put(store, "purchases", [{"ref": RIGHT[0]}])
    assert {"purchases.transaction_ref": 1} == places(store)
    form = NumberForm("transaction_ref", 16, "alone")
    for first, last, step in ((0, 1000, 1), (0, 60_000, 10)):
        numbers = numbers_of(store, uid("alder"), None)
        numbers.count(form, ((place, place % 10 == 0) for place in range(first, last, step)))
        keep_numbers(store, numbers)
    assert numbers.is_refused(form)
    assert {} == places(store)


def test_what_the_catalogue_holds_is_a_merchants(store: Store) -> None:
    put(store, "purchases", [{"ref": "ref-1", "identifier": RIGHT[0]}])
    assert {"identifiers.merchant_identifier": 1} == places(store)
    put(store, "identifiers", [{"identifier": RIGHT[0], "merchant": "bakery"}])
    assert {} == places(store)


def test_every_text_column_is_looked_at_and_masked_or_named_as_holding_none() -> None:
    """One that is added is looked at, as those that are not are named with the statements."""
    queries = statements("kernel/store/card_numbers")
    looked_at = {name.removeprefix("texts_") for name in queries if name.startswith("texts_")}
    assert looked_at == {
        name.removeprefix("mask_")
        for name in queries
        if name.startswith("mask_") and name.removeprefix("mask_") in looked_at
    }
    head = (
        sql_folder().joinpath("kernel/store/card_numbers.sql").read_text().partition("-- name:")[0]
    )
    known = {
        each
        for table, made in statements("kernel/store/schema").items()
        for column in re.findall(r"^    (\w+) varchar", made, re.MULTILINE)
        for each in (table, column, f"{table}.{column}")
    }
    named = re.findall(r"[\w.]+", head.partition("-- but:")[2])
    assert [] == [name for name in named if name not in known]
    kept = {f"purchase_details_{name}" for name in FREE_TEXTS}
    assert kept | {"ledger_moves_reason", "imports_file_name", "credits_failure_code"} <= looked_at


def test_each_institution_has_its_own_masks(store: Store) -> None:
    masks = {slug: f"masked-{slug}" for slug in ("alder", "birch")}
    put(store, "purchases", [{"ref": RIGHT[0], "institution": slug} for slug in masks])
    of = {"place": "purchases.transaction_ref", "text": RIGHT[0]}
    each = [Mask(**of, institution_id=uid(slug), masked=text) for slug, text in masks.items()]
    mask(store, each)
    refs = select(store, "select institution_id, transaction_ref from purchases")
    assert {(uid(slug), text) for slug, text in masks.items()} == {*refs}


def test_a_text_column_that_is_added_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {
        "recent_purchase_details": "create table x (\n    purchase_no bigint,\n    memo varchar\n)"
    }
    read = sql.statements
    monkeypatch.setattr(
        sql, "statements", lambda stem: made if stem == "kernel/store/schema" else read(stem)
    )
    found = read.__wrapped__("kernel/store/card_numbers")
    assert "update recent_purchase_details\nset memo =" in found["mask_purchase_details_memo"]
    assert "'purchase_details.memo' as place" in found["texts_purchase_details_memo"]
