"""Make a whole sample: the catalogue of a market at a time, then each institution's files."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

import polars as pl

from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.sample.chance import Chance, uuid
from cardoffers_cli.sample.merchants import (
    Merchants,
    Strangers,
    identifiers,
    make_merchants,
    make_strangers,
)
from cardoffers_cli.sample.offers import (
    COLUMNS,
    Program,
    SampleLinks,
    engagement,
    make_offers,
    make_program,
)
from cardoffers_cli.sample.plan import MAX_ACTIVE_OFFERS
from cardoffers_cli.sample.purchases import Cardholders, Purchases, Refunds, make_dirty

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from cardoffers_cli.sample.plan import Bank, Plan


# The pen: frames of text onto the disk, a chunk at a time.
#
# A gzip file holds no name and no time; its decompressed bytes are the same everywhere.


UNQUOTED = ("amount",)
"""The columns whose text is a JSON number."""


@dataclass(frozen=True)
class SampleFile:
    """A file that was made."""

    path: Path
    rows: int
    size_bytes: int


def write_table(path: Path, frames: Iterable[pl.DataFrame]) -> SampleFile:
    """Write frames as one CSV file with a header."""
    rows = 0
    with _opened(path, zipped=False) as file:
        for frame in frames:
            file.write(frame.write_csv(include_header=file.tell() == 0).encode())
            rows += frame.height
    return SampleFile(path, rows, path.stat().st_size)


def write_transactions(
    path: Path, kind: str, frames: Iterable[pl.DataFrame], *, zipped: bool
) -> SampleFile:
    """Write frames of text columns as a transaction file: `csv`, `jsonl`, or `json` (an array)."""
    rows, between = 0, b",\n" if kind == "json" else b""
    with _opened(path, zipped=zipped) as file:
        for frame in frames:
            header = ",".join(frame.columns).encode() + b"\n"
            opening = {"csv": header, "json": b"[\n"}.get(kind, b"")
            file.write(between if rows else opening)
            file.write(_lines(kind, frame))
            rows += frame.height
        file.write(b"\n]\n" if kind == "json" else b"")
    return SampleFile(path, rows, path.stat().st_size)


def _lines(kind: str, frame: pl.DataFrame) -> bytes:
    if kind == "csv":
        return _text(frame, "\n")
    parts, before = [], "{"
    for column in frame.columns:
        quote = "" if column in UNQUOTED else '"'
        parts += [pl.lit(f'{before}"{column}":{quote}'), pl.col(column), pl.lit(quote)]
        before = ","
    lines = frame.select(pl.concat_str([*parts, pl.lit("}")]))
    return _text(lines, "\n") if kind == "jsonl" else _text(lines, ",\n")[:-2]


def _text(frame: pl.DataFrame, line_end: str) -> bytes:
    """Write plain columns, which never need a quote."""
    buffer = BytesIO()
    frame.write_csv(buffer, include_header=False, quote_style="never", line_terminator=line_end)
    return buffer.getvalue()


@contextmanager
def _opened(path: Path, *, zipped: bool) -> Iterator[BinaryIO]:
    make_folder(path.parent)
    with replacing(path, mode=None) as file:  # made up: anybody may read it
        if not zipped:
            yield file
            return
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]


CHUNK_ROWS = 200_000


@dataclass(frozen=True)
class Scene:
    """One market of the sample: its institutions, merchants and offers."""

    banks: list[Bank]
    merchants: Merchants
    identifiers: pl.DataFrame
    offers: pl.DataFrame
    programs: list[Program]
    strangers: Strangers | None


def write_sample(folder: Path, plan: Plan) -> Iterator[SampleFile]:
    """Write the files of a plan under a folder, saying of each when it is done."""
    chance = Chance(plan.seed)
    scenes = list(_scenes(chance, plan))
    yield from _catalogue(folder / "catalog", chance, plan, scenes)
    for scene in scenes:
        for bank in scene.banks:
            yield from _transactions(folder / "transactions", chance, plan, scene, bank)
            if bank.refunds:
                refunds = Refunds(_purchases(chance, plan, scene, bank))
                path = (folder / "refunds") / f"{bank.slug}.{plan.kind}{'.gz' if plan.gzip else ''}"
                stretches = _stretches(refunds, 0, bank.refunds)
                yield write_transactions(path, plan.kind, stretches, zipped=plan.gzip)
    if plan.unknown_merchants:
        tables = (scene.strangers.truth(scene.merchants) for scene in scenes if scene.strangers)
        yield write_table(folder / "truth" / "merchants.csv", tables)


def _scenes(chance: Chance, plan: Plan) -> Iterator[Scene]:
    first_offer = rows_before = 0
    for market in dict.fromkeys(bank.market for bank in plan.banks()):
        banks = [bank for bank in plan.banks() if bank.market == market]
        own = chance.within(market.currency)
        rows = sum(bank.rows for bank in banks)
        edges = (rows_before, rows_before + rows)
        first, last = (plan.unknown_merchants * edge // plan.rows for edge in edges)
        rows_before += rows
        merchants = make_merchants(own, market, rows, rows / plan.rows, last - first)
        offers = make_offers(own, plan, market, merchants, first_offer)
        first_offer += offers.height
        programs = [
            make_program(own, merchants, offers, place, len(banks)) for place in range(len(banks))
        ]
        yield Scene(
            banks=banks,
            merchants=merchants,
            identifiers=identifiers(own, market, merchants),
            offers=offers,
            programs=programs,
            strangers=make_strangers(own, market, merchants, last - first)
            if last > first
            else None,
        )


def _cardholders(chance: Chance, scene: Scene, bank: Bank) -> Cardholders:
    return Cardholders(chance.within(bank.slug), bank.cardholders, scene.merchants)


def _purchases(chance: Chance, plan: Plan, scene: Scene, bank: Bank) -> Purchases:
    cardholders = _cardholders(chance, scene, bank)
    return Purchases(cardholders.chance, plan, bank, cardholders, scene.strangers)


def _catalogue(
    folder: Path, chance: Chance, plan: Plan, scenes: list[Scene]
) -> Iterator[SampleFile]:
    programs = [
        (scene, bank, program)
        for scene in scenes
        for bank, program in zip(scene.banks, scene.programs, strict=True)
    ]
    links = [
        SampleLinks(people.chance, plan, bank, people, program)
        for scene, bank, program in programs
        for people in [_cardholders(chance, scene, bank)]
    ]
    tables: dict[str, Iterable[pl.DataFrame]] = {
        "institutions": [_institutions(chance, scenes)],
        "merchants": (
            scene.merchants.catalogue.select("merchant_id", "name", "category") for scene in scenes
        ),
        "merchant_identifiers": (scene.identifiers for scene in scenes),
        "offers": (scene.offers.select(COLUMNS) for scene in scenes),
        "program_offers": (
            program.offers.sort("position").select(
                institution=pl.lit(bank.slug), offer_id="offer_id", position="position"
            )
            for _, bank, program in programs
        ),
        "links": (frame for part in links for frame in part.chunks(CHUNK_ROWS)),
        "engagement": (frame for part in links for frame in engagement(part, CHUNK_ROWS)),
    }
    for name, frames in tables.items():
        yield write_table(folder / f"{name}.csv", frames)


def _institutions(chance: Chance, scenes: list[Scene]) -> pl.DataFrame:
    banks = [bank for scene in scenes for bank in scene.banks]
    rows = [
        {
            "slug": bank.slug,
            "institution_id": bank.number,
            "name": bank.name,
            "plan": bank.plan,
            "currency": bank.market.currency,
            "languages": "|".join(bank.market.languages),
            "max_active_offers": MAX_ACTIVE_OFFERS,
            "widget_limit": 20,
            "settlement_hold_days": 0 if bank.number % 2 == 0 else 7,
            "webhook_url": None,
        }
        for bank in sorted(banks, key=lambda bank: bank.number)
    ]
    table = pl.DataFrame(rows, schema_overrides={"webhook_url": pl.String})
    return table.with_columns(institution_id=uuid("institution", chance, "institution_id"))


def _transactions(
    folder: Path, chance: Chance, plan: Plan, scene: Scene, bank: Bank
) -> Iterator[SampleFile]:
    purchases = _purchases(chance, plan, scene, bank)
    ending = plan.kind + (".gz" if plan.gzip else "")
    for part in range(plan.files):
        first, last = (bank.rows * edge // plan.files for edge in (part, part + 1))
        number = f"-{part + 1}" if plan.files > 1 else ""
        path = folder / f"{bank.slug}{number}.{ending}"
        stretches = _stretches(purchases, first, last)
        yield write_transactions(path, plan.kind, stretches, zipped=plan.gzip)
    if plan.dirty and bank.number == 0:
        kind = "csv" if plan.kind == "csv" else "jsonl"
        content, rows = make_dirty(purchases, kind)
        path = folder / f"{bank.slug}-dirty.{kind}"
        with _opened(path, zipped=False) as file:
            file.write(content)
        yield SampleFile(path, rows, len(content))


def _stretches(source: Purchases | Refunds, first: int, last: int) -> Iterator[pl.DataFrame]:
    """Make the rows from `first` up to `last`; an empty stretch is one empty frame."""
    for start in range(first, max(last, first + 1), CHUNK_ROWS):
        yield source.rows(start, min(CHUNK_ROWS, last - start))
