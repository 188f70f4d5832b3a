"""Certificates: what files of an institution have shown, in levels, sealed to be checked again.

The rule is rules.md#certificates.

A level is reached where each of its checks was shown, and the levels below it were reached. What no
file shows is `missing`, which is no fault; what a file shows to be wrong is `failed`; a check that
cannot be made here, as of merchants without a catalogue, is `unasked` and holds nothing up.

**Who signs.** A certificate is sealed by the SHA-256 of its content, which anybody can make: it
tells a change by mistake, and says that it is unsigned. With a key it has an HMAC-SHA256 too, by
which whoever has the same key knows that it was made by someone who has it. There is no key for
this alone: any secret that the institution and the service share will do, such as the signing
secret of the institution's webhook. The key that signs is derived from it, so a certificate never
passes for a webhook.
"""

from __future__ import annotations

import hmac
from datetime import date
from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from cardoffers_cli.domain import json_text
from cardoffers_cli.domain.counting import counted
from cardoffers_cli.domain.moments import parse_moment
from cardoffers_cli.domain.money import MINOR_UNITS
from cardoffers_cli.domain.records import Record, if_any
from cardoffers_cli.domain.row_kinds import REFUNDS
from cardoffers_cli.domain.sentences import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

FORM = "cardoffers certificate 1"
LEVELS = ("format", "content", "life cycle")
SHOWN, MISSING, FAILED, UNASKED = "shown", "missing", "failed", "unasked"
_SEAL = ("sha256", "key_id", "hmac_sha256")
_EXPOSED = {"card_number", "personal_data"}
_DAMAGED = {"leading_zeros_lost", "spreadsheet_damage"}
_ROTATED = "tokens_unstable"
_AMONG = "refunds_among"
_ONE_IN = 100
"""Tokens are stable where one in so many, or more, comes again in another file, and no more than
one in so many cards changes its cardholder; tokens made anew for each file never come again."""


class CertifiedFile(Record):
    """One file: its digest, its rows, those that an earlier file has, its first and last day (UTC).

    `repeated` rows have the same content there, `differing` ones another; `codes` are those of what
    was found in it.
    """

    file: str
    sha256: str
    bytes: int
    kind: str
    kind_of_rows: str
    received: int
    valid: int
    invalid: int
    duplicates: int
    conflicts: int
    repeated: int
    differing: int
    first_on: date | None
    last_on: date | None
    codes: Sequence[str]


class CertifiedCheck(Record):
    """One check of a level: shown, missing, failed or unasked, and what says so."""

    level: str
    check: str
    state: str
    says: str


class Certificate(Record):
    """What files have shown, when and by which rules, how they were read, and the seal of all that.

    `level` is the highest that was reached, None where none was.
    """

    form: str
    made_at: datetime
    program: str
    rules_sha256: str
    institution: str | None
    currency: str | None
    delimiter: str
    assume_timezone: str | None
    profile_sha256: str | None
    level: str | None
    files: Sequence[CertifiedFile]
    checks: Sequence[CertifiedCheck]
    sha256: str | None = if_any()
    key_id: str | None = if_any()
    hmac_sha256: str | None = if_any()


class ShownTogether(Record):
    """What the files show together: tokens that come again, cards that change, merchants.

    `merchant_rows` are rows that name a merchant the catalogue has, None where nobody asked it.
    """

    tokens: int
    shared: int
    files: int
    cards: int
    changing: int
    rows: int
    merchant_rows: int | None


def level_of(checks: Sequence[CertifiedCheck]) -> str | None:
    """Return the highest level that was reached."""
    reached = None
    for level in LEVELS:
        if not all(each.state in {SHOWN, UNASKED} for each in checks if each.level == level):
            break
        reached = level
    return reached


def reaches(level: str | None, wanted: str) -> bool:
    """Say whether a level is another one, or above it."""
    return level is not None and LEVELS.index(level) >= LEVELS.index(wanted)


def checks_of(files: Sequence[CertifiedFile], together: ShownTogether) -> Iterator[CertifiedCheck]:
    """Yield every check in the order of the levels; files are in the order of their sending."""
    yield _none_of("format", "rows", "every row is good", [_bad_rows(each) for each in files])
    exposed = [_with_codes(each, _EXPOSED) for each in files]
    yield _none_of("content", "card numbers", "no card number, no personal data", exposed)
    damaged = [_with_codes(each, _DAMAGED) for each in files]
    yield _none_of("content", "zeros", "no zero was lost, and no spreadsheet changed it", damaged)
    yield _tokens(files, together)
    yield _merchants(together)
    yield from _life_cycle(files)


def _bad_rows(file: CertifiedFile) -> str:
    rows = counted(file.received, "row")
    return f"{file.invalid:,} of {rows} of {file.file} are invalid" if file.invalid else ""


def _with_codes(file: CertifiedFile, codes: set[str]) -> str:
    found = sorted(codes.intersection(file.codes))
    return f"{file.file} has {' and '.join(found)}" if found else ""


def _none_of(level: str, check: str, good: str, faults: Sequence[str]) -> CertifiedCheck:
    found = "; ".join(filter(None, faults))
    state = FAILED if found else SHOWN
    return CertifiedCheck(level=level, check=check, state=state, says=found or good)


def _tokens(files: Sequence[CertifiedFile], together: ShownTogether) -> CertifiedCheck:
    rotated = [each.file for each in files if _ROTATED in each.codes]
    told = f"{together.shared:,} of {counted(together.tokens, 'cardholder token')} come again in"
    told += f" another file; {together.changing:,} of {counted(together.cards, 'card token')} come"
    told += " with several cardholder tokens"
    if rotated:
        state, told = FAILED, f"almost every token occurs once in {' and '.join(rotated)}"
    elif together.files <= 1:
        state, told = MISSING, "it takes two files with rows of their own to show it"
    elif (
        together.shared * _ONE_IN < together.tokens or together.changing * _ONE_IN > together.cards
    ):
        state = FAILED
    else:
        state = SHOWN
    return CertifiedCheck(level="content", check="stable tokens", state=state, says=told)


def _merchants(together: ShownTogether) -> CertifiedCheck:
    known, rows = together.merchant_rows, together.rows
    if known is None:
        state, told = UNASKED, "no catalogue was asked: name the institution of a store"
    else:
        share = f" ({percent(Decimal(known) / rows)})" if rows else ""
        told = f"{known:,} of {counted(rows, 'row')}{share} name a merchant of the catalogue"
        state = SHOWN if known else FAILED if rows else MISSING
    return CertifiedCheck(level="content", check="known merchants", state=state, says=told)


def _life_cycle(files: Sequence[CertifiedFile]) -> Iterator[CertifiedCheck]:
    """Yield what happens to files sooner or later, each shown by one of them or missing."""
    for check, finds, missing in (
        ("duplicate file", _is_duplicate, "no file was sent twice"),
        ("conflict", _has_conflict, "no reference came again with other content"),
        ("refund", _has_refunds, "no file has refunds"),
        ("empty day", _is_empty, "no file has a header and no rows"),
        ("late file", _is_late, "no file has days before those of an earlier file"),
    ):
        found = next((told for n, _ in enumerate(files) if (told := finds(files, n))), None)
        state = SHOWN if found else MISSING
        yield CertifiedCheck(level="life cycle", check=check, state=state, says=found or missing)


def _is_duplicate(files: Sequence[CertifiedFile], n: int) -> str | None:
    file, earlier = files[n], files[:n]
    digests = [each.sha256 for each in earlier]
    if file.sha256 in digests:
        return f"file {n + 1} ({file.file}) is file {digests.index(file.sha256) + 1} again"
    rows = file.valid + file.duplicates
    return f"all rows of {file.file} came before" if rows and rows == file.repeated else None


def _has_conflict(files: Sequence[CertifiedFile], n: int) -> str | None:
    file = files[n]
    rows = file.conflicts + file.differing
    return f"{counted(rows, 'row')} of {file.file}" if rows else None


def _has_refunds(files: Sequence[CertifiedFile], n: int) -> str | None:
    file = files[n]
    if file.kind_of_rows == REFUNDS.name and file.received:
        return f"{counted(file.received, 'row')} of {file.file}"
    return f"{file.file}, among its purchases" if _AMONG in file.codes else None


def _is_empty(files: Sequence[CertifiedFile], n: int) -> str | None:
    return f"{files[n].file} has no rows" if not files[n].received else None


def _is_late(files: Sequence[CertifiedFile], n: int) -> str | None:
    file = files[n]
    before = [each for each in files[:n] if each.kind_of_rows == file.kind_of_rows]
    newest = max(before, key=lambda each: each.last_on or date.min, default=None)
    if file.last_on is None or newest is None or newest.last_on is None:
        return None
    if file.last_on >= newest.last_on or _is_duplicate(files, n):
        return None
    return (
        f"{file.file} ends on {file.last_on}, and {newest.file} on {newest.last_on} was before it"
    )


# The seal


def content_of(certificate: Mapping[str, Any]) -> str:
    """Return the text that is sealed: all of a certificate but its seal."""
    return json_text.dumps({name: certificate[name] for name in certificate if name not in _SEAL})


def sealed(certificate: Certificate, key: str | None) -> Certificate:
    """Return a certificate with the digest of its content and, with a key, its signature."""
    content = content_of(certificate).encode()
    seal = {"sha256": sha256(content).hexdigest()}
    if key is not None:
        signature = hmac.digest(_derived(key), content, sha256).hex()
        seal |= {"key_id": key_id(key), "hmac_sha256": signature}
    return Certificate(**{**certificate, **seal})


def is_certificate(document: Any) -> bool:
    """Say whether a document has the form of a certificate, whoever wrote it."""
    try:
        certificate = Certificate(**document)
        files = [CertifiedFile(**each) for each in certificate.files]
        states = {CertifiedCheck(**each).state for each in certificate.checks}
        parse_moment(str(certificate.made_at))
        ZoneInfo(certificate.assume_timezone or "UTC")
    except (TypeError, ValueError, KeyError, OSError):
        return False
    return (
        certificate.form == FORM
        and certificate.level in {None, *LEVELS}
        and states <= {SHOWN, MISSING, FAILED, UNASKED}
        and certificate.currency in {None, *MINOR_UNITS}
        and len(str(certificate.delimiter)) == 1
        and all(isinstance(each.sha256, str) for each in files)
    )


def key_id(key: str) -> str:
    """Return by what a key is told from others, without telling anything of it."""
    return sha256(_derived(key)).hexdigest()[:16]


def is_whole(certificate: Mapping[str, Any]) -> bool:
    """Say whether the digest of a certificate is that of its content."""
    found = sha256(content_of(certificate).encode()).hexdigest()
    return hmac.compare_digest(found, str(certificate.get("sha256")))


def is_signed_with(certificate: Mapping[str, Any], key: str) -> bool:
    """Say whether the signature of a certificate was made with a key."""
    found = hmac.digest(_derived(key), content_of(certificate).encode(), sha256).hex()
    return hmac.compare_digest(found, str(certificate.get("hmac_sha256")))


def _derived(key: str) -> bytes:
    return hmac.digest(key.encode(), FORM.encode(), sha256)
