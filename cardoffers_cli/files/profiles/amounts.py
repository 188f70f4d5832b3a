"""Read amounts as a profile says they are written, as columns: into our own plain form.

One pattern of the whole text decides; what it lets pass is then taken apart. Only one sign may
stand in it: before or behind the number, or parentheses where the profile has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from cardoffers_cli.domain.profiles import AmountSource

UNREADABLE = "?"
"""What stands in the place of a text that is not as the profile says: no rule lets it pass."""

_BLANK = r"[ \x{a0}\x{202f}]*"
_MINUS = r"[-\x{2212}]"
_GROUP = {" ": r"[ \x{a0}\x{202f}]", "'": r"['\x{2019}]"}
"""Marks between thousands that are written in more than one way."""


def plain_amounts(texts: pl.Series, source: AmountSource, decimals: int) -> pl.Series:
    """Return each amount as digits with a point, a minus before it where it is negative.

    Amounts in minor units are given `decimals` of them. What is not as `source` says becomes
    `UNREADABLE`; what is null stays so.
    """
    text = pl.col(texts.name)
    bare = _without_signs(text, source)
    negative = text.str.contains(rf"{_MINUS}|^\(|\($|\(")
    if source.negate:
        negative = ~negative
    if source.minor_units:
        whole = bare.str.strip_chars_start("0").str.zfill(decimals + 1)
        bare = pl.concat_str(whole.str.head(-decimals), pl.lit("."), whole.str.tail(decimals))
        bare = bare if decimals else whole
    else:
        bare = pl.when(bare.str.starts_with(".")).then(pl.lit("0") + bare).otherwise(bare)
    signed = pl.when(negative).then(pl.lit("-") + bare).otherwise(bare)
    plain = pl.when(text.str.contains(amount_pattern(source))).then(signed)
    unreadable = pl.when(text.is_not_null()).then(pl.lit(UNREADABLE))
    return texts.to_frame().select(pl.coalesce(plain, unreadable).alias("amount")).to_series()


def amount_pattern(source: AmountSource) -> str:
    """Return the pattern of what an amount may look like."""
    point = _escaped(source.decimal)
    number = "[0-9]+"
    if source.thousands:
        group = _GROUP.get(source.thousands, _escaped(source.thousands))
        number = rf"(?:[0-9]+|[0-9]{{1,3}}(?:{group}[0-9]{{2,3}})*{group}[0-9]{{3}})"
    if not source.minor_units:
        number = rf"(?:{number}(?:{point}[0-9]+)?|{point}[0-9]+)"
    currency = rf"(?:{_escaped(source.currency)}{_BLANK})?" if source.currency else ""
    behind = rf"(?:{_BLANK}{_escaped(source.currency)})?" if source.currency else ""
    sign = rf"(?:[+]|{_MINUS}){_BLANK}"
    forms = [
        rf"{currency}(?:{sign})?{number}{behind}",
        rf"{sign}{currency}{number}{behind}",
        rf"{currency}{number}{_BLANK}(?:[+]|{_MINUS}){behind}",
    ]
    if source.parentheses:
        forms += [rf"\({currency}{number}{behind}\)", rf"{currency}\({number}\){behind}"]
    return f"^(?:{'|'.join(forms)})$"


def _without_signs(text: pl.Expr, source: AmountSource) -> pl.Expr:
    """Leave digits and the decimal mark, which becomes a point."""
    bare = text.str.replace_all(source.currency, "", literal=True) if source.currency else text
    kept = bare.str.replace_all(f"[^0-9{_escaped(source.decimal)}]", "")
    return kept.str.replace(",", ".", literal=True) if source.decimal == "," else kept


def _escaped(text: str) -> str:
    return "".join(f"\\x{{{ord(each):x}}}" for each in text)
