"""What became of the files of a night, as its result tells it, and what stops a night.

A file can bring about no more than an import that fails: that is a finding, by the class of its
error alone, because a message could hold a value. What no file can bring about ends the night, and
the next one goes on where it stopped: a full disk and every other error of the system, a store that
is gone, held, damaged or of another version, a setting, an engine, a network.
"""

from __future__ import annotations

import errno
from collections import Counter
from shlex import quote
from typing import TYPE_CHECKING, Any

from cardoffers_cli.drop.file_changes import DONE, FAILED
from cardoffers_cli.kernel.words import errors
from cardoffers_cli.kernel.words.findings import CODES, unusable
from cardoffers_cli.kernel.words.row_kinds import CREDITS, REFUNDS
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.night.options import WITHOUT_CONSEQUENCE, finding
from cardoffers_cli.river.imports import OTHER_OWNER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from cardoffers_cli.drop.drop import DropFile, UnknownFile
    from cardoffers_cli.drop.file_changes import ProcessedFolder
    from cardoffers_cli.night.questions import NightFile, NightFinding
    from cardoffers_cli.storage.file_changes import Change


_STATES = ("imported", "failed", "held", "changed", "gone")
_MOST_CAUSES = 3
_CAUSES = {
    "duplicate_conflict": "conflict with earlier rows",
    "last_line_unterminated": "cut off (the last line has no end)",
}
"""How many rows have a code, in words; of other codes it is where what the code says holds."""
_SUMS = ("received", "accepted", "duplicates", "conflicts", "invalid")


def file_counts(files: Sequence[NightFile]) -> dict[str, int]:
    """Return how many files became what, and the sums over those that were imported.

    `refunds` and `credits` are those among what was accepted; nights of before knew of none.
    """
    reports = [file.report or {} for file in files if file.state == "imported"]
    parts = [part for report in reports for part in (report, report.get("refunds") or {})]
    return {
        "files": len(files),
        **{state: sum(file.state == state for file in files) for state in _STATES},
        **{name: sum(report[name] for report in reports) for name in _SUMS},
        **{
            kind.name: sum(
                part["accepted"] for part in parts if part.get("kind_of_rows") == kind.name
            )
            for kind in (REFUNDS, CREDITS)
        },
    }


def file_findings(processed: ProcessedFolder, files: Sequence[NightFile]) -> Iterator[NightFinding]:
    """Yield what somebody should know of files, and where to look."""
    for file in files:
        label = f"{file.institution}/{file.file_name}"
        about: dict[str, str] = {"institution": file.institution, "file": label}
        report = file.report or {}
        if file.state == "held":
            message = f"{label}: {report['file_error']['message']}"
            then = f"cardoffers file release {quote(label)}, if it is whole"
            yield finding(report["file_error"]["code"], message, then=then, **about)
        elif file.state == "failed":
            error = report["file_error"]
            where = processed.path(file.institution, FAILED, f"{file.taken_as}.errors.csv")
            then = _look_at(where) if file.is_kept else error["hint"]
            if error["code"] == OTHER_OWNER:  # only here it is told whose the file seems to be
                path = processed.path(file.institution, FAILED, file.taken_as)
                then = error["hint"].replace(quote(label), quote(str(path)))
            yield finding(error["code"], f"{label}: {error['message']}", then=then, **about)
        elif file.state in {"changed", "gone"}:
            message = f"{label} was {file.state} during the nightly run; nothing of it was taken."
            yield finding(f"file_{file.state}", message, level=WITHOUT_CONSEQUENCE, **about)
        elif report["already_imported"] and not report["accepted"]:
            yield _known(report, label, about)
        elif not report["ok"]:
            wrong, received = report["invalid"] + report["conflicts"], report["received"]
            message = (
                f"{label}: {wrong:,} of {counted(received, 'row')} not taken:"
                f" {_causes(report, wrong)}."
            )
            where = processed.path(file.institution, DONE, f"{file.taken_as}.errors.csv")
            yield finding("rows_rejected", message, then=_look_at(where), count=wrong, **about)
        yield from _warnings(report, label, about)


def _causes(report: Mapping[str, Any], wrong: int) -> str:
    """Return why so many rows were not taken, the most frequent causes first, each with its rows.

    A row may have several: what comes after causes that are enough for all rows is not said.
    """
    rows = Counter[str]()
    for row in report["findings"]:
        if row["level"] == "error" or row["code"] in _CAUSES:
            rows[row["code"]] += row["rows"]
    causes = list[str]()
    for code, count in sorted(rows.items(), key=lambda item: (-item[1], item[0] not in _CAUSES)):
        if count and wrong > 0 and len(causes) < _MOST_CAUSES:
            causes.append(f"{count:,} {_CAUSES.get(code) or f'where {CODES[code].summary}'}")
            wrong -= count
    return ", ".join(causes)


def _look_at(path: Path) -> str:
    """Return the command that shows a file."""
    return f"cat {quote(str(path))}"


def _known(report: Mapping[str, Any], label: str, about: dict[str, str]) -> NightFinding:
    """Say that a file is wholly known, in the place of how many of its rows are not taken."""
    as_file, at = shortened(report["already_imported_as"]), report["already_imported_at"][:10]
    message = f"{label} is the same file as {as_file}, taken on {at}: nothing in it is new."
    return finding("file_known", message, level=WITHOUT_CONSEQUENCE, **about)


def _warnings(
    report: Mapping[str, Any], label: str, about: dict[str, str]
) -> Iterator[NightFinding]:
    for row in report.get("findings", ()):
        if row["code"] == "file_short":
            message = f"{label}: {row['message']}."
            then = "have it sent again, if it is not whole"
            yield finding("file_short", message, level="warning", then=then, **about)
        if row["code"] == "look_alike":
            rows, lines = row["rows"], ", ".join(map(str, row["lines"]))
            more = " and more" if rows > len(row["lines"]) else ""
            message = (
                f"{label}: {counted(rows, 'row')} taken that look like others ({lines}{more})."
            )
            then = "cardoffers help findings look_alike"
            yield finding("look_alike", message, level="warning", then=then, count=rows, **about)


def stray(file: UnknownFile) -> NightFinding:
    """Say what lies in the drop folder that is never taken."""
    return finding(
        file.code,
        f"{file.name} was left alone: it is {file.what}.",
        level="warning",
        then="move it away; a plain file in DROP_DIR/<institution>/ is taken",
        file=file.name,
    )


def stranger(name: str) -> NightFinding:
    """Say that a folder is of no institution."""
    return finding(
        "institution_unknown",
        f"The folder {name} is no institution's: its files were left alone.",
        level="warning",
        then="cardoffers institution list",
        file=name,
    )


_WHY = {"young": "may still be being written", "open": "is open for writing"}


def unready(file: DropFile, why: str) -> NightFinding:
    """Say why a file waits."""
    name = f"{file.institution}/{file.name}"
    about = {"institution": file.institution, "file": name}
    if why == "marker":
        return finding(
            "marker_missing",
            f"{name} has neither a marker nor a manifest beside it, which its institution needs.",
            level="warning",
            then=f"cardoffers institution set {file.institution} --no-require-marker, if not",
            **about,
        )
    return finding(
        "file_not_ready",
        f"{name} {_WHY[why]}: it is looked at again when this run ends, and by the next one.",
        level=WITHOUT_CONSEQUENCE,
        **about,
    )


def too_many(institution: str, waiting: int, most: int) -> NightFinding:
    """Say that an institution has more files than one night takes of it."""
    return finding(
        "too_many_files",
        f"{institution} has {counted(waiting, 'file')} more than the {most:,} that one run takes:"
        " they are left for the next one.",
        level="warning",
        institution=institution,
        count=waiting,
    )


def without_room(file: DropFile, folder: Path, needed: int, free: int) -> NightFinding:
    """Say that a file would not fit on the disk."""
    name = f"{file.institution}/{file.name}"
    return finding(
        "file_without_room",
        f"{name} was left for the next nightly run: with it {needed:,} bytes are needed in"
        f" {folder}, and {free:,} are free.",
        then=f"free {needed - free:,} bytes there",
        institution=file.institution,
        file=name,
    )


def changed_later(change: Change) -> NightFinding:
    """Say that a file grew or changed after it was taken, what was not read, and what takes it."""
    return finding(
        "taken_file_changed",
        change.message,
        then=change.then,
        institution=change.file.institution,
        file=change.file.shown,
        path=str(change.path),
        count=change.rows,
    )


_FAULTS = (
    *(
        errors.ConfigurationError,
        errors.EngineFailed,
        errors.Interrupted,
        errors.NetworkFailure,
        errors.NoSpace,
        errors.NoStore,
    ),
    *(errors.StoreBusy, errors.StoreDamaged, errors.StoreVersion),
)
_FORESEEN = (errors.FileUnusable, errors.NotFound, errors.Refused)
_OF_THE_DISK = frozenset({"IOException"})
"""What DuckDB raises when it cannot read or write, which is files of ours only."""
_FULL_OR_BROKEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})


def failure_of(error: Exception) -> errors.CardoffersError:
    """Return what an error says of the file that was worked on; raise it if it says more."""
    if isinstance(error, _FORESEEN):
        return error
    if isinstance(error, OSError):
        raise error
    cause: BaseException | None = error
    while cause is not None:  # a full disk often ends as an error of something else
        is_broken = isinstance(cause, OSError) and cause.errno in _FULL_OR_BROKEN
        if is_broken or isinstance(cause, _FAULTS) or type(cause).__name__ in _OF_THE_DISK:
            raise error
        cause = cause.__cause__ or cause.__context__
    kind = type(error.__cause__ or error).__name__
    return unusable("import_failed", f"The import ended in an error that nobody foresaw ({kind}).")
