"""The lock files fit `pyproject.toml`: nothing that it asks for is missing, or of another version.

Whether an environment can be made of them is seen by `.ci/run`, which makes one.
"""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CHECKOUT = Path(__file__).parents[1]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
EXTRAS = ("bank", "browse", "s3", "serve", "spark", "xlsx")
FORM = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ]+)(?: ; (?P<marker>[^\\]+))? \\\n"
    r"(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)"
)


@dataclass(frozen=True)
class Pin:
    name: str
    version: str
    marker: str | None
    hashes: int


def read(text: str) -> list[Pin]:
    """Read a lock file; what is not a version with its hashes is an error."""
    pins, end = [], 0
    for found in FORM.finditer(text):
        assert found.start() == end, text[end : found.start()]
        pins.append(
            Pin(found["name"], found["version"], found["marker"], found["hashes"].count("sha256"))
        )
        end = found.end()
    assert end == len(text), text[end : end + 100]
    return pins


def locked(name: str) -> list[Pin]:
    return read((CHECKOUT / ".ci" / name).read_text())


def complaints(asked: Iterable[Requirement], pins: list[Pin]) -> Iterator[str]:
    """Yield what of the requirements a lock file does not satisfy."""
    for each in asked:
        versions = [pin.version for pin in pins if pin.name == canonicalize_name(each.name)]
        if not versions:
            yield f"{each.name} is not locked"
        for version in versions:
            if Version(version) not in each.specifier:
                yield f"{each.name} is locked at {version}, and {each.specifier} is asked for"


def of_the_product() -> list[Requirement]:
    return [Requirement(each) for each in PROJECT["project"]["dependencies"]]


def of_extras() -> list[Requirement]:
    groups = PROJECT["project"]["optional-dependencies"]
    return [Requirement(each) for extra in EXTRAS for each in groups[extra]]


def of_the_build() -> list[Requirement]:
    return [Requirement(each) for each in PROJECT["build-system"]["requires"]]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("requirements.lock", of_the_product()),
        ("requirements-extras.lock", [*of_the_product(), *of_extras()]),
        ("build.lock", of_the_build()),
    ],
)
def test_a_lock_file_fits_what_is_asked_for(name: str, asked: list[Requirement]) -> None:
    assert [] == list(complaints(asked, locked(name))), "run .ci/lock, and commit what it writes"


def test_the_extras_are_those_that_users_install() -> None:
    groups = PROJECT["project"]["optional-dependencies"]
    assert set(EXTRAS) == groups.keys() - {"test", "lint", "bench"}
    script = (CHECKOUT / ".ci" / "lock").read_text()
    assert f"extras=({' '.join(EXTRAS)})" in script


def test_one_version_is_locked_with_extras_and_without() -> None:
    assert set() == set(locked("requirements.lock")) - set(locked("requirements-extras.lock"))


def test_what_is_locked_asks_for_nothing_that_is_not() -> None:
    pins = locked("requirements-extras.lock")
    versions = {(pin.name, pin.version) for pin in pins}
    here = {canonicalize_name(each.metadata["Name"]): each for each in distributions()}
    same = [each for name, each in here.items() if (name, each.version) in versions]
    assert len(same) > len(of_the_product())  # or nothing would be looked at
    asked = [Requirement(line) for each in same for line in each.requires or ()]
    needed = [each for each in asked if not each.marker or each.marker.evaluate({"extra": ""})]
    assert [] == list(complaints(needed, pins))


HASH = "    --hash=sha256:" + "0" * 64
GOOD = f"duckdb==2.0.0 \\\n{HASH} \\\n{HASH}\n"


@pytest.mark.parametrize(
    ("expected", "asked"),
    [
        ([], "DuckDB>=2.0,<3"),
        (["polars is not locked"], "polars>=2.1"),
        (["duckdb is locked at 2.0.0, and <3,>=2.1 is asked for"], "duckdb>=2.1,<3"),
    ],
)
def test_what_does_not_fit_is_found(expected: list[str], asked: str) -> None:
    assert expected == list(complaints([Requirement(asked)], read(GOOD)))


@pytest.mark.parametrize(
    "text",
    [
        "duckdb==2.0.0\n",
        f"duckdb>=2.0.0 \\\n{HASH}\n",
        f"--index-url https://packages.example/simple\n{GOOD}",
        f"{GOOD}./wheels/duckdb.whl\n",
        f"duckdb @ https://packages.example/duckdb.whl \\\n{HASH}\n",
    ],
)
def test_a_lock_file_holds_versions_with_hashes_and_nothing_else(text: str) -> None:
    assert [Pin("duckdb", "2.0.0", None, 2)] == read(GOOD)
    with pytest.raises(AssertionError):
        read(text)


# The bill of materials


def script() -> Any:
    path = CHECKOUT / ".ci" / "sbom.py"
    spec = importlib.util.spec_from_file_location("sbom", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_bill_of_materials_lists_what_the_product_reaches_and_what_that_reaches() -> None:
    bill = script().bill()
    assert ("CycloneDX", "1.6") == (bill["bomFormat"], bill["specVersion"])
    assert bill == script().bill()
    names = {each["name"] for each in bill["components"]}
    assert {canonicalize_name(each.name) for each in of_the_product()} <= names
    assert {"multidict", "pydantic-core"} <= names  # of aiohttp, of pydantic
    assert "uv" not in names
    references = [bill["metadata"]["component"]["bom-ref"]]
    references += [each["bom-ref"] for each in bill["components"]]
    assert sorted(references) == sorted(each["ref"] for each in bill["dependencies"])
    assert {ref for each in bill["dependencies"] for ref in each["dependsOn"]} <= set(references)
    assert json.dumps(bill)
