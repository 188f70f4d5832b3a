"""What the page says, in every language of the service: `texts.toml` and `advice.toml`.

What a code means in English, and what fixes it, stands in `domain/findings.toml`. A code that
`advice.toml` does not have in a language is told in English.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.findings import CODES, FILE_CODES

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def words() -> Mapping[str, Any]:
    """Return the words by language: `page`, the page's own, and `codes`, what is said of each."""
    english = {
        code: {"summary": each.summary, "fix": each.fix}
        for code, each in {**CODES, **FILE_CODES}.items()
    }
    advice = _read("advice.toml")
    return {
        name: {"page": page, "codes": {**english, **advice.get(name, {})}}
        for name, page in _read("texts.toml").items()
    }


def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads(files("cardoffers_cli.files.pack").joinpath(name).read_text("utf-8"))
