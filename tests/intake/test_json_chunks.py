"""A document read in stretches is the document read as a whole, wherever its blocks end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.intake import json_chunks as stretches
from cardoffers_cli.intake.documents import (
    JsonFault,
    as_objects,
    is_repeated,
    parse_marked,
    read_document,
)
from cardoffers_cli.intake.json_chunks import Document
from cardoffers_cli.kernel.words.errors import FileUnusable
from sizes import tries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.intake.documents import Objects

KEY = "transactions"
LIST = b'[{"a": [1, {"b": "]"}]}, 2 ,"x,\\"]", {"a": "\\\\"}\n, {}]'

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(',:"[]{}\\ xé\n', max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=8,
)
ROOTS = (
    st.lists(VALUES, max_size=6)
    | st.builds(
        lambda before, items, after: {**before, KEY: items, **after},
        st.dictionaries(st.text("cd", max_size=2), VALUES, max_size=2),
        st.lists(VALUES, max_size=6),
        st.dictionaries(st.text("ef", max_size=2), VALUES, max_size=2),
    )
    | VALUES
)
TEXTS = st.builds(
    lambda root, indent, ascii_only: json.dumps(root, indent=indent, ensure_ascii=ascii_only),
    ROOTS,
    st.none() | st.integers(0, 1),
    st.booleans(),
).map(str.encode)


def in_blocks(text: bytes, size: int) -> Iterator[bytes]:
    return (text[at : at + size] for at in range(0, len(text), size))


def in_stretches(text: bytes, size: int) -> Any:
    """Return positions, values and findings of a document, or what is said of it."""
    try:
        return told(list(read_document(in_blocks(text, size), KEY)))
    except FileUnusable as error:
        return error.code, str(error)


def as_a_whole(text: bytes) -> Any:
    """Return the same, by parsing the text at once."""
    try:
        root, marked = parse_marked(text)
    except JsonFault as fault:
        what = "ends early, after" if fault.is_short else "does not parse at"
        return "json_syntax", f"The JSON {what} line {fault.line}, column {fault.column}."
    items = root.get(KEY) if isinstance(root, dict) else root
    if is_repeated(root):
        return "json_syntax", "The outermost object of the JSON names a field twice."
    if not isinstance(items, list):
        if isinstance(root, dict) and KEY in root:
            return "json_root", f"`{KEY}` in the object is not an array."
        if root and isinstance(root, dict):
            return "json_root", f"There is no `{KEY}` in the object."
        return "json_root", f"The JSON is not an array, nor an object with `{KEY}`, nor JSON Lines."
    return told([as_objects(items, marked=marked)])


def told(pages: list[Objects]) -> Any:
    """Return positions, values and findings of pages."""
    return (
        [position for page in pages for position in page.positions],
        [value for page in pages for value in page.values],
        [(found.line, found.code) for page in pages for found in page.findings],
    )


@profile(max_examples=tries(75, 500), deadline=None)
@examples(text=TEXTS, size=st.integers(1, 40))
def test_stretches_are_the_whole(text: bytes, size: int) -> None:
    assert as_a_whole(text) == in_stretches(text, size)


@profile(max_examples=tries(75, 500), deadline=None)
@examples(text=TEXTS, size=st.integers(1, 40), data=st.data())
def test_a_fault_is_found_where_it_is(text: bytes, size: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    put = data.draw(st.sampled_from([b"", *(bytes([mark]) for mark in b'[]{},:"\\ 1\n')]))
    text = text[:at] + put + text[at + data.draw(st.integers(0, 1)) :]
    assert as_a_whole(text) == in_stretches(text, size)


# A document -> what is cut out of it, in blocks of one byte; none: all of it is the head
CUTS = [
    ("an array", b"[1, [2, 3],{}]", [b"1", b", [2, 3]", b",{}"]),
    ("an empty one", b" [ ] ", [b" "]),
    ("a named list", b'{"n": [0], "transactions" : [{}, 1], "m": 1}', [b"{}", b", 1"]),
    ("a name with escapes", b'{"\\u0074ransactions":\n[{}, 1]}', [b"{}", b", 1"]),
    ("a name that ends alike", b'{"\\"transactions": [1, 2]}', []),
    ("a value like the name", b'{"a": "transactions", "b": [1, 2]}', []),
    ("the name further inside", b'{"a": {"transactions": [1, 2]}}', []),
    ("a list inside", b'{"transactions": {"a": [1, 2]}}', []),
    ("a comma too many", b"[ , {}, 1]", [b" , {}", b", 1"]),
    ("no list", b'{"a": "[1, 2]"}', []),
    ("cut off", b'[{"a": 1}, {"a"', [b'{"a": 1}', b', {"a"']),
]


@pytest.mark.parametrize(
    ("text", "cuts"), [row[1:] for row in CUTS], ids=[name for name, *_ in CUTS]
)
def test_items_are_cut_apart(text: bytes, cuts: list[bytes]) -> None:
    document = Document(in_blocks(text, 1), KEY)
    assert cuts == [stretch.text for stretch in document.stretches()]
    if not cuts:
        assert (text, b"") == (document.head, document.tail)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_every_kind_of_item_is_cut_apart(size: int) -> None:
    assert as_a_whole(LIST) == in_stretches(LIST, size)


# What is too long -> it is refused before all of it was read
LONG = [
    ("an item", b'[{"a": "', b"x", b'"}]'),
    ("what is before the list", b'{"a": "', b"x", b'", "transactions": []}'),
    ("what is behind it", b'{"transactions": [], "a": "', b"x", b'"}'),
    ("a list of another name", b'{"events": [', b"1,", b"1]}"),
]


@pytest.mark.parametrize(
    ("start", "filler", "end"), [row[1:] for row in LONG], ids=[name for name, *_ in LONG]
)
def test_nothing_is_held_without_limit(
    start: bytes, filler: bytes, end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "MAX_HELD_BYTES", 1 << 20)
    blocks = iter([start, *[filler * 100_000] * 50, end])
    with pytest.raises(FileUnusable, match="of over 1 MiB"):
        list(read_document(blocks, KEY))
    assert [] != list(blocks)


# What is nested without end -> nothing is read behind the depth that is refused
DEEP = [
    ("lists", b"["),
    ("objects", b'{"a":'),
    ("lists in a list", b"[[],"),
    ("lists of the key", b'{"transactions":[['),
]


@pytest.mark.parametrize("filler", [row[1] for row in DEEP], ids=[row[0] for row in DEEP])
def test_nesting_is_not_followed_without_limit(filler: bytes) -> None:
    blocks = iter([filler * 1000] * 50)
    with pytest.raises(FileUnusable, match="does not parse at line 1"):
        list(read_document(blocks, KEY))
    assert 49 == len(list(blocks))


def test_a_list_of_any_length_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "MAX_HELD_BYTES", 1 << 20)
    blocks = [b"[{}", *[b', {"a": 1}' * 50_000] * 10, b"]"]
    pages = list(read_document(iter(blocks), None))
    assert 500_001 == sum(page.lines for page in pages)
    assert max(page.lines for page in pages) <= 50_001
