"""Certify: hold files of an institution against the levels of a certificate, and check one again.

The files are read in the order in which they would be sent, each as `validate` reads it, and then
compared with those before it. No store is needed; that of an institution says how many rows name a
merchant of its catalogue, and has the secret that signs (`domain/certificates.py` says who signs).

To check a certificate the files are read again, at the time it was made and as it says they were
read. What depends on more than the files is not held against it: the catalogue, which changes.
"""

from __future__ import annotations

import json
import secrets
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli import __version__
from cardoffers_cli.domain.certificates import (
    FORM,
    Certificate,
    CertifiedFile,
    ShownTogether,
    checks_of,
    content_of,
    is_signed_with,
    is_whole,
    key_id,
    level_of,
    sealed,
)
from cardoffers_cli.domain.errors import FileUnusable, UsageError
from cardoffers_cli.domain.moments import parse_moment
from cardoffers_cli.domain.money import MINOR_UNITS
from cardoffers_cli.domain.records import Record
from cardoffers_cli.domain.row_kinds import PURCHASES
from cardoffers_cli.domain.visible import visible
from cardoffers_cli.files.html.certificate import page_bytes, read_certificate
from cardoffers_cli.files.opening import open_layout
from cardoffers_cli.files.private import read_private_file
from cardoffers_cli.files.schemas.formats import rules_digest
from cardoffers_cli.files.sources import open_source
from cardoffers_cli.jobs.context.reading import reading as read_store
from cardoffers_cli.jobs.river.intake import check_file, stage_compared
from cardoffers_cli.pipeline import certify as comparing
from cardoffers_cli.services import merchants, webhooks
from cardoffers_cli.services.institutions import find_institution
from cardoffers_cli.store import signing_secrets
from cardoffers_cli.store.opening import scratch_store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cardoffers_cli.files.chunks import FileReading
    from cardoffers_cli.jobs.context.job import Job
    from cardoffers_cli.jobs.river.intake import FileReport, Judged
    from cardoffers_cli.store.store import Store

_LEAST_KEY = 32


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The institution that files are of: its slug, its currency, and the secret that signs."""

    slug: str
    currency: str
    key: str | None


class CertificateCheck(Record):
    """One question that a certificate is held to: `ok` is None where it cannot be told."""

    check: str
    ok: bool | None
    says: str


class CheckedCertificate(Record):
    """A certificate held against files."""

    ok: bool
    level: str | None
    made_at: str
    checks: Sequence[CertificateCheck]


def owner_of(job: Job, institution: str) -> Owner:
    """Return the institution of a store, with the secret that signs its webhooks, if it has one."""
    with read_store(job) as source:
        found = find_institution(source.store, institution)
        named = webhooks.signing_sha256(source.store, found.id, job.now)
    texts = signing_secrets.read_secrets(job.path) if named else {}
    return Owner(slug=found.slug, currency=found.currency, key=texts.get(named or ""))


def read_key(path: Path) -> str:
    """Return the key of a private file; raise `NotFound`, `Refused`, `UsageError`."""
    key = read_private_file(path).strip()
    if len(key) < _LEAST_KEY:
        raise UsageError(
            f"The key in {path} has fewer than {_LEAST_KEY} characters.",
            code="key_short",
            hint=f"Make a new one: (umask 077; openssl rand -hex 32 > {path})",
        )
    return key


def certify(
    sources: Sequence[str],
    reading: FileReading,
    job: Job,
    *,
    owner: Owner | None = None,
    key: str | None = None,
    names: Sequence[str] | None = None,
    told: Callable[[str], None] = lambda _source: None,
) -> Certificate:
    """Return the certificate of files, sealed. Raises `FileUnusable` for one that cannot be read.

    `names` are what the files are called in it, if not what they are called; `told` is called with
    each file before it is read.
    """
    names = names or [Path(source).name for source in sources]
    with scratch_store(job.settings, "imports") as store:
        compared = comparing.begin(store)
        seed = secrets.randbits(64)
        reports = []
        for number, source in enumerate(sources, start=1):
            told(source)
            reports.append(_shown(store, compared, source, reading, number=number, seed=seed))
        beside = {each.file_no: each for each in comparing.files(store, compared)}
        files = [
            _file(name, each, beside.get(n))
            for n, (name, each) in enumerate(zip(names, reports, strict=True), start=1)
        ]
        together = ShownTogether(
            **comparing.shared_tokens(store, compared),
            **comparing.changing_cards(store, compared),
            rows=sum(
                beside[n].row_count for n in beside if files[n - 1].kind_of_rows == PURCHASES.name
            ),
            merchant_rows=_known_rows(store, compared, job) if owner else None,
        )
    checks = [*checks_of(files, together)]
    made = Certificate(
        form=FORM,
        made_at=reading.now,
        program=__version__,
        rules_sha256=rules_digest(),
        institution=owner.slug if owner else None,
        currency=reading.currency,
        delimiter=reading.delimiter,
        assume_timezone=reading.assume_timezone,
        profile_sha256=reading.profile.digest if reading.profile else None,
        level=level_of(checks),
        files=files,
        checks=checks,
    )
    return sealed(made, key)


def _shown(
    store: Store,
    compared: comparing.Compared,
    source: str,
    reading: FileReading,
    *,
    number: int,
    seed: int,
) -> FileReport:
    """Check one file, and add it to those that are compared."""
    try:
        with open_layout(source, reading) as file:
            judged = check_file(store, file, stage_compared(store, file, seed=seed))
            comparing.show(store, compared, judged.staged, number)
            _forget(store, judged)
            return judged.report
    except FileUnusable as error:
        raise error.of("Standard input" if source == "-" else source) from None


def _forget(store: Store, judged: Judged) -> None:
    tables = (judged.staged.rows, judged.staged.findings, judged.staged.doubts, judged.repeats.rows)
    made = [table for table in tables if table is not None and store.is_made(table)]
    if made:
        store.drop(*made)


def _file(name: str, report: FileReport, beside: comparing.FileBeside | None) -> CertifiedFile:
    """Return what is certified of a file."""
    return CertifiedFile(
        file=visible(name),
        sha256=str(report.sha256),
        bytes=report.size_bytes,
        kind=str(report.kind),
        kind_of_rows=(report.row_kind or PURCHASES).name,
        received=report.received,
        valid=report.valid,
        invalid=report.invalid,
        duplicates=report.duplicates,
        conflicts=report.conflicts,
        repeated=beside.repeated if beside else 0,
        differing=beside.differing if beside else 0,
        first_on=beside.first_on if beside else None,
        last_on=beside.last_on if beside else None,
        codes=sorted({found["code"] for found in report.findings}),
    )


def _known_rows(store: Store, compared: comparing.Compared, job: Job) -> int:
    with ExitStack() as opened:
        catalogue = opened.enter_context(read_store(job)).store
        return sum(
            merchants.known_rows(catalogue, page) for page in comparing.merchants(store, compared)
        )


# Checked again


def check(
    content: bytes,
    named: str,
    sources: Sequence[str],
    reading: FileReading,
    job: Job,
    *,
    key: str | None = None,
    told: Callable[[str], None] = lambda _source: None,
) -> CheckedCertificate:
    """Hold the page or the JSON of a certificate against files and, if it is signed, a key.

    Raises `FileUnusable` where it is no certificate, and `UsageError` where the key or the profile
    that it was made with is not given.
    """
    certificate = read_certificate(content, named)
    _refuse_without(certificate, reading, key)
    how = replace(
        reading,
        now=parse_moment(certificate["made_at"]),
        currency=certificate["currency"],
        decimals=MINOR_UNITS[certificate["currency"]] if certificate["currency"] else 2,
        delimiter=certificate["delimiter"],
        assume_timezone=certificate["assume_timezone"],
    )
    ordered, names = _in_order(certificate, sources)
    again = certify(ordered, how, job, names=names, told=told)
    checks = [
        _seal(certificate, key),
        _page(certificate, content),
        _files(certificate, again),
        _findings(certificate, again),
    ]
    return CheckedCertificate(
        ok=all(each.ok is not False for each in checks),
        level=certificate["level"],
        made_at=certificate["made_at"],
        checks=checks,
    )


def _refuse_without(certificate: Mapping[str, Any], reading: FileReading, key: str | None) -> None:
    if certificate.get("hmac_sha256") and key is None:
        raise UsageError(
            f"The certificate is signed with the key {certificate.get('key_id')}.",
            code="key_missing",
            hint="Name the key with --key-file, or the institution whose secret it is with -i.",
        )
    digest = reading.profile.digest if reading.profile else None
    if certificate["profile_sha256"] != digest:
        said = f"the profile {str(certificate['profile_sha256'])[:16]}"
        was = said if certificate["profile_sha256"] else "no profile"
        raise UsageError(
            f"The certificate was made with {was}.",
            code="profile_other",
            hint="Name with --profile what it was made with, or leave --profile out.",
        )


def _in_order(
    certificate: Mapping[str, Any], sources: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the files in the order of the certificate, and their names in it; others come last.

    They are known by their digests, for which they are read once more.
    """
    places: dict[str, list[tuple[int, str]]] = {}
    for place, each in enumerate(certificate["files"]):
        places.setdefault(each["sha256"], []).append((place, each["file"]))
    found = []
    for source in sources:
        left = places.get(_digest(source))
        place, name = left.pop(0) if left else (len(certificate["files"]), Path(source).name)
        found.append((place, source, name))
    found.sort(key=lambda each: each[0])
    return [source for _, source, _ in found], [name for *_, name in found]


def _digest(source: str) -> str:
    with open_source(source) as opened:
        for _ in opened.blocks():
            pass
        return opened.sha256


def _seal(certificate: Mapping[str, Any], key: str | None) -> CertificateCheck:
    if not is_whole(certificate):
        ok, says = False, "its content is not what was sealed"
    elif not certificate.get("hmac_sha256"):
        ok, says = key is None, "its digest fits; it is unsigned, so anybody could have made it"
    elif key is not None and is_signed_with(certificate, key):
        ok, says = True, f"it was signed with the key {key_id(key)}"
    else:
        ok, says = False, "its signature is not of this key"
    return CertificateCheck(check="seal", ok=ok, says=says)


def _page(certificate: Mapping[str, Any], content: bytes) -> CertificateCheck:
    if content.lstrip().startswith(b"{"):
        return CertificateCheck(check="page", ok=None, says="it came as JSON, without a page")
    if page_bytes(certificate) == content:
        return CertificateCheck(check="page", ok=True, says="the page says what was sealed")
    if certificate["program"] != __version__:
        says = f"the page was made by version {certificate['program']}, this is {__version__}"
        return CertificateCheck(check="page", ok=None, says=says)
    return CertificateCheck(check="page", ok=False, says="the page says something else")


def _files(certificate: Mapping[str, Any], again: Certificate) -> CertificateCheck:
    """Hold the digests of the files against those given, in whatever order and by whatever name."""
    wanted = [(each["sha256"], each["file"]) for each in certificate["files"]]
    given = [(each.sha256, each.file) for each in again.files]
    lacking = _without(wanted, given)
    other = _without(given, wanted)
    parts = [
        *(f"{name} is not there as it was" for name in lacking),
        *(f"{name} is not of it" for name in other if name not in lacking),
    ]
    says = "; ".join(parts) or "they are the same files"
    return CertificateCheck(check="files", ok=not (lacking or other), says=says)


def _without(wanted: Sequence[tuple[str, str]], given: Sequence[tuple[str, str]]) -> list[str]:
    """Return the names of files whose digests are not among the others, each counted once."""
    left = [digest for digest, _ in given]
    lacking = []
    for digest, name in wanted:
        if digest in left:
            left.remove(digest)
        else:
            lacking.append(name)
    return lacking


def _findings(certificate: Mapping[str, Any], again: Certificate) -> CertificateCheck:
    """Hold what was found against what is found now, but for what the catalogue says."""
    if _comparable(certificate) == _comparable(again):
        return CertificateCheck(check="findings", ok=True, says="they show the same")
    if certificate["rules_sha256"] != again.rules_sha256 or certificate["program"] != __version__:
        says = "the rules are others now, and find otherwise: certify the files again"
        return CertificateCheck(check="findings", ok=None, says=says)
    return CertificateCheck(check="findings", ok=False, says="the files show something else")


def _comparable(certificate: Mapping[str, Any]) -> Any:
    told = json.loads(content_of(certificate))
    checks = [each for each in told["checks"] if each["check"] != "known merchants"]
    return told["files"], checks
