"""Days of a sample as one file each, clean or with a planted fault, taken in and looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.files.samples.plan import Plan
from cardoffers_cli.files.samples.sample import write_sample
from cardoffers_cli.jobs.catalogue.importing import import_catalogue
from cardoffers_cli.jobs.catalogue.institutions import set_institution
from cardoffers_cli.jobs.river.decide import decide
from cardoffers_cli.jobs.watch.looking import look
from cardoffers_cli.services.institutions import find_institution
from work import found, new_store, taken

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.jobs.context.job import Job

START = date(2026, 3, 2)
SLUG = "larkmere"
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
    top = rows["card_acceptor_id"].drop_nulls().value_counts(sort=True)["card_acceptor_id"][0]
    return rows.filter(pl.col("card_acceptor_id").ne_missing(top))


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
        on = START + timedelta(days=day)
        rows = self.rows.filter(pl.col("transacted_at").str.starts_with(str(on)))
        path = self.folder / f"{on}.csv"
        (fault(rows) if fault else rows).write_csv(path)
        now = datetime.combine(on + timedelta(days=1), datetime.min.time()) + timedelta(hours=2)
        job = replace(self.made, now=now)
        taken(job, path, SLUG)
        with job.store() as store, store.transaction():
            decide(store, job)
            look(store, job, find_institution(store, SLUG).id)
        query = "select distinct code from watch_findings where found_at = "
        return {code for (code,) in found(job, f"{query}'{now}'")}


def days_of(folder: Path, *, days: int, rows: int, seed: int = 7) -> Days:
    """Make a store with the catalogue of a sample, whose one institution is watched."""
    plan = Plan(rows=rows * days, seed=seed, institutions=1, days=days, start=START)
    for _ in write_sample(folder / "sample", plan):
        pass
    made = replace(new_store(folder), now=datetime.combine(START, datetime.min.time()))
    import_catalogue(made, folder / "sample" / "catalog")
    set_institution(made, SLUG, {}, watch=True)
    (file,) = (folder / "sample" / "transactions").glob("*.csv")
    return Days(made, pl.read_csv(file, infer_schema=False), folder)
