"""What the page says, in every language that has texts (`kernel/words/texts.py`).

What a code means in English, and what fixes it, stands in `kernel/words/findings.toml`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.findings import CODES, FILE_CODES
from cardoffers_cli.kernel.words.texts import languages, texts_in

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def words() -> Mapping[str, Any]:
    """Return the words by language: `page`, the page's own, and `codes`, what is said of each."""
    english = {
        code: {"summary": entry.summary, "fix": entry.fix}
        for code, entry in {**CODES, **FILE_CODES}.items()
    }
    texts = {name: texts_in(name) for name in languages()}
    return {
        name: {"page": own["page"], "codes": {**english, **own.get("codes", {})}}
        for name, own in texts.items()
    }
