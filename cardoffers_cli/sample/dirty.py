"""A small file of good rows with one faulty row of every kind its format can hold.

Each fault changes one good row: a field of it, or the line it is written as. The card number is the
well-known test number and the e-mail address stands at a domain reserved for examples.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.sample.purchases import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cardoffers_cli.sample.purchases import Purchases

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

_TABLE = Path(__file__).with_suffix(".toml").read_text("utf-8")
FIELD_FAULTS: Sequence[tuple[str, str, str]] = [*map(tuple, tomllib.loads(_TABLE)["faults"])]
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


def make_dirty(purchases: Purchases, kind: str) -> tuple[bytes, int]:
    """Return the bytes of a dirty file, `csv` or `jsonl`, and how many rows it has."""
    write, line_faults = (_csv, CSV_FAULTS) if kind == "csv" else (_json, JSON_FAULTS)
    count = len(FIELD_FAULTS) + len(line_faults)
    end = FIRST_EVENT + (count + 1) * (GOOD_ROWS_BETWEEN + 1)
    events = pl.select(
        event_no=pl.int_range(FIRST_EVENT, end, dtype=pl.UInt64), is_conflict=pl.lit(False)
    )
    rows = [dict.fromkeys(HEADER, "") | row for row in purchases.of_events(events).to_dicts()]
    lines = [write(row) for row in rows]
    places = range(GOOD_ROWS_BETWEEN, len(lines), GOOD_ROWS_BETWEEN + 1)
    for place, (_, column, value) in zip(places, FIELD_FAULTS, strict=False):
        lines[place] = write(rows[place] | {column: value})
    for place, (_, spoil) in zip(places[len(FIELD_FAULTS) :], line_faults, strict=False):
        lines[place] = spoil(lines[place])
    repeated = [lines[0], b"", write(rows[1] | {"amount": "1" + rows[1]["amount"]})]
    header = [",".join(HEADER).encode()] if kind == "csv" else []
    return b"\n".join([*header, *lines, *repeated, b""]), len(lines) + 2
