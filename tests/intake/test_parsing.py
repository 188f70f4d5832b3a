"""Both parsers make the same of JSON, and refuse the same at the same place."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.intake import documents
from cardoffers_cli.intake.objects import JsonFault
from cardoffers_cli.intake.plain import readers
from sizes import tries

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = [
    b'{"a": 1.50, "b\\u00e9": [true, false, null, -0, 12e-3], "c": {"d": "x\\n\\ud83d\\ude00"}}',
    b'[1, {"a":1,"a":2}, "\xc3\xa9", "\\ud800", "\\u12", -1.5e+5]',
    b'\n[\n {"amount": 12.50,\n"x":"y"},\n 7\n]\n',
    b"[ [] , {} , [ ] , { } ]",
    b"[" * 203 + b"1" + b"]" * 203,
    b'{"a":' * 202 + b"1" + b"}" * 202,
    b"-" + b"9" * 4301,
]
PUT = [
    *(
        b"",
        b'"',
        b"\\",
        b"\\u",
        b"\\ud800",
        b"\\udc00",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\n",
        b" ",
    ),
    *(
        b"0",
        b"1",
        b"-",
        b".",
        b"e",
        b"+",
        b"t",
        b"n",
        b"\xff",
        b"\xc3",
        b"\0",
        b"\x01",
        b'"a"',
        b"null",
    ),
    *(b"tru", b"NaN", b"Infinity", b"\xef\xbb\xbf"),
]


def told(parse: Callable[..., Any], text: bytes, *, unique_keys: bool) -> Any:
    """Return the value with its numbers as text, or what is wrong with it and where."""
    try:
        return _plain(parse(text, unique_keys=unique_keys))
    except JsonFault as fault:
        place = (fault.line, fault.column) if fault.code == "json_invalid" else ()
        return (fault.code, fault.is_short, *place)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [*map(_plain, value)]
    is_text = value is None or isinstance(value, str | bool)
    return value if is_text else (isinstance(value, int), str(value))


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: f"{text[:20]!r}")
def test_a_text_is_read_alike(text: bytes) -> None:
    chance = random.Random(text)  # noqa: S311
    texts = [text, *(text[:end] for end in range(min(len(text), 80)))]
    for _ in range(tries(300, 5_000)):
        changed = text
        for _ in range(chance.choice([1, 1, 2, 3])):
            at = chance.randrange(len(changed) + 1)
            changed = changed[:at] + chance.choice(PUT) + changed[at + chance.randrange(4) :]
        texts.append(changed)
    for each in texts:
        for unique in (True, False):
            expected = told(documents.parse, each, unique_keys=unique)
            assert expected == told(readers.parse, each, unique_keys=unique), each


def test_what_pythons_own_decoder_takes_is_refused() -> None:
    for text in (b"NaN", b'"\\ud800"', b"[" * 250 + b"]" * 250, b'{"a": 1, "a": 2}'):
        with pytest.raises(JsonFault):
            readers.parse(text)
