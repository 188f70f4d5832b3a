"""`cardoffers schema`: the format of files as data, for other tools, and to be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from browser import browser, shown
from cardoffers_cli.catalogue.formats import kinds
from sizes import at_the_gate

if TYPE_CHECKING:
    from pathlib import Path

AS_JSON = ("--format", "json")


def test_the_form_for_tools_is_a_document(cardoffers: Any, tmp_path: Path) -> None:
    out = tmp_path / "purchases.anything"
    told = cardoffers("schema", "--form", "jsonschema")
    ended = cardoffers("schema", "--kind", "purchases", "--form", "jsonschema", "-o", out)
    assert (0, f"Wrote {out}\n") == (ended.exit_code, ended.stderr)
    assert told.stdout == out.read_text()
    assert "properties" in json.loads(told.stdout)


@pytest.mark.parametrize("form", ["tableschema", "csvw"])
def test_a_form_that_was_replaced_says_what_to_type(cardoffers: Any, form: str) -> None:
    ended = cardoffers("schema", "--form", form)
    assert (2, "") == (ended.exit_code, ended.stdout)
    assert "Hint: Type `cardoffers schema --form jsonschema`.\n" in ended.stderr


@pytest.mark.parametrize("kind", kinds())
def test_people_read_the_same_columns_in_every_form(cardoffers: Any, kind: str) -> None:
    columns = cardoffers("schema", "--kind", kind, "--format", "json").document["columns"]
    markdown = cardoffers("schema", "--kind", kind, "--form", "markdown").stdout
    page = cardoffers("schema", "--kind", kind, "--form", "html").stdout
    assert columns
    for each in columns:
        assert f"| {each['column']} |".replace("_", r"_") in markdown.replace("\\_", "_")
        assert f"<code>{each['column']}</code>" in page


def test_the_page_says_how_to_fix_what_is_found(cardoffers: Any) -> None:
    page = cardoffers("schema", "--form", "html").stdout
    document = cardoffers("schema", "--format", "json").document
    assert "every row needs" in page
    assert "write YYYY-MM-DDTHH:MM:SS with Z or an offset such as +02:00" in page
    codes = {code for each in document["columns"] for code in each["findings"].split()}
    assert codes == {each["code"] for each in document["findings"]}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("kind_unknown", ["--kind", "offer"]),
        ("usage", ["--form", "jsonschema", "--format", "json"]),
        ("usage", ["--form", "xml"]),
        ("columns_unfit", ["--columns", "amount,colour"]),
        ("currency_unknown", ["--currency", "GBX"]),
    ],
)
def test_what_is_asked_wrongly_is_refused(cardoffers: Any, code: str, words: list[str]) -> None:
    ended = cardoffers("schema", *words, *([] if "--format" in words else AS_JSON))
    assert ("", code) == (ended.stdout, ended.error["code"])
    assert ended.error["hint"]


@at_the_gate
@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_fits_every_screen(cardoffers: Any, tmp_path: Path, width: int) -> None:
    path = tmp_path / "purchases.html"
    cardoffers("schema", "--form", "html", "-o", path)
    with browser() as opened, shown(opened, path, width=width) as seen:
        wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert 0 == seen.page.evaluate(wide)
        assert [] == seen.wrong
