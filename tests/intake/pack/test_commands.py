"""`cardoffers pack build`: the page, what is said of it, and why there is none."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.pack import building
from cardoffers_cli.intake.schemas.formats import rules_digest
from packs import fake_package
from sizes import slow

if TYPE_CHECKING:
    from pathlib import Path

GET = f"npm pack pyodide@{building.VERSION}"
PROFILE = """
form = {delimiter = ";"}
[fields]
cardholder_token = {column = "Kunde"HMAC}
card_token = {column = "Karte"}
transacted_at = {column = "Datum", format = "%d.%m.%Y %H:%M", zone = "Europe/Berlin"}
amount = {column = "Betrag", decimal = ","}
transaction_ref = {column = "Beleg"}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a runtime, which is none but taken for the one that is pinned."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CARDOFFERS_PYODIDE", raising=False)
    content = fake_package(tmp_path / building.FILE).read_bytes()
    monkeypatch.setattr(building, "SHA256", hashlib.sha256(content).hexdigest())
    (tmp_path / "bank.toml").write_text(PROFILE.replace("HMAC", ""))
    return tmp_path


def test_a_page_is_written_and_told(cardoffers: Any, place: Path) -> None:
    ended = cardoffers("pack", "build", "-o", "validator.html", "--format", "json")
    page = (place / "validator.html").read_bytes()
    assert {
        "file": "validator.html",
        "bytes": len(page),
        "sha256": hashlib.sha256(page).hexdigest(),
        "version": "0.1.0",
        "rules_sha256": rules_digest(),
        "pyodide": building.VERSION,
        "institution": None,
        "currency": None,
        "profile": None,
        "profile_sha256": None,
        "dry_run": False,
    } == ended.document
    words = ("-o", "bank.html", "--profile", "bank.toml", "--format", "json")
    told = cardoffers("pack", "build", *words).document
    assert "bank.toml" == told["profile"]
    assert parse_profile((place / "bank.toml").read_text(), "P").digest == told["profile_sha256"]
    assert "Wrote validator.html. Open it in a browser" in ended.stderr
    assert 0o600 == (place / "validator.html").stat().st_mode & 0o777


def test_a_page_and_a_certificate_tell_the_same_rules(cardoffers: Any, place: Path) -> None:
    (place / "empty.csv").write_text(
        "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
    )
    cardoffers("validate", "empty.csv", "--certificate", "c.json")
    certified = json.loads((place / "c.json").read_bytes())
    built = cardoffers("pack", "build", "-o", "v.html", "--dry-run", "--format", "json").document
    assert rules_digest() == certified["rules_sha256"] == built["rules_sha256"]


def test_a_dry_run_says_the_same_and_writes_nothing(cardoffers: Any, place: Path) -> None:
    words = ("pack", "build", "-o", "validator.html", "--format", "json")
    dry = cardoffers(*words, "--dry-run")
    assert not (place / "validator.html").exists()
    assert {**cardoffers(*words).document, "dry_run": True} == dry.document


def test_the_runtime_is_where_it_is_said(cardoffers: Any, place: Path) -> None:
    (place / "elsewhere").mkdir()
    moved = (place / building.FILE).rename(place / "elsewhere" / "other.tgz")
    words = ("pack", "build", "-o", "validator.html", "-q")
    assert 5 == cardoffers(*words).exit_code
    assert 0 == cardoffers(*words, "--pyodide", moved).exit_code
    assert 0 == cardoffers(*words, CARDOFFERS_PYODIDE=str(moved)).exit_code
    moved.rename(place / "elsewhere" / building.FILE)
    assert 0 == cardoffers(*words, "--store", "elsewhere/cardoffers.duckdb").exit_code


@dataclass(frozen=True)
class Refusal:
    """How a command is refused, with parts of what it says, and its words."""

    exit_code: int
    code: str
    message: str
    hint: str
    words: str


REFUSALS = [
    Refusal(*each)
    for each in (
        (2, "usage", "-o validator.html is missing.", "Name the file to write.", ""),
        (2, "usage", "-o validator.html is missing.", "Name the file to write.", "-o -"),
        (5, "pyodide_missing", "none.tgz, cannot be read", GET, "-o a.html --pyodide none.tgz"),
        (4, "pyodide_other", "bank.toml is not the npm", GET, "-o a.html --pyodide bank.toml"),
        (2, "currency_unknown", "no currency 'EUX'", "GBP", "-o a.html --currency EUX"),
        (2, "profile_makes_tokens", "raw customer keys", "convert", "-o a.html --profile raw.toml"),
        (5, "profile_missing", "no.toml cannot be read", "new", "-o a.html --profile no.toml"),
        (4, "output_taken", "onto what is read", "another", f"-o {building.FILE}"),
        (10, "store_missing", "no store", "init", "-o a.html -i larkmere"),
    )
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: each.words)
def test_what_cannot_be_is_refused_with_what_to_type(
    cardoffers: Any, place: Path, refusal: Refusal
) -> None:
    hmac = ', hmac = {key_file = "token.key"}'
    (place / "raw.toml").write_text(PROFILE.replace("HMAC", hmac))
    before = sorted(place.iterdir())
    ended = cardoffers("pack", "build", *refusal.words.split(), "--format", "json")
    assert (refusal.exit_code, refusal.code) == (ended.exit_code, ended.error["code"])
    assert refusal.message in ended.error["message"]
    assert refusal.hint in ended.error["hint"]
    assert before == sorted(place.iterdir())


@slow
@pytest.mark.usefixtures("place")
def test_a_page_of_an_institution_has_its_currency_and_its_profile(cardoffers: Any) -> None:
    cardoffers("init", "--example", "-q")
    (slug,) = (
        each["slug"] for each in cardoffers("institution", "list", "--format", "json").document
    )
    words = ("pack", "build", "-i", slug, "-o", "a.html", "--format", "json")

    def told(*more: str) -> tuple[str, str, str | None]:
        document = cardoffers(*words, *more).document
        return document["institution"], document["currency"], document["profile"]

    name, currency, profile = told()
    assert (True, 3, None) == (name != slug, len(currency), profile)
    assert 0 == cardoffers("institution", "set", slug, "--profile", "bank.toml", "-q").exit_code
    assert (name, currency, slug) == told()
    assert (name, currency, "bank.toml") == told("--profile", "bank.toml")
    assert (name, "JPY", None) == told("--currency", "JPY", "--delimiter", ";")
