"""What a finding's code means: why it matters, and a bad and a mended line to look at.

The words stand in `docs/findings.toml`, one entry for each code of the catalogues in `domain/`.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from cardoffers_cli.domain.catalogue_findings import CATALOGUE_CODES
from cardoffers_cli.domain.drop_findings import DROP_CODES
from cardoffers_cli.domain.findings import CODES, FILE_CODES, Code

KNOWN = {**CATALOGUE_CODES, **CODES, **FILE_CODES, **DROP_CODES}
"""Every code there is; one that rows and catalogues share is explained for rows."""

USUAL_HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"


@dataclass(frozen=True, kw_only=True)
class Example:
    """Lines that have a finding, and the same lines mended; without a header, whole files.

    `bad_encoding` is how the bad lines must be written to be bad.
    """

    bad: str
    mended: str
    header: str = USUAL_HEADER
    bad_encoding: str = "utf-8"


@dataclass(frozen=True, kw_only=True)
class Explained:
    """A code with why it matters; some codes no few lines can show."""

    code: Code
    why: str
    example: Example | None

    def document(self) -> dict[str, Any]:
        """Return the explanation as one row, the example's lines as they are."""
        example = self.example
        return {
            "code": self.code.code,
            "level": self.code.level,
            "summary": self.code.summary,
            "fix": self.code.fix,
            "why": self.why,
            "header": example.header or None if example else None,
            "bad": example.bad if example else None,
            "mended": example.mended if example else None,
        }

    def lines(self) -> list[dict[str, Any]]:
        """Return the example line by line: which part it is of, and its text."""
        parts = ("header", "bad", "mended")
        shown = self.document()
        return [
            {"part": part, "line": line}
            for part in parts
            for line in (shown[part] or "").splitlines()
        ]


def explain(code: str) -> Explained:
    """Return what a known code means."""
    words = dict(entries()[code])
    why = words.pop("why")
    return Explained(code=KNOWN[code], why=why, example=Example(**words) if words else None)


@cache
def entries() -> dict[str, dict[str, str]]:
    """Return the words of every code, as the page has them."""
    page = files("cardoffers_cli").joinpath("docs", "findings.toml")
    return tomllib.loads(page.read_text("utf-8"))
