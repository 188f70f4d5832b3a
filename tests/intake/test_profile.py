"""Files in a layout of their own, from the sample to the store."""

from __future__ import annotations

import csv
import hashlib
import hmac
import json
import os
import pty
import subprocess
from typing import TYPE_CHECKING

import duckdb
import pytest

from commands import command, in_a_pipe
from sizes import slow

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Ended

HOLDER = "9fb6f85a8aac50e20c422cac18b44258"
KEY = "0123456789abcdef0123456789abcdef"
HEADER = "Kundennummer;Kartennummer;Händler-ID;Kaufdatum;Betrag;Belegnummer"
ROWS = [
    f"K-{n % 3};KA-{n % 5:06};M6CF4DC01F8{n % 2:04};{n:02}.03.2026 18:30;1.{n:03},50;B-{n:04}"
    for n in range(1, 29)
]
AS_OF = ("--as-of", "2026-10-10")


def cardoffers(*words: object) -> Ended:
    return in_a_pipe([*words])


def bank(folder: Path, *rows: str) -> Path:
    path = folder / "export.csv"
    path.write_text("".join(f"{row}\n" for row in (HEADER, *rows)), "latin-1")
    return path


def guessed(folder: Path, *rows: str) -> tuple[Path, Path]:
    """Return an export and the profile that is guessed of it, as it is."""
    export, profile = bank(folder, *rows), folder / "bank.toml"
    assert 0 == cardoffers("profile", "new", export, "-o", profile).exit_code
    return export, profile


def convert(export: Path, profile: Path, to: Path, *more: object) -> Ended:
    return cardoffers("profile", "convert", export, "--profile", profile, "-o", to, *AS_OF, *more)


def with_tokens(profile: Path) -> None:
    """Say that the file holds tokens already."""
    text = profile.read_text().replace('hmac = {key_file = "token.key"}\n', "")
    profile.write_text(text)


def test_a_german_export_is_a_good_file_after_two_commands(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    key = tmp_path / "token.key"
    key.write_text(KEY)
    key.chmod(0o600)
    canonical, again = tmp_path / "canonical.csv", tmp_path / "again.csv"
    assert 0 == convert(export, profile, canonical).exit_code
    assert 0 == convert(export, profile, again).exit_code
    assert canonical.read_bytes() == again.read_bytes()
    checked = cardoffers("validate", canonical, *AS_OF, "--format", "json").document
    assert (28, 28, True) == (checked["received"], checked["valid"], checked["ok"])
    header, first, *_ = canonical.read_text().splitlines()
    token = hmac.new(KEY.encode(), b"K-1", hashlib.sha256).hexdigest()
    assert (
        "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
        == header
    )
    assert first.startswith(f"{token},")
    assert first.endswith(",M6CF4DC01F80001,1001.50,B-0001,2026-03-01T17:30:00Z")


@slow
def test_the_zone_is_asked_for_on_a_terminal_only(tmp_path: Path) -> None:
    export, profile = tmp_path / "export.csv", tmp_path / "P.toml"
    export.write_text("ref,date,amount\nx1,2026-03-01,1.50\nx2,2026-03-02,2.50\n")
    new = ("profile", "new", export, "-o", profile)
    assert 0 == cardoffers(*new).exit_code
    assert '# zone = "Europe/London"  # missing' in profile.read_text()
    ours, theirs = pty.openpty()
    with subprocess.Popen(command(*new), stdin=theirs, stdout=subprocess.DEVNULL) as running:
        os.write(ours, b"Europe/Lisbon\n")
    os.close(ours)
    os.close(theirs)
    assert 0 == running.returncode
    assert 'zone = "Europe/Lisbon"' in profile.read_text()


def test_findings_name_the_line_and_the_column_of_the_file(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    with_tokens(profile)
    bad = ROWS[1].replace("1.002,50", "1002.50").replace("B-0002", "")
    bank(tmp_path, ROWS[0], bad, *ROWS[2:])
    errors, rejected = tmp_path / "errors.csv", tmp_path / "rejected.csv"
    ended = cardoffers(
        *("validate", export, "--profile", profile, "--errors", errors, "--rejected", rejected),
        *AS_OF,
    )
    assert 3 == ended.exit_code
    told = [line.split(",")[:5] for line in errors.read_text().splitlines() if ",error," in line]
    assert [
        ["3", "", "Belegnummer", "required_missing", "error"],
        ["3", "", "Betrag", "amount_invalid", "error"],
    ] == sorted(told, key=lambda each: each[2])
    assert [HEADER, bad] == rejected.read_text("latin-1").splitlines()


def test_a_finding_says_what_was_expected_and_no_value(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    with_tokens(profile)
    bank(tmp_path, ROWS[0].replace("1.001,50", "77x77"), *ROWS[1:])
    ended = cardoffers("validate", export, "--profile", profile, *AS_OF, "--format", "md")
    assert "as 1.234,50 (column Betrag)" in ended.stdout
    assert "77x77" not in ended.stdout + ended.stderr


@pytest.mark.parametrize("command", ["validate", "import", "simulate"])
def test_raw_keys_go_through_convert_only(tmp_path: Path, command: str) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    of = () if command == "validate" else ("-i", "larkmere")
    ended = cardoffers(command, export, "--profile", profile, *of)
    assert 2 == ended.exit_code
    assert f"profile convert FILE --profile {profile} -o canonical.csv" in ended.stderr


def test_a_missing_key_says_how_to_make_one(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    ended = convert(export, profile, tmp_path / "canonical.csv")
    assert 5 == ended.exit_code
    assert f"openssl rand -hex 32 > {tmp_path / 'token.key'}" in ended.stderr
    assert not (tmp_path / "canonical.csv").exists()


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    (tmp_path / "token.key").write_text(KEY)
    (tmp_path / "token.key").chmod(0o644)
    assert 4 == convert(export, profile, tmp_path / "canonical.csv").exit_code


def test_what_is_converted_are_the_valid_rows(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    with_tokens(profile)
    bank(tmp_path, ROWS[0], ROWS[0], ROWS[1].replace("1.002,50", "-2,50"), ROWS[2])
    canonical = tmp_path / "canonical.csv"
    assert 3 == convert(export, profile, canonical).exit_code
    refs = [line.split(",")[4] for line in canonical.read_text().splitlines()[1:]]
    assert ["B-0001", "B-0003"] == refs


RETURNED = [
    "K-1;KA-000001;M6CF4DC01F80001;07.03.2026 18:30;-1.012,50;B-0101",
    "K-2;KA-000002;M6CF4DC01F80000;08.03.2026 18:30;-2,5;B-0102",
    ";KA-000003;M6CF4DC01F80000;08.03.2026 18:31;-3,50;B-0103",
    "K-2;KA-000002;M6CF4DC01F80000;09.03.2026 18:30;-4,50;4111111111111111",
    "K-2;KA-000002;M6CF4DC01F80000;32.03.2026 18:30;-5,50;B-0105",
]


def codes_of(errors: Path) -> list[tuple[str, str]]:
    """Return the errors of a report, by line."""
    rows = csv.DictReader(errors.read_text().splitlines())
    return [(row["line"], row["code"]) for row in rows if row["level"] == "error"]


def test_refunds_are_converted_apart_and_those_that_are_not_good_are_told(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    with_tokens(profile)
    profile.write_text(f'negatives = "refund"\n{profile.read_text()}')
    bank(tmp_path, *ROWS[:2], *RETURNED)
    canonical, refunds = tmp_path / "canonical.csv", tmp_path / "refunds.csv"
    errors = tmp_path / "errors.csv"
    ended = convert(export, profile, canonical, "--refunds", refunds, "--errors", errors)
    assert 3 == ended.exit_code
    assert [
        "refund_ref,cardholder_token,card_token,card_acceptor_id,amount,refunded_at",
        "B-0101,K-1,KA-000001,M6CF4DC01F80001,1012.50,2026-03-07T17:30:00Z",
        "B-0102,K-2,KA-000002,M6CF4DC01F80000,2.50,2026-03-08T17:30:00Z",
    ] == [line.replace("+00:00", "Z") for line in refunds.read_text().splitlines()]
    assert 3 == len(canonical.read_text().splitlines())
    assert f"Wrote 2 refunds to {refunds}" in ended.stderr
    assert [
        ("6", "original_missing"),
        ("7", "card_number"),
        ("8", "timestamp_invalid"),
    ] == codes_of(errors)
    assert 3 == convert(export, profile, canonical, "--errors", errors).exit_code
    left = [(line, code) for line, code in codes_of(errors) if code == "refund_left_out"]
    assert [("4", "refund_left_out"), ("5", "refund_left_out")] == left
    checked = cardoffers("validate", refunds, "--format", "json", *AS_OF).document
    assert ("refunds", 2, 0) == (checked["kind_of_rows"], checked["valid"], checked["invalid"])


def test_refunds_are_written_apart_only_where_the_profile_knows_them(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    with_tokens(profile)
    ended = convert(export, profile, tmp_path / "c.csv", "--refunds", tmp_path / "r.csv")
    assert 2 == ended.exit_code
    assert f'Add `negatives = "refund"` to {profile}' in ended.stderr


def test_a_last_line_that_may_be_cut_is_not_converted(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    with_tokens(profile)
    export.write_bytes(export.read_bytes()[:-1])
    canonical = tmp_path / "canonical.csv"
    assert 3 == convert(export, profile, canonical).exit_code
    assert len(ROWS) == len(canonical.read_text().splitlines())  # with the header, without the last


def test_a_check_shows_what_each_column_becomes_and_masks_texts(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    bank(tmp_path, ROWS[0], ROWS[1].replace("02.03.2026", "02/03/2026"))
    ended = cardoffers("profile", "check", profile, export, "--format", "json")
    assert 3 == ended.exit_code
    found = {each["field"]: each for each in ended.document["fields"]}
    assert ("Kaufdatum", 1, 1) == tuple(
        found["transacted_at"][name] for name in ("column", "rows", "unreadable")
    )
    assert "1001.50" == found["amount"]["example"]
    assert "KA-000001" not in ended.stdout


def test_an_import_keeps_the_digest_of_its_profile(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "store.duckdb")
    export, profile = guessed(tmp_path, *ROWS)
    with_tokens(profile)
    for words in (
        ("init", *store),
        ("institution", "add", "larkmere", "--name", "L", "--currency", "EUR", *store),
        ("simulate", export, "-i", "larkmere", "--profile", profile, *store, *AS_OF),
        ("import", export, "-i", "larkmere", "--profile", profile, *store, *AS_OF),
    ):
        ended = cardoffers(*words)
        assert 0 == ended.exit_code, ended
    digest = cardoffers("profile", "show", profile, "--format", "json").document["digest"]
    assert digest == _options(tmp_path / "store.duckdb")["profile"]


def _options(path: Path) -> dict[str, str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        found = connection.execute("select options from imports").fetchone()
    assert found
    return dict(json.loads(found[0]))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("form = {", "is not TOML"),
        ("[fields]\n", "form: field required"),
        (
            'form = {delimiter = ";"}\n[fields]\namout = {column = "a"}\n',
            "fields.amout: there is no",
        ),
        (
            'form = {delimiter = ";"}\n[fields]\namount = {column = "a", decimal = ";"}\n',
            "fields.amount.decimal: ",
        ),
    ],
)
def test_a_wrong_profile_is_refused_with_the_place(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "P.toml"
    path.write_text(text)
    ended = cardoffers("profile", "show", path)
    assert 2 == ended.exit_code
    assert place in ended.stderr


def test_a_profile_and_a_delimiter_exclude_each_other(tmp_path: Path) -> None:
    export, profile = guessed(tmp_path, *ROWS)
    ended = cardoffers("validate", export, "--profile", profile, "--delimiter", ";")
    assert 2 == ended.exit_code
