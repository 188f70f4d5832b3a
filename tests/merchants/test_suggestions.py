"""What names come to once they are compared, and which merchant is likely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.merchants.suggestions import EVEN, compare
from tables import given, put, rows_of, temporary
from work import fresh_store

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store

NORMAL = {
    "SHELL NO 52457200013": "shell no",
    "STAPLES #1039": "staples",
    "KINKO'S,INC #1132": "kinkos",
    "Café Österreich GmbH": "cafe osterreich",
    "FEDEX SHP 08/30/10 AB#": "fedex shp ab",
    "WWW.ADOBE.COM/STORE": "adobe store",
    "C.T. ENGINEERING": "ct engineering",
    "FORD & SON": "ford and son",
    "The Stock Solution": "stock solution",
    "SQ *BLUE BOTTLE COFFEE": "blue bottle coffee",
    "PAYPAL *HARTBURY FOODS": "hartbury foods",
    "DR*WINZIP": "winzip",
    "TIENDAS LUNA SA DE CV": "tiendas luna de",
    "3M": "3m",
    "A-1 HURICANE FENCE": "a huricane fence",
    "76": "76",
    "CO": "co",
    "***": "***",
}


def test_names_are_compared_without_what_differs_by_chance(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store, store.transaction(keep=False):
        put(store, "merchants", [{"merchant": text} for text in NORMAL])
        found = {text: name for text, name, *_ in rows_of(store, compare(store)["normal"])}
    assert NORMAL == found


KNOWN = {
    "Hartbury Grocers": "8101000001",
    "Hartbury Foods": "8102000001",
    "Luna Books": "8103000001",
    "Oakwell Pharmacy": "8104000001",
    "Oakwell Pharmacy Direct": "8105000001",
}


def _world(store: Store, unknown: list[tuple[str, str]]) -> None:
    given(store, "institutions", "institution\nalder")
    put(store, "merchants", [{"merchant": name} for name in KNOWN])
    known = [{"identifier": number, "merchant": name} for name, number in KNOWN.items()]
    put(store, "identifiers", known)
    rows: list[dict[str, Any]] = [
        {"ref": f"r{place}", "identifier": number, "descriptor": text}
        for place, (number, text) in enumerate(unknown)
    ]
    put(store, "purchases", rows)


def _likely(store: Store) -> dict[str, str]:
    """Return the merchant that is likely, by the identifier that is unknown."""
    scored = temporary(store, "shown", f"from {compare(store)['weighed'].identifier}")
    rows = store.connection.execute(
        "select merchant_identifier, name from"  # noqa: S608
        f" {scored.identifier} inner join identifiers using (identifier_no)"
        f" inner join merchants using (merchant_no) where place = 1 and probability >= {EVEN}"
    ).fetchall()
    return dict(rows)


@pytest.mark.parametrize(
    ("expected", "unknown"),
    [
        ({"8103000002": "Luna Books"}, [("8103000002", "LUNA BOOKS #0002")]),
        ({"9900": "Luna Books"}, [("9900", "LUNA BOOKS")]),
        ({"9900": "Hartbury Grocers"}, [("9900", "HARTBURY GROCERS LTD")]),
        ({}, [("9900", "BOOKS")]),  # any shop of books
        ({}, [("9900", "PINE KITCHEN")]),  # nobody's
        ({}, [("8103000002", "PINE KITCHEN")]),  # the number alone is not enough
        (
            {},  # an aggregator: one number of many names
            [
                ("9900", text)
                for text in ("LUNA BOOKS", "LUNA BOOKS", "PINE KITCHEN", "ELM SHOES", "ASH AUDIO")
            ],
        ),
    ],
)
def test_the_likely_merchant(
    tmp_path: Path, expected: dict[str, str], unknown: list[tuple[str, str]]
) -> None:
    with fresh_store(tmp_path) as store, store.transaction(keep=False):
        _world(store, unknown)
        assert expected == _likely(store)
