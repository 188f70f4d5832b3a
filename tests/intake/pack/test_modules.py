"""What of ours goes into the page: all that is imported there, and nothing that no browser has."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.intake.pack.building import modules_of, zip_of

if TYPE_CHECKING:
    from pathlib import Path

JSON_TEXT = [
    "cardoffers_cli/__init__.py",
    "cardoffers_cli/kernel/__init__.py",
    "cardoffers_cli/kernel/words/__init__.py",
    "cardoffers_cli/kernel/words/json_text.py",
    "cardoffers_cli/kernel/words/moments.py",
    "cardoffers_cli/kernel/words/visible.py",
]


def test_a_module_comes_with_all_that_it_imports() -> None:
    found = modules_of("cardoffers_cli.kernel.words.json_text")
    assert JSON_TEXT == list(found)
    assert found["cardoffers_cli/kernel/words/moments.py"].startswith(b'"""')


@pytest.mark.parametrize(
    ("imported", "name"),
    [
        ("markupsafe", "cardoffers_cli.kernel.sheets.pages"),  # in a function
        ("pydantic", "cardoffers_cli.intake.layout_model"),
        ("polars", "cardoffers_cli.intake.chunks"),
    ],
)
def test_what_no_browser_has_is_refused(imported: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"imports {imported}"):
        modules_of(name)


def test_an_archive_holds_them_and_python_imports_from_it(tmp_path: Path) -> None:
    modules = modules_of("cardoffers_cli.kernel.words.json_text")
    archive = tmp_path / "rules.zip"
    archive.write_bytes(zip_of(modules))
    with zipfile.ZipFile(archive) as opened:
        assert modules == {name: opened.read(name) for name in opened.namelist()}
    script = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "from cardoffers_cli.kernel.words import json_text\n"
        "print(json_text.__file__, json_text.dumps([1]))\n"
    )
    shown = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], check=True, capture_output=True, text=True
    )
    assert f"{archive}/cardoffers_cli/kernel/words/json_text.py [1]\n" == shown.stdout


def test_the_same_files_make_the_same_bytes() -> None:
    modules = {"a.py": b"1", "b/c.py": b"2"}
    assert zip_of(modules) == zip_of(dict(modules))
    assert ["1980", "1980"] == [
        str(each.date_time[0]) for each in zipfile.ZipFile(BytesIO(zip_of(modules))).infolist()
    ]
