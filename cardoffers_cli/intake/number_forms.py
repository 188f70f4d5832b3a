"""The numbers of a file's rows: what all of them say is known at its end only.

Until then a number with a right check digit is a doubt, which is kept beside its row
(`river/judge.py` settles it by `kernel/words/cards.py`). Of a token that holds a number set
off from letters the rules say at once that it is a card number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.intake.fields import FREE_TEXTS, IDENTIFIERS, REFERENCES, TOKENS
from cardoffers_cli.intake.numbers import FEW_TEXTS, numbers_of
from cardoffers_cli.kernel.words.card_forms import NumberEvidence, NumberForm
from cardoffers_cli.kernel.words.cards import JOINED

if TYPE_CHECKING:
    from cardoffers_cli.kernel.words.row_kinds import RowKind

DOUBT_SCHEMA = {
    "line": pl.UInt64,
    "field": pl.String,
    "length": pl.UInt32,
    "form": pl.String,
    "text": pl.String,
}
"""Numbers that are right: where they stand, their form, and the text of the field. Grain: one row
per number."""


_HELD = (*REFERENCES, *IDENTIFIERS, *FREE_TEXTS)
"""The fields in which a number may break no rule."""

_REPEATED = (*IDENTIFIERS, *FREE_TEXTS)
"""The fields whose texts are few and stand in many rows."""


def note_numbers(
    evidence: NumberEvidence, kind: RowKind, rows: pl.DataFrame, suspicious: pl.DataFrame
) -> pl.DataFrame:
    """Count the numbers of a stretch of rows of a kind; return the doubts, as `DOUBT_SCHEMA`.

    Every row with a number in another field than these is among the `suspicious` ones.
    """
    doubts = [pl.DataFrame(schema=DOUBT_SCHEMA)]
    for name in kind.columns:
        among = rows if name in _HELD else suspicious
        if name not in among.columns or among.is_empty():
            continue
        is_long = among.height > FEW_TEXTS
        if is_long and name in _REPEATED and numbers_of(among[name].unique(), name).is_empty():
            continue
        frame = numbers_of(among[name], name)
        if name in TOKENS:
            frame = frame.filter(pl.col("form") == JOINED)
        if frame.is_empty():
            continue
        for (length, form), numbers in frame.group_by("length", "form", maintain_order=True):
            number_form = NumberForm(name, length, form)
            if evidence.is_full(number_form):
                continue
            new = numbers.unique("place", keep="first", maintain_order=True)
            evidence.count(number_form, new.select("place", "is_right").iter_rows())
        right = frame.filter("is_right")
        doubts.append(
            right.select(
                line=among["line"].gather(right["row"]),
                field=pl.lit(name),
                length="length",
                form="form",
                text=among[name].gather(right["row"]),
            )
        )
    return pl.concat(doubts)


def refused(doubts: pl.DataFrame, evidence: NumberEvidence) -> pl.DataFrame:
    """Return the doubts that are card numbers by the evidence."""
    forms = doubts.select("field", "length", "form")
    verdicts = {form: evidence.is_refused(NumberForm(*form)) for form in forms.unique().rows()}
    return doubts.filter(pl.Series([verdicts[form] for form in forms.rows()], dtype=pl.Boolean))
