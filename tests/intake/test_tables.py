from __future__ import annotations

import gzip
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import polars as pl
import pytest

from cardoffers_cli.intake.headers import Names
from cardoffers_cli.intake.paging import RecordFile, pages
from cardoffers_cli.intake.sources import open_source
from cardoffers_cli.kernel.words.errors import FileUnusable

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.words.findings import Finding


NAMES = Names(known=("offer_id", "budget", "segments"), required=("offer_id",))


@dataclass(frozen=True, kw_only=True)
class Table:
    """All pages of a file together."""

    frame: pl.DataFrame
    findings: list[Finding]
    received: int
    kind: str
    position: str


def table(tmp_path: Path, content: bytes, list_key: str | None = None) -> Table:
    path = tmp_path / "offers"
    path.write_bytes(content)
    with open_source(str(path)) as opened:
        file = RecordFile(opened, NAMES, list_key=list_key)
        frames, found = zip(*pages(file, NAMES.known), strict=True)
    return Table(
        frame=pl.concat(frames),
        findings=[*file.header_findings, *chain.from_iterable(found)],
        received=file.received,
        kind=file.kind,
        position=file.position,
    )


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("csv", b"segments,offer_id,budget\na|b,o1,12.50\n,o2,\n"),
        ("csv", gzip.compress(b'offer_id,budget,segments\r\no1,12.50,"a|b"\r\no2,,\r\n', mtime=0)),
        (
            "json",
            b'[{"offer_id": "o1", "budget": 12.50, "segments": ["a", "b"]}, {"offer_id": "o2"}]',
        ),
        (
            "json",
            b"""{"offers": [{"offer_id": "o1", "budget": 12.50, "segments": "a|b"},
                {"offer_id": "o2", "budget": null}]}""",
        ),
        (
            "jsonl",
            b'{"offer_id": "o1", "budget": 12.50, "segments": ["a", "b"]}\n{"offer_id": "o2"}\n',
        ),
    ],
    ids=["csv", "gzip, crlf, quotes", "array", "object", "lines"],
)
def test_every_kind_of_file_gives_the_same_table(tmp_path: Path, kind: str, content: bytes) -> None:
    read = table(tmp_path, content, list_key="offers")
    assert kind == read.kind
    assert ("index" if kind == "json" else "line") == read.position
    assert [("o1", "12.50", "a|b"), ("o2", None, None)] == read.frame.drop("line").rows()
    assert (2, []) == (read.received, read.findings)


def test_a_column_that_is_absent_is_null(tmp_path: Path) -> None:
    read = table(tmp_path, b"offer_id\no1\n")
    assert {
        "line": pl.UInt64,
        "offer_id": pl.String,
        "budget": pl.String,
        "segments": pl.String,
    } == dict(read.frame.schema)
    assert [(2, "o1", None, None)] == read.frame.rows()


def test_bad_lines_are_findings_and_no_rows(tmp_path: Path) -> None:
    read = table(tmp_path, b'offer_id,budget,x\n"o1,1,\no2\n\no3,true,\n')
    assert [(5, "o3", "true", None)] == read.frame.rows()
    assert [(1, "column_unknown"), (2, "unclosed_quote"), (3, "field_count")] == [
        (found.line, found.code) for found in read.findings
    ]
    assert 3 == read.received


def test_a_json_value_that_is_no_text_is_a_finding(tmp_path: Path) -> None:
    read = table(tmp_path, b'[{"offer_id": {}}, 5, {"offer_id": true, "budget": 1E2}]')
    assert [(2, "true", "1E2", None)] == read.frame.rows()
    assert [(0, "text_invalid"), (1, "not_an_object")] == [
        (found.line, found.code) for found in read.findings
    ]


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        (b"Offer_ID,budget", "offer_id"),
        (b"offer id,budget", "offer_id"),
        (b"budget", "Add the column."),
    ],
)
def test_a_missing_column_comes_with_a_hint(tmp_path: Path, header: bytes, hint: str) -> None:
    with pytest.raises(FileUnusable) as error:
        table(tmp_path, header)
    assert "header_column_missing" == error.value.code
    assert 1 == error.value.details["line"]
    assert hint in (error.value.hint or "")
