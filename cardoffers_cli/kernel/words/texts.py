"""Texts for cardholders and for the page that checks files: one file for each language.

English is `languages/en.toml`. A language without a file, and a text that its file lacks, is told
in English (rules.md#languages). To add a language put its file beside that.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Texts = Mapping[str, Mapping[str, Any]]

ENGLISH = "en"
FOLDER = files(__package__) / "languages"


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a file, English first."""
    names = {file.name.removesuffix(".toml") for file in FOLDER.iterdir()}
    return (ENGLISH, *sorted(names - {ENGLISH}))


def language_of(locale: str) -> str:
    """Return the language in which a locale has its texts."""
    return locale if locale in languages() else ENGLISH


@cache
def texts_in(language: str) -> Texts:
    """Return the tables of texts in a language, English for what it lacks."""
    own, english = _read(language_of(language)), _read(ENGLISH)
    return {name: {**english.get(name, {}), **own.get(name, {})} for name in {**english, **own}}


def _read(language: str) -> Texts:
    return tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))


# Which language a text is shown in (rules.md#languages).
#
# The language asked for counts if the program offers it; else, and for a text that is missing in
# it, the program's first language. Where even that has no text, the program's others follow, and
# English last, in which every offer has a title.


LOCALES = ("en", "es", "pt-BR")
"""The languages that a program may have."""


def languages_to_try(locale: str | None, offered: Sequence[str]) -> tuple[str, ...]:
    """Return the languages of a text from the best to the last; case does not matter in `locale`.

    `offered` holds the languages of the program, its first language first.
    """
    own = [language for language in offered if locale and language.lower() == locale.lower()]
    return tuple(dict.fromkeys([*own, *offered, ENGLISH]))


def first_text(texts: Mapping[str, str | None], languages: Sequence[str]) -> str:
    """Return the text of the first language that has one, or no text at all."""
    return next((text for language in languages if (text := texts.get(language))), "")
