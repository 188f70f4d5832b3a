from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest

from cardoffers_cli.intake.chunks import FINDING_SCHEMA, VALID_SCHEMA, Chunk, FileReading, Judge
from cardoffers_cli.intake.documents import as_objects, parse
from cardoffers_cli.intake.records import judge_pages

READING = FileReading(now=datetime(2026, 11, 1))  # noqa: DTZ001 - moments are naive UTC here
EVENT = (
    b'{"cardholder_token": "9fb6f85a8aac50e20c422cac18b44258", "card_token": "ct_1", '
    b'"card_acceptor_id": "M1", "amount": 12.50, "transaction_ref": "TX-1", '
    b'"transacted_at": "2026-03-18T13:12:54Z"}'
)


def judge_records(values: list[object], reading: FileReading) -> Chunk:
    return judge_pages([as_objects(values)], Judge(reading))


def test_parsed_values_are_judged_by_their_index() -> None:
    values = parse(b"[" + EVENT + b', 5, {"amount": "x"}, ' + EVENT + b"]")
    chunk = judge_records(values, READING)
    assert [0, 3] == chunk.rows["line"].to_list()
    assert [1, 2] == chunk.rejected.to_list()
    assert {"not_an_object", "required_missing", "amount_invalid", "merchant_missing"} == set(
        chunk.findings["code"]
    )


@pytest.mark.parametrize("values", [[], [1], [{}]])
def test_the_columns_are_always_the_same(values: list[object]) -> None:
    chunk = judge_records(values, READING)
    assert VALID_SCHEMA == dict(chunk.rows.schema)
    assert FINDING_SCHEMA == dict(chunk.findings.schema)
    assert len(values) == len(chunk.rejected)


@pytest.mark.parametrize(
    ("token", "amount"),
    [
        (b"12.50", Decimal("12.50")),
        (b"12", Decimal(12)),
        (b"1.25e1", Decimal("12.5")),
        (b"1E3", Decimal(1000)),
        (b"0.1", Decimal("0.1")),
        (b"999999999999.99", Decimal("999999999999.99")),
    ],
)
def test_numbers_are_exact(token: bytes, amount: Decimal) -> None:
    chunk = judge_records([parse(EVENT.replace(b"12.50", token))], READING)
    assert [amount] == chunk.rows["amount"].to_list()


@pytest.mark.parametrize("digits", [18, 20, 38, 40, 4_300])
def test_a_number_that_is_no_text_is_a_finding_however_long(digits: int) -> None:
    values = parse(b"[" + EVENT.replace(b'"ct_1"', b"4" * digits) + b"]")
    assert ["token_invalid"] == judge_records(values, READING).findings["code"].to_list()
