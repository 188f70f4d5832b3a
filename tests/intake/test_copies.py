from __future__ import annotations

import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.intake.copies import LineCopy, Masks, copy_items, copy_lines, masked_object
from cardoffers_cli.intake.lines import Layout


def lines_apart(blocks: list[bytes], rejected: list[int], header: int = 1) -> tuple[bytes, bytes]:
    valid, others = io.BytesIO(), io.BytesIO()
    copy_lines(blocks, LineCopy(header, rejected, valid, others))
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


MASKED = [
    # a line, and the same with card_token and mcc masked
    ("a,b,c,d", "a,[masked],c,[masked]"),
    (",,,", ",[masked],,[masked]"),
    ('"a,""x""", b ,"c;d","4111,1111"', '"a,""x""",[masked],"c;d",[masked]'),
    ('a,="0123",é,5411', "a,[masked],é,[masked]"),
]


@pytest.mark.parametrize(("line", "expected"), MASKED)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
def test_fields_of_a_line_are_masked_and_no_others(line: str, expected: str, end: str) -> None:
    layout = Layout(names=("amount", "card_token", " 3", "mcc"))
    fields = pl.DataFrame({"line": [1, 3, 3, 9], "field": ["mcc", "card_token", "mcc", "mcc"]})
    masks = Masks(fields.iter_rows(), layout)
    assert line.encode() == masks.line(2, line.encode())
    assert f"{expected}{end}".encode() == masks.line(3, f"{line}{end}".encode())
    assert line.encode() == masks.line(4, line.encode())


OBJECTS = [
    # an object, and the same with card_token and mcc masked
    ('{"card_token": "4111", "a": 1.50}', '{"card_token": "[masked]", "a": 1.50}'),
    ('{ "a" : [1, {"mcc": 2}] ,"mcc":4111 }', '{ "a" : [1, {"mcc": 2}] ,"mcc":"[masked]" }'),
    ('{"\\u006dcc": {"x": "}"}, "é": "\\""}', '{"\\u006dcc": "[masked]", "é": "\\""}'),
    ("{}", "{}"),
]


@pytest.mark.parametrize(("text", "expected"), OBJECTS)
def test_values_of_an_object_are_masked_and_no_others(text: str, expected: str) -> None:
    assert expected == masked_object(text, ["card_token", "mcc"])
    fields = pl.DataFrame({"line": [7, 7], "field": ["card_token", "mcc"]})
    assert f"{expected}\n".encode() == Masks(fields.iter_rows(), None).line(7, f"{text}\n".encode())
    assert expected == Masks(fields.iter_rows(), None).item(7, text)


def test_a_document_without_items_is_copied_as_none() -> None:
    valid = io.BytesIO()
    copy_items([b"[ ]"], pl.Series([], dtype=pl.UInt64), "transactions", valid, None)
    assert b"[\n\n]\n" == valid.getvalue()


def test_blank_lines_above_the_header_stay_where_a_profile_counts_them() -> None:
    valid, others = io.BytesIO(), io.BytesIO()
    blocks = [b"title\n\n \nhead\n\n1\n", b"2\n"]
    copy_lines(blocks, LineCopy(4, [7], valid, others, above=3))
    assert (b"title\n\n \nhead\n1\n", b"title\n\n \nhead\n2\n") == (
        valid.getvalue(),
        others.getvalue(),
    )
