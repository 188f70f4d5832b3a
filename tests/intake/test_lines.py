from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.intake.lines import (
    MANY_LINES,
    MAX_LINE_BYTES,
    Layout,
    has_long_line,
    in_parts,
    is_blank,
    split_lines,
    whole_lines,
    with_lf,
)
from cardoffers_cli.intake.paging import read_page

LIMIT = MAX_LINE_BYTES


@given(
    text=st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b" "]), max_size=40).map(
        b"".join
    ),
    size=st.integers(1, 7),
)
def test_lines_do_not_depend_on_where_blocks_end(text: bytes, size: int) -> None:
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    cut = list(whole_lines(blocks))
    assert text == b"".join(cut)
    lines = [line for piece in cut for line in split_lines(with_lf(piece))]
    assert text.splitlines() == lines


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (b"", 1),
        (b"a\n" * MANY_LINES, 1),
        (b"a\n" * (MANY_LINES + 1), 2),
        (b"\n" * (4 * MANY_LINES), 4),
        (b"\n" * (2 * MANY_LINES) + b"x" * 10 * LIMIT, 3),
        (b"x" * 10 * LIMIT + b"\n" * (2 * MANY_LINES), 3),
    ],
)
def test_very_many_lines_are_cut_apart_where_lines_end(text: bytes, parts: int) -> None:
    cut = list(in_parts(text))
    assert (text or b"") == b"".join(cut)
    assert parts == len(cut)
    assert [] == [part for part in cut[:-1] if not part.endswith(b"\n")]
    assert [] == [part for part in cut if part.count(b"\n") > MANY_LINES * 4 // 3]


def test_a_page_of_lines_of_nothing_takes_up_nothing() -> None:
    tracemalloc.start()
    page = read_page(b"\n" * MANY_LINES, Layout(names=("a", "b")), first_line=2)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (MANY_LINES, MANY_LINES, 0) == (page.lines, page.blank_lines, page.frame.height)
    assert most < 10 * MANY_LINES


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_long_line_loses_its_middle_and_nothing_else(end: bytes) -> None:
    text = end.join((b"before", b"x" * 10 * LIMIT, b"after"))
    blocks = [text[at : at + LIMIT] for at in range(0, len(text), LIMIT)]
    lines = [line for piece in whole_lines(blocks) for line in split_lines(with_lf(piece))]
    assert [b"before", b"after"] == [lines[0], lines[2]]
    assert LIMIT < len(lines[1]) < 4 * LIMIT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", False),
        (b"x" * LIMIT, False),
        (b"x" * LIMIT + b"\n" + b"x" * LIMIT + b"\n", False),
        (b"x" * (LIMIT + 1), True),
        (b"a\n" + b"x" * (LIMIT + 1) + b"\n", True),
        (b"a\n" * LIMIT, False),
    ],
)
def test_the_limit_is_exact(text: bytes, expected: bool) -> None:
    assert expected == has_long_line(text)


@pytest.mark.parametrize(
    ("line", "expected"),
    [(b"", True), (b" \t ", True), (b"\r\n", True), (b"\x0b", False), (b" " * 65537, False)],
)
def test_blank_lines_hold_spaces_and_tabs_only(line: bytes, expected: bool) -> None:
    assert expected == is_blank(line)
