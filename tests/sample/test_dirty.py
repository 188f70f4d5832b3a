from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.intake.transactions import FileReading, open_transactions
from cardoffers_cli.kernel.words.moments import parse_moment
from cardoffers_cli.sample.plan import Plan
from cardoffers_cli.sample.purchases import CSV_FAULTS, FIELD_FAULTS, JSON_FAULTS, LONGEST_LINE
from cardoffers_cli.sample.sample import write_sample
from sizes import one_in

if TYPE_CHECKING:
    from pathlib import Path

JSON_ONLY = {
    "json_invalid",
    "not_an_object",
    "duplicate_key",
    "institution_mismatch",
}
CSV_ONLY = {"field_count", "unclosed_quote", "stray_quote"}
EITHER = set(
    """
    encoding control_character line_too_long required_missing token_invalid card_number
    personal_data instrument_conflict instrument_type_unknown merchant_identifier_type_unknown
    merchant_conflict merchant_id_invalid merchant_missing amount_invalid amount_precision
    amount_not_positive amount_too_large timestamp_invalid timestamp_no_offset timestamp_in_future
    token_weak
    """.split()
)


def dirty(folder: Path, kind: str) -> list[bytes]:
    plan = Plan(rows=200, seed=5, dirty=True, kind=kind)
    made = [file for file in write_sample(folder, plan) if "dirty" in file.path.name]
    assert ["larkmere-dirty." + kind] == [file.path.name for file in made]
    return made[0].path.read_bytes().split(b"\n")[:-1]


def test_every_code_of_a_row_has_its_fault() -> None:
    field_codes = {code for code, _, _ in FIELD_FAULTS}
    assert EITHER | CSV_ONLY == field_codes | {code for code, _, _ in CSV_FAULTS}
    assert EITHER | JSON_ONLY == field_codes | {code for code, _, _ in JSON_FAULTS}


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_one_line_is_just_too_long(tmp_path: Path, kind: str) -> None:
    longest = sorted(map(len, dirty(tmp_path, kind)))[-2:]
    assert longest[0] < 400
    assert LONGEST_LINE < longest[1] < LONGEST_LINE + 600


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_there_is_a_blank_line_a_repeated_row_and_a_conflicting_one(
    tmp_path: Path, kind: str
) -> None:
    lines = dirty(tmp_path, kind)
    assert 1 == lines.count(b"")
    assert 1 == len(lines) - len(set(lines))


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_card_number_and_the_address_are_nobodys(tmp_path: Path, kind: str) -> None:
    text = b"\n".join(dirty(tmp_path, kind))
    assert 1 == text.count(b"4111 1111 1111 1111")
    assert 1 == text.count(b"@") == text.count(b"@example.com")


READING = FileReading(
    now=parse_moment("2026-10-02"), institution_id="00000000-0000-4000-8000-000000000001"
)


def found(path: Path) -> list[str]:
    with open_transactions(str(path), READING) as file:
        chunks = list(file.chunks())
    return [code for chunk in chunks for code in chunk.findings["code"]]


@pytest.mark.parametrize(("kind", "line_faults"), [("csv", CSV_FAULTS), ("jsonl", JSON_FAULTS)])
def test_the_reader_finds_each_fault_as_meant_and_nothing_else(
    tmp_path: Path, kind: str, line_faults: list[tuple[str, str, str]]
) -> None:
    dirty(tmp_path, kind)
    meant = [code for code, _, _ in FIELD_FAULTS] + [code for code, _, _ in line_faults]
    assert meant == found(tmp_path / "transactions" / f"larkmere-dirty.{kind}")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "json"])
@one_in(3)
def test_the_reader_finds_nothing_in_a_clean_file(tmp_path: Path, kind: str) -> None:
    made = list(write_sample(tmp_path, Plan(rows=3_000, seed=5, institutions=4, kind=kind)))
    clean = [file.path for file in made if file.path.parent.name == "transactions"]
    assert 4 == len(clean)
    assert [] == [code for path in clean for code in found(path)]
