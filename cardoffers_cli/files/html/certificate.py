"""The page of a certificate, which answers: what have these files shown, and is it all that counts.

The certificate itself stands on the page as JSON, sealed; the rest is made from that and from
nothing else. So whoever reads the page back can tell, by making it again, whether it says what was
sealed. It has the names and days of files, and no value of a row.
"""

from __future__ import annotations

import html
import json
import re
from io import BytesIO
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain import json_text
from cardoffers_cli.domain.certificates import (
    FAILED,
    LEVELS,
    MISSING,
    SHOWN,
    UNASKED,
    is_certificate,
    reaches,
)
from cardoffers_cli.domain.counting import counted
from cardoffers_cli.domain.errors import UsageError
from cardoffers_cli.domain.moments import parse_moment
from cardoffers_cli.files.html.pages import Fact, Page, Section, write_page
from cardoffers_cli.files.html.tables import Advice, State
from cardoffers_cli.files.sheets import Sheet, read_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECKS = read_columns("certificate.checks")
FILES = read_columns("certificate.files")
_TONES = {SHOWN: "good", MISSING: "warn", FAILED: "alarm", UNASKED: "soft"}
_DOCUMENT = re.compile(r'<p class="lines">(\{.*?\})</p>', re.DOTALL)


def headline(certificate: Mapping[str, Any]) -> str:
    """Say in a sentence which level was reached, or what stands in the way of the first."""
    files = counted(len(certificate["files"]), "file")
    level = certificate["level"]
    if level == LEVELS[-1]:
        return f"{files} reached the highest level: {level}."
    wanted = LEVELS[LEVELS.index(level) + 1] if level else LEVELS[0]
    lacking = [
        each["check"]
        for each in certificate["checks"]
        if each["level"] == wanted and each["state"] in {MISSING, FAILED}
    ]
    reached = f"reached the level {level}" if level else "reached no level"
    return f"{files} {reached}. Still to be shown for the level {wanted}: {', '.join(lacking)}."


def seal_told(certificate: Mapping[str, Any]) -> str:
    """Say in a sentence who signed it, if anybody did."""
    if certificate.get("hmac_sha256"):
        return f"Signed with the key {certificate['key_id']}."
    return "Unsigned: its digest tells a change by mistake, and anybody could have made it."


def certificate_page(certificate: Mapping[str, Any]) -> Page:
    """Return the page of a certificate, sealed, as it is or as it was read back."""
    checks = [
        {**each, "state": State(each["state"], _TONES[each["state"]]), "says": Advice(each["says"])}
        for each in certificate["checks"]
    ]
    made_at = certificate["made_at"]
    level = certificate["level"]
    return Page(
        title="Certificate of " + counted(len(certificate["files"]), "file"),
        headline=headline(certificate),
        as_of=parse_moment(made_at) if isinstance(made_at, str) else made_at,
        about=[seal_told(certificate)],
        facts=[
            Fact.of(name, "reached" if reaches(level, name) else "not reached") for name in LEVELS
        ],
        sections=[
            Section(
                title="What was shown",
                lines=[_of_whom(certificate)],
                sheet=Sheet("checks", CHECKS, checks),
                is_whole=True,
            ),
            Section(
                title="The files, in the order of their sending",
                sheet=Sheet("files", FILES, certificate["files"]),
                is_whole=True,
            ),
            Section(
                title="The certificate",
                lines=[
                    "`cardoffers certify --check PAGE FILE…` holds this page against the files."
                ],
                text=json_text.dumps(certificate),
            ),
        ],
    )


def _of_whom(certificate: Mapping[str, Any]) -> str:
    of = f"For {certificate['institution']}. " if certificate["institution"] else ""
    currency = f"amounts in {certificate['currency']}, " if certificate["currency"] else ""
    return (
        f"{of}Read by version {certificate['program']}, {currency}"
        f"rules {certificate['rules_sha256'][:16]}."
    )


def page_bytes(certificate: Mapping[str, Any]) -> bytes:
    """Return the page as it is written: the same certificate makes the same bytes."""
    out = BytesIO()
    write_page(certificate_page(certificate), out)
    return out.getvalue()


def read_certificate(content: bytes, name: str) -> Mapping[str, Any]:
    """Return the certificate of a page, or of the JSON of one; raise `UsageError`."""
    text = content.decode("utf-8", "replace")
    found = _DOCUMENT.search(text)
    try:
        certificate = json.loads(html.unescape(found[1]) if found else text)
    except ValueError:
        certificate = None
    if is_certificate(certificate):
        return dict(certificate)
    raise UsageError(
        f"{name} is no certificate.",
        code="no_certificate",
        hint="Name the page, or the JSON, that `cardoffers certify` wrote.",
    )
