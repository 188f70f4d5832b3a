"""Guess the layout of a file from its first lines: what a profile of it would say, and why.

Plain Python over some hundred lines, so that whoever meets a file of another layout can say what it
seems to be. Nothing is decided here: every guess says how sure it is, and a profile is read by
people before it reads files. References and tokens are never made up.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cardoffers_cli.intake.lines import with_lf
from cardoffers_cli.intake.profiles.columns import Sample, guess_fields, is_known
from cardoffers_cli.intake.profiles.sample_values import amount_form, date_form
from cardoffers_cli.intake.profiles.widths import FixedLines, fixed_lines
from cardoffers_cli.intake.sources import WIDE_MARKS
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.intake.profiles.columns import GuessedField

_DELIMITERS = ";,\t|"
_MOST_LINES = 400
_MOST_COLUMNS = 1000
_NAMES_OF = {";": "a semicolon", ",": "a comma", "\t": "a tab", "|": "a bar"}
_FEW = 2


@dataclass(frozen=True, kw_only=True)
class GuessedLayout:
    """What a file seems to be: the form of its lines, and what its columns mean.

    `columns` are the names in the header, `rows` how many rows were looked at. `trailer` is the
    TOML of a trailer, if there seems to be one. `sheet` is the sheet of a workbook, as text.
    """

    encoding: str
    delimiter: str | None = None
    widths: Sequence[int] = ()
    skip_lines: int = 0
    header_line: int = 0
    columns: Sequence[str] = ()
    rows: int = 0
    trailer: str | None = None
    fields: Mapping[str, GuessedField] = field(default_factory=dict)
    sheet: str | None = None

    @property
    def is_transactions(self) -> bool:
        """Whether there seem to be amounts and times in it."""
        return {"amount", "transacted_at"} <= self.fields.keys()

    @property
    def lacks_zone(self) -> bool:
        """Whether it has times that nothing says the zone of."""
        guessed = self.fields.get("transacted_at")
        return guessed is not None and "zone" not in guessed.settings and not guessed.has_offset

    def told(self) -> str:
        """Say in a sentence what kind of layout it seems to be."""
        places = [f"{name} in {guessed.label}" for name, guessed in self.fields.items()]
        return self.form() + (f"; it seems to have {', '.join(places)}" if places else "")

    def form(self) -> str:
        """Say how its lines are made: columns, what separates them, encoding, header."""
        if self.sheet is not None:
            form = f"{len(self.columns)} columns of the sheet {visible(self.sheet)}"
        elif self.widths:
            form = f"lines of {sum(self.widths)} characters in {len(self.widths)} columns"
        else:
            separated = _NAMES_OF.get(self.delimiter or "", "nothing")
            form = f"{len(self.columns)} columns separated by {separated}"
        encoding = "" if self.encoding == "utf-8" else f" in {self.encoding}"
        header = f", the header on line {self.header_line}" if self.header_line else ", no header"
        return f"{form}{encoding}{header}"


def guess_layout(
    head: bytes, *, is_whole: bool = False, sheet: str | None = None
) -> GuessedLayout | None:
    """Guess the layout of a file that begins so; None where it has no lines of one form.

    `is_whole` says that nothing follows, so that a trailer can be told. Of a `sheet` it is known
    how its lines are made.
    """
    encoding, text = _decoded(head, is_whole=is_whole)
    lines = with_lf(text.encode()).decode().split("\n")
    if lines and not lines[-1]:
        lines.pop()
    delimiters = _DELIMITERS if sheet is None else ","
    delimiter, records = _delimited([line for line in lines if line.strip()], lines, delimiters)
    is_too_wide = bool(records) and len(records[0][1]) > _MOST_COLUMNS
    if is_too_wide or (delimiter is None and sheet is not None):
        return None
    if delimiter is None:
        fixed = fixed_lines(lines, is_whole=is_whole)
        return _of_fixed(encoding, fixed) if fixed else None
    return replace(_of_delimited(encoding, delimiter, records), sheet=sheet)


def _decoded(head: bytes, *, is_whole: bool) -> tuple[str, str]:
    """Return the encoding and the text; a line that is cut off at the end is left out."""
    if head.startswith(WIDE_MARKS):
        return "utf-16", head.decode("utf-16", "replace")
    if not is_whole:
        head = head[: head.rfind(b"\n") + 1] or head
    try:
        return "utf-8", head.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    has_c1 = any(0x80 <= byte < 0xA0 for byte in head)  # noqa: PLR2004  controls in latin-1
    encoding = "cp1252" if has_c1 else "latin-1"
    return encoding, head.decode(encoding, "replace")


def _delimited(
    filled: Sequence[str], lines: Sequence[str], delimiters: str
) -> tuple[str | None, list[tuple[int, list[str]]]]:
    """Return what separates most lines into equally many fields, and every line split by it."""
    best: tuple[float, str | None] = (0.0, None)
    for delimiter in delimiters:
        widths = Counter(len(_split(line, delimiter)) for line in filled[-_MOST_LINES:])
        if not widths:
            break
        width, count = widths.most_common(1)[0]
        share = count / widths.total()
        if width > 1 and share > 0.6 and (share * width, delimiter) > best:  # noqa: PLR2004
            best = (share * width, delimiter)
    if best[1] is None:
        return None, []
    split = [(n, _split(line, best[1])) for n, line in enumerate(lines, 1) if line.strip()]
    width = Counter(len(fields) for _, fields in split).most_common(1)[0][0]
    return best[1], [(n, fields) for n, fields in split if len(fields) == width]


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [""])
    except csv.Error:  # a field longer than any there is
        return line.split(delimiter)


def _of_delimited(
    encoding: str, delimiter: str, records: list[tuple[int, list[str]]]
) -> GuessedLayout:
    header_line, names = _header(records)
    above = [fields for line, fields in records if line < header_line]
    below = [fields for line, fields in records if line > header_line]
    width = len(records[0][1])
    kinds = [_kind(values) for values in _columns(below[:_MOST_LINES], width)]
    is_data = [record for record in above if _is_row(record, kinds)]
    skipped = 0 if len(is_data) > len(above) / 2 else header_line - 1
    rows = [*(is_data if not skipped else ()), *below][:_MOST_LINES]
    titles = [name.strip() for name in names or [""] * width]
    samples = [
        Sample(place=place, name=name, values=values, unique=titles.count(name) == 1)
        for place, (name, values) in enumerate(zip(titles, _columns(rows, width), strict=True), 1)
    ]
    return GuessedLayout(
        encoding=encoding,
        delimiter=delimiter,
        skip_lines=max(skipped, 0),
        header_line=header_line,
        columns=[sample.name for sample in samples],
        rows=len(rows),
        fields=guess_fields(samples),
    )


def _of_fixed(encoding: str, fixed: FixedLines) -> GuessedLayout:
    samples = [
        Sample(place=place, name="", values=[value for value in values if value])
        for place, values in enumerate(fixed.columns, 1)
    ]
    fields = guess_fields(samples)
    return GuessedLayout(
        encoding=encoding,
        widths=fixed.widths,
        skip_lines=fixed.skip_lines,
        columns=[""] * len(samples),
        rows=fixed.rows,
        trailer=fixed.trailer(fields["amount"].column if "amount" in fields else None),
        fields=fields,
    )


def _columns(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Return the filled values of each column, blanks taken off."""
    if not rows:
        return [[] for _ in range(width)]
    columns = [[value.strip() for value in values] for values in zip(*rows, strict=True)]
    return [[value for value in values if value] for values in columns]


def _kind(values: Sequence[str]) -> str:
    if not values:
        return "empty"
    if date_form(values):
        return "date"
    return "number" if amount_form(values) else "text"


def _is_row(fields: Sequence[str], kinds: Sequence[str]) -> bool:
    """Say whether a line has dates and numbers where the lines below the header have them."""
    typed = [(value.strip(), kind) for value, kind in zip(fields, kinds, strict=True)]
    pairs = [(value, kind) for value, kind in typed if kind in {"date", "number"} and value]
    return bool(pairs) and sum(_kind([value]) == kind for value, kind in pairs) > len(pairs) / 2


def _header(records: Sequence[tuple[int, list[str]]]) -> tuple[int, list[str] | None]:
    """Return the line of the header and its names; 0 where there is none.

    A header has names in most places, none of them a number or a date, and hardly two alike; that
    cannot be said of a row, if it is one with an amount and a date. Of several such lines it is
    the one with the most names that are known.
    """
    best: tuple[int, int, list[str] | None] = (-1, 0, None)
    for line, fields in records:
        names = [name.strip() for name in fields if name.strip()]
        is_named = len(names) > max(len(fields) / 2, 1) and len(set(names)) >= len(names) - 1
        if is_named and not any(_kind([name]) in {"date", "number"} for name in names):
            score = sum(map(is_known, names))
            if score > best[0]:
                best = (score, line, fields)
    return best[1:]
