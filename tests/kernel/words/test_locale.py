from __future__ import annotations

import pytest

from cardoffers_cli.kernel.words.texts import first_text, languages_to_try

# locale asked for, languages of the program -> languages to try
ORDERS = [
    (None, "en es", "en es"),
    ("es", "en es", "es en"),
    ("ES", "en es", "es en"),
    ("pt-BR", "es pt-BR", "pt-BR es en"),
    ("pt-br", "es pt-BR", "pt-BR es en"),
    ("pt-BR", "es en", "es en"),
    ("pt", "es pt-BR", "es pt-BR en"),
    ("de", "es en", "es en"),
    ("", "en", "en"),
    ("es", "es", "es en"),
]


@pytest.mark.parametrize(("locale", "offered", "expected"), ORDERS)
def test_a_language_not_offered_falls_back_to_the_first(
    locale: str | None, offered: str, expected: str
) -> None:
    assert expected.split() == [*languages_to_try(locale, offered.split())]


@pytest.mark.parametrize(
    ("expected", "texts"),
    [
        ("hola", {"es": "hola", "en": "hello"}),
        ("hello", {"es": None, "en": "hello"}),
        ("hello", {"es": "", "en": "hello"}),
        ("hello", {"en": "hello", "pt-BR": "oi"}),
        ("", {"pt-BR": "oi"}),
        ("", {}),
    ],
)
def test_a_missing_text_falls_back_too(expected: str, texts: dict[str, str | None]) -> None:
    assert expected == first_text(texts, ("es", "en"))
