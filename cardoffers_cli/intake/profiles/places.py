"""Find the columns that a profile reads in a file, and what the file calls them; mask some of them.

For both readings, by columns (`reading.py`) and in plain Python (`intake/plain`): imports neither
polars nor pydantic.
"""

from __future__ import annotations

import codecs
from decimal import Decimal
from io import BytesIO
from itertools import accumulate
from typing import TYPE_CHECKING, BinaryIO

from cardoffers_cli.intake.copies import MASK, WHOLE, Masks, without_numbers
from cardoffers_cli.intake.fields import REQUIRED
from cardoffers_cli.intake.lines import (
    Layout,
    LineFault,
    is_blank,
    split_fields,
    with_fields_masked,
)
from cardoffers_cli.intake.profiles.texts import WIDE
from cardoffers_cli.intake.profiles.written import UNREADABLE, PlainAmounts
from cardoffers_cli.kernel.words.findings import unusable
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest
from cardoffers_cli.kernel.words.row_kinds import LINE
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cardoffers_cli.intake.layout_model import Column, Place, Profile
    from cardoffers_cli.intake.profiles.texts import TrailerLine


STAND_IN = "\ue000"
"""Stands for a quote that is none, while the quote of the profile is written as ours."""

_MOST_SHOWN = 20
_TOKENS = ("card_token", "instrument_token")


def column_name(position: int) -> str:
    """Return what the column of a position (from 1) is called within frames."""
    return f"c{position}"


def labels_of(profile: Profile) -> Mapping[str, str]:
    """Return what the fields of a profile are called in the file, several columns as one."""
    fields = profile.fields.given().items()
    return {name: "+".join(map(str, field.sources)) for name, field in fields if field.sources}


def named_positions(
    profile: Profile, positions: Mapping[Column, int]
) -> Mapping[str, Sequence[int]]:
    """Return where the columns of each field stand."""
    return {
        name: [positions[column] for column in field.sources if column != LINE]
        for name, field in profile.fields.given().items()
    }


def columns_of(lines: Sequence[str], profile: Profile) -> list[str]:
    """Return the names of the columns, by the first lines of a file; some may have none."""
    if profile.form.widths:
        names = list(profile.columns)
        return names + [""] * (len(profile.form.widths) - len(names))
    number = profile.header or profile.skip_lines + 1
    if number > len(lines) or is_blank(lines[number - 1].encode()):
        what = "header" if profile.header else "row"
        raise unusable(
            "header_missing",
            f"There is no {what} on line {number}, where the profile says it is.",
            hint="Check skip_lines and header_line of the profile.",
            line=number,
        )
    fields = split_line(lines[number - 1], profile)
    if profile.header:
        return [field.strip() for field in fields]
    if profile.columns and len(profile.columns) != len(fields):
        raise unusable(
            "header_column_missing",
            f"Line {number} has {counted(len(fields), 'field')}, and the profile names "
            f"{counted(len(profile.columns), 'column')}.",
            hint="Check columns and the delimiter of the profile.",
            line=number,
        )
    return list(profile.columns) or [""] * len(fields)


def split_line(line: str, profile: Profile) -> list[str]:
    """Split one line into its fields, with the profile's quote."""
    form = profile.form
    if form.widths or form.delimiter is None:
        return [line]
    if form.quote != '"':
        line = line.replace('"', STAND_IN)
        line = line.replace(form.quote, '"') if form.quote else line
    try:
        fields = split_fields(line, form.delimiter)
    except LineFault as fault:
        raise unusable(
            "header_missing",
            f"The header cannot be split: {fault.message}.",
            hint="Check delimiter and quote of the profile.",
        ) from None
    if form.quote == '"':
        return fields
    return [field.replace('"', form.quote).replace(STAND_IN, '"') for field in fields]


def positions_of(columns: Sequence[str], profile: Profile) -> dict[Column, int]:
    """Find the columns that the profile reads; raise `FileUnusable` for one that is not there."""
    wanted: list[Column] = [
        *(column for field in profile.fields.given().values() for column in field.sources),
        *(condition.column for condition in profile.drop_where),
    ]
    return {column: _position(column, columns, profile) for column in wanted if column != LINE}


def _position(column: Column, columns: Sequence[str], profile: Profile) -> int:
    if isinstance(column, int):
        if column <= len(columns):
            return column
        message = f"There is no column {column}: there are {len(columns)}."
        raise unusable("header_column_missing", message, line=profile.header or None)
    if columns.count(column) == 1:
        return columns.index(column) + 1
    if columns.count(column) > 1:
        raise unusable(
            "header_column_duplicate",
            f"The header names {column} twice.",
            hint="Name the column in the profile by its number, counted from 1.",
            line=profile.header or None,
        )
    near = nearest(column, filter(None, columns))
    listing = ", ".join(filter(None, columns[:_MOST_SHOWN])) if profile.header else ""
    raise unusable(
        "header_column_missing",
        f"There is no column {column}, which the profile names.",
        hint=did_you_mean(near)
        or (f"The columns are: {listing}." if near else None)
        or "Check header_line, encoding and the delimiter of the profile.",
        line=profile.header or None,
    )


def check_fields(profile: Profile) -> None:
    """Raise `FileUnusable` where the profile lacks a field that every event has."""
    fields = profile.fields.given()
    missing = [name for name in REQUIRED if name not in fields]
    if not any(name in fields for name in _TOKENS):
        missing.append(" or ".join(_TOKENS))
    if missing:
        first, *others = missing
        also = f"; also missing: {', '.join(others)}" if others else ""
        raise unusable(
            "profile_field_missing",
            f"The profile does not say where {first} is.",
            hint=f"Add [fields.{first.split()[0]}] with its column{also}.",
        )


# Hold the trailer of a file against its rows: how many there are, and what they add up to.


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
        stated = amounts[_said(trailer.text, wanted.sum, profile)]
        if stated in {"", UNREADABLE} or Decimal(stated) != total:
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


class ProfiledMasks(Masks):
    """The fields of lines in a profile's layout that are not copied as they came.

    `positions` says where the columns of each field stand. A line that cannot be split is masked
    as a whole.
    """

    def __init__(
        self,
        fields: Iterable[tuple[int, str]] | None,
        profile: Profile,
        width: int,
        positions: Mapping[str, Sequence[int]],
    ) -> None:
        super().__init__(fields, None)
        self._profile = profile
        self._names = [column_name(position) for position in range(1, width + 1)]
        self._positions = positions

    def line(self, number: int, piece: bytes) -> bytes:
        """Return a line with its fields masked, where any are; its line end stays."""
        fields = self.names(number)
        if not fields:
            return piece
        if WHOLE in fields:
            return without_numbers(piece)
        encoding = "utf-8" if self._profile.encoding in WIDE else self._profile.encoding
        text = piece.decode(encoding, errors="replace")
        body = text.rstrip("\r\n")
        places = {place for name in fields for place in self._positions.get(name, ())}
        return (self._masked(body, places) + text[len(body) :]).encode(encoding, errors="replace")

    def _masked(self, line: str, places: set[int]) -> str:
        form = self._profile.form
        if form.widths:
            ends = list(accumulate(form.widths))
            for place in places:
                start, end = ends[place - 1] - form.widths[place - 1], ends[place - 1]
                line = line[:start] + MASK.ljust(end - start)[: end - start] + line[end:]
            return line
        if form.delimiter is None or form.quote != '"':
            return MASK
        layout = Layout(names=tuple(self._names), delimiter=form.delimiter)
        try:
            return with_fields_masked(line, layout, {column_name(place) for place in places}, MASK)
        except (LineFault, ValueError):
            return MASK


class Reencoded(BytesIO):
    """A file to which UTF-8 is written, and which holds another encoding."""

    def __init__(self, out: BinaryIO, encoding: str) -> None:
        super().__init__()
        self._out = out
        self._encoder = codecs.getincrementalencoder(encoding)()

    def write(self, text: bytes) -> int:  # type: ignore[override]
        """Write bytes of UTF-8, which end between characters."""
        return self._out.write(self._encoder.encode(text.decode()))
