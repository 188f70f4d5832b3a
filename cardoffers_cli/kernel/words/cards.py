"""Recognise real card numbers (ISO/IEC 7812), which must never reach the service.

A number looks like a card's when it has an issuer's prefix and length and a right check digit. One
in ten numbers of that range has, so what a field of an institution sent over time tells whether
such numbers are cards' (`card_forms.py`, rules.md#card-numbers).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from cardoffers_cli.kernel.words.ids import mask
from cardoffers_cli.kernel.words.row_kinds import IDENTIFIERS, REFERENCES, TOKENS

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
LEAST_IN_TEXT = 13
"""Digits of the shortest number that is looked for where no token is meant."""

MOST_BYTES = 63
"""The longest text that is one number: no one writes more than blanks between digits."""

ACCEPTOR_LENGTH, ACCOUNT_LENGTH = 15, 18
AMERICAN_EXPRESS = ("34", "37")

BETWEEN_DIGITS = (
    " \t\u00a0\u2000-\u200a\u202f\u205f\u3000\u2010-\u2015\u2212\ufe58\ufe63\uff0d./_\\-"
)
"""What people write between the digits of card numbers, as the inside of a regex's class."""

BARE = rf"^[0-9]{{{LENGTHS.start},{LENGTHS.stop - 1}}}$"
"""The pattern of a number that is written without anything else."""

CARD_LIKE = (
    rf"(?:^|[^0-9A-Za-z])[A-Za-z]*(?:[345689]|2[{BETWEEN_DIGITS}]*[2-7])"
    rf"[0-9{BETWEEN_DIGITS}]{{{LENGTHS.start - 2},}}[A-Za-z]*(?:$|[^0-9A-Za-z])"
)
"""The pattern of whatever may hold a number; it is cheap, and finds too much."""

ALONE, JOINED, TRACK = "alone", "joined", "track"
"""How a number stands in a text: set off from letters, joined to a word's letters at one of its
ends, or as on a magnetic stripe."""

_STARTS = [first for first, _, _ in ISSUED]
_BETWEEN = re.compile(f"[{BETWEEN_DIGITS}]")
_WHOLE = re.compile(f"[0-9{BETWEEN_DIGITS}]+")
_DOUBLED = str.maketrans("0123456789", "0246813579")  # twice the digit, its own digits added
_GROUPS = (
    "[0-9]{13,19}",
    rf"[0-9]{{4}}(?:[{BETWEEN_DIGITS}][0-9]{{4}}){{3}}",
    rf"[0-9]{{4}}(?:[{BETWEEN_DIGITS}][0-9]{{4}}){{3}}[{BETWEEN_DIGITS}][0-9]{{1,3}}",
    rf"[0-9]{{4}}[{BETWEEN_DIGITS}][0-9]{{6}}[{BETWEEN_DIGITS}][0-9]{{4,5}}",
)
_IN_TEXT = re.compile(
    "(?<![0-9])(?=[0-9])" + "".join(f"(?:(?=({group})(?![0-9])))?" for group in _GROUPS)
)
"""Where numbers begin in running text: their digits together, or in the groups that are printed on
cards, of which several may fit. Any other row of digits and blanks is a phone number."""

_REST_OF_TRACK = re.compile(r"=[0-9]*|\^[^^?,;\t\n]*(?:\^[0-9 ]*)?")
_WORD_BEFORE = re.compile(r"(?<![0-9A-Za-z])[A-Za-z]+\Z")
_WORD_BEHIND = re.compile(r"[A-Za-z]+(?![0-9A-Za-z])")


class CardLike(NamedTuple):
    """A number of an issuer's range in a text: where it begins, as written, and how it stands."""

    start: int
    text: str
    digits: str
    form: str

    @property
    def is_right(self) -> bool:
        """Whether its last digit is the check digit of the others."""
        return has_check_digit(self.digits)


def numbers_in(text: str, field: str = "") -> list[CardLike]:
    """Return the numbers in the text of a field of which a card's could be one.

    In tokens, references and identifiers the text may be one number with blanks anywhere. What is
    no such field is running text. Numbers that merchants have in their identifiers and names, and
    no cards, are left out there.
    """
    is_token, is_named = field in TOKENS, field in IDENTIFIERS
    least = LENGTHS.start if is_token else LEAST_IN_TEXT
    if len(text) < least:
        return []
    items = [*_inside(text)]
    if (is_token or is_named or field in REFERENCES) and _WHOLE.fullmatch(text):
        digits = _BETWEEN.sub("", text)
        fits = least <= len(digits) and len(text.encode()) <= MOST_BYTES and is_issued(digits)
        if fits and digits not in [item.digits for item in items]:  # as a part may be a number too
            items.insert(0, CardLike(0, text, digits, ALONE))
    if is_token or field in REFERENCES:
        return items
    return [item for item in items if item.form == TRACK or not _is_merchants(item, is_named)]


def holds_card_number(text: str, field: str = "") -> bool:
    """Say whether there is a card number in a text, whatever else its institution has sent."""
    return any(number.form != JOINED and number.is_right for number in numbers_in(text, field))


def is_token_card_number(text: str) -> bool:
    """Say whether a token is, or holds, a card number."""
    return holds_card_number(text, TOKENS[0])


def may_hold_card_number(text: str) -> bool:
    """Say whether a text is not to be shown before all of its file is read."""
    return any(number.is_right for number in numbers_in(text, TOKENS[0]))


def has_check_digit(digits: str) -> bool:
    """Say whether the last digit is the Luhn check digit of those before it."""
    plain, doubled = digits[::-2], digits[-2::-2].translate(_DOUBLED)
    return sum(map(int, plain + doubled)) % 10 == 0


def without_card_numbers(
    text: str, *, instead: str | None = None, joined: bool = False, field: str = ""
) -> str:
    """Mask every card number in a text: `4111…1111`, or put something in its place.

    Those that are `joined` to letters too, where nothing tells that they are references. What a
    magnetic stripe has behind the number (name, expiry, service code) goes with it.
    """
    parts, at = [], 0
    for number in numbers_in(text, field):
        if number.start >= at and number.is_right and (joined or number.form != JOINED):
            parts += [text[at : number.start], mask(number.text) if instead is None else instead]
            at = number.start + len(number.text)
            if number.form == TRACK and (rest := _REST_OF_TRACK.match(text, at)):
                at = rest.end()
    return "".join([*parts, text[at:]])


def _inside(text: str) -> Iterator[CardLike]:
    for match in _IN_TEXT.finditer(text):
        for number in reversed(match.groups()):
            if number and is_issued(digits := _BETWEEN.sub("", number)):
                start = match.start()
                if form := _form(text[:start], text[start + len(number) :]):
                    yield CardLike(start, number, digits, form)


def _form(before: str, behind: str) -> str | None:
    """Say how a number stands between two parts of a text; None within a word of digits."""
    if behind[:1] == "=" and before[-1:] == ";":
        return TRACK
    if behind[:1] == "^" and before[-2:-1] == "%":
        return TRACK
    is_begun, is_ended = not _is_of_word(before[-1:]), not _is_of_word(behind[:1])
    if is_begun and is_ended:
        return ALONE
    if (is_ended and _WORD_BEFORE.search(before)) or (is_begun and _WORD_BEHIND.match(behind)):
        return JOINED
    return None


def _is_of_word(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


def _is_merchants(number: CardLike, is_named: bool) -> bool:
    """Say whether a number has a form of merchants' own, which no card has.

    15 digits are a card acceptor's (ISO 8583, field 42), unless American Express issues them, and
    18 a bank account's in Mexico (codi). An identifier is an acceptor's with blanks too.
    """
    length = len(number.digits)
    is_acceptor = length == ACCEPTOR_LENGTH or (is_named and len(number.text) == ACCEPTOR_LENGTH)
    is_americans = number.digits.startswith(AMERICAN_EXPRESS)
    return length == ACCOUNT_LENGTH or (is_acceptor and not is_americans)


def is_issued(digits: str) -> bool:
    """Say whether digits are a number that an issuer could give, the check digit left aside."""
    prefix = digits[:PREFIX_LENGTH]
    at = bisect_right(_STARTS, prefix) - 1
    if at < 0:
        return False
    _, last, lengths = ISSUED[at]
    return prefix <= last and len(digits) in lengths
