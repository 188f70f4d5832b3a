"""Real card numbers do not get into the store, in whatever field they come."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.files.transactions import Reading
from cardoffers_cli.jobs.intake import Outputs
from cardoffers_cli.jobs.validate import validate
from tables import NOON
from work import found, job, kept, new_store, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.jobs.job import Job

CARD = "4111111111111111"
EVENT = {
    "cardholder_token": "9fb6f85a8aac50e20c422cac18b44258",
    "card_token": "ct_527b0abb",
    "card_acceptor_id": "M6CF4DC01F8024C",
    "amount": "12.50",
    "transaction_ref": "TX-0001",
    "transacted_at": "2026-03-18T13:12:54Z",
}
TEXTS = (
    *("cardholder_token", "card_token", "instrument_token"),
    *("transaction_ref", "card_acceptor_id", "merchant_identifier"),
    *("mcc", "merchant_descriptor", "network"),
)


@pytest.fixture
def alder(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(made, institutions="institution plan\nalder growth")
    return made


def csv_of(path: Path, *events: dict[str, str]) -> Path:
    names = dict.fromkeys(name for event in events for name in event)
    lines = [",".join(names), *(",".join(event.get(n, "") for n in names) for event in events)]
    path.write_text("\n".join([*lines, ""]))
    return path


def holder_of(field: str) -> dict[str, str]:
    """Return an event with a card number in one field, and with nothing else against it."""
    event = {**EVENT, field: CARD}
    if field in {"instrument_token", "merchant_identifier"}:
        del event["card_token" if field == "instrument_token" else "card_acceptor_id"]
    return event


@pytest.mark.parametrize("field", TEXTS)
def test_a_card_number_is_refused_and_kept_nowhere(alder: Job, tmp_path: Path, field: str) -> None:
    good = [{**EVENT, "transaction_ref": f"TX-100{n}"} for n in range(3)]
    path = csv_of(tmp_path / "tx.csv", *good, holder_of(field))
    told = taken(alder, path)
    assert (3, 1) == (told["accepted"], told["invalid"])
    assert [("card_number", [5])] == [(row["code"], row["lines"]) for row in told["findings"]]
    assert CARD not in str(told)
    assert CARD not in str(kept(alder))
    assert [(field, "card_number")] == found(alder, "select field, code from rejects")


PRIVATE = "jo.doe@example.com"


def as_lines(path: Path, *events: dict[str, str]) -> Path:
    texts = [json.dumps({**event, "amount": 1}) for event in events]
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def as_array(path: Path, *events: dict[str, str]) -> Path:
    path.write_text(json.dumps([{**event, "amount": 1} for event in events]))
    return path


@pytest.mark.parametrize("write", [csv_of, as_lines, as_array])
@pytest.mark.parametrize("raw", [False, True])
def test_what_was_refused_lies_masked_in_a_file_of_its_owners(
    alder: Job, tmp_path: Path, write: Any, raw: bool
) -> None:
    bad = [holder_of(field) for field in TEXTS]
    bad += [{**EVENT, "card_token": PRIVATE}, {**EVENT, "instrument_type": "x", "mcc": "5411"}]
    path = write(
        tmp_path / "tx", *[{**EVENT, "transaction_ref": f"TX-1{n}"} for n in range(3)], *bad
    )
    outputs = Outputs(errors=tmp_path / "e", valid=tmp_path / "v", rejected=tmp_path / "r", raw=raw)
    report = validate(str(path), Reading(now=NOON), alder, outputs=outputs)
    assert len(bad) == report.invalid
    written = {name: (tmp_path / name).read_text() for name in "evr"}
    for secret in (CARD, PRIVATE):
        assert raw == (secret in written["r"])
        assert secret not in written["v"] + written["e"]
    source = path.read_text()
    for secret in (CARD, PRIVATE):
        source = source if raw else source.replace(secret, "[masked]")
    assert [] == [line for line in written["r"].splitlines() if line.rstrip(",") not in source]
    assert {0o600} == {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "evr"}


def test_the_mode_of_what_is_written_is_a_setting(tmp_path: Path) -> None:
    made = job(tmp_path / "none", file_mode="0640")
    outputs = Outputs(errors=tmp_path / "e", rejected=tmp_path / "r")
    validate(str(csv_of(tmp_path / "tx", EVENT)), Reading(now=NOON), made, outputs=outputs)
    assert {0o640} == {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "er"}


def numbered(count: int, first: int = 4 * 10**15) -> list[dict[str, str]]:
    return [
        {**EVENT, "transaction_ref": str(first + n), "amount": f"{n + 1}.00"} for n in range(count)
    ]


def codes(told: dict[str, Any]) -> dict[str, int]:
    return {row["code"]: row["rows"] for row in told["findings"]}


def test_references_of_one_form_are_taken_with_a_warning(alder: Job, tmp_path: Path) -> None:
    told = taken(alder, csv_of(tmp_path / "tx.csv", *numbered(1000)))
    assert (1000, 0) == (told["accepted"], told["invalid"])
    assert {"reference_like_card": 0} == codes(told)


def test_a_card_number_among_numeric_references_is_found(alder: Job, tmp_path: Path) -> None:
    card = {**EVENT, "transaction_ref": CARD, "card_acceptor_id": "SECRETSHOP"}
    path = csv_of(tmp_path / "tx.csv", *numbered(1000, 52 * 10**14), card)
    told = taken(alder, path)
    assert (1000, 1) == (told["accepted"], told["invalid"])
    assert 1 == codes(told)["card_number"]
    assert CARD not in str(kept(alder))
    assert "SECRETSHOP" not in str(kept(alder))
    assert [(None, "transaction_ref")] == found(alder, "select transaction_ref, field from rejects")


def test_a_rejected_row_shows_its_reference_where_it_is_one(alder: Job, tmp_path: Path) -> None:
    rows = numbered(1000)
    for row in rows:
        row["amount"] = "x"
    taken(alder, csv_of(tmp_path / "tx.csv", *rows))
    assert [(row["transaction_ref"],) for row in rows] == found(
        alder, "select transaction_ref from rejects order by line"
    )


def test_a_row_with_other_faults_is_counted_once(alder: Job, tmp_path: Path) -> None:
    bad = {**EVENT, "transaction_ref": CARD, "amount": "x"}
    told = taken(alder, csv_of(tmp_path / "tx.csv", EVENT, bad))
    assert (1, 1) == (told["accepted"], told["invalid"])
    assert [(None, "amount"), (None, "transaction_ref")] == found(
        alder, "select transaction_ref, field from rejects order by 2"
    )


def test_a_check_comes_to_the_same(alder: Job, tmp_path: Path) -> None:
    path = csv_of(
        tmp_path / "tx.csv", *numbered(100), {**EVENT, "transaction_ref": "5555555555554444"}
    )
    report = validate(str(path), Reading(now=NOON), alder, outputs=Outputs())
    assert (100, 1) == (report.valid, report.invalid)
