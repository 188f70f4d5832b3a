"""A small file of good rows with one faulty row of every kind its format can hold.

Each fault changes one good row: a field of it, or the line it is written as. The card number is the
well-known test number and the e-mail address stands at a domain reserved for examples.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.files.samples.purchases import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.files.samples.purchases import Purchases

    Row = dict[str, str]

HEADER = [
    *COLUMNS,
    "instrument_token",
    "instrument_type",
    "merchant_identifier_type",
    "merchant_identifier",
    "merchant_id",
]
FIRST_EVENT = 1 << 40  # no other file of a sample comes that far
GOOD_ROWS_BETWEEN = 2
LONGEST_LINE = 1 << 16
_NUMBER = re.compile(r"\d+(\.\d+)?", re.ASCII)

FIELD_FAULTS: tuple[tuple[str, str, str], ...] = (
    ("control_character", "card_acceptor_id", "00412\x07000030001"),
    ("control_character", "transaction_ref", "REF\u202e0001"),
    ("required_missing", "cardholder_token", ""),
    ("required_missing", "card_token", ""),
    ("required_missing", "amount", ""),
    ("token_invalid", "card_token", "ct 5d0e 77a1"),
    ("token_invalid", "transaction_ref", "R" * 129),
    ("card_number", "card_token", "4111 1111 1111 1111"),
    ("personal_data", "cardholder_token", "some.customer@example.com"),
    ("instrument_conflict", "instrument_token", "ct_00000000000000000000000000000000"),
    ("instrument_type_unknown", "instrument_type", "cheque"),
    ("merchant_identifier_type_unknown", "merchant_identifier_type", "shop_number"),
    ("merchant_conflict", "merchant_identifier", "000000000000000"),
    ("merchant_id_invalid", "merchant_id", "not-a-uuid"),
    ("merchant_missing", "card_acceptor_id", ""),
    ("amount_invalid", "amount", "£12.50"),
    ("amount_invalid", "amount", "1e3"),
    ("amount_invalid", "amount", "12.50 GBP"),
    ("amount_precision", "amount", "10.999"),
    ("amount_not_positive", "amount", "0.00"),
    ("amount_too_large", "amount", "1000000000000.00"),
    ("timestamp_invalid", "transacted_at", "31/08/2026 14:05"),
    ("timestamp_invalid", "transacted_at", "2026-02-30T10:00:00Z"),
    ("timestamp_no_offset", "transacted_at", "2026-08-31T14:05:00"),
    ("timestamp_in_future", "transacted_at", "2099-01-01T00:00:00Z"),
    ("token_weak", "cardholder_token", "customer-000042"),
)
"""A code, and the column and value that bring it about in an otherwise good row."""


def _csv(row: Row) -> bytes:
    return ",".join(row[column] for column in HEADER).encode()


def _json(row: Row) -> bytes:
    amount = row["amount"] if _NUMBER.fullmatch(row["amount"]) else json.dumps(row["amount"])
    fields = {name: text for name, text in row.items() if text and name != "amount"}
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return f'{{"amount":{amount},{text[1:]}'.encode()


CSV_FAULTS: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    ("field_count", lambda line: line + b","),
    ("field_count", lambda line: line.rsplit(b",", 7)[0]),
    ("unclosed_quote", lambda line: line.replace(b",ct_", b',"ct_')),
    ("stray_quote", lambda line: line.replace(b",ct_", b',ct"_')),
    ("encoding", lambda line: line.rsplit(b",", 1)[0] + b",caf\xe9"),
    ("line_too_long", lambda line: line + b"9" * LONGEST_LINE),
)
JSON_FAULTS: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    ("json_invalid", lambda line: line[:-1]),
    ("not_an_object", lambda line: b"[" + line + b"]"),
    ("duplicate_key", lambda line: line[:-1] + b',"amount":1.00}'),
    ("encoding", lambda line: line[:-1] + b',"merchant_descriptor":"caf\xe9"}'),
    ("line_too_long", lambda line: line[:-1] + b" " * LONGEST_LINE + b"}"),
    (
        "institution_mismatch",
        lambda line: line[:-1] + b',"institution_id":"00000000-0000-4000-8000-000000000000"}',
    ),
)


def make_dirty(made: Purchases, kind: str) -> tuple[bytes, int]:
    """Return the bytes of a dirty file, `csv` or `jsonl`, and how many rows it has."""
    write, line_faults = (_csv, CSV_FAULTS) if kind == "csv" else (_json, JSON_FAULTS)
    count = len(FIELD_FAULTS) + len(line_faults)
    rows = _good_rows(made, (count + 1) * (GOOD_ROWS_BETWEEN + 1))
    lines = [write(row) for row in rows]
    places = range(GOOD_ROWS_BETWEEN, len(lines), GOOD_ROWS_BETWEEN + 1)
    for place, (_, column, value) in zip(places, FIELD_FAULTS, strict=False):
        lines[place] = write(rows[place] | {column: value})
    for place, (_, spoil) in zip(places[len(FIELD_FAULTS) :], line_faults, strict=False):
        lines[place] = spoil(lines[place])
    repeated = [lines[0], b"", write(rows[1] | {"amount": "1" + rows[1]["amount"]})]
    header = [",".join(HEADER).encode()] if kind == "csv" else []
    return b"\n".join([*header, *lines, *repeated, b""]), len(lines) + 2


def _good_rows(made: Purchases, count: int) -> list[Row]:
    """Make rows of purchases that no other file of the sample holds."""
    events = pl.select(
        event_no=pl.int_range(FIRST_EVENT, FIRST_EVENT + count, dtype=pl.UInt64),
        is_conflict=pl.lit(value=False),
    )
    empty = dict.fromkeys(HEADER, "")
    return [empty | row for row in made.of_events(events).to_dicts()]
