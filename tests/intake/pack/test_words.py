"""What the page that checks files says, in English and in a language that a test brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.pack.building import words
from cardoffers_cli.kernel.words.findings import CODES, FILE_CODES
from languages import with_spanish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
        return
    for key, inner in value.items():
        yield from texts(inner, f"{name}.{key}")


def test_the_page_speaks_english() -> None:
    assert ["en"] == list(words())


def test_every_code_of_a_file_is_told() -> None:
    assert {**CODES, **FILE_CODES}.keys() == words()["en"]["codes"].keys()


def test_a_language_with_a_file_is_offered_and_lacks_nothing(tmp_path: Path) -> None:
    english = words()["en"]
    with with_spanish(tmp_path):
        assert ["en", "es"] == list(words())
        spanish = words()["es"]
        assert english == words()["en"]
    assert ("Español", english["page"]["title"]) == (
        spanish["page"]["language"],
        spanish["page"]["title"],
    )
    codes, told = english["codes"], spanish["codes"]
    assert codes.keys() == told.keys()
    assert {"encoding"} == {code for code in codes if codes[code] != told[code]}


def test_a_text_is_whole() -> None:
    """Nothing is around it; what is said of a code begins small and has no stop."""
    assert [] == [key for key, text in texts(words()["en"]) if text != text.strip()]
    said = dict(texts(words()["en"]["codes"]))
    assert [] == [key for key, text in said.items() if text[0].isupper() and text[1].islower()]
    assert [] == [key for key, text in said.items() if text.endswith(".")]
