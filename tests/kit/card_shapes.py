"""Shapes in which card numbers come, and what holds of each, whichever door it comes to."""

from __future__ import annotations

SHAPES = {
    "bare": ("4111111111111111", True),
    "of 13 digits": ("4222222222222", True),
    "of 15 digits": ("378282246310005", True),
    "parted by blanks": ("4111 1111 1111 1111", True),
    "parted by dashes": ("4111-1111-1111-1111", True),
    "parted by dots": ("4111.1111.1111.1111", True),
    "parted by slashes": ("4111/1111/1111/1111", True),
    "parted by underscores": ("4111_1111_1111_1111", True),
    "parted by hyphens of print": ("4111\u20101111\u20101111\u20101111", True),
    "in groups of an American Express": ("3782-822463-10005", True),
    "track 2": (";4111111111111111=29121010000012300000?", True),
    "track 1": ("%B4111111111111111^DOE/JANE^29121010000?", True),
    "within words": ("card 4111 1111 1111 1111 paid", True),
    "in parentheses": ("(5555555555554444)", True),
    "behind a word and a colon": ("PAN:5555555555554444", True),
    "behind letters and an underscore": ("ct_4111111111111111", True),
    "before its expiry": ("4111 1111 1111 1111 12/27", True),
    "joined to small letters": ("ct4111111111111111", False),
    "joined to capital letters": ("INV4111111111111111", False),
    "with a wrong check digit": ("4111111111111112", False),
    "of no issuer": ("9111111111111111", False),
}
"""A text, and whether it is, or holds, a card number."""

CARDS = ("4111111111111111", "4222222222222", "378282246310005", "5555555555554444")


def clear_in(text: str) -> list[str]:
    """Return the card numbers that can be read in a text, whatever stands between their digits.

    Those that are joined to letters are none.
    """
    for shape, is_card in SHAPES.values():
        text = text if is_card else text.replace(shape, "")
    digits = "".join(letter for letter in text if letter.isdigit() or letter in ",\n\"'")
    return [card for card in CARDS if card in digits]
