"""Make sample data: check what is asked for, and write it in our layout or in that of a profile.

What a profile reads is written back as it says. A column that no field is read from is empty. Lines
above the rows hold nothing; a trailer counts and adds up what is there.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.intake.chunks import AMOUNT
from cardoffers_cli.intake.layout_model import AmountSource, TimeSource, TokenSource
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.kernel.words.row_kinds import LINE
from cardoffers_cli.sample.merchants import STRANGERS_MOST as MOST_STRANGERS
from cardoffers_cli.sample.sample import write_sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cardoffers_cli.intake.layout_model import Column, FieldSource, Profile
    from cardoffers_cli.sample.plan import Plan


MOST_INSTITUTIONS = 64


class SampleOutput(Record, sheet="file rows bytes"):
    """A file of a sample: its name below the folder, its rows and its size.

    One in the layout of a profile has that too.
    """

    file: str
    profile: str | None = if_any()
    rows: int
    bytes: int
    dry_run: bool


def sample(folder: Path, plan: Plan, *, dry_run: bool = False) -> Iterator[SampleOutput]:
    """Write a sample under a folder: yields each file as it is done.

    Files of the same names are replaced, others are left alone. With `dry_run` each file is made
    in a temporary folder and removed again. Raises `UsageError` for a plan that makes no sense.
    """
    if not 1 <= plan.institutions <= MOST_INSTITUTIONS:
        raise UsageError(f"--institutions must be from 1 to {MOST_INSTITUTIONS}.")
    if plan.rows < plan.institutions:
        raise UsageError("--rows must be at least one for each institution.")
    if plan.days < 1 or plan.files < 1:
        raise UsageError("--days and --files must be at least 1.")
    if not 0 <= plan.totals[2] <= plan.rows:
        raise UsageError("--refunds must be from 0 to --rows.")
    if not 0 <= plan.unknown_merchants <= MOST_STRANGERS:
        raise UsageError(f"--unknown-merchants must be from 0 to {MOST_STRANGERS}.")
    if plan.totals[1] < 0 or not 0 <= plan.seed < 1 << 64:
        raise UsageError("--links and --seed must not be negative.")
    with TemporaryDirectory(prefix="cardoffers-sample-") as temporary:
        place = Path(temporary) if dry_run else folder
        for file in write_sample(place, plan):
            name, size = file.path.relative_to(place).as_posix(), file.path.stat().st_size
            yield SampleOutput(file=name, rows=file.rows, bytes=size, dry_run=dry_run)
            if dry_run:
                file.path.unlink()


def sample_profile(
    profile: Profile, plan: Plan, to: Path, *, named: str, decimals: int, dry_run: bool = False
) -> SampleOutput:
    """Write sample data in the layout of a profile; with `dry_run` nothing is kept."""
    with TemporaryDirectory(prefix="cardoffers-sample-") as folder:
        *_, file = write_sample(Path(folder), replace(plan, refunds=0))
        rows = pl.read_csv(file.path, infer_schema=False)
    content = written(profile, rows, decimals=decimals)
    if not dry_run:
        with replacing(to) as out:
            out.write(content)
    size = len(content)
    return SampleOutput(file=str(to), profile=named, rows=plan.rows, bytes=size, dry_run=dry_run)


def written(profile: Profile, rows: pl.DataFrame, *, decimals: int) -> bytes:
    """Return rows of our own layout as a file in the layout of the profile."""
    names = _columns(profile)
    cells: dict[int, pl.Expr] = dict.fromkeys(range(1, len(names) + 1), pl.lit(""))
    for condition in reversed(profile.drop_where):
        cells[_place(condition.column, names)] = pl.lit((*condition.is_not, "X")[0])
    for name, source in profile.fields.given().items():
        if name in rows.columns and source.constant is None:
            parts = zip(source.sources, _parts(_text(name, source, decimals), source), strict=True)
            cells |= {_place(column, names): part for column, part in parts if column != LINE}
    table = rows.with_columns(part.alias(str(place)) for place, part in cells.items())
    places = [str(place) for place in range(1, len(names) + 1)]
    body = [_line(row, profile) for row in table.select(places).iter_rows()]
    if profile.header:
        at = profile.header - 1 - profile.skip_lines
        body.insert(min(at, len(body)), _line([str(name) for name in names], profile))
    trailer = _trailer(profile, rows, decimals)
    above, below = [""] * profile.skip_lines, [trailer] if trailer else []
    content = "".join(f"{line}\n" for line in [*above, *body, *below])
    return content.encode(profile.encoding, errors="replace")


def _columns(profile: Profile) -> list[Column]:
    """Return the columns of the file in order: those that are named come first."""
    if profile.form.widths or profile.columns:
        return [*(profile.columns or range(1, len(profile.form.widths) + 1))]
    sources = [item for field in profile.fields.given().values() for item in field.sources]
    sources += [condition.column for condition in profile.drop_where]
    named = dict.fromkeys(item for item in sources if isinstance(item, str) and item != LINE)
    places = {item for item in sources if isinstance(item, int)}
    width = max([len(named) + len(places), *places])
    free = iter(named)
    return [place if place in places else next(free, f"X{place}") for place in range(1, width + 1)]


def _text(name: str, source: FieldSource, decimals: int) -> pl.Expr:
    values = pl.col(name)
    if isinstance(source, AmountSource):
        return _amounts(values, source, decimals)
    if isinstance(source, TimeSource):
        moments = values.str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_unit="us", time_zone="UTC")
        local = moments.dt.convert_time_zone(source.zone) if source.zone else moments
        if source.is_serial:
            passed = local.dt.replace_time_zone(None) - datetime(1899, 12, 30)  # noqa: DTZ001  a local day
            return (passed.dt.total_seconds() / 86_400).cast(pl.String)
        return local.dt.strftime(source.format.replace(".%f", "%.6f"))
    if isinstance(source, TokenSource) and source.hmac:
        return values.str.head(12)  # as a raw key would be
    return values.fill_null("")


def _amounts(values: pl.Expr, source: AmountSource, decimals: int) -> pl.Expr:
    text = values.cast(AMOUNT).cast(pl.String).str.replace(r"(\.[0-9]*?)0*$", "$1")
    integer, behind = text.str.extract(r"^([0-9]+)"), text.str.extract(r"\.([0-9]*)$").fill_null("")
    mark = "" if source.minor_units else source.decimal
    is_whole = not decimals and not source.minor_units
    plain = integer if is_whole else integer + mark + behind.str.pad_end(decimals, "0")
    return ("-" if source.negate else "") + source.currency + plain


def _parts(text: pl.Expr, source: FieldSource) -> list[pl.Expr]:
    """Divide a text among the columns it is joined of; what is too much stands in the last."""
    count = len(source.sources)
    if count == 1:
        return [text]
    if source.join:
        divided = text.str.splitn(source.join, count).struct
        return [divided.field(f"field_{place}").fill_null("1") for place in range(count)]
    signed = "+" + text if isinstance(source, AmountSource) else text
    ends = [signed.str.slice(place, 1) for place in range(count - 1)]
    return [*ends, signed.str.slice(count - 1)]


def _place(column: Column, names: Sequence[Column]) -> int:
    return column if isinstance(column, int) else names.index(column) + 1


def _line(cells: Sequence[str], profile: Profile) -> str:
    form = profile.form
    if form.delimiter is None:
        # numbers are filled up with zeros; of a cell that is too long the end is kept
        filled = [
            cell.rjust(width, "0") if cell.isdigit() else cell.ljust(width)
            for cell, width in zip(cells, form.widths, strict=True)
        ]
        return "".join(cell[-width:] for cell, width in zip(filled, form.widths, strict=True))
    return form.delimiter.join(
        f"{form.quote}{cell.replace(form.quote, 2 * form.quote)}{form.quote}"
        if form.quote and (form.delimiter in cell or form.quote in cell)
        else cell
        for cell in cells
    )


def _trailer(profile: Profile, rows: pl.DataFrame, decimals: int) -> str | None:
    trailer, amount = profile.trailer, profile.fields.amount
    if trailer is None:
        return None
    sums = [(trailer.count, str(rows.height))]
    if amount:
        total = rows["amount"].cast(pl.Decimal(38, decimals)).sum()
        text = pl.select(_amounts(pl.lit(str(total)), amount, decimals)).item()
        sums.append((trailer.sum, text.removeprefix("-")))
    cells = {place: text for place, text in sums if place}
    if profile.form.widths:
        line = list(trailer.starts_with.ljust(sum(profile.form.widths)))
        for place, text in cells.items():
            first, last = place if isinstance(place, tuple) else (place, place)
            line[first - 1 : last] = text.rjust(last - first + 1, "0")
        return "".join(line)
    width = max((place for place in cells if isinstance(place, int)), default=1)
    fields = [cells.get(place, "") for place in range(1, width + 1)]
    return (profile.form.delimiter or "").join([trailer.starts_with, *fields[1:]])
