"""What the page that checks files says: each text in each language, and the same in all of them."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.domain.answers import LOCALES
from cardoffers_cli.domain.findings import CODES, FILE_CODES
from cardoffers_cli.files.pack.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator

ADVICE = files("cardoffers_cli.files.pack").joinpath("advice.toml")
NAMES = re.compile(
    r"--[a-z-]+|`[^`]+`|\b[a-z]+(?:_[a-z0-9]+)+\b|\{\w+\}"
    r"|[A-Z]*[0-9][\w.^+:/-]*|\b[A-Z]{2,}[\w/!-]*|\"\"|[+#]\S+"
)
"""What is not translated: options, names of fields, what is filled in, figures, capitals."""


def texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
        return
    for key, inner in value.items():
        yield from texts(inner, f"{name}.{key}")


def names(text: str) -> list[str]:
    return sorted(NAMES.findall(text))


def differences(one: Any, other: Any) -> list[str]:
    """Return the texts of a language that another lacks, has more, or names other things in."""
    ones, others = dict(texts(one)), dict(texts(other))
    named = [key for key in ones.keys() & others.keys() if names(ones[key]) != names(others[key])]
    return sorted([*(ones.keys() ^ others.keys()), *named])


def test_the_page_speaks_the_languages_of_the_service() -> None:
    assert list(LOCALES) == list(words())


@pytest.mark.parametrize("language", LOCALES)
def test_every_code_of_a_file_is_told(language: str) -> None:
    assert {**CODES, **FILE_CODES}.keys() == words()[language]["codes"].keys()


@pytest.mark.parametrize("language", LOCALES[1:])
def test_a_language_says_the_same_as_english(language: str) -> None:
    assert [] == differences(words()["en"], words()[language])


@pytest.mark.parametrize("language", LOCALES[1:])
def test_a_language_has_words_of_its_own(language: str) -> None:
    english = words()["en"]["codes"]
    advice = tomllib.loads(ADVICE.read_text("utf-8"))[language]
    assert advice == {code: words()[language]["codes"][code] for code in advice}
    assert set(advice) <= set(english)
    same = {key for key, text in texts(english) if text == dict(texts(advice)).get(key)}
    assert set() == same


@pytest.mark.parametrize("language", LOCALES)
def test_a_text_is_whole(language: str) -> None:
    """Nothing is around it; what is said of a code begins small and has no stop, as in English."""
    assert [] == [key for key, text in texts(words()[language]) if text != text.strip()]
    said = texts(words()[language]["codes"])
    assert [] == [key for key, text in said if text[0].isupper() and text[1].islower()]
    assert [] == [key for key, text in texts(words()[language]["codes"]) if text.endswith(".")]


@pytest.mark.parametrize(
    ("expected", "other"),
    [
        ([], {"a": "añada --zone a card_token, como 12.50", "b": "{name} en UTF-8"}),
        ([".b"], {"a": "añada --zone a card_token, como 12.50"}),
        ([".a"], {"a": "añada --zona a card_token, como 12.50", "b": "{name} en UTF-8"}),
        ([".a"], {"a": "añada --zone a card_token, como 12,50", "b": "{name} en UTF-8"}),
        ([".b"], {"a": "añada --zone a card_token, como 12.50", "b": "{nombre} en UTF-8"}),
        ([".b", ".c"], {"a": "añada --zone a card_token, como 12.50", "b": "{name}", "c": "x"}),
    ],
)
def test_what_a_language_lacks_is_found(expected: list[str], other: dict[str, str]) -> None:
    english = {"a": "add --zone to card_token, as 12.50", "b": "{name} in UTF-8"}
    assert expected == differences(english, other)
