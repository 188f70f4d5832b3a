"""The plain reading of a file imports nothing but the standard library and itself."""

from __future__ import annotations

import gzip
import subprocess
import sys

from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.profiles.refunds import settled

ASK = """
import sys
before = set(sys.modules)
{line}
third = {{
    name for name in set(sys.modules) - before
    if name.partition(".")[0] not in {{*sys.stdlib_module_names, "cardoffers_cli"}}
    and not name.startswith("_sysconfigdata")
}}
print(",".join(sorted(third)))
"""
HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
BAD = "4111111111111111,ct_1,M6CF4DC01F8024C,12.505,TX-1,2026-03-18T13:12:54"
FILES = {
    "ours.csv": f"{HEADER}\n{BAD}\n".encode(),
    "ours.csv.gz": gzip.compress(f"{HEADER}\n{BAD}\n".encode(), mtime=0),
    "theirs.csv": b"Datum;Betrag\n01.02.2026;12,50\n02.02.2026;1,50\n",
    "ours.json": b'{"transactions": [{"amount": 12.505, "amount": 1}, 7]}',
    "ours.jsonl": b'{"amount": 12.505}\n{"amount": \n',
    "refunds.csv": b"refund_ref,original_transaction_ref,amount,refunded_at\nR1,T1,1.50,\n",
}
PROFILE = """
form = {delimiter = ";"}
trailer = {starts_with = "Summe", count = 2}
[fields]
cardholder_token = {column = "Kunde"}
card_token = {column = "Kunde"}
transacted_at = {column = "Datum", format = "%d.%m.%Y", zone = "Europe/Berlin"}
amount = {column = "Betrag", decimal = ","}
transaction_ref = {column = "#line"}
"""
EXPORT = "Kunde;Datum;Betrag\na@b.example;01.02.2026;1,50\nk;x;1.50\nSumme;2\n"
CHECK = """
from datetime import datetime
from cardoffers_cli.intake.plain import PlainValidation
for name, content in FILES.items():
    check = PlainValidation(
        name, {"now": datetime(2026, 6, 1), "currency": "GBP", "assume_timezone": "Europe/London"}
    )
    check.feed(content)
    check.finish(), list(check.errors_csv())
    if not check.is_unusable:
        apart = check.apart()
        apart.add(content), apart.end()
for encoding in ("utf-8", "utf-16"):
    profile = {**PROFILE, "encoding": encoding}
    check = PlainValidation("a", {"now": datetime(2026, 6, 1), "profile": profile})
    check.feed(EXPORT.encode(encoding))
    assert check.finish()["received"] == 2
    b"".join(check.errors_csv()), check.apart().end()
"""


def third_party(line: str) -> str:
    """Return what lines of Python import that is neither ours nor the standard library's."""
    words = [sys.executable, "-c", ASK.format(line=line)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def test_it_needs_the_standard_library_only() -> None:
    profile = settled(parse_profile(PROFILE, "P.toml"))
    given = f"FILES, PROFILE, EXPORT = {FILES!r}, {profile!r}, {EXPORT!r}"
    assert third_party(f"{given}\n{CHECK}") == ""


def test_what_needs_more_is_seen() -> None:
    assert "polars" in third_party("import cardoffers_cli.intake.rulebook").split(",")
