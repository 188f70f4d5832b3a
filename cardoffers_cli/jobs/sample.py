"""Make sample data: checks what is asked for and hands it to the generator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import UsageError
from cardoffers_cli.files.samples.sample import write_sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.files.samples.plan import Plan

MOST_INSTITUTIONS = 64


def sample(folder: Path, plan: Plan) -> Iterator[dict[str, Any]]:
    """Write a sample under a folder: yields `file`, `rows` and `bytes` as each file is done.

    Files of the same names are replaced, others are left alone. Raises `UsageError` for a plan
    that makes no sense.
    """
    _check(plan)
    for made in write_sample(folder, plan):
        name = made.path.relative_to(folder).as_posix()
        yield {"file": name, "rows": made.rows, "bytes": made.size_bytes}


def _check(plan: Plan) -> None:
    if not 1 <= plan.institutions <= MOST_INSTITUTIONS:
        raise UsageError(f"--institutions must be from 1 to {MOST_INSTITUTIONS}.")
    if plan.rows < plan.institutions:
        raise UsageError("--rows must be at least one for each institution.")
    if plan.days < 1 or plan.files < 1:
        raise UsageError("--days and --files must be at least 1.")
    if plan.total_links < 0 or not 0 <= plan.seed < 1 << 64:
        raise UsageError("--links and --seed must not be negative.")
