"""Cut lines into columns as a profile says: by a delimiter, or at fixed widths.

Delimited lines are those of `delimited.py`, with its findings. It takes quoted fields line by
line; where one pattern proves that no quote is out of place, they are split in one call here.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.intake.delimited import TextPage, read_page
from cardoffers_cli.intake.lines import has_long_line
from cardoffers_cli.intake.profiles.places import STAND_IN, column_name
from cardoffers_cli.intake.profiles.texts import decoded_lines
from cardoffers_cli.intake.splitting import Layout
from cardoffers_cli.kernel.words.findings import make_finding

if TYPE_CHECKING:
    from collections.abc import Collection

    from cardoffers_cli.intake.layout_model import LineForm
    from cardoffers_cli.kernel.words.findings import Finding

_QUOTE = b'"'
_NEVER = "\x01"


class Cutter:
    """Cuts pages of lines; their frames have `line` and the columns `used`, empty as null."""

    def __init__(self, form: LineForm, width: int, used: Collection[int]) -> None:
        self._form = form
        self._used = sorted(used)
        self._names = [column_name(position) for position in range(1, width + 1)]
        self._kept = [column_name(position) for position in self._used]
        if form.delimiter is not None:
            self._layout = Layout(names=tuple(self._names), delimiter=form.delimiter)
            other = f"\\x{{{ord(form.delimiter):x}}}"
            field = rf'(?:"[^"]*"|[^"{other}]*)'
            self._well_quoted = rf"^{field}(?:{other}{field}){{{width - 1}}}$"

    def page(self, text: bytes, first_line: int) -> TextPage:
        """Cut whole, LF-ended lines of which the first has the number `first_line`."""
        if self._form.widths:
            return self._fixed(text, first_line)
        swapped = self._form.quote != '"' and (_QUOTE in text or self._form.quote.encode() in text)
        if swapped:
            text = text.replace(_QUOTE, STAND_IN.encode())
            if self._form.quote:
                text = text.replace(self._form.quote.encode(), _QUOTE)
        page = self._delimited(text, first_line)
        frame = page.frame.select("line", *self._kept)
        if swapped:
            cells = pl.col(self._kept)
            if self._form.quote:
                cells = cells.str.replace_all('"', self._form.quote, literal=True)
            frame = frame.with_columns(cells.str.replace_all(STAND_IN, '"', literal=True))
        return replace(page, frame=frame)

    def _delimited(self, text: bytes, first_line: int) -> TextPage:
        lines = _lines_of(text) if _QUOTE in text and len(self._names) > 1 else None
        if lines is None:
            return read_page(text, self._layout, first_line=first_line)
        is_well = lines.str.contains(self._well_quoted).fill_null(False)
        numbers = pl.int_range(first_line, first_line + len(lines), dtype=pl.UInt64, eager=True)
        if is_well.all():
            return self._well(text, numbers)
        well = self._well(_joined(lines.filter(is_well)), numbers.filter(is_well))
        others = read_page(_joined(lines.filter(~is_well)), self._layout, first_line=0)
        own = numbers.filter(~is_well)
        placed = others.frame.with_columns(line=own.gather(others.frame["line"]))
        return TextPage(
            frame=pl.concat([well.frame, placed]).sort("line"),
            findings=[replace(finding, line=own[finding.line or 0]) for finding in others.findings],
            lines=len(lines),
            blank_lines=others.blank_lines,
        )

    def _well(self, text: bytes, numbers: pl.Series) -> TextPage:
        """Read lines of which every one has its fields and no quote out of place."""
        schema = dict.fromkeys(self._names, pl.String)
        if not len(numbers):
            frame = pl.DataFrame(schema=schema)
        else:
            frame = pl.read_csv(
                text,
                has_header=False,
                separator=self._layout.delimiter,
                quote_char='"',
                infer_schema=False,
                schema=schema,
            )
        columns = pl.col(self._names)
        filled = frame.with_columns(pl.when(columns != "").then(columns))
        return TextPage(
            frame=filled.insert_column(0, numbers.alias("line")),
            lines=len(numbers),
        )

    def _fixed(self, text: bytes, first_line: int) -> TextPage:
        widths = self._form.widths
        ends = list(accumulate(widths))
        least, most = ends[self._used[-1] - 1] if self._used else 1, ends[-1]
        lines = None if has_long_line(text) else _lines_of(text)
        findings: list[Finding] = []
        if lines is None:
            texts, findings = decoded_lines(text, first_line)
            lines = pl.Series("text", texts, dtype=pl.String)
        line_text = pl.col("text")
        numbered = lines.to_frame("text").with_columns(
            line=pl.int_range(first_line, first_line + len(lines), dtype=pl.UInt64)
        )
        filled = numbered.filter(line_text.str.contains(r"[^ \t]"))
        length = line_text.str.len_chars()
        fits = length.is_between(least, most) | (
            (length > most) & ~line_text.str.slice(most).str.contains(r"[^ \t]")
        )
        for line, count in filled.filter(~fits).select("line", length).rows():
            message = f"the line has {count} characters, the widths come to {most}"
            findings.append(make_finding("field_count", message, line=line))
        cut = filled.filter(fits).select(
            "line",
            *(
                line_text.str.slice(
                    ends[position - 1] - widths[position - 1], widths[position - 1]
                ).alias(column_name(position))
                for position in self._used
            ),
        )
        encoding = sum(finding.code != "field_count" for finding in findings)
        return TextPage(
            frame=cut,
            findings=sorted(findings, key=lambda finding: finding.line or 0),
            lines=len(lines),
            blank_lines=len(lines) - filled.height - encoding,
        )


def _lines_of(text: bytes) -> pl.Series | None:
    """Return the lines as one String each, or None where polars would not give them as they are."""
    if _NEVER.encode() in text or has_long_line(text):
        return None
    try:
        frame = pl.read_csv(
            text,
            has_header=False,
            separator=_NEVER,
            quote_char=None,
            infer_schema=False,
            schema={"text": pl.String},
        )
    except pl.exceptions.PolarsError:  # not UTF-8
        return None
    return frame["text"]


def _joined(lines: pl.Series) -> bytes:
    return "".join(f"{line}\n" for line in lines.fill_null("")).encode()
