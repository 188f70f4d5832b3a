from __future__ import annotations

import re
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardoffers_cli.intake.chunks import FileReading, Judge
from cardoffers_cli.intake.fields import ALL_COLUMNS, REQUIRED
from cardoffers_cli.intake.rulebook import optional, rulebook
from cardoffers_cli.kernel.words.row_kinds import KINDS
from sizes import slow, tries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.words.row_kinds import RowKind

NOW = datetime(2026, 11, 1)  # noqa: DTZ001 - moments are naive UTC inside the product
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
TOKENS = ["t" * 31, "t" * 32, "t" * 256, "t" * 257, "4" + "1" * 15, "4-1" + "1" * 14, "a b" * 12]
ODD = ["", "\x00", "é", "x@y.zz", "\u202e", "4111 1111 1111 1111", "1" * 40, "-" * 40]
ODD += ["NULL", "#REF!", "unknown", "#" * 9, "0" * 16, "0" * 40, "5.2E+14", '"0123"', "='0'", " 12"]
GOOD = ["M1", "t" * 40]
VALUES = {
    "instrument_type": ["card", "wallet", "Card"],
    "merchant_identifier_type": ["card_acceptor", "pix_key", "vpa"],
    "merchant_id": [UUID, UUID.upper(), UUID[1:]],
    "amount": [
        "0",
        "0.00",
        "1",
        "12.50",
        "12.500",
        "-1",
        "9" * 12,
        "9" * 13,
        "1e3",
        "0" * 20 + "1",
    ],
    "transacted_at": [
        "2026-03-18T13:12:54Z",
        "2026-03-18T13:12:54",
        "2026-03-18",
        "2026-11-02T00:00:00Z",
        "2026-11-02T00:00:01Z",
        "2026-02-30T00:00:00Z",
        "2026-03-18T13:12:54.1+02:00",
    ],
    "kind": ["refund", "void", "Void"],
    "status": ["credited", "failed", "reversed", "Failed"],
    "redemption_id": [UUID, UUID[::-1]],
    "institution_id": [UUID, UUID[::-1]],
}
VALUES["refunded_at"] = VALUES["credited_at"] = VALUES["transacted_at"]
ROW = st.fixed_dictionaries(
    {
        name: st.none() | st.sampled_from([*VALUES.get(name, [*GOOD, *TOKENS]), *ODD])
        for name in ALL_COLUMNS
    }
    | {"mistyped": st.none() | st.sampled_from(["|mcc|", "|amount|card_token|"])}
)
MOSTLY_GOOD = st.fixed_dictionaries(
    {
        "cardholder_token": st.sampled_from([*TOKENS[:4], "t" * 40]),
        "card_token": st.none() | st.sampled_from(["c1", TOKENS[4], TOKENS[5]]),
        "instrument_token": st.none() | st.sampled_from(["c1", "c2"]),
        "card_acceptor_id": st.none() | st.sampled_from(["M1", "M 2"]),
        "merchant_identifier": st.none() | st.sampled_from(["M1", "M2"]),
        "transaction_ref": st.sampled_from(["r" * 128, "r" * 129]),
        "amount": st.sampled_from(VALUES["amount"]),
        "transacted_at": st.sampled_from(VALUES["transacted_at"]),
        "refund_ref": st.sampled_from(["r" * 128, "r" * 129]),
        "refunded_at": st.sampled_from(VALUES["refunded_at"]),
        "original_transaction_ref": st.none() | st.sampled_from(["r" * 128, "r" * 129]),
        "kind": st.none() | st.sampled_from(VALUES["kind"]),
        "credit_ref": st.sampled_from(["r" * 128, "r" * 129]),
        "credited_at": st.sampled_from(VALUES["credited_at"]),
        "redemption_id": st.none() | st.sampled_from(VALUES["redemption_id"]),
        "status": st.sampled_from(VALUES["status"]),
        "failure_code": st.none() | st.sampled_from(["R2", "r" * 129]),
        "merchant_id": st.none() | st.sampled_from(VALUES["merchant_id"]),
    }
)


@contextmanager
def few_rows_are(most: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cardoffers_cli.intake.rulebook.FEW_ROWS", most)
        yield


def _is_plain(rows: list[dict[str, Any]]) -> bool:
    texts = [value for row in rows for value in row.values() if value]
    plain = all("!" <= char <= "~" and char not in "\"@'" for text in texts for char in text)
    return plain and not any(re.search(r"^[=#]|[Ee]\+", text) for text in texts)


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    names = dict.fromkeys(name for row in rows for name in row)
    lines = pl.Series("line", range(len(rows)), dtype=pl.UInt64)
    columns = [pl.Series(n, [row.get(n) or None for row in rows], dtype=pl.String) for n in names]
    return pl.DataFrame([lines, *columns])


@slow
@settings(max_examples=tries(30, 200), deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=30) | st.lists(MOSTLY_GOOD, min_size=1, max_size=60),
    kind=st.sampled_from(KINDS),
    absent=st.sets(st.sampled_from([*dict.fromkeys(n for k in KINDS for n in optional(k))])),
    decimals=st.sampled_from([0, 2, 3]),
    zone=st.sampled_from([None, "Europe/Madrid"]),
)
def test_a_row_that_breaks_a_rule_is_suspicious(
    rows: list[dict[str, Any]], kind: RowKind, absent: set[str], decimals: int, zone: str | None
) -> None:
    had = {*optional(kind)} - (absent - {*kind.required})
    kept = [{name: text for name, text in row.items() if name in had} for row in rows]
    reading = FileReading(now=NOW, decimals=decimals, assume_timezone=zone, institution_id=UUID)
    derived = Judge(reading, kind).with_derived(_frame(kept))
    with few_rows_are(-1):
        suspicious = rulebook(kind).suspicious(derived, is_plain=_is_plain(kept))
    assert [] == rulebook(kind).findings(derived.filter(~suspicious)).rows()
    with few_rows_are(len(rows)):
        broken = rulebook(kind).suspicious(derived, is_plain=False)
    found = rulebook(kind).findings(derived)["line"].unique().sort()
    assert found.to_list() == derived["line"].filter(broken).to_list()


USUAL = {
    "cardholder_token": "9fb6f85a8aac50e20c422cac18b44258",
    "card_token": "ct_123",
    "card_acceptor_id": "M6CF4DC01F8024C",
    "amount": "12.50",
    "transaction_ref": "TX-123",
    "transacted_at": "2026-03-18T13:12:54Z",
}


@pytest.mark.parametrize(
    ("changes", "is_plain"),
    [
        ({}, True),
        ({}, False),
        ({"mcc": "5411", "network": "visa", "instrument_type": "card"}, True),
        ({"merchant_descriptor": "Sainsbury's, M\u00e1laga"}, False),
        ({"card_acceptor_id": "498750000000123"}, True),
        ({"card_acceptor_id": "12345"}, True),
        ({"transaction_ref": "00012", "card_token": "X0000"}, False),
    ],
    ids=str,
)
def test_a_usual_row_is_not_suspicious(changes: dict[str, str], is_plain: bool) -> None:
    derived = Judge(FileReading(now=NOW + timedelta(days=1))).with_derived(
        _frame([USUAL | changes])
    )
    for few in (-1, 1):
        with few_rows_are(few):
            assert [False] == rulebook().suspicious(derived, is_plain=is_plain).to_list()


COLUMNS_LEFT_OUT = [
    # what every row then breaks, and the columns that are not there
    ("required_missing", {"card_token"}),
    ("merchant_missing", {"card_acceptor_id"}),
    *(("required_missing", {name}) for name in REQUIRED),
]


@pytest.mark.parametrize(("code", "absent"), COLUMNS_LEFT_OUT, ids=str)
@pytest.mark.parametrize("rows", [1, 500])
def test_a_column_that_is_not_there_is_empty_in_every_row(
    rows: int, code: str, absent: set[str]
) -> None:
    row = {name: None if name in absent & {*REQUIRED} else text for name, text in USUAL.items()}
    frame = _frame([row] * rows).drop(absent - {*REQUIRED})
    found = Judge(FileReading(now=NOW)).chunk(frame, is_plain=True).findings
    assert [code] * rows == found["code"].to_list()
