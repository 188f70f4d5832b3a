from __future__ import annotations

import io
from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.layouts import open_layout
from cardoffers_cli.intake.profiles.reading import ProfiledFile
from cardoffers_cli.intake.transactions import FileReading
from cardoffers_cli.kernel.words.errors import FileUnusable, UsageError
from layouts import LAYOUTS, MadeLayout
from tables import read

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 12, 31)  # noqa: DTZ001 - moments are naive UTC inside the product
GERMAN = LAYOUTS[0].profile.replace('encoding = "latin-1"', "")
TOKENS = """
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
"""
HEADER = "Belegnummer;Händler;Kaufdatum;Betrag;Kunde;Karte"
HOLDER = "9fb6f85a8aac50e20c422cac18b44258"
GOOD = f"B-1;Café;05.03.2026 18:30;12,50;{HOLDER};ct_1234"


def opened(folder: Path, profile: str, content: bytes, **options: Any) -> ProfiledFile:
    path = folder / "export"
    path.write_bytes(content)
    reading = FileReading(now=NOW, profile=parse_profile(profile, "P.toml"), **options)
    file = open_layout(str(path), reading)
    assert isinstance(file, ProfiledFile)
    return file


def findings(
    folder: Path, *lines: str, profile: str = GERMAN + TOKENS, header: str = HEADER
) -> list[tuple[int, str | None, str]]:
    content = "".join(f"{line}\n" for line in (header, *lines)).encode()
    with opened(folder, profile, content) as file:
        found = pl.concat(chunk.findings for chunk in file.chunks())
        warned = [each.code for each in file.file_findings]
    told = [*found["line", "column", "code"].rows(), *((0, None, code) for code in warned)]
    return [each for each in told if each[2] != "merchant_missing"]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_means_what_its_rows_say(layout: MadeLayout, tmp_path: Path) -> None:
    expected = read(layout.expected)
    with opened(tmp_path, layout.profile, layout.content) as file:
        found = pl.concat(file.canonical()).with_columns(pl.col("line").cast(pl.String))
    assert expected == found.select(*expected[0]).rows(named=True)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_means_the_same_line_by_line_and_in_small_blocks(
    layout: MadeLayout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cardoffers_cli.intake.sources.BLOCK_BYTES", 7)
    expected = read(layout.expected)
    with opened(tmp_path, layout.profile, layout.content) as file:
        found = pl.concat(file.canonical()).with_columns(pl.col("line").cast(pl.String))
    assert expected == found.select(*expected[0]).rows(named=True)


@pytest.mark.parametrize(
    ("line", "column", "code"),
    [
        (GOOD, None, None),
        (GOOD.replace("12,50", "12.50"), "amount", "amount_invalid"),
        (GOOD.replace("12,50", "1.2.3,50"), "amount", "amount_invalid"),
        (GOOD.replace("12,50", "12,505"), "amount", "amount_precision"),
        (GOOD.replace("12,50", "-12,50"), "amount", "amount_not_positive"),
        (GOOD.replace("12,50", "(12,50)"), "amount", "amount_invalid"),
        (GOOD.replace("12,50", "12,50 €"), "amount", "amount_invalid"),
        (GOOD.replace("12,50", ""), "amount", "required_missing"),
        (GOOD.replace("05.03.2026", "31.02.2026"), "transacted_at", "timestamp_invalid"),
        (GOOD.replace("05.03.2026", "05/03/2026"), "transacted_at", "timestamp_invalid"),
        (GOOD.replace("05.03.2026", "05.03.26"), "transacted_at", "timestamp_invalid"),
        (GOOD.replace("05.03.2026 18:30", "46086,77"), "transacted_at", "date_turned"),
        (GOOD.replace("05.03.2026 18:30", "46086"), "transacted_at", "date_turned"),
        (GOOD.replace("05.03.2026", "2026-03-05"), "transacted_at", "date_turned"),
        (GOOD.replace("05.03.2026 18:30", "2026-03-05"), "transacted_at", "date_turned"),
        (GOOD.replace("18:30", "24:00"), "transacted_at", "timestamp_invalid"),
        (GOOD.replace("05.03.2026 18", "25.10.2026 02"), "transacted_at", "timestamp_ambiguous"),
        (GOOD.replace("05.03.2026 18", "29.03.2026 02"), "transacted_at", "timestamp_skipped"),
        (GOOD.replace("05.03.2026", "05.03.2027"), "transacted_at", "timestamp_in_future"),
        (GOOD.replace("B-1", ""), "transaction_ref", "required_missing"),
        (GOOD.replace("ct_1234", "4111111111111111"), "card_token", "card_number"),
        (GOOD.replace("Café", "Café\x07"), "merchant_descriptor", "control_character"),
        (f"{GOOD};x", None, "field_count"),
        (GOOD.replace("Café", 'Ca"fé'), None, "stray_quote"),
        (GOOD.replace("Café", '"Café'), None, "unclosed_quote"),
    ],
)
def test_the_rules_hold_in_any_layout(
    tmp_path: Path, line: str, column: str | None, code: str | None
) -> None:
    expected = [] if code is None else [(2, column, code)]
    other = GOOD.replace("B-1", "B-2")
    assert expected == [each for each in findings(tmp_path, line, other) if each[2] != "token_weak"]


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize("last", [GOOD, f"{GOOD};x", ""])
def test_a_row_without_a_line_end_is_counted_once(tmp_path: Path, last: str, ended: bool) -> None:
    content = f"{HEADER}\n{GOOD}\n{last}".encode() + b"\n" * ended
    with opened(tmp_path, GERMAN + TOKENS, content, unterminated="error") as file:
        list(file.chunks())
        assert 1 + bool(last) == file.received


def test_a_file_says_what_its_columns_are_called(tmp_path: Path) -> None:
    profile = GERMAN.replace(
        '{column = "Belegnummer"}', '{columns = ["Belegnummer", "Kaufdatum"], join = "-"}'
    )
    with opened(tmp_path, profile, f"{HEADER}\n{GOOD}\n".encode()) as file:
        assert "Belegnummer+Kaufdatum" == file.labels["transaction_ref"]
        assert "Betrag" == file.labels["amount"]


UTF_16 = f'encoding = "utf-16"\n{GERMAN}{TOKENS}'


@pytest.mark.parametrize(
    ("profile", "content", "code"),
    [
        (GERMAN, b"", "header_missing"),
        (GERMAN, b"a;b;c\n", "header_column_missing"),
        (
            GERMAN,
            b"Belegnummer;H\xc3\xa4ndler;Kaufdatum;Betrag;Betrag\n",
            "header_column_duplicate",
        ),
        (GERMAN, f"{HEADER}\n{GOOD}\n".encode(), "profile_field_missing"),
        (GERMAN + TOKENS, f"{HEADER}\n{GOOD}\n".encode("utf-16"), "file_encoding"),
        (GERMAN + TOKENS, b"PK\x03\x04", "file_binary"),
        (UTF_16, f"{HEADER}\n{GOOD}\n".encode("utf-16-le"), "file_encoding"),
        (UTF_16, f"{HEADER}\n{GOOD}\n".encode(), "file_encoding"),
    ],
)
def test_a_file_that_the_profile_does_not_fit_is_unusable(
    tmp_path: Path, profile: str, content: bytes, code: str
) -> None:
    with pytest.raises(FileUnusable) as raised, opened(tmp_path, profile, content) as file:
        list(file.chunks())
    assert code == raised.value.code


FIXED = LAYOUTS[3]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("T000003", "T000004"),
        ("+00008278\n", "+00008279\n"),
        ("T000003+00008278\n", ""),
        ("T000003+00008278\n", "T000003+00008278\nD00000420260601CAFE      +00000050\n"),
        ("D00000220260601CAFE      +00000050\n", ""),
    ],
)
def test_a_trailer_that_says_otherwise_makes_the_file_unusable(
    tmp_path: Path, old: str, new: str
) -> None:
    profile = FIXED.profile + 'cardholder_token = {constant = "c"}\ncard_token = {constant = "c"}\n'
    text = FIXED.content.decode()
    with opened(tmp_path, profile, text.encode()) as file:
        assert 2 == sum(chunk.rows.height for chunk in file.chunks())
    with (
        pytest.raises(FileUnusable) as raised,
        opened(tmp_path, profile, new.join(text.rsplit(old, 1)).encode()) as file,
    ):
        list(file.chunks())
    assert "trailer_mismatch" == raised.value.code


def test_lines_of_another_length_are_findings(tmp_path: Path) -> None:
    text = FIXED.content.decode().replace("CAFE      +", "CAFE     +", 1)
    with opened(tmp_path, FIXED.profile.replace("trailer", "#"), text.encode()) as file:
        assert [2, 4] == pl.concat(file.canonical())["line"].to_list()


def test_lines_are_copied_apart_as_they_came(tmp_path: Path) -> None:
    lines = ["made; by; night", HEADER, GOOD, GOOD.replace("ct_1234", "4111111111111111")]
    content = "".join(f"{line}\r\n" for line in lines).encode("cp1252")
    profile = f'encoding = "cp1252"\nskip_lines = 1\n{GERMAN}{TOKENS}'
    valid, rejected = io.BytesIO(), io.BytesIO()
    masked = pl.DataFrame({"line": [4], "field": ["card_token"]})
    with opened(tmp_path, profile, content) as file:
        list(file.chunks())
        file.split(pl.Series([4], dtype=pl.UInt64), valid, rejected, masked)
    both, good, bad = content[: len(content) - 2].split(b"\r\n")[:2], *content.splitlines()[2:]
    assert [*both, good] == valid.getvalue().splitlines()
    assert [
        *both,
        bad.replace(b"4111111111111111", b"[masked]"),
    ] == rejected.getvalue().splitlines()


@pytest.mark.parametrize(
    ("form", "message"),
    [
        *((form, "a time of day is") for form in ("%H", "%I:%M", "%p", "%H:%M %p", "%M", "%S")),
        *((form, "a time of day is") for form in ("%H:%S", "%I %p", "%H:%I:%M %p", "%f")),
        ("%H:%M.%f", "parts of a second"),
        ("%z", "there is none"),
        *((form, None) for form in ("", "%H:%M", "%H:%M:%S", "%H:%M:%S.%f%z", "%I:%M:%S %p")),
    ],
)
def test_a_time_of_day_is_whole_or_not_there(
    tmp_path: Path, form: str, message: str | None
) -> None:
    """What polars cannot read by is refused as the profile's fault, and all else can be read."""
    profile = (GERMAN + TOKENS).replace("%d.%m.%Y %H:%M", f"%d.%m.%Y {form}".strip())
    if message is None:
        assert findings(tmp_path, GOOD, profile=profile) is not None
        return
    with pytest.raises(UsageError, match=message):
        parse_profile(profile, "P.toml")


def test_equal_profiles_have_one_digest() -> None:
    one, other = parse_profile(GERMAN, "P"), parse_profile(f"# as well\n\n{GERMAN}", "Q")
    assert one.digest == other.digest
    assert one.digest != parse_profile(GERMAN.replace("Berlin", "Rome"), "P").digest
