"""Every finding is explained, and what is called bad or mended is just that."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

import work
from cardoffers_cli.catalogue.files import catalogue_files
from cardoffers_cli.demo.help_commands import KNOWN
from cardoffers_cli.intake.transactions import FileReading
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.findings import BANK_CODES, DROP_CODES, PICKUP_CODES
from cardoffers_cli.payouts.bank_codes import REASONS
from cardoffers_cli.river.checks import validate
from cardoffers_cli.river.receiving import Outputs
from sizes import one_in

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.words.findings import Example

READING = FileReading(
    now=datetime(2026, 11, 1),  # noqa: DTZ001 - moments are naive UTC inside the product
    currency="GBP",
    institution_id="7c9a1745-303f-576b-af43-a4367a33b2ad",
)
WITHOUT_EXAMPLE = {
    # needs more lines, or a longer one, than anyone reads
    *(
        "line_too_long",
        "last_line_unterminated",
        "tokens_unstable",
        "leading_zeros_lost",
        "reference_like_card",
    ),
    # is not about text
    *("file_missing", "file_unreadable", "file_empty"),
    *("file_binary", "file_encoding", "file_corrupt", "sheet_missing"),
    # is about a file that is read by a profile
    *("timestamp_ambiguous", "timestamp_skipped", "refunds_among", "refund_left_out"),
    *("profile_field_missing", "trailer_mismatch"),
    # is about the command that was given the file
    "kind_of_rows_mismatch",
    # is about where files lie, how large they are, and what lies beside them
    *DROP_CODES,
    *PICKUP_CODES,
    # is about a file that came from a bank
    *BANK_CODES,
    # is asked of the store, of its clock, or of the settings
    *("reference_unknown", "currency_in_use", "id_conflict", "link_kept"),
    *("budget_below_spent", "effective_in_future", "webhook_url_refused"),
    *("file_short", "file_held", "percent_not_accepted"),
}
OF_CATALOGUES = {"value_invalid", "percent_out_of_range", "cap_required", "cap_below_minor_unit"}
OF_CATALOGUES |= {"reward_terms_mixed"}
SHOWN = sorted(KNOWN.keys() - WITHOUT_EXAMPLE)


def test_every_code_that_a_few_lines_can_show_has_an_example() -> None:
    assert WITHOUT_EXAMPLE == {code for code, each in KNOWN.items() if each.example is None}


def test_every_reason_is_a_sentence() -> None:
    assert [] == [code for code, each in KNOWN.items() if not each.why.endswith(".")]


def written(folder: Path, text: str, example: Example, encoding: str = "utf-8") -> Path:
    # any name will do for transactions
    file = folder / f"{'offers' if example.header.startswith('offer_id') else 'merchants'}.csv"
    lines = [example.header, text] if example.header else [text]
    file.write_text("\n".join([*lines, ""]), encoding)
    return file


def codes_of(file: Path, code: str) -> set[str]:
    """Read a file as what the code is about, and return the codes of its findings."""
    if code in OF_CATALOGUES:
        (catalogue,) = catalogue_files(file)
        return {found for page in catalogue.pages() for found in page.findings["code"]}
    report = validate(str(file), READING, work.job(), outputs=Outputs())
    if isinstance(report.file_error, FileUnusable):
        return {report.file_error.code}
    return {finding["code"] for finding in report.document()["findings"]}


@pytest.mark.parametrize("code", SHOWN)
@one_in(4)
def test_a_bad_line_has_the_finding_and_a_mended_one_has_none(tmp_path: Path, code: str) -> None:
    example = KNOWN[code].example
    assert example
    bad = written(tmp_path, example.bad, example, example.bad_encoding)
    assert {code} == codes_of(bad, code)
    mended = written(tmp_path, example.mended, example)
    assert set() == codes_of(mended, code)


def test_a_code_is_shown_with_its_lines(cardoffers: Any) -> None:
    lines = cardoffers("help", "findings", "duplicate", "--format", "table").stdout.splitlines()
    example = KNOWN["duplicate"].example
    assert example
    shown = [line.split(maxsplit=1) for line in lines[lines.index("Example") + 2 :]]
    assert [
        ["header", example.header],
        *(["bad", line] for line in example.bad.splitlines()),
        *(["mended", line] for line in example.mended.splitlines()),
    ] == shown


def test_a_code_without_lines_is_shown_too(cardoffers: Any) -> None:
    (row,) = cardoffers("help", "findings", "link_kept", "--format", "json").document
    assert (KNOWN["link_kept"].why, None) == (row["why"], row["bad"])


def test_every_code_of_a_bank_is_listed_and_shown(cardoffers: Any) -> None:
    rows = cardoffers("help", "findings", "--format", "json").document
    listed = {row["code"]: (row["summary"], row["fix"]) for row in rows}
    assert {code: (each.summary, each.fix) for code, each in REASONS.items()} == {
        code: listed[code] for code in REASONS
    }
    assert all(each.why.endswith(".") for each in REASONS.values())
    (row,) = cardoffers("help", "findings", "AC04", "--format", "json").document
    assert ("the account is closed", None) == (row["summary"], row["bad"])
