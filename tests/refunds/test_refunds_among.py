"""The refunds among the purchases of an export are taken with it, as a file of them would be."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.institutions.work import InstitutionLayout, set_institution
from cardoffers_cli.intake.chunks import FileReading
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.row_kinds import REFUNDS
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import rehearse, run_night
from cardoffers_cli.refunds.apply import apply_refunds
from cardoffers_cli.refunds.linking import RefundLink, dismiss_refund, link_refund
from cardoffers_cli.river import stage
from cardoffers_cli.river.checks import convert
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.withdrawals import undo_import
from cardoffers_cli.storage.doctor import doctor
from sizes import slow
from tables import NOON
from work import file_rows, found, job, kept, new_store, short_nights, tell, with_catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

TOML = """
form = {delimiter = ";"}
negatives = "refund"
[fields]
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
card_acceptor_id = {column = "VU"}
transacted_at = {column = "Datum", format = "%d.%m.%Y", zone = "Europe/Berlin"}
amount = {column = "Betrag", decimal = ","}
transaction_ref = {column = "Beleg"}
"""
PROFILE = parse_profile(TOML, "bank.toml")
HEADER = "Kunde;Karte;VU;Datum;Betrag;Beleg\n"
EXPORT = f"""{HEADER}\
c0;card;M0;20.05.2026;20,00;B-1
c0;card;M0;22.05.2026;-20,00;B-2
c1;card;M0;20.05.2026;10,00;B-3
c1;;M0;22.05.2026;-3,00;B-4
a@b.example;card;M0;31.04.2026;-3,00;B-5
c1;card;M0;22.05.2026;-2,00;B-2
c1;card;M0;22.05.2026;x;B-6
"""
EVERY_TABLE = """
    select 'purchase', transaction_ref, amount, transacted_at, cardholder_no, identifier_no
    from recent_purchases
    union all
    select 'refund', refund_ref, amount, refunded_at, cardholder_no, identifier_no
    from refunds
    order by all
"""


@pytest.fixture(params=[2_000, -1], ids=["few rows", "many rows"])
def made(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setattr(stage, "FEW_ROWS", request.param)
    return store_in(tmp_path)


def store_in(folder: Path) -> Job:
    made = new_store(folder)
    tell(made, institutions="institution plan currency\nalder growth EUR")
    return made


def take(
    made: Job,
    path: Path,
    text: str,
    owner: str = "alder",
    *,
    outputs: Outputs | None = None,
    **more: Any,
) -> Any:
    path.write_text(text)
    options = ImportOptions(**{"profile": PROFILE, **more})
    return import_file(str(path), owner, made, options, outputs=outputs or Outputs()).document()


@slow
def test_both_are_taken_and_told(made: Job, tmp_path: Path) -> None:
    told = take(made, tmp_path / "a.csv", EXPORT)
    counts = ("kind_of_rows", "received", "accepted", "invalid", "conflicts", "amount_accepted")
    assert ["purchases", 7, 3, 3, 1, "30.00"] == [str_of(told[name]) for name in counts]
    assert ["refunds", 4, 1, 2, 1, "20.00"] == [str_of(told["refunds"][name]) for name in counts]
    (among,) = [each for each in told["findings"] if each["code"] == "refunds_among"]
    assert (
        "4 rows are refunds, as the profile says: an import takes them as such" == among["message"]
    )
    assert doctor(made)["ok"]
    assert [("purchases", 3, 2), ("refunds", 4, 1)] == found(
        made, "select kind_of_rows, received, accepted from imports order by import_no"
    )


def str_of(value: Any) -> Any:
    return value if isinstance(value, (int, str)) else f"{value}"


@slow
def test_what_is_wrong_with_one_is_told_by_its_line_and_column(made: Job, tmp_path: Path) -> None:
    outputs = Outputs(errors=tmp_path / "errors.csv", rejected=tmp_path / "rejected.csv")
    take(made, tmp_path / "a.csv", EXPORT, outputs=outputs)
    lines = (tmp_path / "errors.csv").read_text().splitlines()[1:]
    told = [line.split(",")[:4] for line in lines]
    assert [line for line, *_ in told] == sorted(line for line, *_ in told)
    assert {
        ("", "", "refunds_among"),
        ("5", "original_transaction_ref", "original_missing"),
        ("6", "Kunde", "personal_data"),
        ("6", "Datum", "timestamp_invalid"),
        ("7", "Beleg", "duplicate_conflict"),
        ("8", "Betrag", "amount_invalid"),
    } <= {(line, column, code) for line, _, column, code in told}
    rejected = (tmp_path / "rejected.csv").read_text().splitlines()
    assert ["B-4", "B-5", "B-2", "B-6"] == [line.split(";")[-1] for line in rejected[1:]]
    assert "a@b.example" not in rejected[2]


@slow
def test_a_second_time_nothing_is_new(made: Job, tmp_path: Path) -> None:
    take(made, tmp_path / "a.csv", EXPORT)
    before = found(made, EVERY_TABLE)
    told = take(made, tmp_path / "b.csv", EXPORT)
    assert (0, 0) == (told["accepted"], told["refunds"]["accepted"])
    assert told["already_imported"] == told["refunds"]["already_imported"]
    assert before == found(made, EVERY_TABLE)


@slow
def test_what_is_taken_back_leaves_with_its_refunds_and_may_come_again(
    made: Job, tmp_path: Path
) -> None:
    export = EXPORT.replace("c0", "stranger-0000000").replace("c1", "stranger-0000001")
    tell(made, institutions="institution plan currency\nbrook growth EUR")
    apply_refunds(made)
    for owner in ("alder", "brook", "alder"):
        told = take(made, tmp_path / "a.csv", export, owner)
        assert (3, None) == (told["accepted"], told["already_imported"])
        apply_refunds(made)
        undo_import(str(told["import_id"]), "the wrong bank", made)
        assert [] == found(made, EVERY_TABLE)
        assert [(0,)] == found(made, "select count(*) from refund_outcomes")
    assert doctor(made, strict=True).ok
    assert ["withdrawn"] * 6 == [each.state for each in file_rows(made)]


@pytest.mark.parametrize("what", ["linked", "dismissed", "came again"])
def test_a_file_whose_refunds_are_relied_on_stays(made: Job, tmp_path: Path, what: str) -> None:
    back = "c0;card;M0;22.05.2026;-20,00;B-2\n"
    take(made, tmp_path / "b.csv", f"{HEADER}c0;card;M0;20.05.2026;20,00;B-1\n")
    told = take(made, tmp_path / "a.csv", f"{HEADER}{back}c0;card;M0;20.05.2026;10,00;B-3\n")
    if what == "linked":
        link = RefundLink(refund_ref="B-2", transaction_ref="B-1", reason="by phone")
        link_refund(made, "alder", link)
    elif what == "dismissed":
        dismiss_refund(made, "alder", "B-2", "by phone")
    else:
        take(made, tmp_path / "c.csv", f"{HEADER}{back}")
    with pytest.raises(Refused, match="1 of its refunds took effect or came again, the first in"):
        undo_import(str(told["import_id"]), "the wrong bank", made)


@slow
def test_a_dry_run_keeps_nothing(made: Job, tmp_path: Path) -> None:
    before = kept(made)
    told = take(made, tmp_path / "a.csv", EXPORT, dry_run=True)
    assert (3, 1) == (told["accepted"], told["refunds"]["accepted"])
    assert before == kept(made)


def test_a_file_without_refunds_is_told_as_ever(made: Job, tmp_path: Path) -> None:
    assert "refunds" not in take(made, tmp_path / "a.csv", "\n".join(EXPORT.split("\n")[:2]) + "\n")


@slow
def test_a_file_of_refunds_alone_has_rows(made: Job, tmp_path: Path) -> None:
    told = take(made, tmp_path / "a.csv", f"{HEADER}c0;card;M0;22.05.2026;-20,00;B-2\n")
    assert ["token_weak", "refunds_among"] == [each["code"] for each in told["findings"]]
    assert (1, 1) == (told["accepted"], told["refunds"]["accepted"])


@slow
def test_the_refunds_are_taken_alone_where_they_are_asked_for(made: Job, tmp_path: Path) -> None:
    take(made, tmp_path / "a.csv", EXPORT, kind=REFUNDS)
    assert [("refund", "B-2")] == [row[:2] for row in found(made, EVERY_TABLE)]


def export_of(chance: random.Random, *, card: str = "", rows: int = 40) -> str:
    """Return an export whose references are numbers, of which some are right by chance."""
    lines = []
    for number in range(rows):
        amount = chance.choice(["12,50", "-12,50", "0,01", "-0,01", "x", "0,00", "-0,00"])
        day = chance.choice(["20.05.2026", "32.05.2026", ""])
        token = chance.choice(["ct-1", "ct-2", "", "4111111111111111"])
        reference = f"{4000000000000000 + chance.randrange(rows * 2) * 7}"
        lines.append(f"c{number % 3};{token};M{number % 2};{day};{amount};{reference}\n")
    return HEADER + "".join([*lines, card])


@slow
@pytest.mark.parametrize("seed", range(3))
def test_it_comes_to_what_two_converted_files_come_to(seed: int, made: Job, tmp_path: Path) -> None:
    text = export_of(random.Random(seed))  # noqa: S311
    take(made, tmp_path / "a.csv", text)
    (tmp_path / "apart").mkdir()
    other = store_in(tmp_path / "apart")
    files = tmp_path / "purchases.csv", tmp_path / "refunds.csv"
    reading = FileReading(now=NOON, currency="EUR", profile=PROFILE, unterminated="error")
    convert(
        str(tmp_path / "a.csv"),
        *(PROFILE, reading, job()),
        to=files[0],
        refunds_to=files[1],
        outputs=Outputs(),
    )
    for file, more in zip(files, [{}, {"kind": REFUNDS}], strict=True):
        take(other, file, file.read_text(), profile=None, **more)
    assert found(other, EVERY_TABLE) == found(made, EVERY_TABLE)
    assert found(made, EVERY_TABLE)


@slow
def test_what_references_look_like_the_purchases_tell(made: Job, tmp_path: Path) -> None:
    """One number alone would be refused as a card number, where nothing was sent before."""
    lines = [f"c0;ct;M0;20.05.2026;1,00;{4 * 10**15 + number * 7}\n" for number in range(300)]
    refund = f"c0;ct;M0;22.05.2026;-1,00;4{'0' * 14}2\n"  # its check digit is right
    (tmp_path / "apart").mkdir()
    told = take(made, tmp_path / "a.csv", "".join([HEADER, *lines, refund]))
    assert (301, 1) == (told["accepted"], told["refunds"]["accepted"])
    other = store_in(tmp_path / "apart")
    assert 1 == take(other, tmp_path / "b.csv", f"{HEADER}{refund}")["refunds"]["invalid"]


# In a nightly run


@pytest.fixture
def dropped(tmp_path: Path) -> Path:
    folder = tmp_path / "drop" / "alder"
    folder.mkdir(parents=True)
    (folder / "export.csv").write_text(EXPORT)
    (folder / "export.csv.done").touch()
    return folder


def told_of(result: Any, step: str, *names: str) -> list[Any]:
    (counts,) = [each["counts"] for each in result["steps"] if each["name"] == step]
    return [counts[name] for name in names]


def with_profile(folder: Path) -> Job:
    made = with_catalogue(folder)
    policy = {"refund_auto_link": "unique_exact"}
    set_institution(made, "alder", {}, layout=InstitutionLayout(toml=TOML), settings=policy)
    return made


@slow
def test_a_nightly_run_takes_them_and_takes_their_cashback_back(
    dropped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_nights(monkeypatch, "import", "match", "refund", "audits")
    made = with_profile(tmp_path)
    result = run_night(made, NightOptions(drop=dropped.parent))
    assert [7, 3, 3, 1, 1] == told_of(
        result, "import", "received", "accepted", "invalid", "conflicts", "refunds"
    )
    assert [1, 1] == told_of(result, "refund", "considered", "reversed")
    assert [("B-1", "reversed"), ("B-3", "pending")] == found(
        made, "select transaction_ref, status from redemption_facts order by all"
    )
    (rows_rejected,) = [each for each in result["findings"] if each["code"] == "rows_rejected"]
    assert "4 of 7 rows not taken" in rows_rejected["message"]
    (report,) = tmp_path.rglob("export.csv.errors.csv")
    assert "5,B-4,original_transaction_ref,original_missing" in report.read_text()


@slow
def test_a_rehearsal_says_the_same(
    dropped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_nights(monkeypatch, "import", "match", "refund")
    made = with_profile(tmp_path)
    before = kept(made)
    result = rehearse(made, NightOptions(drop=dropped.parent))
    assert [3, 1] == told_of(result, "import", "accepted", "refunds")
    assert before == kept(made)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ('{"rows": 7}', "imported"),
        ('{"rows": 3}', "failed"),
        ('{"rows": 7, "amount_sum": "-99.00"}', "imported"),
    ],
    ids=["all rows", "purchases only", "a sum that invalid refunds keep from being held"],
)
def test_a_manifest_counts_them(
    dropped: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    status: str,
) -> None:
    short_nights(monkeypatch, "import")
    (dropped / "export.csv.manifest.json").write_text(said)
    result = run_night(with_profile(tmp_path), NightOptions(drop=dropped.parent))
    assert [status] == [each["status"] for each in result["imports"]]


@slow
@pytest.mark.parametrize(("amount_sum", "status"), [("10.00", "imported"), ("30.00", "failed")])
def test_a_manifest_adds_them_up_as_they_stand(
    dropped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, amount_sum: str, status: str
) -> None:
    short_nights(monkeypatch, "import")
    (dropped / "export.csv").write_text("\n".join(EXPORT.split("\n")[:4]) + "\n")
    (dropped / "export.csv.manifest.json").write_text(f'{{"amount_sum": "{amount_sum}"}}')
    result = run_night(with_profile(tmp_path), NightOptions(drop=dropped.parent))
    assert [status] == [each["status"] for each in result["imports"]]
