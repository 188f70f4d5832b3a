"""Make a whole sample: the catalogue of a market at a time, then each institution's files."""

from __future__ import annotations

import gzip
from contextlib import ExitStack
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

import polars as pl

from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.sample.chance import Chance, uuid
from cardoffers_cli.sample.merchants import Merchants, identifiers, make_merchants
from cardoffers_cli.sample.offers import COLUMNS, Program, make_offers, make_program
from cardoffers_cli.sample.purchases import Cardholders, make_dirty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from cardoffers_cli.sample.plan import Bank, Plan

CHUNK_ROWS = 200_000


class SampleFile(NamedTuple):
    """A file that was made."""

    path: Path
    rows: int


class MarketSample(NamedTuple):
    """One market of the sample: its merchants, its offers and its institutions."""

    merchants: Merchants
    offers: pl.DataFrame
    programs: list[Program]


def write_sample(folder: Path, plan: Plan) -> Iterator[SampleFile]:
    """Write the files of a plan under a folder, saying of each when it is done."""
    markets = list(_markets(Chance(plan.seed), plan))
    programs = [program for market in markets for program in market.programs]
    for name, frames in _catalogue(Chance(plan.seed), markets, programs).items():
        yield write(folder / "catalog" / f"{name}.csv", frames)
    for program in programs:
        yield from _transactions(folder, plan, program.people)
    if plan.unknown_merchants:
        truths = (made.merchants.truth() for made in markets if made.merchants.has_truth)
        yield write(folder / "truth" / "merchants.csv", truths)


def _markets(chance: Chance, plan: Plan) -> Iterator[MarketSample]:
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
        programs = [
            Program(
                make_program(own, offers, place, len(banks)),
                Cardholders(chance.within(bank.slug), plan, bank, merchants),
            )
            for place, bank in enumerate(banks)
        ]
        yield MarketSample(merchants, offers, programs)


def _catalogue(
    chance: Chance, markets: list[MarketSample], programs: list[Program]
) -> dict[str, Iterable[pl.DataFrame]]:
    """Make the tables of the catalogue, which are not read before they are written."""
    banks = [program.people.bank for program in programs]
    known = [(made.merchants.catalogue, made.offers) for made in markets]
    return {
        "institutions": [_institutions(chance, banks)],
        "merchants": (table.select("merchant_id", "name", "category") for table, _ in known),
        "merchant_identifiers": (identifiers(table) for table, _ in known),
        "offers": (offers.select(COLUMNS) for _, offers in known),
        "program_offers": (
            program.offers.sort("position").select(
                pl.lit(program.people.bank.slug).alias("institution"), "offer_id", "position"
            )
            for program in programs
        ),
        "links": (frame for program in programs for frame in program.links(CHUNK_ROWS)),
        "engagement": (frame for program in programs for frame in program.engagement(CHUNK_ROWS)),
    }


def _institutions(chance: Chance, banks: list[Bank]) -> pl.DataFrame:
    rows = [
        {
            "slug": bank.slug,
            "institution_id": bank.number,
            "name": bank.name,
            "plan": bank.plan,
            "currency": bank.market.currency,
            "languages": "|".join(bank.market.languages),
            "max_active_offers": 100,
            "widget_limit": 20,
            "settlement_hold_days": 0 if bank.number % 2 == 0 else 7,
            "webhook_url": None,
        }
        for bank in sorted(banks, key=lambda bank: bank.number)
    ]
    number = uuid("institution", chance.by("institution_id"))
    return pl.DataFrame(rows).with_columns(institution_id=number)


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
    with ExitStack() as stack:
        file = stack.enter_context(replacing(path, mode=None))  # made up: anybody may read it
        if path.suffix == ".gz":
            packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)
            file = cast("BinaryIO", stack.enter_context(packed))
        for place, frame in enumerate(frames):
            rows, buffer = rows + frame.height, BytesIO()
            if kind == "csv":
                frame.write_csv(buffer, include_header=place == 0)
            else:
                lines = frame.fill_null("").select(pl.format(_object(frame.columns)))
                lines.write_csv(buffer, include_header=False, quote_style="never")
            text = buffer.getvalue()
            if kind == "json":
                text = (b",\n" if place else b"[\n") + text[:-1].replace(b"\n", b",\n")
            file.write(text)
        file.write(b"\n]\n" if kind == "json" else b"")
    return SampleFile(path, rows)


def _object(columns: list[str]) -> str:
    """Write a JSON object as a format of text columns; an amount is a number."""
    quoted = (f'"{name}":"{{{name}}}"' for name in columns)
    return f"{{{{{','.join(quoted)}}}}}".replace('"{amount}"', "{amount}")
