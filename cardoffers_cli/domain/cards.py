"""Recognise real card numbers (ISO/IEC 7812), which must never reach the service.

A number counts as real when it has an issuer's prefix and length and a right check digit. Text
that only looks like one (a numeric token) passes in nine of ten cases by the check digit alone: so
of many numbers of one form that are none, one in ten is right, and hardly more
(rules.md#card-numbers).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from math import sqrt
from typing import TYPE_CHECKING

from cardoffers_cli.domain.tokens import mask

if TYPE_CHECKING:
    from collections.abc import Iterator

# First and last prefix of each range, and the lengths issued in it.
_RANGES = (
    ("Visa", "4", "4", range(13, 20)),
    ("Mastercard", "51", "55", range(16, 17)),
    ("Mastercard, 2 series", "2221", "2720", range(16, 17)),
    ("American Express", "34", "34", range(15, 16)),
    ("American Express", "37", "37", range(15, 16)),
    ("Diners Club", "300", "305", range(14, 20)),
    ("Diners Club", "3095", "3095", range(14, 20)),
    ("Diners Club", "36", "36", range(14, 20)),
    ("Diners Club", "38", "39", range(14, 20)),
    ("JCB", "3528", "3589", range(16, 20)),
    ("Mir", "2200", "2204", range(16, 20)),
    ("Maestro and others", "50", "50", range(12, 20)),
    ("Maestro", "56", "58", range(12, 20)),
    ("Maestro, Discover, UnionPay, RuPay, Elo", "60", "69", range(12, 20)),
    ("UnionPay and RuPay", "81", "82", range(16, 20)),
    ("Uzcard", "8600", "8600", range(16, 17)),
    ("Troy", "9792", "9792", range(16, 17)),
    ("Humo", "9860", "9860", range(16, 17)),
)
PREFIX_LENGTH = 4
ISSUED = tuple(
    sorted(
        (first.ljust(PREFIX_LENGTH, "0"), last.ljust(PREFIX_LENGTH, "9"), lengths)
        for _, first, last, lengths in _RANGES
    )
)
"""What issuers give: the first and last four digits of each range, and the lengths in it."""

LENGTHS = range(12, 20)
MOST_BYTES = 63
"""The longest text that is taken for a card number: no one writes more than blanks between digits,
and a hash of 64 letters need not be looked at."""

LEAST_IN_TEXT = 13
"""Digits of the shortest number that is looked for where no token is meant."""

ACCEPTOR_LENGTH, ACCOUNT_LENGTH = 15, 18
AMERICAN_EXPRESS = ("34", "37")

BETWEEN_DIGITS = " \t\u00a0\u2000-\u200a\u202f\u205f\u3000\u2010-\u2015\u2212\ufe58\ufe63\uff0d\\-"
"""The blanks and dashes that people write into card numbers, as the inside of a regex's class."""

CARD_LIKE = rf"^[0-9{BETWEEN_DIGITS}]{{{LENGTHS.start},}}$"
"""The pattern of whatever may be one number and nothing else."""

CARD_LIKE_INSIDE = rf"[0-9][0-9{BETWEEN_DIGITS}]{{{LEAST_IN_TEXT - 2},}}[0-9]"
"""The pattern of what may be a number in running text."""

_STARTS = [first for first, _, _ in ISSUED]
_BETWEEN = re.compile(f"[{BETWEEN_DIGITS}]")
_DOUBLED = str.maketrans("0123456789", "0246813579")  # twice the digit, its own digits added
_IN_TEXT = re.compile(
    r"(?<![0-9])(?:[0-9]{13,19}"
    rf"|[0-9]{{4}}(?:[{BETWEEN_DIGITS}][0-9]{{4}}){{3}}(?:[{BETWEEN_DIGITS}][0-9]{{1,3}})?"
    rf"|[0-9]{{4}}[{BETWEEN_DIGITS}][0-9]{{6}}[{BETWEEN_DIGITS}][0-9]{{4,5}})(?![0-9])"
)
"""A number in running text: its digits together, or in the groups that are printed on cards. Any
other row of numbers with blanks between them is a phone number after a shop's."""


def is_card_number(text: str) -> bool:
    """Say whether text is a real card number once spaces and dashes are gone."""
    return is_issued(text) and has_check_digit(_BETWEEN.sub("", text))


def is_reference_card_number(text: str) -> bool:
    """Say whether a reference is a real card number, of 13 digits and more."""
    return is_reference_issued(text) and has_check_digit(_BETWEEN.sub("", text))


def is_reference_issued(text: str) -> bool:
    """Say whether a reference is a number that an issuer could give."""
    return is_issued(text) and len(_BETWEEN.sub("", text)) >= LEAST_IN_TEXT


def is_identifier_card_number(text: str) -> bool:
    """Say whether a merchant's identifier is a real card number, and no number of merchants."""
    return is_identifier_issued(text) and has_check_digit(_BETWEEN.sub("", text))


def is_identifier_issued(text: str) -> bool:
    """Say whether an identifier is a number that an issuer could give, and merchants could not."""
    return is_reference_issued(text) and not _is_of_merchants(text)


def holds_card_number(text: str) -> bool:
    """Say whether there is a real card number in running text."""
    return any(is_card_number(each) and not is_merchants(each) for each in numbers_in(text))


def is_issued(text: str) -> bool:
    """Say whether text is a number that an issuer could give, its check digit left aside."""
    digits = _BETWEEN.sub("", text)
    return _is_number(digits) and _is_issued(digits) and len(text.encode()) <= MOST_BYTES


def has_check_digit(digits: str) -> bool:
    """Say whether the last digit is the Luhn check digit of those before it."""
    plain, doubled = digits[::-2], digits[-2::-2].translate(_DOUBLED)
    return sum(map(int, plain + doubled)) % 10 == 0


def numbers_in(text: str) -> Iterator[str]:
    """Yield the numbers in running text that are as long as a card's, as they are written."""
    return (found[0] for found in _IN_TEXT.finditer(text))


def is_merchants(text: str) -> bool:
    """Say whether a number of an issuer's range has a form of merchants' own, which no card has.

    15 digits are a card acceptor's (ISO 8583, field 42), unless American Express issues them, and
    18 a bank account's in Mexico (codi).
    """
    digits = _BETWEEN.sub("", text)
    if len(digits) == ACCEPTOR_LENGTH:
        return not digits.startswith(AMERICAN_EXPRESS)
    return len(digits) == ACCOUNT_LENGTH


def _is_of_merchants(text: str) -> bool:
    """Say so of an identifier: one of an acceptor's length is none of a card, blanks or not."""
    is_acceptor = len(text.encode()) == ACCEPTOR_LENGTH and not text.startswith(AMERICAN_EXPRESS)
    return is_acceptor or is_merchants(text)


def without_card_numbers(text: str, *, instead: str | None = None) -> str:
    """Mask every real card number in a text: `4111…1111`, or put something in its place."""

    def shown(found: re.Match[str]) -> str:
        number = found[0]
        if is_merchants(number) or not is_card_number(number):
            return number
        return mask(number) if instead is None else instead

    return _IN_TEXT.sub(shown, text)


def is_by_chance(right: int, numbers: int) -> bool:
    """Say whether so many of the numbers of issuers' form would have a right check digit anyway.

    By chance one in ten has; the limit is three standard deviations above. One number alone that is
    right is no chance.
    """
    return right < numbers / 10 + 0.9 * sqrt(numbers)


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdigit()


def _is_issued(digits: str) -> bool:
    prefix = digits[:PREFIX_LENGTH]
    at = bisect_right(_STARTS, prefix) - 1
    if at < 0:
        return False
    _, last, lengths = ISSUED[at]
    return prefix <= last and len(digits) in lengths
