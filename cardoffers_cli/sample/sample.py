"""Make a whole sample: the catalogue of a market at a time, then each institution's files."""

from __future__ import annotations

import gzip
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.sample.chance import Chance, uuid
from cardoffers_cli.sample.merchants import Merchants, identifiers, make_merchants
from cardoffers_cli.sample.offers import Program, make_offers
from cardoffers_cli.sample.plan import COLUMNS
from cardoffers_cli.sample.purchases import Cardholders, make_dirty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from cardoffers_cli.sample.plan import Plan

CHUNK_ROWS = 200_000


class SampleFile(NamedTuple):
    """A file that was made."""

    path: Path
    rows: int


def write_sample(folder: Path, plan: Plan) -> Iterator[SampleFile]:
    """Write the files of a plan under a folder, saying of each when it is done."""
    markets = list(_markets(Chance(plan.seed), plan))
    programs = [program for *_, programs in markets for program in programs]
    known = [merchants.catalogue for merchants, *_ in markets]
    catalogue: dict[str, Iterable[pl.DataFrame]] = {
        "institutions": [_institutions(plan)],
        "merchants": (table.select("merchant_id", "name", "category") for table in known),
        "merchant_identifiers": (identifiers(table) for table in known),
        "offers": (offers.select(COLUMNS["offers"]) for _, offers, _ in markets),
        "program_offers": (
            program.offers.sort("position").select(
                pl.lit(program.people.bank.slug).alias("institution"), "offer_id", "position"
            )
            for program in programs
        ),
        "links": (frame for program in programs for frame in program.links(CHUNK_ROWS)),
        "engagement": (frame for program in programs for frame in program.engagement(CHUNK_ROWS)),
    }
    for name, frames in catalogue.items():
        yield write(folder / "catalog" / f"{name}.csv", frames)
    for program in programs:
        yield from _transactions(folder, plan, program.people)
    if plan.unknown_merchants:
        truths = (merchants.truth() for merchants, *_ in markets if merchants.has_truth)
        yield write(folder / "truth" / "merchants.csv", truths)


def _markets(chance: Chance, plan: Plan) -> Iterator[tuple[Merchants, pl.DataFrame, list[Program]]]:
    first_offer = rows_before = 0
    for market in dict.fromkeys(bank.market for bank in plan.banks()):
        banks = [bank for bank in plan.banks() if bank.market == market]
        own, rows = chance.within(market.currency), sum(bank.rows for bank in banks)
        edges = (rows_before, rows_before + rows)
        first, last = (plan.unknown_merchants * edge // plan.rows for edge in edges)
        merchants = make_merchants(own, market, rows, rows / plan.rows, last - first)
        offers = make_offers(own, plan, market, merchants, first_offer)
        rows_before += rows
        first_offer += offers.height
        programs, number = [], own.by("offer_no")
        for place, bank in enumerate(banks):
            # the institution's own offers, and those that all institutions of the market show
            is_own = pl.col("offer_no") % len(banks) == place
            order = number.within(f"program {place}").draw("order")
            shown = offers.filter(is_own | number.chosen("shared", 600))
            shown = shown.with_columns(position=order.rank("ordinal"))
            people = Cardholders(chance.within(bank.slug), plan, bank, merchants)
            programs.append(Program(shown, people))
        yield merchants, offers, programs


def _institutions(plan: Plan) -> pl.DataFrame:
    rows = [
        (
            *(bank.slug, bank.number, bank.name, bank.plan, bank.market.currency),
            *("|".join(bank.market.languages), 100, 20, bank.number % 2 * 7, None),
        )
        for bank in plan.banks()
    ]
    table = pl.DataFrame(rows, COLUMNS["institutions"], orient="row")
    chance = Chance(plan.seed).by("institution_id")
    return table.with_columns(institution_id=uuid("institution", chance))


def _transactions(folder: Path, plan: Plan, people: Cardholders) -> Iterator[SampleFile]:
    bank, ending = people.bank, plan.kind + (".gz" if plan.gzip else "")
    for part in range(plan.files):
        first, last = (bank.rows * edge // plan.files for edge in (part, part + 1))
        number = f"-{part + 1}" if plan.files > 1 else ""
        path = folder / "transactions" / f"{bank.slug}{number}.{ending}"
        yield write(path, _chunks(people.purchases, first, last), plan.kind)
    if plan.dirty and bank.number == 0:
        kind = "csv" if plan.kind == "csv" else "jsonl"
        content, rows = make_dirty(people, kind)
        path = folder / "transactions" / f"{bank.slug}-dirty.{kind}"
        with replacing(path, mode=None) as file:
            file.write(content)
        yield SampleFile(path, rows)
    if bank.refunds:
        path = folder / "refunds" / f"{bank.slug}.{ending}"
        yield write(path, _chunks(people.refunds, 0, bank.refunds), plan.kind)


def _chunks(
    make: Callable[[int, int], pl.DataFrame], first: int, last: int
) -> Iterator[pl.DataFrame]:
    """Make the rows from `first` up to `last` in frames; of no rows an empty one."""
    for start in range(first, max(last, first + 1), CHUNK_ROWS):
        yield make(start, min(CHUNK_ROWS, last - start))


def write(path: Path, frames: Iterable[pl.DataFrame], kind: str = "csv") -> SampleFile:
    """Write frames as one file: `csv` with a header, `jsonl`, or `json` (an array).

    A gzip file holds no name and no time; its decompressed bytes are the same everywhere.
    """
    rows = 0
    make_folder(path.parent)
    with replacing(path, mode=None) as out:  # made up: anybody may read it
        zipped = gzip.GzipFile("", "wb", 6, out, mtime=0) if path.suffix == ".gz" else None
        for place, frame in enumerate(frames):
            rows, buffer = rows + frame.height, BytesIO()
            if kind == "csv":
                frame.write_csv(buffer, include_header=place == 0)
            else:
                quoted = ",".join(f'"{name}":"{{{name}}}"' for name in frame.columns)
                line = f"{{{{{quoted}}}}}".replace('"{amount}"', "{amount}")  # that is a number
                lines = frame.fill_null("").select(pl.format(line))
                lines.write_csv(buffer, include_header=False, quote_style="never")
            text = buffer.getvalue()
            if kind == "json":
                text = (b",\n" if place else b"[\n") + text[:-1].replace(b"\n", b",\n")
            (zipped or out).write(text)
        (zipped or out).write(b"\n]\n" if kind == "json" else b"")
        if zipped:
            zipped.close()
    return SampleFile(path, rows)
