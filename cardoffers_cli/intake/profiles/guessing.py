"""Guess the layout of a file from its first lines: what a profile of it would say, and why.

Plain Python over some hundred lines, so that whoever meets a file of another layout can say what it
seems to be. Nothing is decided here: every guess says how sure it is, and a profile is read by
people before it reads files; its TOML is written for that. References and tokens are never made up.

Whoever sends the export of a bank for the first time is told its encoding, delimiter and header
line, in which columns the amount and the time seem to be and how they are written, in the place of
the names that a header of ours has. A column is named only where that can be nothing but a name.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.headers import shown_name
from cardoffers_cli.intake.lines import with_lf
from cardoffers_cli.intake.profiles import sample_values
from cardoffers_cli.intake.profiles.columns import Sample, guess_fields, is_known
from cardoffers_cli.intake.sources import HEAD_BYTES, WIDE_MARKS
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.intake.profiles.columns import GuessedField
    from cardoffers_cli.intake.sources import SheetText


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
        fixed = sample_values.fixed_lines(lines, is_whole=is_whole)
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


def _of_fixed(encoding: str, fixed: sample_values.FixedLines) -> GuessedLayout:
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
    if sample_values.date_form(values):
        return "date"
    return "number" if sample_values.amount_form(values) else "text"


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


_MISSING = {
    "amount": 'column = "…"',
    "transacted_at": 'column = "…"\n# format = "%d.%m.%Y %H:%M"\n# zone = "Europe/London"',
    "transaction_ref": (
        'columns = ["…", "…"]  # what is unique for ever; "#line" is the number of the line\n'
        '# join = "-"'
    ),
    "cardholder_token": 'column = "…"  # the same for every purchase of a customer',
    "card_token": 'column = "…"',
}
"""What a profile needs, and how it is said where nothing was found."""


def proposed(guess: GuessedLayout, name: str, *, zone: str | None = None) -> str:
    """Return the profile that a guess comes to.

    `name` is the file it was made from, `zone` the time zone of its times, where somebody knows it.
    """
    missing = [
        f"\n# [fields.{name}]  # missing: no column seems to hold it\n# {how}"
        for name, how in _MISSING.items()
        if name not in guess.fields
    ]
    return "\n".join([*_head(guess, name), *_fields(guess, zone), *missing, ""])


def _head(guess: GuessedLayout, name: str) -> Iterator[str]:
    yield f"# The layout of {visible(name)}, guessed from {guess.rows} of its rows."
    yield "# Read it, and fix it: `cardoffers profile check` shows what each column becomes."
    yield ""
    if guess.sheet is None:
        yield f"encoding = {_text(guess.encoding)}"
    if guess.skip_lines:
        yield f"skip_lines = {guess.skip_lines}"
    if guess.header_line != guess.skip_lines + 1 and not guess.widths:
        yield f"header_line = {guess.header_line}"
    if guess.sheet is not None:
        yield f"form = {{sheet = {_text(guess.sheet)}}}"
    elif guess.widths:
        yield f"form = {{widths = {[*guess.widths]}}}"
    else:
        yield f"form = {{delimiter = {_text(guess.delimiter)}}}"
    if "amount" in guess.fields and guess.fields["amount"].has_negatives:
        yield '# negatives = "refund"  # leaves out negative amounts; else they are errors'
    if guess.trailer:
        yield f"trailer = {guess.trailer}"


def _fields(guess: GuessedLayout, zone: str | None) -> Iterator[str]:
    if not guess.fields:
        yield "\n[fields]"
    for name, guessed in guess.fields.items():
        is_local = name == "transacted_at" and "%z" not in guessed.settings["format"]
        settings = {**guessed.settings, "zone": zone} if is_local and zone else guessed.settings
        yield ""
        yield f"[fields.{name}]  # {guessed.sureness}: {guessed.why}"
        for key, value in settings.items():
            doubt = "  # likely: by currency or language" if key == "zone" and not zone else ""
            yield f"{key} = {_text(value)}{doubt}"
        if is_local and "zone" not in settings:
            yield '# zone = "Europe/London"  # missing: the file does not say where it was made'


def _text(value: Any) -> str:
    """Write a value as TOML does."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_text(item)}' for key, item in value.items())}}}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def settings_told(settings: Mapping[str, Any]) -> str:
    """Say how a field is written, as one line."""
    details = {key: value for key, value in settings.items() if key not in {"column", "columns"}}
    return ", ".join(f"{key} {_text(value)}" for key, value in details.items())


_TOLD = ("amount", "transacted_at", "transaction_ref")
"""The fields that are told of; a profile has more."""

_USUAL = {"amount": {"decimal": "."}}
"""What a profile need not say."""


def in_other_layout(
    error: FileUnusable, source: str, head: bytes, sheet: SheetText | None = None
) -> FileUnusable:
    """Return the error of a header with the layout that the file seems to have as its hint.

    `head` is how the file begins, or the `sheet` of it that is read. Where there seem to be no
    amounts and times the error stays as it is, but for other sheets of a workbook, which are named.
    """
    name = sheet.name if sheet else None
    guess = guess_layout(head, is_whole=len(head) < HEAD_BYTES, sheet=name)
    if guess is None or not guess.is_transactions:
        if sheet is None:
            return error
        message, hint = f"In the sheet {visible(sheet.name)}: {error.message}", error.hint
        if others := ", ".join(map(visible, sheet.others)):
            hint = f"{hint} To read another sheet add --sheet with one of: {others}."
        return FileUnusable(message, code=error.code, hint=hint, **error.details)
    file = "FILE" if source == "-" else quote(source)
    encoding = ", in UTF-8" if guess.encoding == "utf-8" and not sheet else ""
    hint = (
        f"It seems to be an export in another layout: {guess.form()}{encoding};"
        f" {'; '.join(_field_lines(guess))}."
        f" To read it by a profile: `cardoffers profile new {file} -o layout.toml`."
    )
    return FileUnusable(error.message, code=error.code, hint=hint, **error.details)


def of_wide_text(error: FileUnusable, source: str, head: bytes) -> FileUnusable:
    """Return the error of a file; of one in UTF-16 with the layout that it seems to have."""
    return in_other_layout(error, source, head) if head.startswith(WIDE_MARKS) else error


def _field_lines(guess: GuessedLayout) -> Iterator[str]:
    """Yield where the fields seem to be, how they are written, and how sure that is."""
    for name in _TOLD:
        if guessed := guess.fields.get(name):
            columns = guessed.settings.get("columns", [guessed.column])
            places = " and ".join(_place(guess, column) for column in columns)
            parts = [places, settings_told({**_USUAL.get(name, {}), **guessed.settings})]
            doubt = "" if guessed.sureness == "sure" else f" ({guessed.sureness})"
            yield f"{name} in {', '.join(part for part in parts if part)}{doubt}"


def _place(guess: GuessedLayout, column: str | int | None) -> str:
    if not isinstance(column, str):
        return f"column {column}"
    return shown_name(column) or f"column {[*guess.columns].index(column) + 1}"
