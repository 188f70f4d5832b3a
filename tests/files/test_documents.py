from __future__ import annotations

import pytest

from cardoffers_cli.files.documents import JsonFault, kind_of, parse, read_document


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"", "csv"),
        (b"transaction_ref,amount", "csv"),
        (b"12", "json"),
        (b" \n [", "json"),
        (b"[1]\n[2]", "json"),
        (b"{}", "jsonl"),
        (b'\n\n{"amount": 1}\n', "jsonl"),
        (b'{"amount": 1}\r{"amount": 2}\r', "jsonl"),
        (b'{"amount": }\n{"amount": 2}\n', "jsonl"),
        (b'{"amount": 1, "amount": 2}\n', "jsonl"),
        (b'{"transactions": 1}\n', "jsonl"),
        (b'{"transactions": []}\n', "json"),
        (b'{"transactions": [\n{"amount": 1},\n{"amount": 2}]}', "json"),
        (b'{\n"transactions": []}', "json"),
        (b'{"amount": }', "json"),
    ],
)
def test_the_kind_is_told_by_content(head: bytes, kind: str) -> None:
    assert kind == kind_of(head, "transactions")


@pytest.mark.parametrize("token", ["1.50", "1e5", "-0.0", "1E400", "0.1000000000000000000001"])
def test_a_number_keeps_its_text(token: str) -> None:
    assert token == str(parse(token.encode()))


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (b'{"a": 1,\n"a": 2}', "duplicate_key", 2),
        (b"[1,\n\n}", "json_invalid", 3),
        (b"NaN", "json_invalid", 1),
        (b"[" * 201, "json_invalid", 1),
        (b'"\x01"', "json_invalid", 1),
        (b"1 2", "json_invalid", 1),
    ],
)
def test_a_fault_has_a_place(text: bytes, code: str, line: int) -> None:
    with pytest.raises(JsonFault) as fault:
        parse(text)
    assert (code, line) == (fault.value.code, fault.value.line)


def test_numbers_stay_exact_where_a_key_is_given_twice() -> None:
    (items,) = read_document([b'[{"a": 1, "a": 2}, {"amount": 0.10}]'], None)
    assert ([1], "0.10") == (items.positions, str(items.values[0]["amount"]))
    assert [(0, "duplicate_key")] == [(found.line, found.code) for found in items.findings]
