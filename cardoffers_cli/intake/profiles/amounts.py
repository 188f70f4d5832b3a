"""Read amounts as a profile says they are written, as columns: into our own plain form.

One pattern of the whole text decides; what it lets pass is then taken apart. Only one sign may
stand in it: before or behind the number, or parentheses where the profile has them. `written.py`
has the pattern, and says the same of one text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.intake.profiles.written import NEGATIVE, UNREADABLE, amount_pattern, escaped

if TYPE_CHECKING:
    from cardoffers_cli.intake.layout_model import AmountSource


def plain_amounts(texts: pl.Series, source: AmountSource, decimals: int) -> pl.Series:
    """Return each amount as digits with a point, a minus before it where it is negative.

    Amounts in minor units are given `decimals` of them. What is not as `source` says becomes
    `UNREADABLE`; what is null stays so.
    """
    text = pl.col(texts.name)
    bare = _without_signs(text, source)
    negative = text.str.contains(NEGATIVE)
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


def _without_signs(text: pl.Expr, source: AmountSource) -> pl.Expr:
    """Leave digits and the decimal mark, which becomes a point."""
    bare = text.str.replace_all(source.currency, "", literal=True) if source.currency else text
    kept = bare.str.replace_all(f"[^0-9{escaped(source.decimal)}]", "")
    return kept.str.replace(",", ".", literal=True) if source.decimal == "," else kept
