"""Build the page that checks files, for an institution of the store or for anybody.

A profile by which raw customer keys become tokens comes to no page: whoever names one is refused,
and no institution keeps one. The key stays where it is, so only `profile convert` reads such files.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli import __version__
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.layouts import find_profile
from cardoffers_cli.intake.pack.building import BuiltInLayout, PageCheck, build
from cardoffers_cli.intake.pack.runtime import VERSION, read_runtime
from cardoffers_cli.intake.schemas.formats import rules_digest
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


class BuiltPage(Record):
    """A page that checks files: its bytes, the rules in it, and how it reads files."""

    file: str
    bytes: int
    sha256: str
    version: str
    rules_sha256: str
    pyodide: str
    institution: str | None
    currency: str | None
    profile: str | None
    profile_sha256: str | None
    dry_run: bool


def build_page(
    job: Job,
    check: PageCheck,
    runtime: Path,
    to: Path,
    *,
    institution: str | None = None,
    dry_run: bool = False,
) -> BuiltPage:
    """Write the page, with the package of its runtime.

    For an institution it has its currency and its profile, where no other is given. Raises
    `NotFound` or `Refused` without the runtime that is pinned.
    """
    check = _of(job, check, institution) if institution else check
    page = build(check, read_runtime(runtime))
    if not dry_run:
        with replacing(to, mode=job.settings.mode) as out:
            out.write(page)
    layout = check.layout
    return BuiltPage(
        file=str(to),
        bytes=len(page),
        sha256=hashlib.sha256(page).hexdigest(),
        version=__version__,
        rules_sha256=rules_digest(),
        pyodide=VERSION,
        institution=check.institution,
        currency=check.currency,
        profile=layout.name if layout else None,
        profile_sha256=layout.profile.digest if layout else None,
        dry_run=dry_run,
    )


def _of(job: Job, check: PageCheck, institution: str) -> PageCheck:
    """Add what the store knows of an institution to what was said of the check."""
    with reading(job) as source:
        owner = find_institution(source.store, institution)
        stored_profile = find_profile(source.store, owner.id)
    layout = check.layout
    if stored_profile and layout is None and check.delimiter == ",":
        profile = parse_profile(stored_profile.toml, owner.slug)
        layout = BuiltInLayout(profile=profile, name=owner.slug)
    return replace(
        check, institution=owner.name, currency=check.currency or owner.currency, layout=layout
    )
