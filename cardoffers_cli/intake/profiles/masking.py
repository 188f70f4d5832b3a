"""Mask fields of an institution's own lines, where they are copied apart."""

from __future__ import annotations

import codecs
from io import BytesIO
from itertools import accumulate
from typing import TYPE_CHECKING, BinaryIO

from cardoffers_cli.intake.copies import MASK, WHOLE, Masks, without_numbers
from cardoffers_cli.intake.profiles.places import column_name
from cardoffers_cli.intake.profiles.texts import WIDE
from cardoffers_cli.intake.splitting import Layout, LineFault, with_fields_masked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cardoffers_cli.intake.layout_model import Profile


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
