"""The plain reading of a file imports nothing but the standard library and itself."""

from __future__ import annotations

import subprocess
import sys

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
CHECK = """
from datetime import datetime
from cardoffers_cli.files.plain import PlainValidation
for name in ("a.csv", "b.csv"):
    check = PlainValidation(name, {"now": datetime(2026, 6, 1), "currency": "GBP"})
    check.feed(b"Datum;Betrag\\n01.02.2026;12,50\\n" if name == "b.csv" else FILE)
    check.finish(), list(check.errors_csv()), check.apart().add(b""), check.apart().end()
"""
FILE = (
    b"cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
    b"4111111111111111,ct_1,M6CF4DC01F8024C,12.505,TX-1,2026-03-18T13:12:54\n"
)


def third_party(line: str) -> str:
    """Return what lines of Python import that is neither ours nor the standard library's."""
    words = [sys.executable, "-c", ASK.format(line=line)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def test_it_needs_the_standard_library_only() -> None:
    assert third_party(f"FILE = {FILE!r}\n{CHECK}") == ""


def test_what_needs_more_is_seen() -> None:
    assert "polars" in third_party("import cardoffers_cli.files.rulebook").split(",")
