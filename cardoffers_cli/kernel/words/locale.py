"""Which language a text is shown in (rules.md#languages).

The language asked for counts if the program offers it; else, and for a text that is missing in it,
the program's first language. Where even that has no text, the program's others follow, and English
last, in which every offer has a title.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOCALES = ("en", "es", "pt-BR")
"""The languages that a program may have."""

_ENGLISH = "en"


def languages_to_try(locale: str | None, offered: Sequence[str]) -> tuple[str, ...]:
    """Return the languages of a text from the best to the last; case does not matter in `locale`.

    `offered` holds the languages of the program, its first language first.
    """
    asked = [each for each in offered if locale and each.lower() == locale.lower()]
    return tuple(dict.fromkeys([*asked, *offered, _ENGLISH]))


def first_text(texts: Mapping[str, str | None], languages: Sequence[str]) -> str:
    """Return the text of the first language that has one, or no text at all."""
    return next((text for language in languages if (text := texts.get(language))), "")
