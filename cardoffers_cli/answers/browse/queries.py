"""What a person types into the search box, as something to look for.

Words that can mean one thing only are taken for it: a day or two, a state, an amount, a masked
token; days and amounts also as people write them where they live. An id and any other text can mean
several things, which are tried one after the other until one of them finds something. `name:`
before a word says what is meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cardoffers_cli.answers.search import STATES, PurchaseFilter
from cardoffers_cli.intake.local_forms import read_amount, read_day
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.moments import parse_moment
from cardoffers_cli.kernel.words.money import MINOR_UNITS
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest
from cardoffers_cli.kernel.words.tokens import ELLIPSIS, SHOWN_AT_EACH_END

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Filters = dict[str, Any]

EXAMPLES = (
    ("LAR1-93*", "a reference; * and ? stand for any letters"),
    ("7f03…40ea", "a masked token, also 7f03...40ea, or 40ea; or the full one"),
    ("grocers 2026-09-05", "a merchant's name, or identifier, on a day"),
    ("20.00 2026-09-01..2026-09-30", "an amount, in some days"),
    ("amount:20~1 settled", "an amount, or 1 more or less, in a state"),
    ("6b0e1f5c-…", "the id of a redemption, settlement, import, ledger entry or link"),
)
"""What can be typed, and what it means."""

_AMOUNT = re.compile(r"(\d{1,12}(?:\.\d{1,4})?)(?:[~±](\d{1,12}(?:\.\d{1,4})?))?", re.ASCII)
_DAY = re.compile(r"(?:19|20|21)\d\d-\d\d-\d\d", re.ASCII)
_LOCAL_AMOUNT = re.compile(r"^\d[\d.]*,\d|[£$€¥]\d|\d€", re.ASCII)
_LOCAL_DAY = re.compile(
    r"\d{1,2}\.\d{1,2}\.(?:\d{4})?|\d{1,2}/\d{1,2}/\d{4}|today|yesterday", re.ASCII
)
_NAMED = re.compile(r"([a-z]+):(.+)", re.DOTALL)


@dataclass(frozen=True)
class Attempt:
    """One meaning of what was typed, in words where there are others.

    An `id_` is looked for among everything that has one.
    """

    meaning: str
    wanted: PurchaseFilter | None = field(
        default=None, repr=False
    )  # a token may be taken for a reference
    id_: str | None = field(default=None, repr=False)

    @property
    def token(self) -> str | None:
        """The full token that was typed, which is not to stay on a screen."""
        return self.wanted.token if self.wanted else None


def attempts(text: str, today: date) -> list[Attempt]:
    """Return the meanings of what was typed, the likeliest first; raise `UsageError`."""
    filters: Filters = {}
    names: list[str] = []
    for word in _words(text):
        meant = _meant(word) or _local(word, today)
        names += [] if meant else [word]
        filters |= meant
    if not (filters or names):
        raise UsageError(
            "Nothing says what to look for.",
            code="nothing_wanted",
            hint="Write a reference, a masked token, a merchant, an amount, a day or an id.",
        )
    if not names:
        return [Attempt("", PurchaseFilter(**filters))]
    return [*_named(" ".join(names), filters)]


def _words(text: str) -> Iterator[str]:
    """Yield the words, a currency and the number behind it as one."""
    words = text.split()
    while words:
        word = words.pop(0)
        if word in MINOR_UNITS and words and _AMOUNT.fullmatch(words[0]):
            word = f"amount:{words.pop(0)}"
        yield word


def _meant(word: str) -> Filters:
    """Return the filters of a word that can mean one thing only; none for any other."""
    named = _NAMED.fullmatch(word)
    if named and named[1] in _NAMES:
        return _NAMES[named[1]](named[2])
    if word.replace("-", "_") in STATES:
        return _state(word)
    if ELLIPSIS in word or "..." in word:
        return _cardholder(word)
    if _DAY.fullmatch(word.partition("..")[0]):
        return _days(word)
    if "." in word and _AMOUNT.fullmatch(word):
        return _amount(word)
    return {}


def _local(word: str, today: date) -> Filters:
    """Return the filters of an amount or a day as people write them; none for another word."""
    try:
        if _LOCAL_AMOUNT.search(word):
            amount = read_amount(word)
            return {"least_amount": amount, "most_amount": amount}
        if _LOCAL_DAY.fullmatch(word):
            first = datetime.combine(read_day(word, today), datetime.min.time())
            return {"from_at": first, "to_at": first + timedelta(days=1)}
    except ValueError:
        pass
    return {}


def _named(text: str, others: Filters) -> Iterator[Attempt]:
    """Yield what a text can be the name of."""

    def attempt(meaning: str, **filters: Any) -> Attempt:
        return Attempt(meaning, PurchaseFilter(**{**others, **filters}))

    if " " in text:
        yield attempt("as a merchant", merchant=text)
        return
    try:
        is_id = str(UUID(text)) == text.lower()
    except ValueError:
        is_id = False
    if is_id:
        yield attempt("as a redemption", redemption_id=text)
    yield attempt("as a reference", ref=text)
    if re.search(r"[*?]", text):
        return
    if is_id and not others:
        yield Attempt("as an id", id_=text)
    if not is_id:
        yield attempt("as the beginning of a reference", ref=f"{text}*")
        yield attempt("as a token", token=text)
        yield attempt("as a part of a reference", ref=f"*{text}*")
        if len(text) == SHOWN_AT_EACH_END:
            yield attempt("as the end of a card's token", card_ends=(None, text))
            yield attempt("as the end of a cardholder's token", token_ends=(None, text))
    yield attempt("as a merchant", merchant=text)


def _state(word: str) -> Filters:
    state = word.replace("-", "_")
    if state not in STATES:
        hint = did_you_mean(nearest(state, STATES)) or f"Write one of {', '.join(STATES)}."
        raise UsageError("There is no such state.", code="state_unknown", hint=hint)
    return {"state": state}


def _cardholder(word: str) -> Filters:
    head, cut, tail = word.replace("...", ELLIPSIS).partition(ELLIPSIS)
    if not cut:
        return {"token": word}
    if {len(head), len(tail)} != {SHOWN_AT_EACH_END}:
        raise UsageError(
            "That is no masked token.",
            code="token_not_masked",
            hint="Write its 4 first and 4 last letters, abcd…wxyz or abcd...wxyz, or all of it.",
        )
    return {"token_ends": (head, tail)}


def _amount(word: str) -> Filters:
    match = _AMOUNT.fullmatch(word)
    if match is None:
        raise UsageError(
            "That is no amount.", code="amount_invalid", hint="Write 12.50, or amount:20~1."
        )
    amount, tolerance = Decimal(match[1]), Decimal(match[2] or 0)
    return {"least_amount": amount - tolerance, "most_amount": amount + tolerance}


def _days(word: str) -> Filters:
    first, is_range, last = word.partition("..")
    if is_range and not last:
        return {"from_at": _day(first)}
    return {"from_at": _day(first), "to_at": _day(last or first) + timedelta(days=1)}


def _day(word: str) -> datetime:
    try:
        if _DAY.fullmatch(word):
            return parse_moment(word)
    except ValueError:
        pass
    raise UsageError(
        "That is no day.",
        code="day_invalid",
        hint="Write 2026-09-05, or 2026-09-01..2026-09-30 for all of September.",
    )


_NAMES: dict[str, Callable[[str], Filters]] = {
    "ref": lambda word: {"ref": word},
    "merchant": lambda word: {"merchant": word},
    "redemption": lambda word: {"redemption_id": word},
    "cardholder": _cardholder,
    "state": _state,
    "amount": _amount,
    "day": _days,
}
"""What can be said before a word, to tell what it is."""
