from __future__ import annotations

from cardoffers_cli.domain.drop_findings import DROP_CODES
from cardoffers_cli.domain.findings import CODES, FILE_CODES, Finding, make_finding
from cardoffers_cli.domain.pickup_findings import PICKUP_CODES

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


def test_every_code_says_what_it_is_and_what_mends_it() -> None:
    for name, code in {**CODES, **FILE_CODES, **DROP_CODES, **PICKUP_CODES}.items():
        assert name == code.code
        assert code.summary, name
        assert code.fix, name


def test_a_finding_takes_its_level_from_the_catalogue() -> None:
    expected = Finding(7, None, "amount", "amount_invalid", "error", "amount is no number")
    assert expected == make_finding(
        "amount_invalid", "amount is no number", line=7, column="amount"
    )
