"""How the columns of a catalogue file are written, and how their text is read.

A form is a pattern, a reading and the words for both. The pattern comes before the reading, because
casts are kinder than the rule (they take `1e3` and ` 5`). To add a form, add it here; columns that
use it stand in `catalogue.txt`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from cardoffers_cli.intake.fields import (
    IDENTIFIER_TYPES,
    UUID,
    WITH_OFFSET,
    WITHOUT_OFFSET,
    in_any_case,
)
from cardoffers_cli.intake.numbers import moments
from cardoffers_cli.kernel.words.countries import COUNTRIES
from cardoffers_cli.kernel.words.money import AMOUNT_DIGITS, AMOUNT_SCALE, MINOR_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOMENT = pl.Datetime("us")
RATE = pl.Decimal(9, 6)
PERCENT = pl.Decimal(5, 2)
AMOUNT = pl.Decimal(AMOUNT_DIGITS, AMOUNT_SCALE)

_FLAGS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}


@dataclass(frozen=True)
class Form:
    """A way to write a value: `says` ends the sentence "it must be …".

    Text has the `pattern` and not that of what is `refused`, and is one of the `words`, where there
    are any; a list has each `item`, which is a pattern too, once. `read` makes the value of such
    text; null means that it is none after all. `json` is the type it has when it is written as
    JSON: text, number or flag, a number within `limits` (keywords of JSON Schema).
    """

    says: str
    pattern: str
    read: Callable[[pl.Expr], pl.Expr] = lambda text: text
    json: Literal["text", "number", "flag"] = "text"
    refused: str | None = None
    words: tuple[str, ...] = ()
    item: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)

    def fits(self, text: pl.Expr) -> pl.Expr:
        """Say whether text is as its patterns ask; what only a reading tells is left to that."""
        has = text.str.contains(self.pattern)
        return has if self.refused is None else has & ~text.str.contains(self.refused)


def _set_of(says: str, *items: str) -> Form:
    """Return the form of a list in which no item comes twice."""
    one = f"(?:{'|'.join(items)})"
    return Form(says, rf"^{one}(?:\|{one})*$", _none_twice, item=f"^{one}$")


def _none_twice(text: pl.Expr) -> pl.Expr:
    items = text.str.split("|")
    return pl.when(items.list.n_unique() == items.list.len()).then(text)


def one_of(*words: str) -> Form:
    """Return the form of one of a few words."""
    return Form(f"one of {', '.join(words)}", f"^(?:{'|'.join(words)})$", words=words)


def whole(least: int) -> Form:
    """Return the form of a whole number of at most nine digits, from 0 or from 1."""
    return Form(
        f"a whole number from {least}",
        "^[0-9]{1,9}$",
        lambda text: text.cast(pl.Int32, strict=False),
        json="number",
        refused="^0+$" if least else None,
        limits={"minimum": least, "exclusiveMaximum": 10**9, "multipleOf": 1},
    )


def amount(*, positive: bool = False) -> Form:
    """Return the form of an amount below 10^12; its decimals depend on the row's currency."""
    kind = "a positive amount" if positive else "an amount"
    return Form(
        f"{kind} such as 12.50, with at most {AMOUNT_SCALE} decimals",
        rf"^0*[0-9]{{1,12}}(?:\.[0-9]{{1,{AMOUNT_SCALE}}})?$",
        lambda text: text.cast(AMOUNT, strict=False),
        json="number",
        refused="^[0.]+$" if positive else None,
        limits={"exclusiveMinimum" if positive else "minimum": 0, "exclusiveMaximum": 10**12},
    )


def words(longest: int) -> Form:
    """Return the form of text of any kind."""
    return Form(f"text of at most {longest} characters", rf"^[^\n]{{1,{longest}}}$")


_FORMS = {
    "text": words(200),
    "long text": words(2000),
    "identifier": words(256),
    "identifier type": one_of(*IDENTIFIER_TYPES),
    "code": Form("visible ASCII text of at most 128 characters", "^[!-~]{1,128}$"),
    "token": Form("a token", ""),
    "slug": Form("lower-case letters, digits and hyphens", "^[a-z0-9-]{1,64}$"),
    "uuid": Form("a UUID", UUID, lambda text: text.str.to_lowercase()),
    "currency": replace(one_of(*MINOR_UNITS), says="an ISO 4217 currency such as GBP"),
    "country": replace(one_of(*COUNTRIES, "none"), says="an ISO 3166 country such as GB"),
    "languages": _set_of(
        "languages among en, es and pt-BR, each once, such as en|es", "en", "es", "pt-BR"
    ),
    "segments": _set_of("segment codes, each once, such as gold|student", r"[^|\s]+"),
    "share": Form(
        "a share from 0 to 1 with at most 6 decimals, such as 0.05",
        r"^(?:0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?)$",
        lambda text: text.cast(RATE, strict=False),
        json="number",
        limits={"minimum": 0, "maximum": 1},
    ),
    "percent": Form(
        "a percent with at most 2 decimals, such as 7.5",
        r"^[0-9]{1,3}(?:\.[0-9]{1,2})?$",
        lambda text: text.cast(PERCENT, strict=False),
        json="number",
        limits={"exclusiveMinimum": 0, "maximum": 100},
    ),
    "flag": Form(
        "true or false",
        f"^(?:{in_any_case('|'.join(_FLAGS))})$",
        lambda text: text.str.to_lowercase().replace_strict(
            _FLAGS, default=None, return_dtype=pl.Boolean
        ),
        json="flag",
    ),
    "time": Form(
        "an ISO 8601 time of the years 1970 to 2100",
        f"{WITH_OFFSET}|{WITHOUT_OFFSET}",
        lambda text: text.map_batches(
            lambda texts: moments(texts, "UTC")["at"], return_dtype=MOMENT
        ),
    ),
    "amount": amount(),
    "positive amount": amount(positive=True),
    "from 0": whole(0),
    "from 1": whole(1),
}


def form_of(name: str) -> Form:
    """Return the form of this name; words with slashes between them are one of them."""
    return one_of(*name.split("/")) if "/" in name else _FORMS[name]
