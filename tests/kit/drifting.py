"""Files taken in and looked at: days of a sample, clean or with a planted fault; and real ones."""

from __future__ import annotations

import csv
import gzip
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.catalogue.importing import import_catalogue
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.river.decide import decide
from cardoffers_cli.sample.plan import Plan
from cardoffers_cli.sample.sample import write_sample
from cardoffers_cli.watch.scan import look
from tables import given
from work import found, new_store, taken

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

START = date(2026, 3, 2)
SLUG = "larkmere"
MERCHANT = "merchant_id"
"""Whose identifier a row has, beside the columns of its file: a merchant has several."""

_PLACES = [each / "shared" / "data" / "drift" for each in Path(__file__).parents]
REAL = next((each for each in _PLACES if each.is_dir()), _PLACES[-1])
YEARS_LATER = 1
"""How long after their months real files are taken in: one has rows of the months that followed."""

Fault = Callable[[pl.DataFrame], pl.DataFrame]


def half(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out half of the file."""
    return rows.head(rows.height // 2)


def ten_times(rows: pl.DataFrame) -> pl.DataFrame:
    """Multiply every amount by ten."""
    amount = pl.col("amount").cast(pl.Decimal(18, 2)) * 10
    return rows.with_columns(amount.cast(pl.Decimal(18, 2)).cast(pl.String))


def without_top(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out the merchant with the most purchases."""
    top = rows[MERCHANT].drop_nulls().value_counts(sort=True)[MERCHANT][0]
    return rows.filter(pl.col(MERCHANT).ne_missing(top))


def rotated(rows: pl.DataFrame) -> pl.DataFrame:
    """Make every cardholder token anew."""
    return rows.with_columns(pl.col("cardholder_token").str.reverse())


FAULTS: dict[str, tuple[Fault, set[str]]] = {
    "half a file": (half, {"rows_unusual"}),
    "amounts x 10": (ten_times, {"median_amount_unusual"}),
    "top merchant dropped": (without_top, {"merchant_silent"}),
    "tokens rotated": (rotated, {"new_cardholders_unusual"}),
}
"""What is done to a file, and one of which codes must be found then."""


@dataclass
class Days:
    """A store that is told of a sample day by day, from the first."""

    made: Job
    rows: pl.DataFrame
    folder: Path

    def night(self, day: int, fault: Fault | None = None) -> set[str]:
        """Take in the file of a day, match, and look; return the codes that are new."""
        job, path = self.file(day, fault)
        taken(job, path, SLUG)
        with job.store() as store, store.transaction():
            decide(store, job)
            look(store, job, find_institution(store, SLUG).id)
        query = "select distinct code from watch_findings where found_at = "
        return {code for (code,) in found(job, f"{query}'{job.now}'")}

    def file(self, day: int, fault: Fault | None = None) -> tuple[Job, Path]:
        """Write the file of a day; return who takes it in, in the night behind it, and the file."""
        on = START + timedelta(days=day)
        rows = self.rows.filter(pl.col("transacted_at").str.starts_with(str(on)))
        path = self.folder / f"{on}.csv"
        (fault(rows) if fault else rows).drop(MERCHANT).write_csv(path)
        now = datetime.combine(on + timedelta(days=1), datetime.min.time()) + timedelta(hours=2)
        return replace(self.made, now=now), path

    def found_of(self, day: int, name: str, folder: Path) -> bool:
        """Whether a planted fault of a day is found, in a copy of the store in a new folder."""
        shutil.copytree(self.made.path.parent, folder, dirs_exist_ok=True)
        made = replace(self.made, path=folder / self.made.path.name)
        fault, codes = FAULTS[name]
        return codes <= Days(made, self.rows, folder).night(day, fault)


def days_of(folder: Path, *, days: int, rows: int, seed: int = 7) -> Days:
    """Make a store with the catalogue of a sample, whose one institution is watched."""
    plan = Plan(rows=rows * days, seed=seed, institutions=1, days=days, start=START)
    for _ in write_sample(folder / "sample", plan):
        pass
    made = replace(new_store(folder), now=datetime.combine(START, datetime.min.time()))
    import_catalogue(made, folder / "sample" / "catalog")
    set_institution(made, SLUG, {}, watch=True)
    (file,) = (folder / "sample" / "transactions").glob("*.csv")
    (known,) = (folder / "sample" / "catalog").glob("merchant_identifiers.csv")
    identifiers = pl.read_csv(known, infer_schema=False).filter(
        pl.col("merchant_identifier_type") == "card_acceptor"
    )
    made_by = identifiers.select(MERCHANT, card_acceptor_id="merchant_identifier")
    rows = pl.read_csv(file, infer_schema=False).join(
        made_by, on="card_acceptor_id", how="left", maintain_order="left"
    )
    return Days(made, rows, folder)


def real_months(folder: Path) -> list[tuple[str, str]]:
    """Take in the real files of 95 months, one after the other; return the month and code found.

    They are in `REAL`, if that is there.
    """
    months: dict[str, list[list[str]]] = defaultdict(list)
    with gzip.open(REAL / "calderdale.csv.gz", "rt", newline="") as file:
        _, *header = next(lines := csv.reader(file))
        for month, *row in lines:
            months[month].append(row)
    made = new_store(folder)
    with made.store() as store:
        given(store, "institutions", "institution\nalder")
    set_institution(made, "alder", {}, watch=True)
    for month, rows in months.items():
        taken_on = f"{int(month[:4]) + YEARS_LATER}{month[4:]}-28"
        made = replace(made, now=datetime.fromisoformat(taken_on))
        path = folder / month
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
        taken(made, path)
        with made.store() as store, store.transaction():
            look(store, made, find_institution(store, "alder").id)
    return [
        (Path(subject).name, code)
        for subject, code in found(made, "select subject, code from watch_findings order by 1, 2")
    ]
