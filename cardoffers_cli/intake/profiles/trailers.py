"""Hold the trailer of a file against its rows: how many there are, and what they add up to."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.intake.profiles.places import split_line
from cardoffers_cli.intake.profiles.written import UNREADABLE, PlainAmounts
from cardoffers_cli.intake.sources import unusable
from cardoffers_cli.kernel.words.counting import counted

if TYPE_CHECKING:
    from cardoffers_cli.intake.layout_model import Place, Profile
    from cardoffers_cli.intake.profiles.texts import TrailerLine


def check_trailer(
    profile: Profile, trailer: TrailerLine | None, *, rows: int, total: Decimal, decimals: int
) -> None:
    """Raise `FileUnusable` where a trailer is not there, or says otherwise than the rows.

    `rows` and `total` are of all rows, also those that are left out, signs as they stand.
    """
    wanted = profile.trailer
    if wanted is None:
        return
    if trailer is None:
        raise unusable(
            "trailer_mismatch",
            f"No line begins with {wanted.starts_with}: the trailer is not there.",
        )
    count = _said(trailer.text, wanted.count, profile)
    if wanted.count is not None and not (count.isdigit() and int(count) == rows):
        message = f"The trailer does not say that there are {counted(rows, 'row')}."
        raise unusable("trailer_mismatch", message, line=trailer.line)
    amount = profile.fields.amount
    if wanted.sum is not None and amount:
        amounts = PlainAmounts(amount, decimals, as_written=True)
        said = amounts[_said(trailer.text, wanted.sum, profile)]
        if said in {"", UNREADABLE} or Decimal(said) != total:
            message = "The trailer does not say what the amounts of the rows add up to."
            raise unusable("trailer_mismatch", message, line=trailer.line)


def _said(trailer: str, place: Place | None, profile: Profile) -> str:
    """Return what stands at a place of the trailer."""
    if place is None:
        return ""
    if not isinstance(place, int):
        first, last = place
        return trailer[first - 1 : last].strip()
    fields = split_line(trailer, profile)
    return fields[place - 1].strip() if place <= len(fields) else ""
