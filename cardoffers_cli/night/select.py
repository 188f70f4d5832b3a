"""Looking into the drop folder: which files a night takes, and what it has to say of the others."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from cardoffers_cli.drop.drop import WaitingFile, held_open, look, ready
from cardoffers_cli.drop.file_changes import free_name
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.store.institutions import list_institutions
from cardoffers_cli.night.checks import fitting
from cardoffers_cli.night.findings import stranger, stray, too_many, unready
from cardoffers_cli.night.questions import FileOfNight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from cardoffers_cli.drop.drop import DropFile
    from cardoffers_cli.drop.file_changes import ProcessedFolder
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.night.questions import NightFile, NightFinding

LOOK_S = 1.0
"""How long after the first look at the drop folder the second one is, at the most."""


@dataclass(frozen=True, kw_only=True)
class SelectedFiles:
    """What lies in the drop folder: files to take, and what to say of the others."""

    files: list[DropFile]
    remarks: list[NightFinding]


def look_twice(job: Job, drop: Path, before: Sequence[NightFile] = ()) -> SelectedFiles:
    """Return what is ready in the drop folder, and remarks on what is not to be taken.

    What the night found `before` is not found again, and counts among its files.
    """
    seen = {(file.institution, file.file_name, file.stamp) for file in before}
    taken_of = Counter(file.institution for file in before)
    with job.store(read_only=True) as store:
        owners = {owner.slug: owner for owner in list_institutions(store)}
    quiet_s = job.settings.quiet_s
    first = look(drop)
    if any(not file.is_marked for file in first.files):
        time.sleep(min(LOOK_S, quiet_s))
    second, now_s = look(drop), real_now().replace(tzinfo=UTC).timestamp()
    by_marker = {slug for slug, owner in owners.items() if owner.require_marker}
    ready_files, waiting = ready(first, second, now_s=now_s, quiet_s=quiet_s, by_marker=by_marker)
    strangers = {file.institution for file in second.files} - owners.keys()
    own = [
        file
        for file in ready_files
        if file.institution in owners and (file.institution, file.name, file.stamp) not in seen
    ]
    open_files = held_open(drop, [file for file in own if not file.is_marked])
    waiting += [WaitingFile(file=file, why="open") for file in own if file in open_files]
    files, surplus = _at_most(
        [file for file in own if file not in open_files],
        job.settings.file_most_per_institution,
        taken_of,
    )
    fit, without_room = fitting(job, files)
    return SelectedFiles(
        files=fit,
        remarks=[
            *(stray(item) for item in second.strays),
            *(stranger(name) for name in sorted(strangers)),
            *(unready(item.file, item.why) for item in waiting if item.file.institution in owners),
            *surplus,
            *without_room,
        ],
    )


def _at_most(
    files: Sequence[DropFile], most: int, seen: Counter[str]
) -> tuple[list[DropFile], Iterator[NightFinding]]:
    """Choose so many files of each institution; return findings on the others.

    `seen` is how many of each there were before.
    """
    chosen = []
    for file in files:
        seen[file.institution] += 1
        if seen[file.institution] <= most:
            chosen.append(file)
    surplus = (
        too_many(institution, number - most, most)
        for institution, number in seen.items()
        if number > most
    )
    return chosen, surplus


def file_rows(
    processed: ProcessedFolder, files: Sequence[DropFile], first: int = 1
) -> Iterator[FileOfNight]:
    """Yield files as rows of `night_files`, each with the name that it is to be kept under."""
    used: dict[str, set[str]] = {}
    for number, file in enumerate(files, start=first):
        if file.institution not in used:
            used[file.institution] = processed.used_names(file.institution)
        name = free_name(file.name, used[file.institution])
        used[file.institution].add(name)
        yield FileOfNight(
            file_no=number,
            institution=file.institution,
            file_name=file.name,
            stamp=file.stamp,
            taken_as=name,
        )
