"""Make sample data: checks what is asked for and hands it to the generator.

`sample_profile` makes it in the layout of a profile.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.sample.layouts import sample_of
from cardoffers_cli.sample.merchants import STRANGERS_MOST as MOST_STRANGERS
from cardoffers_cli.sample.sample import write_sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.sample.plan import Plan

MOST_INSTITUTIONS = 64


class SampleOutput(Record, sheet="file rows bytes"):
    """A file of a sample: its name below the folder, its rows and its size."""

    file: str
    rows: int
    bytes: int
    dry_run: bool


class ProfileSample(Record):
    """A file of sample data in the layout of a profile."""

    file: str
    profile: str
    rows: int
    bytes: int
    dry_run: bool


def sample(folder: Path, plan: Plan, *, dry_run: bool = False) -> Iterator[SampleOutput]:
    """Write a sample under a folder: yields each file as it is done.

    Files of the same names are replaced, others are left alone. With `dry_run` each file is made
    in a temporary folder and removed again. Raises `UsageError` for a plan that makes no sense.
    """
    _check(plan)
    with TemporaryDirectory(prefix="cardoffers-sample-") as temporary:
        place = Path(temporary) if dry_run else folder
        for file in write_sample(place, plan):
            name = file.path.relative_to(place).as_posix()
            yield SampleOutput(file=name, rows=file.rows, bytes=file.size_bytes, dry_run=dry_run)
            if dry_run:
                file.path.unlink()


def _check(plan: Plan) -> None:
    if not 1 <= plan.institutions <= MOST_INSTITUTIONS:
        raise UsageError(f"--institutions must be from 1 to {MOST_INSTITUTIONS}.")
    if plan.rows < plan.institutions:
        raise UsageError("--rows must be at least one for each institution.")
    if plan.days < 1 or plan.files < 1:
        raise UsageError("--days and --files must be at least 1.")
    if not 0 <= plan.total_refunds <= plan.rows:
        raise UsageError("--refunds must be from 0 to --rows.")
    if not 0 <= plan.unknown_merchants <= MOST_STRANGERS:
        raise UsageError(f"--unknown-merchants must be from 0 to {MOST_STRANGERS}.")
    if plan.total_links < 0 or not 0 <= plan.seed < 1 << 64:
        raise UsageError("--links and --seed must not be negative.")


def sample_profile(
    profile: Profile, plan: Plan, to: Path, *, named: str, decimals: int, dry_run: bool = False
) -> ProfileSample:
    """Write sample data in the layout of a profile; with `dry_run` nothing is kept."""
    content = sample_of(profile, plan, decimals=decimals)
    if not dry_run:
        with replacing(to) as out:
            out.write(content)
    return ProfileSample(
        file=str(to), profile=named, rows=plan.rows, bytes=len(content), dry_run=dry_run
    )
