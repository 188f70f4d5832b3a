from __future__ import annotations

import pytest

from cardoffers_cli.intake.documents import JsonFault, kind_of, parse, read_document
from cardoffers_cli.kernel.words.errors import FileUnusable


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
        (b'{"data": [{"amount": 1}]}', "json"),
        (b'{"data": [{"amount": 1}]}\n', "json"),
        (b'{"data": []}\n{"data": []}\n', "jsonl"),
        (b'{"amount": 1, "tags": []}\n', "jsonl"),
        (b'{"transactions": [\n{"amount": 1},\n{"amount": 2}]}', "json"),
        (b'{\n"transactions": []}', "json"),
        (b'{"amount": }', "json"),
    ],
)
def test_the_kind_is_told_by_content(head: bytes, kind: str) -> None:
    assert kind == kind_of(head, "transactions", ("amount",))


@pytest.mark.parametrize("token", ["1.50", "1e5", "-0.0", "1E400", "0.1000000000000000000001"])
def test_a_number_keeps_its_text(token: str) -> None:
    assert token == str(parse(token.encode()))


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (b'{"a": 1,\n"a": 2}', "duplicate_key", 2),
        (b"[1,\n\n}", "json_invalid", 3),
        (b'["a\nb"]', "json_invalid", 1),
        (b"[1,\n\n", "json_invalid", 1),
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


DAMAGED = [
    # a document that is no JSON, and what is said of it
    (b'[{"a": 1},\n{"a": 2}', "ends early, after line 2, column 9"),
    (b'[{"a": 1},\n{"a": 2},\n\n', "ends early, after line 2, column 10"),
    (b'[{"a": 1},\n{"a": "2\n"}]', "does not parse at line 2, column 9"),
    (b'[{"a": 1},\n{"a": 2,}]', "does not parse at line 2, column 9"),
    (b'{"transactions": [\n{"a": 1}\n]', "ends early, after line 3, column 2"),
    (b'{"transactions": [{"a": 1}],\n"b": x}', "does not parse at line 2, column 6"),
    (b'{"transactions": [{"a": 1}]\n', "ends early, after line 1, column 28"),
    (b"[\n", "ends early, after line 1, column 2"),
    (b'{\n"a"', "ends early, after line 2, column 4"),
    (b'{\n"a" 1}', "does not parse at line 2, column 5"),
]


@pytest.mark.parametrize(("text", "said"), DAMAGED)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_damaged_document_is_placed_where_an_editor_has_it(
    text: bytes, said: str, size: int
) -> None:
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    with pytest.raises(FileUnusable) as error:
        list(read_document(blocks, "transactions"))
    assert f"The JSON {said}." == error.value.message


ROOTS = [
    (b'{"data": [{"amount": 1}]}', "There is no `transactions` in the object."),
    (b'{\n"data": [\n{"amount": 1}\n]\n}', "There is no `transactions` in the object."),
    (b'{"transactions": {}}', "`transactions` in the object is not an array."),
    (b'{\n"amount": 1\n}', "The JSON is one record, not an array of them."),
    (b"12", "The JSON is not an array, nor an object with `transactions`, nor JSON Lines."),
]


@pytest.mark.parametrize(("text", "said"), ROOTS)
def test_what_holds_no_list_is_told(text: bytes, said: str) -> None:
    with pytest.raises(FileUnusable) as error:
        list(read_document([text], "transactions", ("amount",)))
    assert ("json_root", said) == (error.value.code, error.value.message)


def test_numbers_stay_exact_where_a_key_is_given_twice() -> None:
    (items,) = read_document([b'[{"a": 1, "a": 2}, {"amount": 0.10}]'], None)
    assert ([1], "0.10") == (items.positions, str(items.values[0]["amount"]))
    assert [(0, "duplicate_key")] == [(found.line, found.code) for found in items.findings]
