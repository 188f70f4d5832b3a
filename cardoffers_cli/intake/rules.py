"""The rules of a row, as one table that every door reads rows of every kind through.

Each rule is a condition (`conditions.py`) that holds of a row that breaks it. Of several rules
broken by one column the first in the table speaks, so a card number is not also called a token with
spaces. A rule holds of the kinds of rows that have its column, or of those that it names. Levels
and advice stand in `kernel/words/findings.toml`. To add a rule, add its code there and a line here:
`rulebook.py` derives all else for columns, `plain/rulebook.py` for rows, which is why only the
standard library is imported here. Messages name the column and the rule, never the value. In words
they stand in rules.md#columns, rules.md#amounts, rules.md#currency, rules.md#merchant-fields and
rules.md#control-characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from cardoffers_cli.intake.conditions import MISTYPED as MISTYPED_COLUMN
from cardoffers_cli.intake.conditions import (
    Differs,
    Exceeds,
    Flagged,
    KnownTrue,
    Matches,
    Missing,
    Mistyped,
    MoreDecimals,
    OneOf,
    Sized,
    TextTest,
)
from cardoffers_cli.intake.fields import (
    ALL_COLUMNS,
    CREDIT_STATUSES,
    DAY,
    E_MAIL,
    EXPONENT,
    FALSE,
    FREE_TEXTS,
    IDENTIFIER_TYPES,
    IDENTIFIERS,
    INSTRUMENT_TYPES,
    INVISIBLE,
    LOCAL_DATE,
    MARKED,
    MOMENTS,
    NOBODY,
    NOT_PLAIN,
    NOT_VISIBLE_ASCII,
    NUMBER,
    OTHERS,
    PLACEHOLDER,
    PLACEHOLDER_LENGTH,
    REF_LENGTH,
    REFERENCES,
    REFUND_KINDS,
    SERIAL,
    SHEET_ERROR,
    SPREADSHEET,
    STRONG_TOKEN_LENGTH,
    TEXTS,
    TOKEN_LENGTH,
    TOKENS,
    TURNED,
    UUID,
    WITH_OFFSET,
    WITH_SIGNS,
    WITHOUT_OFFSET,
)
from cardoffers_cli.kernel.words.cards import CARD_LIKE, is_token_card_number, may_hold_card_number
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.money import MINOR_UNITS
from cardoffers_cli.kernel.words.row_kinds import IDS, KINDS, PURCHASES

if TYPE_CHECKING:
    from cardoffers_cli.intake.conditions import Condition
    from cardoffers_cli.kernel.words.row_kinds import RowKind


@dataclass(frozen=True, eq=False)
class QuickTest:
    """A cheap condition that is true wherever a rule that carries it is broken, and else seldom.

    One that holds in no plain text (`delimited.Page.is_plain`) need not be looked at there.
    """

    holds: Condition
    unless_plain: bool = False


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule: `broken` is true where the column breaks it.

    Of the rules of one column the first that is broken is the cause, and the others follow from it;
    a rule that stands `apart` is a cause of its own. Where none of its `suspicions` holds the rule
    is not broken; one without suspicions is always looked at itself. It holds of rows of these
    `kinds`; where it names none, of all that have its column.
    """

    code: str
    column: str | None
    message: str
    broken: Condition
    suspicions: tuple[QuickTest, ...] = ()
    apart: bool = False
    kinds: tuple[RowKind, ...] = ()

    def holds_of(self, kind: RowKind) -> bool:
        """Whether rows of a kind are held against the rule."""
        return kind in (self.kinds or KINDS) and self.column in (None, *kind.columns)

    @property
    def cause(self) -> str:
        """What the rule is about: its column, or itself."""
        return f"{self.column} {self.code}" if self.apart else str(self.column)


def _sized(column: str, least: int, most: int) -> Condition:
    return Sized(column, least, most, in_bytes=True)


MISTYPED = QuickTest(~Missing(MISTYPED_COLUMN))
PLAIN = {
    name: QuickTest(Matches(name, NOT_PLAIN), unless_plain=True)
    for name in (*TOKENS, *IDENTIFIERS, *REFERENCES)
}
"""Every rule about the characters of a token, a reference or an identifier has this one."""

HOLDER_LENGTH = QuickTest(~KnownTrue(_sized("cardholder_token", STRONG_TOKEN_LENGTH, TOKEN_LENGTH)))
LENGTH = {
    "cardholder_token": HOLDER_LENGTH,
    **{name: QuickTest(~_sized(name, PLACEHOLDER_LENGTH + 1, REF_LENGTH)) for name in REFERENCES},
    **{
        name: QuickTest(~_sized(name, PLACEHOLDER_LENGTH + 1, TOKEN_LENGTH))
        for name in ("card_token", "instrument_token", *IDENTIFIERS)
    },
}
UNUSUAL_AMOUNT = QuickTest(~KnownTrue(Flagged("is_usual_amount") & Exceeds("value", 0)))
UNUSUAL_TIME = QuickTest(~KnownTrue(~Exceeds("at", "latest")))
SEVERAL_IDENTIFIERS = QuickTest(~Missing("card_acceptor_id") & ~Missing("merchant_identifier"))

_IS_LOCAL = {name: Matches(name, WITHOUT_OFFSET) for name in MOMENTS}
_IS_NUMBER = Matches("amount", NUMBER)
_NAMES_ACCEPTOR = OneOf("merchant_identifier_type", ("card_acceptor",))


def _unknown(column: str, words: tuple[str, ...]) -> Condition:
    return Mistyped(column) | ~OneOf(column, words)


def begins_with_day(text: str) -> bool:
    """Say whether a text begins with a day that there is, as 2026-02-28."""
    try:
        return bool(date.fromisoformat(text[: len("YYYY-MM-DD")]))
    except ValueError:
        return False


_HAS_DAY = {name: TextTest(name, begins_with_day) for name in MOMENTS}
_NO_INSTRUMENT = Missing("card_token") & Missing("instrument_token")
_NO_MERCHANT = Missing("card_acceptor_id") & Missing("merchant_identifier") & Missing("merchant_id")
_WRITE_PLAIN = "write it as 1234.50, or read the file by a profile"


def _of_moment(name: str) -> tuple[Rule, ...]:
    """Return the rules of the time of a row."""
    return (
        Rule(
            "timestamp_no_offset",
            name,
            f"{name} names no time zone: neither Z nor an offset",
            ~Mistyped(name) & _IS_LOCAL[name] & _HAS_DAY[name] & ~Flagged("assumed"),
            (UNUSUAL_TIME,),
        ),
        Rule(
            "date_turned",
            name,
            f"{name} was turned into a number of days by a spreadsheet",
            ~Mistyped(name) & Matches(name, SERIAL),
            (UNUSUAL_TIME,),
        ),
        Rule(
            "timestamp_invalid",
            name,
            f"{name} is in the order of a country, as spreadsheets write dates: write"
            " YYYY-MM-DDTHH:MM:SSZ, or read the file by a profile",
            Matches(name, LOCAL_DATE),
            (UNUSUAL_TIME,),
        ),
        Rule(
            "timestamp_invalid",
            name,
            f"{name} is not YYYY-MM-DDTHH:MM:SS with Z or an offset, or not a real time",
            Mistyped(name)
            | ~(Matches(name, WITH_OFFSET) | _IS_LOCAL[name])
            | (~Missing(name) & Missing("at")),
            (MISTYPED, UNUSUAL_TIME),
        ),
        Rule(
            "timestamp_in_future",
            name,
            f"{name} is more than 24 hours ahead",
            Exceeds("at", "latest"),
            (UNUSUAL_TIME,),
        ),
    )


RULES: tuple[Rule, ...] = (
    *(
        Rule(
            "card_number",
            name,
            f"{name} is a real card number",
            TextTest(name, is_token_card_number, CARD_LIKE)
            & ~KnownTrue(Flagged(f"declared_{name}")),
            (QuickTest(Matches(name, CARD_LIKE)),),
        )
        for name in TOKENS
    ),
    *(
        Rule(
            "personal_data",
            name,
            f"{name} is an e-mail address",
            Matches(name, E_MAIL),
            (PLAIN[name],),
        )
        for name in TOKENS
    ),
    *(
        Rule(
            "control_character",
            name,
            f"{name} holds an invisible control character",
            Matches(name, INVISIBLE),
            (PLAIN.get(name) or QuickTest(Matches(name, INVISIBLE), unless_plain=True),),
        )
        for name in ALL_COLUMNS
    ),
    Rule(
        "control_character",
        None,
        "a field that is not known holds an invisible control character",
        Matches(OTHERS, INVISIBLE),
        (QuickTest(Matches(OTHERS, INVISIBLE), unless_plain=True),),
    ),
    *(
        Rule(
            "required_missing",
            name,
            f"{name} is empty",
            Missing(name),
            kinds=tuple(kind for kind in KINDS if name in kind.required),
        )
        for name in dict.fromkeys(name for kind in KINDS for name in kind.required)
    ),
    Rule(
        "required_missing",
        "card_token",
        "card_token and instrument_token are both empty",
        _NO_INSTRUMENT,
        kinds=(PURCHASES,),
    ),
    Rule(
        "original_missing",
        "original_transaction_ref",
        "neither original_transaction_ref nor cardholder, instrument and merchant are filled",
        Missing("original_transaction_ref")
        & (Missing("cardholder_token") | _NO_INSTRUMENT | _NO_MERCHANT),
    ),
    Rule(
        "redemption_missing",
        "redemption_id",
        "redemption_id and transaction_ref are both empty",
        Missing("redemption_id") & Missing("transaction_ref"),
    ),
    *(
        Rule(
            "token_placeholder",
            name,
            f"{name} is what a program writes where it has no value",
            Matches(name, PLACEHOLDER),
            (LENGTH[name], PLAIN[name], QuickTest(OneOf(name, FALSE))),
        )
        for name in (*TOKENS, *REFERENCES, *IDENTIFIERS)
    ),
    Rule(
        "token_placeholder",
        "cardholder_token",
        "cardholder_token is what a program writes where it knows nobody",
        Matches("cardholder_token", NOBODY),
        (HOLDER_LENGTH,),
    ),
    *(
        Rule(
            "spreadsheet_damage",
            name,
            f"{name} is not as it was: a spreadsheet has rounded it, quoted it or put blanks to it",
            Matches(name, SPREADSHEET),
            (PLAIN[name],),
        )
        for name in (*TOKENS, *IDENTIFIERS, *REFERENCES)
    ),
    *(
        Rule(
            "spreadsheet_damage",
            name,
            f"{name} is not as it was: a spreadsheet has turned it into a date",
            Matches(name, TURNED),
            (QuickTest(Matches(name, TURNED)),),
        )
        for name in (*REFERENCES, *IDENTIFIERS)
    ),
    *(
        Rule(
            "spreadsheet_error",
            name,
            f"{name} is an error of a spreadsheet",
            Matches(name, SHEET_ERROR),
            (QuickTest(Matches(name, "^#"), unless_plain=True),),
        )
        for name in FREE_TEXTS
    ),
    *(
        Rule(
            "token_invalid",
            name,
            f"{name} is not visible ASCII text of at most {length} characters",
            Mistyped(name) | Matches(name, NOT_VISIBLE_ASCII) | ~Sized(name, 0, length),
            (MISTYPED, PLAIN[name], LENGTH[name]),
        )
        for name, length in (
            *((token, TOKEN_LENGTH) for token in TOKENS),
            *((reference, REF_LENGTH) for reference in REFERENCES),
        )
    ),
    *(
        Rule("text_invalid", name, f"{name} is not text", Mistyped(name), (MISTYPED,))
        for name in TEXTS
    ),
    Rule(
        "instrument_conflict",
        "instrument_token",
        "card_token and instrument_token differ",
        Differs("card_token", "instrument_token"),
    ),
    Rule(
        "instrument_type_unknown",
        "instrument_type",
        f"instrument_type is none of {', '.join(INSTRUMENT_TYPES)}",
        _unknown("instrument_type", INSTRUMENT_TYPES),
    ),
    Rule(
        "refund_kind_unknown",
        "kind",
        f"kind is none of {', '.join(REFUND_KINDS)}",
        _unknown("kind", REFUND_KINDS),
    ),
    Rule(
        "credit_status_unknown",
        "status",
        f"status is none of {', '.join(CREDIT_STATUSES)}",
        _unknown("status", CREDIT_STATUSES),
    ),
    Rule(
        "merchant_identifier_type_unknown",
        "merchant_identifier_type",
        f"merchant_identifier_type is none of {', '.join(IDENTIFIER_TYPES)}",
        _unknown("merchant_identifier_type", IDENTIFIER_TYPES),
    ),
    Rule(
        "merchant_conflict",
        "merchant_identifier",
        "card_acceptor_id and merchant_identifier differ",
        (Missing("merchant_identifier_type") | _NAMES_ACCEPTOR)
        & Differs("card_acceptor_id", "merchant_identifier"),
        (SEVERAL_IDENTIFIERS,),
    ),
    *(
        Rule(code, name, f"{name} is not a UUID", Mistyped(name) | ~Matches(name, UUID))
        for name, code in zip(IDS, ("merchant_id_invalid", "redemption_id_invalid"), strict=True)
    ),
    Rule(
        "amount_invalid",
        "amount",
        "amount is text: write the number without quotes",
        Mistyped("amount") & _IS_NUMBER,
        (MISTYPED,),
    ),
    *(
        Rule(
            code,
            "amount",
            message,
            Matches("amount", pattern) & ~_IS_NUMBER,
            (UNUSUAL_AMOUNT,),
        )
        for code, pattern, message in (
            ("date_turned", f"{TURNED}|{DAY}", "amount was turned into a date by a spreadsheet"),
            ("amount_invalid", EXPONENT, "amount has an exponent: write all its digits"),
            (
                "amount_invalid",
                MARKED,
                f"amount has a decimal comma or marks between thousands: {_WRITE_PLAIN}",
            ),
            ("amount_invalid", SHEET_ERROR, "amount is an error of a spreadsheet"),
            (
                "amount_invalid",
                WITH_SIGNS,
                f"amount has a sign, a currency or blanks beside its digits: {_WRITE_PLAIN}",
            ),
        )
    ),
    Rule(
        "amount_invalid",
        "amount",
        "amount is not digits with an optional decimal part",
        Mistyped("amount") | ~_IS_NUMBER,
        (MISTYPED, UNUSUAL_AMOUNT),
    ),
    Rule(
        "amount_not_positive",
        "amount",
        "amount is zero or negative",
        Matches("amount", "^-") | ~Matches("amount", "[1-9]"),
        (UNUSUAL_AMOUNT,),
    ),
    Rule(
        "amount_too_large",
        "amount",
        "amount is 10^12 or more",
        Matches("amount", "^0*[1-9][0-9]{12}"),
        (UNUSUAL_AMOUNT,),
    ),
    Rule(
        "amount_precision",
        "amount",
        "amount has more decimals than its currency",
        _IS_NUMBER & MoreDecimals("amount", "decimals"),
        (UNUSUAL_AMOUNT,),
        apart=True,
    ),
    Rule(
        "currency_mismatch",
        "currency",
        "currency is none of ISO 4217, or not the program's",
        _unknown("currency", tuple(MINOR_UNITS)) | Differs("currency", "program_currency"),
    ),
    *(rule for name in MOMENTS for rule in _of_moment(name)),
    Rule(
        "institution_mismatch",
        "institution_id",
        "institution_id is not the institution this is read for",
        ~Missing("caller")
        & (Mistyped("institution_id") | Differs("institution_id", "caller", in_any_case=True)),
        (MISTYPED, QuickTest(~Missing("institution_id"))),
    ),
    Rule(
        "token_weak",
        "cardholder_token",
        f"cardholder_token is shorter than {STRONG_TOKEN_LENGTH} characters",
        Sized("cardholder_token", 0, STRONG_TOKEN_LENGTH - 1),
        (HOLDER_LENGTH,),
    ),
    Rule(
        "merchant_missing",
        "card_acceptor_id",
        "no merchant field is filled",
        _NO_MERCHANT & ~Flagged("is_nameless"),
        kinds=(PURCHASES,),
    ),
    Rule(
        "failure_code_missing",
        "failure_code",
        "failure_code is empty beside failed",
        Missing("failure_code") & OneOf("status", ("failed",)),
    ),
    Rule(
        "failure_code_unexpected",
        "failure_code",
        "failure_code is filled beside credited",
        ~Missing("failure_code") & OneOf("status", ("credited",)),
    ),
)
"""The rules in order of precedence. They read the text columns of a kind, `OTHERS` and `mistyped`,
what is derived from them (`at`, `value`, `assumed`, `is_usual_amount`), and the limits `decimals`,
`program_currency`, `latest`, `caller`, whether tokens are `declared_` numbers and `is_nameless`:
that the file has no column that names a merchant, which is said of the file. A column that a file
does not have is empty in every row. Other fields are asked for card numbers at the end of the file
(`chunks.py`)."""

if unknown := {rule.code for rule in RULES}.difference(CODES):
    raise LookupError(f"kernel/words/findings.toml has no table for {', '.join(sorted(unknown))}")


@cache
def shown_reference(column: str) -> Condition:
    """Say where a finding names the reference of its row: it can be nothing but one."""
    return (
        Matches(column, f"^[ -~]{{1,{REF_LENGTH}}}$")
        & ~Matches(column, E_MAIL)
        & ~TextTest(column, may_hold_card_number, CARD_LIKE)
        & ~Mistyped(column)
    )
