"""The words of errors: each is in the table of its slice, is used once, and is given its values."""

from __future__ import annotations

import ast
import string
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.words.errors import NotFound, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[3] / "cardoffers_cli"
TABLES = {
    path.parent.relative_to(PACKAGE).as_posix(): tomllib.loads(path.read_text())
    for path in sorted(PACKAGE.rglob("errors.toml"))
}


def uses(source: str) -> Iterator[tuple[str, str, set[str]]]:
    """Yield the slice and the code of each error of a table in a module, and what it is given."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "from_table":
            slice_, code = (ast.literal_eval(each) for each in node.args)
            yield slice_, code, {str(each.arg) for each in node.keywords}


def named(words: dict[str, str]) -> set[str]:
    """Return the values that the words of an error name."""
    fields = [field for text in words.values() for _, field, *_ in string.Formatter().parse(text)]
    return {field.partition(".")[0] for field in fields if field}


def test_every_error_has_its_words_and_its_values() -> None:
    given: dict[str, dict[str, set[str]]] = {slice_: {} for slice_ in TABLES}
    for path in sorted(PACKAGE.rglob("*.py")):
        for slice_, code, values in uses(path.read_text()):
            assert path.is_relative_to(PACKAGE / slice_), f"{path} uses the words of {slice_}"
            assert code not in given[slice_], f"{slice_} has two errors {code}"
            given[slice_][code] = values
    asked = {
        slice_: {code: named(words) for code, words in table.items()}
        for slice_, table in TABLES.items()
    }
    assert asked == given


def test_every_text_is_a_sentence() -> None:
    for slice_, table in TABLES.items():
        for code, words in table.items():
            assert {"text"} <= words.keys() <= {"text", "hint"}, (slice_, code)
            assert words["text"].rstrip("}").endswith((".", ":", "{error")), (slice_, code)


def test_an_error_is_worded_by_its_table() -> None:
    error = NotFound.from_table("merchants", "file_missing", source="a.csv")
    assert ("file_missing", "There is no file a.csv.", "Check its name.") == (
        *(error.code, str(error)),
        error.hint,
    )


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('Refused.from_table("keys", "a", x=1, y=f(2))', [("keys", "a", {"x", "y"})]),
        ('Refused("text", code="a")', []),
    ],
)
def test_uses_are_found(source: str, found: list[tuple[str, str, set[str]]]) -> None:
    assert found == list(uses(source))


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        Refused.from_table("merchants", "file_missing")
