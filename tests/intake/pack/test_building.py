"""The page that checks files, as bytes: what is in it, and what its policy lets it do."""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
import subprocess
import sys
import zipfile
from base64 import b64decode, b64encode
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from cardoffers_cli import __version__
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.pack.building import (
    BuiltInLayout,
    PageCheck,
    build,
    read_runtime,
    unpacked,
    verdict_modules,
)
from cardoffers_cli.intake.profiles.refunds import settled
from cardoffers_cli.intake.schemas.formats import rules_digest
from packs import FAKE, fake_package, package

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.intake.pack.building import Runtime

MOST_BYTES = 14_000_000
POLICY = {
    "default-src": ["'none'"],
    "script-src": ["SCRIPT", "'wasm-unsafe-eval'"],
    "worker-src": ["blob:"],
    "style-src": ["STYLE"],
    "img-src": ["data:"],
    "connect-src": ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
}
PROFILE = """
form = {delimiter = ";"}
[fields]
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
transacted_at = {column = "Datum", format = "%d.%m.%Y %H:%M", zone = "Europe/Berlin"}
amount = {column = "Betrag", decimal = ",", thousands = "."}
transaction_ref = {column = "Beleg"}
"""
HOSTILE = "</script><script>alert(1)</script><!-- & Sons"


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    """Return a runtime that is none; the page of it is as any other."""
    return unpacked(fake_package(tmp_path_factory.mktemp("fake") / "fake.tgz"))


def profiled() -> PageCheck:
    profile = parse_profile(PROFILE, "bank.toml")
    return PageCheck(layout=BuiltInLayout(profile=profile, name="bank.toml"))


def elements(page: bytes, kind: str) -> dict[str, str]:
    """Return the texts of the elements of data of a kind, by their ids."""
    found = re.findall(rf'<script type="{kind}" id="([\w-]+)">(.*?)</script>', page.decode())
    return dict(found)


def parts(page: bytes) -> Mapping[str, bytes]:
    packed = elements(page, "application/gzip;base64")
    return {name: gzip.decompress(b64decode(text)) for name, text in packed.items()}


def data(page: bytes) -> Mapping[str, Any]:
    return {name: json.loads(text) for name, text in elements(page, "application/json").items()}


def source(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(page: str) -> dict[str, list[str]]:
    (content,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.*?)"', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    names = {source(script): "SCRIPT", source(style): "STYLE"}
    directives = [each.split() for each in html.unescape(content).split(";")]
    return {name: [names.get(each, each) for each in sources] for name, *sources in directives}


def test_the_policy_lets_nothing_be_fetched_and_nothing_else_run(runtime: Runtime) -> None:
    assert POLICY == policy(build(profiled(), runtime).decode())


def test_nothing_in_the_page_is_elsewhere(runtime: Runtime) -> None:
    page = build(profiled(), runtime).decode()
    markup = re.sub(r"<(script|style)\b[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    assert {"#check", "data:,"} == set(re.findall(r'(?:href|src|action)="([^"]*)"', markup))
    assert [] == re.findall(r"\bon\w+=|\bstyle=|javascript:", markup)


def test_two_builds_are_equal(runtime: Runtime) -> None:
    check = PageCheck(institution="Larkmere Bank", assume_timezone="Europe/Lisbon")
    assert build(check, runtime) == build(check, runtime)
    assert build(check, runtime) != build(profiled(), runtime)


def test_the_runtime_is_in_it_as_it_came(runtime: Runtime) -> None:
    found = parts(build(PageCheck(), runtime))
    assert ["worker", "wasm", "stdlib", "rules"] == list(found)
    assert (FAKE["pyodide.asm.wasm"], FAKE["python_stdlib.zip"]) == (
        found["wasm"].decode(),
        found["stdlib"].decode(),
    )
    worker = found["worker"].decode()
    assert 'LOCK = {"info": {"abi_version": "0"}, "packages": {}};' in worker
    assert "async function c(){return self.location.href}return c;" in worker
    assert "var a=1;async function b(){}return b;" in worker


def test_a_script_of_the_real_runtime_is_one_that_a_worker_runs() -> None:
    page = build(PageCheck(), read_runtime(package()))
    worker = parts(page)["worker"].decode()
    assert [] == re.findall(r"import\.meta|^export|;export[ {]|sourceMappingURL", worker)
    assert len(page) <= MOST_BYTES


def test_the_rules_are_the_modules_that_make_the_verdict(runtime: Runtime) -> None:
    page = build(PageCheck(), runtime)
    archive = zipfile.ZipFile(BytesIO(parts(page)["rules"]))
    found = {name: archive.read(name) for name in archive.namelist()}
    assert verdict_modules() == found
    package = Path(__file__).parents[3]
    assert {name: (package / name).read_bytes() for name in found} == found


def test_a_zone_comes_with_it_and_no_other(runtime: Runtime, tmp_path: Path) -> None:
    for check, zones in [
        (PageCheck(), []),
        (
            PageCheck(assume_timezone="America/Argentina/Buenos_Aires"),
            ["America/Argentina/Buenos_Aires"],
        ),
        (profiled(), ["Europe/Berlin"]),
    ]:
        archive = tmp_path / "rules.zip"
        archive.write_bytes(parts(build(check, runtime))["rules"])
        names = zipfile.ZipFile(archive).namelist()
        prefix = "tzdata/zoneinfo/"
        assert zones == [
            each.removeprefix(prefix)
            for each in names
            if each.startswith(prefix) and not each.endswith("__init__.py")
        ]
        for zone in zones:
            assert offset(archive, zone) == str(
                datetime(2026, 7, 1, tzinfo=ZoneInfo(zone)).utcoffset()
            )


def offset(archive: Path, zone: str) -> str:
    """Return what a Python that has no zones but those of an archive says of one."""
    script = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "import datetime, zoneinfo; zoneinfo.reset_tzpath([])\n"
        f"print(datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo({zone!r})).utcoffset())\n"
    )
    command = [sys.executable, "-I", "-S", "-c", script]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_the_page_tells_how_it_checks(runtime: Runtime) -> None:
    told = data(build(profiled(), runtime))["about-this"]
    options = told.pop("options")
    assert {
        "version": __version__,
        "rules_sha256": rules_digest(),
        "pyodide": told["pyodide"],
        "institution": None,
        "currency": None,
        "delimiter": ",",
        "assume_timezone": None,
        "profile": "bank.toml",
        "profile_sha256": parse_profile(PROFILE, "bank.toml").digest,
    } == told
    assert {
        "currency": None,
        "delimiter": ",",
        "assume_timezone": None,
        "profile": json.loads(json.dumps(settled(parse_profile(PROFILE, "bank.toml")))),
    } == options
    assert {"sources": ["Betrag"], "decimal": ",", "currency": ""}.items() <= options["profile"][
        "fields"
    ]["amount"].items()


def test_names_of_others_are_data_and_end_no_element(runtime: Runtime) -> None:
    page = build(PageCheck(institution=HOSTILE), runtime)
    assert HOSTILE == data(page)["about-this"]["institution"]
    assert b"alert(1)</script>" not in page
    assert POLICY == policy(page.decode())
