from __future__ import annotations

import pytest

from cardoffers_cli.kernel.words.findings import (
    CODES,
    DROP_CODES,
    FILE_CODES,
    PICKUP_CODES,
    Finding,
    make_finding,
    read_codes,
)

WHOLE = 'level = "note"\nsummary = "is"\nfix = "do"\nwhy = "For it."'

WARNINGS = {
    "merchant_missing",
    "failure_code_missing",
    "failure_code_unexpected",
    "token_weak",
    "tokens_unstable",
    "leading_zeros_lost",
    "column_unknown",
    "column_ignored",
    "look_alike",
    "reference_like_card",
    "rows_missing",
    "file_short",
    "duplicate",
    "duplicate_conflict",
    "refunds_among",
    "spreadsheet_error",
}


def test_every_code_of_a_row_has_its_level() -> None:
    assert WARNINGS == {code for code, entry in CODES.items() if entry.level == "warning"}


def test_no_code_is_both_a_rows_and_a_files() -> None:
    assert set() == CODES.keys() & FILE_CODES.keys()
    assert set() == {*CODES, *FILE_CODES} & DROP_CODES.keys()
    assert set() == {*CODES, *FILE_CODES, *DROP_CODES} & PICKUP_CODES.keys()


@pytest.mark.parametrize(
    ("expected", "table"),
    [
        (
            "missing 1 required keyword-only argument: 'why'",
            'level = "note"\nsummary = ""\nfix = ""',
        ),
        ("missing 1 required keyword-only argument: 'bad'", f'{WHOLE}\nmended = "x"'),
        ("unexpected keyword argument 'whi'", f'{WHOLE}\nbad = ""\nmended = ""\nwhi = ""'),
        ("unknown level 'severe'", WHOLE.replace("note", "severe")),
    ],
)
def test_a_code_that_is_incomplete_is_refused_when_the_codes_are_read(
    expected: str, table: str
) -> None:
    with pytest.raises(TypeError, match=expected):
        read_codes(f"[rows.new_code]\n{table}")


def test_a_finding_takes_its_level_from_the_catalogue() -> None:
    expected = Finding(7, None, "amount", "amount_invalid", "error", "amount is no number")
    assert expected == make_finding(
        "amount_invalid", "amount is no number", line=7, column="amount"
    )
