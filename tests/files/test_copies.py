from __future__ import annotations

import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.files.copies import copy_items, copy_lines


def lines_apart(blocks: list[bytes], rejected: list[int], header: int = 1) -> tuple[bytes, bytes]:
    valid, others = io.BytesIO(), io.BytesIO()
    copy_lines(blocks, header, pl.Series(rejected, dtype=pl.UInt64), valid, others)
    return valid.getvalue(), others.getvalue()


def test_lines_are_copied_as_they_came() -> None:
    text = b'\r\na,b\r\n1,2\r \t\n"x",\xff\n\n3,4'
    assert (b"a,b\r\n1,2\r3,4", b'a,b\r\n"x",\xff\n') == lines_apart([text], [5], header=2)


def test_a_rejected_line_before_the_header_is_left_where_it_was() -> None:
    assert (b"a,b\n1,2\n", b"x\na,b\n") == lines_apart([b"x\na,b\n1,2\n"], [1], header=2)


def test_json_lines_have_no_header() -> None:
    assert (b"{}\n", b"[]\n") == lines_apart([b"{}\n[]\n"], [2], header=0)


@given(
    text=st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b" "]), max_size=40).map(
        b"".join
    ),
    size=st.integers(1, 7),
    rejected=st.sets(st.integers(2, 30)),
)
def test_every_line_goes_to_one_of_the_two(text: bytes, size: int, rejected: set[int]) -> None:
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(keepends=True), start=1)
        if line.strip(b" \r\n")
    ]
    expected = (
        b"".join(line for number, line in lines if number not in rejected),
        b"".join(line for number, line in lines if number in rejected),
    )
    assert expected == lines_apart(blocks, sorted(rejected), header=0)


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("filler", [b"x", b" "])
def test_a_long_line_is_copied_whole(end: bytes, filler: bytes) -> None:
    long_line = filler * 300_000 + end
    text = b"h" + end + long_line + b"3" + end
    blocks = [text[at : at + 65_536] for at in range(0, len(text), 65_536)]
    assert (b"h" + end + b"3" + end, b"h" + end + long_line) == lines_apart(blocks, [2])


@pytest.mark.parametrize(
    "document",
    [
        b'[{"a": 1.50}, [ 2 ],\n"x]"]',
        b'{"n": [0], "transactions" : [ {"a": 1.50} ,[ 2 ] , "x]" ], "m": 1}',
    ],
)
def test_items_of_a_document_are_copied_as_they_came(document: bytes) -> None:
    valid, others = io.BytesIO(), io.BytesIO()
    rejected = pl.Series([1], dtype=pl.UInt64)
    copy_items([document[:9], document[9:]], rejected, "transactions", valid, others)
    assert b'[\n{"a": 1.50},\n"x]"\n]\n' == valid.getvalue()
    assert b"[\n[ 2 ]\n]\n" == others.getvalue()


def test_a_document_without_items_is_copied_as_none() -> None:
    valid = io.BytesIO()
    copy_items([b"[ ]"], pl.Series([], dtype=pl.UInt64), "transactions", valid, None)
    assert b"[\n\n]\n" == valid.getvalue()
