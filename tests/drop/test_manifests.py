"""What a sender may say of a file, and what no computer should be made to read."""

from __future__ import annotations

import json
import time

import pytest

from cardoffers_cli.drop.manifests import MANIFEST_BYTES, Manifest, parse_manifest
from cardoffers_cli.kernel.words.errors import FileUnusable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", Manifest()),
        ('{"sha256": "AB", "rows": 3}', Manifest(sha256="ab", rows=3)),
        ('{"rows": 3.0}', Manifest(rows=3)),
        ('{"rows": null, "more": [1]}', Manifest()),
    ],
)
def test_a_manifest_is_read(text: str, expected: Manifest) -> None:
    assert expected == parse_manifest(text.encode(), "tx.csv.manifest.json")


@pytest.mark.parametrize("amount", ["12.50", '"12.50"', "1250e-2", '"-12.50"'])
def test_the_amount_of_a_manifest_is_exact(amount: str) -> None:
    manifest = parse_manifest(f'{{"amount_sum": {amount}}}'.encode(), "")
    assert amount.strip('"-').replace("1250e-2", "12.50") == str(manifest.amount_sum).lstrip("-")


HOSTILE = {
    "nothing": "",
    "a list": "[]",
    "words": "nonsense",
    "half a row": '{"rows": 1.5}',
    "less than no rows": '{"rows": -1}',
    "rows as text": '{"rows": "1"}',
    "rows as a flag": '{"rows": true}',
    "amount as a word": '{"amount_sum": "much"}',
    "amount as a list": '{"amount_sum": [1]}',
    "digest as a number": '{"sha256": 1}',
    "a million million digits": '{"rows": 1e999999999}',
    "more than a computer's": '{"rows": 1e99999999999999999999}',
    "nearly nothing": '{"amount_sum": 1e-999999999}',
    "as text": '{"amount_sum": "1e999999999"}',
    "sNaN": '{"amount_sum": "sNaN"}',
    "NaN as text": '{"amount_sum": "nan"}',
    "Infinity as text": '{"amount_sum": "-Infinity"}',
    "NaN": '{"amount_sum": NaN}',
    "Infinity": '{"rows": Infinity}',
    "a million digits": '{"rows": ' + "9" * 1_000_000 + "}",
    "a million digits elsewhere": '{"more": ' + "9" * 1_000_000 + "}",
    "a million digits as text": '{"amount_sum": "' + "9" * 1_000_000 + '"}',
    "underscores": '{"amount_sum": "1_000"}',
    "other digits": '{"amount_sum": "\u0661\u0662"}',
    "depth": "[" * 900_000,
    "UTF-16": '{"rows": 3}'.encode("utf-16").decode("latin-1"),
    "NUL": '{"rows": 3}\0',
    "length": json.dumps({"more": "x" * MANIFEST_BYTES}),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_manifest_that_says_nothing_clear_is_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(FileUnusable) as refused:
        parse_manifest(text.encode("utf-8"), "tx.csv.manifest.json")
    assert "manifest_invalid" == refused.value.code
    assert "tx.csv.manifest.json is no manifest." == refused.value.message
    assert time.process_time() - began < 1
