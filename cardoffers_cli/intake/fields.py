"""The fields of rows that institutions send, and the patterns that their text is held against."""

from __future__ import annotations

import re

from cardoffers_cli.kernel.words import row_kinds
from cardoffers_cli.kernel.words.row_kinds import KINDS, PURCHASES

INSTRUMENT_TYPES = ("card", "wallet", "account")
IDENTIFIER_TYPES = ("card_acceptor", "pix_key", "upi_vpa", "codi", "psp_merchant_id")
TOKENS = row_kinds.TOKENS
IDENTIFIERS = row_kinds.IDENTIFIERS
FREE_TEXTS = (*row_kinds.FREE_TEXTS, "failure_code")
TEXTS = (*IDENTIFIERS, *FREE_TEXTS)
REFERENCES = row_kinds.REFERENCES
MOMENTS = tuple(kind.moment for kind in KINDS)
REFUND_KINDS = ("refund", "void", "adjustment")
CREDIT_STATUSES = ("credited", "failed", "reversed")
COLUMNS = PURCHASES.columns
"""The fields of a transaction event, as text columns."""

ALL_COLUMNS = tuple(dict.fromkeys(name for kind in KINDS for name in kind.columns))
"""The fields of rows of every kind."""

OTHERS = "others"
"""The column that holds the text of all fields that are not known, where there are any."""

ZEROS_KEPT = (*TOKENS, *IDENTIFIERS, "mcc", *REFERENCES)
"""The fields whose numbers may begin with zeros that a spreadsheet would drop."""

REQUIRED = PURCHASES.required
TOKEN_LENGTH = 256
REF_LENGTH = 128
STRONG_TOKEN_LENGTH = 32
PLACEHOLDER_LENGTH = 4
UUID = r"^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
INVISIBLE = (
    "[\\x00-\\x1f\\x7f-\\x{9f}"  # C0, DEL, C1
    "\\x{61c}\\x{200e}\\x{200f}\\x{202a}-\\x{202e}\\x{2066}-\\x{2069}"  # direction of text
    "\\x{180e}\\x{200b}-\\x{200d}\\x{2060}\\x{feff}]"  # no width
)
E_MAIL = r"^\s*[^@\s]+@[^@\s]+\.[^@\s]+\s*$"
"""The form of an e-mail address, which no token may have (rules.md#personal-data)."""

NOT_VISIBLE_ASCII = "[^!-~]"
NUMBER = r"^-?[0-9]+(?:\.[0-9]+)?$"


def in_any_case(words: str) -> str:
    """Return words of a regex for those to whom `(?i)` says nothing, as in JSON Schema."""
    return re.sub("[a-z]", lambda letter: f"[{letter[0].upper()}{letter[0]}]", words)


def portable(pattern: str) -> str:
    """Write a pattern of these as ECMA-262 has it, which Python reads too."""
    return re.sub(r"\\x\{(\w+)\}", lambda match: rf"\u{match[1]:0>4}", pattern)


FALSE = ("FALSE", "False", "false")
_WORDS = "|".join((in_any_case("null|n/a|#n/a|na|nil|none|nan|true"), *FALSE))
PLACEHOLDER = rf"^(?:{_WORDS}|\\N|[-?.*_#/]{{1,{PLACEHOLDER_LENGTH}}}|#[A-Z][A-Z/0]*[!?]?|#+)$"
"""What programs write where they have no value: `NULL`, `N/A`, `none`, `nan`, `-`, `#REF!`, or only
whether they have one: `TRUE`."""

_NOBODY = in_any_case("undefined|unknown|missing|empty|null")
_SHORT = f"{{1,{STRONG_TOKEN_LENGTH - 1}}}"
NOBODY = rf"^(?:[(<\[]?(?:{_NOBODY})[)>\]]?|[Nn]\.[Aa]\.|[Xx]{_SHORT}|0{_SHORT}|\*{_SHORT})$"
"""What else stands for no cardholder, shorter than a token is: all rows with it would be one's."""

SPREADSHEET = r"""^['="]|^-?[0-9](?:[.,][0-9]+)?[Ee]\+[0-9]+$|^\s|\s$"""
"""What a spreadsheet makes of an identifier: a formula such as `="0123"`, a leading apostrophe or
quote, a rounded number such as 5.2E+14, blanks at the ends."""

_MONTH = in_any_case("(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
TURNED = (
    rf"^(?:[0-9]{{1,2}}-{_MONTH}(?:-[0-9]{{2}}(?:[0-9]{{2}})?)?|{_MONTH}-[0-9]{{2}}"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2} 00:00:00|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{4})$"
)
"""What a spreadsheet makes of `3-12`, which it takes for a date: `03-Dec`, `03/12/2026`."""

DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
SERIAL = r"^[2-7][0-9]{4}(?:[.,][0-9]+)?$"
"""A date as spreadsheets count days, of the years 1954 to 2119."""

LOCAL_DATE = r"^[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2}(?:[0-9]{2})?(?: .*)?$"
"""A date in the order of some country."""

EXPONENT = r"^[-+]?[0-9.,]+[Ee][-+]?[0-9]+$"
MARKED = r"^[-+]?[0-9]{1,3}(?:[., '][0-9]{3})*[.,][0-9]+$|^[-+]?[0-9]{1,3}(?:[., '][0-9]{3})+$"
"""A number with a decimal comma, or with marks between its thousands."""

WITH_SIGNS = r"^(?:[^0-9]+[0-9][0-9., ']*[^0-9]*|[0-9][0-9., ']*[^0-9., '][^0-9]*)$"
"""A number with a currency, a percent sign or parentheses."""

SHEET_ERROR = r"^#(?:[A-Z][A-Z0-9/]*[!?]|N/A|#+)$"
"""An error of a spreadsheet, or a formula whose result it has not kept."""

NOT_PLAIN = r"""^['="#]|[^!-?A-~]|[0-9][Ee]\+[0-9]"""
"""What any text has that is not visible ASCII, holds `@`, has `SPREADSHEET` or begins with `#`."""

_DATE = r"(?:19[7-9][0-9]|20[0-9]{2}|2100)-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?"
_OFFSET = r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"
WITH_OFFSET = f"^{_DATE}{_CLOCK}{_OFFSET}$"
WITHOUT_OFFSET = f"^{_DATE}(?:{_CLOCK})?$"
USUAL_TIME = rf"^{_DATE}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$"
"""How most programs write a time: one of `WITH_OFFSET`."""
