from __future__ import annotations

import pytest

from cardoffers_cli.kernel.words.bank_accounts import (
    iban_fault,
    parse_account,
    plain_name,
    routing_fault,
)
from cardoffers_cli.kernel.words.errors import UsageError

GOOD = [
    ("GB33BUKB20201555555555", "GB33…5555", "GB33BUKB20201555555555"),
    ("gb33 bukb 2020 1555 5555 55/bukbgb22", "GB33…5555", "GB33BUKB20201555555555/BUKBGB22"),
    ("NO9386011117947", "NO93…7947", "NO9386011117947"),
    ("DE89370400440532013000/DEUTDEFFXXX", "DE89…3000", "DE89370400440532013000/DEUTDEFFXXX"),
    ("021000021/123456789", "021000021/…6789", "021000021/123456789"),
    ("0210-0002-1 / 1234", "021000021/…34", "021000021/1234"),
]


@pytest.mark.parametrize(("text", "masked", "kept"), GOOD)
def test_an_account_is_read_however_it_is_spaced(text: str, masked: str, kept: str) -> None:
    """rules.md#accounts"""
    account = parse_account(text)
    assert (masked, kept) == (account.masked, account.text)
    assert account == parse_account(account.text)
    assert account.number not in repr(account)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a routing number has nine digits"),
        ("021000021", "an account number of at most 17"),
        ("021000021/123456789012345678", "an account number of at most 17"),
        ("021000021/12*4", "an account number of at most 17"),
        ("021000022/1234", "the check digit of the routing number does not fit"),
        ("000000000/1234", "the check digit of the routing number does not fit"),
        ("02100002/1234", "a routing number has nine digits"),
        ("GB33BUKB2020155555555", "an IBAN of GB has 22 characters, and this has 21"),
        ("GB33BUKB20201555555556", "the check digits of the IBAN do not fit"),
        ("GB33BUKB20201555555555/BUKBG22", "a BIC has 8 or 11 characters"),
        ("GB78123420201555555555", "an IBAN of GB has letters and digits in other places"),
        ("NO6686011117948", "the check digits of the IBAN do not fit"),  # only the bank's own
        ("GBX3BUKB20201555555555", "an IBAN is two letters, two digits"),
        ("US33BUKB20201555555555", "no country US has IBANs"),
        ("GB33BUKB2020155555555é", "an IBAN is two letters, two digits"),
        ("GB33BUKB2020155555555٣", "an IBAN is two letters, two digits"),
    ],
)
def test_what_is_wrong_is_said_without_the_number(text: str, why: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_account(text)
    assert "account_invalid" == error.value.code
    assert why in error.value.message
    assert "55555555" not in error.value.message


def test_every_wrong_character_of_an_iban_is_found() -> None:
    iban = "GB33BUKB20201555555555"
    for place in range(4, len(iban)):
        for other in "0123456789" if iban[place].isdigit() else "ABCXYZ":
            changed = iban[:place] + other + iban[place + 1 :]
            assert (changed == iban) == (iban_fault(changed) is None), changed


def test_every_wrong_digit_of_a_routing_number_is_found() -> None:
    routing = "021000021"
    for place in range(9):
        for other in "0123456789":
            changed = routing[:place] + other + routing[place + 1 :]
            assert (changed == routing) == (routing_fault(changed) is None), changed


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Larkmere Bank plc", "Larkmere Bank plc"),
        ("Café  Sierra Luz, S.A.", "Cafe Sierra Luz, S.A."),
        ("A & B <x>", "A + B .x."),
        ("Łódź İş", ".odz Is"),
        ("銀行", ".."),
    ],
)
def test_a_name_is_written_in_letters_that_every_bank_takes(name: str, plain: str) -> None:
    assert plain == plain_name(name)
