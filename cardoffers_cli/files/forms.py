"""How the columns of a catalogue file are written, and how their text is read.

A form is a pattern, a reading and the words for both. The pattern comes before the reading, because
casts are kinder than the rule (they take `1e3` and ` 5`). To add a form, add it here; columns that
use it stand in `catalogue.txt`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from cardoffers_cli.domain.money import AMOUNT_DIGITS, AMOUNT_SCALE, MINOR_UNITS
from cardoffers_cli.files.fields import IDENTIFIER_TYPES, UUID
from cardoffers_cli.files.timestamps import moments

if TYPE_CHECKING:
    from collections.abc import Callable

MOMENT = pl.Datetime("us")
RATE = pl.Decimal(9, 6)
AMOUNT = pl.Decimal(AMOUNT_DIGITS, AMOUNT_SCALE)

_FLAGS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}


@dataclass(frozen=True)
class Form:
    """A way to write a value: `says` ends the sentence "it must be …".

    `read` makes the value from text that has the pattern; null means that it is none after all.
    `json` is the type it has when it is written as JSON: text, number or flag.
    """

    says: str
    pattern: str
    read: Callable[[pl.Expr], pl.Expr] = lambda text: text
    json: Literal["text", "number", "flag"] = "text"


def _list_of(items: tuple[str, ...]) -> str:
    one = f"(?:{'|'.join(items)})"
    return rf"^{one}(?:\|{one})*$"


def _none_twice(text: pl.Expr) -> pl.Expr:
    items = text.str.split("|")
    return pl.when(items.list.n_unique() == items.list.len()).then(text)


def _moments(text: pl.Expr) -> pl.Expr:
    return text.map_batches(lambda texts: moments(texts, "UTC")["at"], return_dtype=MOMENT)


def one_of(*words: str) -> Form:
    """Return the form of one of a few words."""
    return Form(f"one of {', '.join(words)}", f"^(?:{'|'.join(words)})$")


def whole(least: int) -> Form:
    """Return the form of a whole number of at most nine digits."""
    return Form(
        f"a whole number from {least}",
        "^[0-9]{1,9}$",
        lambda text: _at_least(text.cast(pl.Int32, strict=False), least),
        json="number",
    )


def amount(*, positive: bool = False) -> Form:
    """Return the form of an amount below 10^12; its decimals depend on the row's currency."""
    kind = "a positive amount" if positive else "an amount"
    return Form(
        f"{kind} such as 12.50, with at most {AMOUNT_SCALE} decimals",
        rf"^0*[0-9]{{1,12}}(?:\.[0-9]{{1,{AMOUNT_SCALE}}})?$",
        lambda text: pl.when(text.str.contains("[1-9]") | pl.lit(not positive)).then(
            text.cast(AMOUNT, strict=False)
        ),
        json="number",
    )


def words(longest: int) -> Form:
    """Return the form of text of any kind."""
    return Form(f"text of at most {longest} characters", f"^.{{1,{longest}}}$")


def _at_least(number: pl.Expr, least: int) -> pl.Expr:
    return pl.when(number >= least).then(number)


_FORMS = {
    "text": words(200),
    "long text": words(2000),
    "identifier": words(256),
    "identifier type": one_of(*IDENTIFIER_TYPES),
    "code": Form("visible ASCII text of at most 128 characters", "^[!-~]{1,128}$"),
    "token": Form("a token", ""),
    "slug": Form("lower-case letters, digits and hyphens", "^[a-z0-9-]{1,64}$"),
    "uuid": Form("a UUID", UUID, lambda text: text.str.to_lowercase()),
    "currency": Form("an ISO 4217 currency such as GBP", f"^(?:{'|'.join(MINOR_UNITS)})$"),
    "languages": Form(
        "languages among en, es and pt-BR, each once, such as en|es",
        _list_of(("en", "es", "pt-BR")),
        _none_twice,
    ),
    "segments": Form(
        "segment codes, each once, such as gold|student", _list_of((r"[^|\s]+",)), _none_twice
    ),
    "share": Form(
        "a share from 0 to 1 with at most 6 decimals, such as 0.05",
        r"^(?:0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?)$",
        lambda text: text.cast(RATE, strict=False),
        json="number",
    ),
    "flag": Form(
        "true or false",
        f"^(?i:{'|'.join(_FLAGS)})$",
        lambda text: text.str.to_lowercase().replace_strict(
            _FLAGS, default=None, return_dtype=pl.Boolean
        ),
        json="flag",
    ),
    "time": Form("an ISO 8601 time of the years 1970 to 2100", "", _moments),
    "amount": amount(),
    "positive amount": amount(positive=True),
    "from 0": whole(0),
    "from 1": whole(1),
}


def form_of(name: str) -> Form:
    """Return the form of this name; words with slashes between them are one of them."""
    return one_of(*name.split("/")) if "/" in name else _FORMS[name]
