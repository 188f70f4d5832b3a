"""What is done with a file that is not taken: checked, converted into our layout, certified.

A check needs no store, no key and no network, and may ask a store too. What is converted are the
rows that a check calls valid, so the file that comes out is good; the refunds that are among them,
by the profile, can be written into a file of their own.

A certificate says which files were checked, how they were read, by which rules and when, and what
was found in each. It has no signature. To check one, its files are read again in the same way and
with its time as the clock (rules.md#certificates).
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli import __version__
from cardoffers_cli.intake.layouts import open_layout
from cardoffers_cli.intake.profiles.reading import ProfiledFile
from cardoffers_cli.intake.schemas.formats import rules_digest
from cardoffers_cli.intake.sources import open_source
from cardoffers_cli.kernel.disk.inputs import open_input
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.kernel.words.errors import FileUnusable, NotFound, UsageError
from cardoffers_cli.kernel.words.moments import parse_moment
from cardoffers_cli.kernel.words.money import MINOR_UNITS
from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.kernel.words.row_kinds import BY_NAME
from cardoffers_cli.river.judge import rejected_lines
from cardoffers_cli.river.receiving import FileReport, Outputs, judge, stage_check, write_outputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.intake.chunks import FileReading
    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.river.imports import ImportOptions
    from cardoffers_cli.river.receiving import Progress


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """An import for an institution that is not kept: by what it knows a file is judged."""

    institution: str
    options: ImportOptions


def validate(
    source: str,
    how: FileReading | Rehearsal,
    job: Job,
    *,
    outputs: Outputs,
    progress: Progress | None = None,
) -> FileReport:
    """Check one file and report; a file that cannot be read is in the report, not raised.

    With a rehearsal the store of the job is asked, and the verdict is that of the import.
    """
    try:
        if isinstance(how, Rehearsal):
            from cardoffers_cli.river.imports import import_file  # noqa: PLC0415 - most ask none

            dry = replace(how.options, dry_run=True)
            into = how.institution
            result = import_file(source, into, job, dry, outputs=outputs, progress=progress)
            return result.report
        with (
            open_layout(source, how) as file,
            scratch_store(job.settings, "imports") as store,  # no other table is read
        ):
            judged = judge(store, file, stage_check(store, file, progress=progress))
            write_outputs(store, file, judged, outputs, mode=job.settings.mode)
            return judged.report
    except FileUnusable as error:
        return FileReport(file=source, file_error=error)


def convert(
    source: str,
    profile: Profile,
    reading: FileReading,
    job: Job,
    *,
    to: Path,
    refunds_to: Path | None = None,
    outputs: Outputs,
    progress: Progress | None = None,
) -> FileReport:
    """Check one file and write its valid rows in our own layout; nothing of an unusable one."""
    try:
        with (
            open_source(source) as opened,
            ProfiledFile(opened, reading, profile) as file,
            scratch_store(job.settings, "imports") as store,  # no other table is read
        ):
            staged = stage_check(store, file, progress=progress)
            judged = judge(store, file, staged, takes_refunds=refunds_to is not None)
            write_outputs(store, file, judged, outputs, mode=job.settings.mode)
            rejected = rejected_lines(store, judged.found, judged.repeats)
            with ExitStack() as stack:
                outs = [
                    stack.enter_context(replacing(path, mode=job.settings.mode))
                    for path in (to, refunds_to)
                    if path
                ]
                file.write_canonical(rejected, *outs)
            return judged.report
    except FileUnusable as error:
        return FileReport(file=source, file_error=error)


if TYPE_CHECKING:
    File = Mapping[str, Any]
    """What was found in a file, by the fields of `validate --format json`."""

FORM = "cardoffers certificate 2"
_LEFT_OUT = {"not_asked", "refunds"}
"""What is not certified: what no store was asked, and counts that others include."""
_NO_CERTIFICATE = "Name a file that `cardoffers validate FILE… --certificate FILE` wrote."


class ReadingOptions(Record):
    """The options by which files were read, as they are given to `validate`."""

    currency: str | None
    delimiter: str
    assume_timezone: str | None
    sheet: str | None
    kind: str | None
    allow_unterminated: bool
    profile_sha256: str | None


class Certificate(Record):
    """What was found in files: of a finding its code, level and rows.

    Of a file that could not be read it has the code.
    """

    form: str
    made_at: datetime
    program: str
    rules_sha256: str
    read_as: Mapping[str, Any]
    files: Sequence[File]


class CertificateDifference(Record):
    """One thing that a file shows, and that its certificate says otherwise; `file` is its name."""

    file: str
    what: str
    certificate: str | None = shown("certified")
    now: str | None


class CertificateCheck(Record):
    """A certificate compared with files; the rules may be others without a difference."""

    ok: bool
    made_at: datetime
    same_rules: bool
    differences: Sequence[CertificateDifference]


def certificate_of(reports: Iterable[FileReport], reading: FileReading) -> Certificate:
    """Return the certificate of files that were checked."""
    return Certificate(
        form=FORM,
        made_at=reading.now,
        program=__version__,
        rules_sha256=rules_digest(),
        read_as=_options(reading),
        files=[_certified(report) for report in reports],
    )


def read_certificate(file: Path) -> Certificate:
    """Return the certificate in a file; raise `NotFound` or `UsageError` where there is none."""
    try:
        with open_input(file) as opened:
            certificate = Certificate(**json.load(opened))
        options = ReadingOptions(**certificate.read_as)
        is_known = certificate.form == FORM and options.kind in {None, *BY_NAME}
        if is_known and all(entry["file"] for entry in certificate.files):
            return replace(certificate, made_at=parse_moment(str(certificate.made_at)))
    except OSError as error:
        raise NotFound(
            f"The certificate {file} cannot be read: {error.strerror}.",
            code="file_missing",
            hint=_NO_CERTIFICATE,
        ) from None
    except (ValueError, TypeError, KeyError):
        pass
    raise UsageError(f"{file} is no certificate.", code="no_certificate", hint=_NO_CERTIFICATE)


def read_again(certificate: Certificate, reading: FileReading) -> FileReading:
    """Return how files are read to be compared with a certificate: as it says, at its time.

    Raises `UsageError` where an option that was given is another one, or the profile is.
    """
    certified, current = ReadingOptions(**certificate.read_as), _options(reading)
    other = [name for name in certified if current[name] not in {None, False, ",", certified[name]}]
    if certified.profile_sha256 != current.profile_sha256:
        was = str(certified.profile_sha256)[:16] if certified.profile_sha256 else "none"
        raise UsageError.from_table("river", "profile_other", was=was)
    if other:
        flag = other[0].replace("_", "-")
        raise UsageError(
            f"The certificate was made with another --{flag}.",
            hint=f"Leave --{flag} out: files are read as the certificate says.",
        )
    return replace(
        reading,
        now=certificate.made_at,
        currency=certified.currency,
        decimals=MINOR_UNITS.get(certified.currency or "", reading.decimals),
        delimiter=certified.delimiter,
        assume_timezone=certified.assume_timezone,
        sheet=certified.sheet,
        kind=BY_NAME[certified.kind or reading.kind.name],
        is_kind_given=certified.kind is not None,
        unterminated=None if certified.allow_unterminated else "error",
    )


def compare(certificate: Certificate, current: Certificate) -> CertificateCheck:
    """Compare a certificate with what the files show now.

    A file is found by its digest, or else by its name, whatever the order.
    """
    files = list(current.files)
    differences = []
    for was in sorted(certificate.files, key=lambda item: not _same(item, files, "sha256")):
        match = _same(was, files, "sha256") or _same(was, files, "file")
        if match is None:
            differences.append(_difference(was["file"], "file", "certified", "not given"))
            continue
        files.remove(match)
        differences += [
            _difference(was["file"], name, was[name], match.get(name))
            for name in was
            if name != "file" and was[name] != match.get(name)
        ]
    differences += [_difference(item["file"], "file", "not certified", "given") for item in files]
    return CertificateCheck(
        ok=not differences,
        made_at=certificate.made_at,
        same_rules=certificate.rules_sha256 == current.rules_sha256,
        differences=differences,
    )


def _options(reading: FileReading) -> ReadingOptions:
    return ReadingOptions(
        currency=reading.currency,
        delimiter=reading.delimiter,
        assume_timezone=reading.assume_timezone,
        sheet=reading.sheet,
        kind=reading.kind.name if reading.is_kind_given else None,
        allow_unterminated=reading.unterminated is None,
        profile_sha256=reading.profile.digest if reading.profile else None,
    )


def _certified(report: FileReport) -> File:
    document, error = report.document(), report.file_error
    of_each = ("code", "level", "rows")
    return {
        **{name: document[name] for name in document if name not in _LEFT_OUT},
        "file": Path(report.file).name,
        "findings": [{name: finding[name] for name in of_each} for finding in report.findings],
        "file_error": error.code if error else None,
    }


def _same(file: File, others: Sequence[File], name: str) -> File | None:
    """Return the first of other files that has the same digest, or the same name."""
    return next((other for other in others if other.get(name) == file.get(name)), None)


def _difference(file: str, what: str, was: Any, now: Any) -> CertificateDifference:
    return CertificateDifference(file=file, what=what, certificate=_text(was), now=_text(now))


def _text(value: Any) -> str | None:
    """Return a value as a cell shows it: of findings, their codes and rows."""
    if isinstance(value, list):
        return ", ".join(f"{finding['code']}: {finding['rows']}" for finding in value) or "none"
    return None if value is None else str(value)
