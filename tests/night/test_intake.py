"""The files of a night: taken, failed or left, each apart from the others."""

from __future__ import annotations

import gzip
import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from books import HEADER, book, purchase
from cardoffers_cli.institutions.work import InstitutionLayout, set_institution
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.night.intake import release_file
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import rehearse, run_night
from cardoffers_cli.storage.doctor import doctor
from sizes import one_in, slow
from tables import select
from work import Job, file_of, file_rows, found, kept, new_store, short_nights, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
    ref  amount
    r1   10.00
    r2   2.50
"""


@pytest.fixture(autouse=True)
def _short(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "whole_nights" not in request.fixturenames:
        short_nights(monkeypatch, "import")


@pytest.fixture
def whole_nights() -> None:
    """Nights with all of their steps."""


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(made, institutions="institution  plan\nalder  growth\nbirch  starter")
    return made


def dropped(made: Job, name: str, text: str | bytes = GOOD, **manifest: Any) -> Path:
    """Put a file into the drop folder, ready, with a manifest if there is anything in it."""
    path = made.path.parent / "drop" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        file_of(path, text)
    path.with_name(f"{path.name}.done").touch()
    if manifest:
        path.with_name(f"{path.name}.manifest.json").write_text(json.dumps(manifest))
    return path


def night(made: Job) -> dict[str, Any]:
    return run_night(made, NightOptions(drop=made.path.parent / "drop"))


def ended(made: Job) -> dict[str, Any]:
    """Run the night; return what became of each file."""
    return {each["file"]: each["status"] for each in night(made)["imports"]}


PROFILE = """
encoding = "latin-1"
form = {delimiter = ";"}
[fields]
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
transacted_at = {column = "Datum", format = "%d.%m.%Y %H:%M", zone = "Europe/Berlin"}
amount = {column = "Betrag", decimal = ","}
transaction_ref = {column = "Beleg"}
"""
EXPORT = """Kunde;Karte;Datum;Betrag;Beleg;Händler
customer-1;ct-1;05.03.2026 18:30;12,50;B-1;Café
customer-1;ct-1;05.03.2026 18:31;1x;B-2;Café
""".encode("latin-1")


@slow
def test_the_files_of_an_institution_are_read_by_the_profile_it_keeps(made: Job) -> None:
    dropped(made, "alder/export.csv", EXPORT)
    set_institution(made, "alder", {}, layout=InstitutionLayout(toml=PROFILE))
    assert {"alder/export.csv": "imported"} == ended(made)
    with made.store(read_only=True) as store:
        (row,) = select(store, "select accepted, invalid, options from imports")
    assert (1, 1, parse_profile(PROFILE, "P").digest) == (*row[:2], json.loads(row[2])["profile"])
    (report,) = made.path.parent.rglob("*.errors.csv")
    assert "3,B-2,Betrag,amount_invalid,error" in report.read_text()


@slow
def test_a_file_that_the_kept_profile_does_not_fit_fails(made: Job) -> None:
    dropped(made, "alder/a.csv")
    set_institution(made, "alder", {}, layout=InstitutionLayout(toml=PROFILE))
    assert {"alder/a.csv": "failed"} == ended(made)


REFUNDS = b"""refund_ref,original_transaction_ref,amount,refunded_at
f1,r1,4.00,2026-05-20T10:00:00Z
f2,r9,2.00,2026-05-20T10:00:00Z
f3,,2.00,2026-05-20T10:00:00Z
"""


def test_refunds_in_the_drop_folder_are_taken_for_what_they_are(made: Job) -> None:
    dropped(made, "alder/purchases.csv")
    dropped(made, "alder/returned.csv", REFUNDS)
    told = night(made)
    kinds = {each["file"]: (each["kind_of_rows"], each["accepted"]) for each in told["imports"]}
    assert {"alder/purchases.csv": ("purchases", 2), "alder/returned.csv": ("refunds", 2)} == kinds
    (step,) = [each for each in told["steps"] if each["name"] == "import"]
    counts = step["counts"]
    assert (5, 4, 1, 2) == tuple(
        counts[name] for name in ("received", "accepted", "invalid", "refunds")
    )
    assert [("f1",), ("f2",)] == found(made, "select refund_ref from refunds order by refund_no")
    (report,) = made.path.parent.rglob("*.errors.csv")
    assert "original_missing" in report.read_text()
    assert [("rows_rejected", "alder/returned.csv")] == [
        (each["code"], each["file"]) for each in told["findings"] if each.get("file")
    ]


CREDITS = b"""transaction_ref,amount,status,credited_at,failure_code,credit_ref
r1,1.00,credited,2026-05-20T10:00:00Z,,c1
r2,1.00,failed,2026-05-20T10:00:00Z,R02,c2
,1.00,credited,2026-05-20T10:00:00Z,,c3
"""


@slow
def test_credited_files_in_the_drop_folder_are_taken_for_what_they_are(made: Job) -> None:
    dropped(made, "alder/export.csv", EXPORT)
    dropped(made, "alder/credited.csv", CREDITS)
    dropped(made, "alder/returned.csv", REFUNDS)
    set_institution(made, "alder", {}, layout=InstitutionLayout(toml=PROFILE))
    told = night(made)
    kinds = {each["file"]: (each["kind_of_rows"], each["accepted"]) for each in told["imports"]}
    assert {
        "alder/export.csv": ("purchases", 1),
        "alder/credited.csv": ("credits", 2),
        "alder/returned.csv": ("refunds", 2),
    } == kinds
    (step,) = [each for each in told["steps"] if each["name"] == "import"]
    assert (2, 2) == (step["counts"]["credits"], step["counts"]["refunds"])
    assert [("c1",), ("c2",)] == found(made, "select credit_ref from credits order by credit_no")
    reports = "".join(each.read_text() for each in made.path.parent.rglob("*.errors.csv"))
    assert "4,c3,redemption_id,redemption_missing,error" in reports


@slow
def test_refunds_lie_beside_the_exports_of_an_institution_with_a_profile(made: Job) -> None:
    dropped(made, "alder/export.csv", EXPORT)
    dropped(made, "alder/returned.csv", REFUNDS)
    set_institution(made, "alder", {}, layout=InstitutionLayout(toml=PROFILE))
    assert {"alder/export.csv": "imported", "alder/returned.csv": "imported"} == ended(made)
    assert [(2,)] == found(made, "select count(*) from refunds")


@slow
def test_the_manifest_of_a_file_of_refunds_counts(made: Job) -> None:
    good = b"".join(REFUNDS.splitlines(keepends=True)[:3])
    dropped(made, "alder/a.csv", good, rows=2, amount_sum="6.00")
    dropped(made, "alder/b.csv", good, rows=2, amount_sum="-6.00")
    assert {"alder/a.csv": "imported", "alder/b.csv": "failed"} == ended(made)


@slow
def test_a_workbook_is_taken_as_any_file_is(made: Job) -> None:
    rows = [[*HEADER], purchase(), purchase(transaction_ref="TX-2", amount="1,50")]
    dropped(made, "alder/march.xlsx", book({"notes": [["March"]], "purchases": rows}))
    assert {"alder/march.xlsx": "imported"} == ended(made)
    with made.store(read_only=True) as store:
        kept = select(store, "select file_kind, received, accepted, invalid from imports")
    assert [("xlsx", 2, 1, 1)] == [tuple(row) for row in kept]
    (report,) = made.path.parent.rglob("march.xlsx.errors.csv")
    assert "3,TX-2,amount,amount_invalid,error" in report.read_text()
    (rejected,) = made.path.parent.rglob("march.xlsx.rejected.csv")
    assert ",TX-2," in rejected.read_text().splitlines()[1]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_one_bad_file_stops_no_other(made: Job) -> None:
    dropped(made, "alder/a.csv", b"PK\x03\x04 no csv")
    dropped(made, "alder/b.csv")
    dropped(made, "birch/c.csv")
    dropped(made, "alder/d.csv.gz", gzip.compress(b"cardholder_token")[:-4])
    expected = {
        "alder/a.csv": "failed",
        "alder/b.csv": "imported",
        "alder/d.csv.gz": "failed",
        "birch/c.csv": "failed",
    }
    assert expected == ended(made)
    processed = made.path.parent / "processed"
    assert ["b.csv", "b.csv.done"] == names(processed / "alder" / "done")
    assert {"a.csv", "a.csv.errors.csv", "d.csv.gz"} <= set(names(processed / "alder" / "failed"))
    assert "plan_not_allowed" in (processed / "birch" / "failed" / "c.csv.errors.csv").read_text()
    assert [] == names(made.path.parent / "drop")
    assert [(2,)] == found(made, "select count(*) from purchases")


CUT_IN_ITS_LAST_LINE = [
    # what the manifest says, what becomes of the file, and how many purchases there are
    ({}, "imported", 1),
    ({"rows": 2}, "imported", 1),
    ({"rows": 2, "amount_sum": "12.50"}, "imported", 2),
    ({"sha256": True}, "imported", 2),
    ({"rows": 2, "amount_sum": "139.75"}, "failed", 0),
    ({"sha256": "0" * 64}, "failed", 0),
]


@slow
@pytest.mark.parametrize(("manifest", "status", "purchases"), CUT_IN_ITS_LAST_LINE, ids=str)
@one_in(2)
def test_a_manifest_vouches_for_a_last_line_without_its_end(
    made: Job, manifest: dict[str, Any], status: str, purchases: int
) -> None:
    content = file_of(made.path.with_name("whole.csv"), GOOD).read_bytes()[:-1]
    digest = hashlib.sha256(content).hexdigest()
    said = {name: digest if value is True else value for name, value in manifest.items()}
    dropped(made, "alder/tx.csv", content, **said)
    assert {"alder/tx.csv": status} == ended(made)
    assert [(purchases,)] == found(made, "select count(*) from purchases")


@slow
def test_a_sum_does_not_vouch_where_rows_are_missing_from_it(made: Job) -> None:
    text = f"{GOOD.rstrip()}\n    r3   x\n    r4   1.00"
    content = file_of(made.path.with_name("whole.csv"), text).read_bytes()[:-1]
    dropped(made, "alder/tx.csv", content, rows=4, amount_sum="99.00")
    assert {"alder/tx.csv": "failed"} == ended(made)


@pytest.mark.parametrize(
    ("manifest", "status"),
    [
        ({"rows": 2, "amount_sum": "12.50"}, "imported"),
        ({"rows": 3}, "failed"),
        ({"amount_sum": "12.51"}, "failed"),
        ({"sha256": "0" * 64}, "failed"),
        ({"rows": "two"}, "failed"),
    ],
    ids=["right", "rows", "amount", "digest", "no manifest"],
)
@one_in(2)
def test_a_manifest_is_held_against_its_file(
    made: Job, manifest: dict[str, Any], status: str
) -> None:
    dropped(made, "alder/tx.csv", **manifest)
    assert {"alder/tx.csv": status} == ended(made)
    taken = 2 if status == "imported" else 0
    assert [(taken,)] == found(made, "select count(*) from purchases")


@slow
def test_the_digest_is_of_the_file_as_it_lies(made: Job) -> None:
    plain = file_of(made.path.parent / "plain.csv", GOOD).read_bytes()
    packed = gzip.compress(plain)
    dropped(made, "alder/tx.csv.gz", packed, sha256=hashlib.sha256(packed).hexdigest().upper())
    assert {"alder/tx.csv.gz": "imported"} == ended(made)


@slow
def test_rejected_rows_lie_beside_the_file(made: Job) -> None:
    dropped(made, "alder/tx.csv", "ref  amount\nr1   10.00\nr2   0")
    result = night(made)
    done = made.path.parent / "processed" / "alder" / "done"
    assert ["tx.csv", "tx.csv.done", "tx.csv.errors.csv", "tx.csv.rejected.csv"] == names(done)
    assert "amount_not_positive" in (done / "tx.csv.errors.csv").read_text()
    assert ["r2"] == [line.split(",")[5] for line in lines(done / "tx.csv.rejected.csv")[1:]]
    assert "rows_rejected" == result["findings"][0]["code"]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_folder_of_nobody_is_left_alone_and_said(made: Job) -> None:
    path = dropped(made, "cedar/tx.csv")
    result = night(made)
    assert ["institution_unknown"] == [each["code"] for each in result["findings"]]
    assert path.exists()


@slow
@pytest.mark.usefixtures("whole_nights")
def test_a_rehearsal_says_what_the_night_will_and_keeps_nothing(made: Job) -> None:
    dropped(made, "alder/tx.csv", "ref  amount\nr1   10.00\nr2   0")
    dropped(made, "alder/bad.csv", b"")
    before, files = kept(made), names(made.path.parent)
    told = rehearse(made, NightOptions(drop=made.path.parent / "drop"))
    assert (before, files) == (kept(made), names(made.path.parent))
    result = night(made)
    assert told["dry_run"]
    assert result["institutions"] == told["institutions"]
    *others, last = result["findings"]
    assert (others, "copy_missing") == (told["findings"], last["code"]), "no copy is rehearsed"
    states = [[each["status"] for each in made["imports"]] for made in (result, told)]
    assert states[0] == states[1]


@slow
@pytest.mark.usefixtures("whole_nights")
def test_the_result_is_kept_beside_the_store(made: Job) -> None:
    dropped(made, "alder/tx.csv")
    result = night(made)
    file = made.path.parent / "runs" / str(result["run_id"]) / "result.json"
    written = json.loads(file.read_text())
    assert {"run_id", "status", "steps", "imports", "findings"} <= written.keys()
    assert str(result["run_id"]) == written["run_id"]
    assert result["security_log_head"] == written["security_log_head"]
    assert {"name", "status", "started_at", "seconds", "counts"} == written["steps"][0].keys()


@slow
def test_what_looks_like_another_is_taken_and_told(made: Job) -> None:
    dropped(made, "alder/tx.csv", "ref card\nr1 c1\nr2 c1")
    result = night(made)
    assert [(2,)] == found(made, "select count(*) from purchases")
    (told,) = [each for each in result["findings"] if each["code"] == "look_alike"]
    assert "alder/tx.csv: 1 row taken that look like others (3)." == told["message"]
    assert ("warning", 1) == (told["level"], told["count"])
    report = made.path.parent / "processed" / "alder" / "done" / "tx.csv.errors.csv"
    assert "look_alike" in report.read_text()


@slow
def test_a_file_that_is_wholly_known_is_told_so(made: Job) -> None:
    text = f"{GOOD.rstrip()}\n    r3   x"
    dropped(made, "alder/first.csv", text)
    night(made)
    dropped(made, "alder/again.csv", text)
    (told,) = [each for each in night(made)["findings"] if each.get("file")]
    assert ("file_known", "note") == (told["code"], told["level"])
    assert (
        "alder/again.csv is the same file as alder/first.csv, taken on 2026-06-01: nothing in it is"
        " new." == told["message"]
    )


def purchases(first: int, rows: int) -> str:
    numbers = range(first, first + rows)
    return "ref amount\n" + "\n".join(f"r{number} {1 + number}.00" for number in numbers)


def half_of(whole: bytes) -> bytes:
    return whole[: whole.index(b"r704") + 20]


def with_half_a_file(made: Job) -> tuple[bytes, dict[str, Any]]:
    """Run a night that holds half a file; return the whole one, and the result."""
    for number, rows in enumerate([11, 10, 12]):
        file = file_of(made.path.parent / f"{number}.csv", purchases(100 * number, rows))
        taken(made, file)
    whole = file_of(made.path.parent / "whole.csv", purchases(700, 12)).read_bytes()
    dropped(made, "alder/june.csv", half_of(whole))
    return whole, run_night(made, NightOptions(drop=made.path.parent / "drop"))


def states(made: Job) -> list[str]:
    return [each.state for each in file_rows(made, "alder")]


# what becomes of half of june.csv, the name that comes behind it, and what is in it
COMES = [
    ("taken", "june.csv", "whole", "night"),
    ("taken", "june-again.csv", "whole", "night"),
    ("taken", "again.csv", "whole", "import"),
    ("taken", "again.csv", "half", "import"),
    ("held", "june.csv", "another", "night"),
]


@slow
@pytest.mark.parametrize(("becomes", "name", "content", "by"), COMES)
def test_half_a_file_is_held_until_what_it_is_the_beginning_of_is_taken(
    made: Job, becomes: str, name: str, content: str, by: str
) -> None:
    """Another file of its name is no whole form of it: some have one name every night."""
    whole, _ = with_half_a_file(made)
    another = file_of(made.path.parent / "another", purchases(900, 12)).read_bytes()
    path = dropped(
        made,
        f"alder/{name}",
        {"whole": whole, "half": half_of(whole), "another": another}[content],
    )
    if by == "night":
        run_night(made, NightOptions(drop=made.path.parent / "drop"))
    else:
        taken(made, path, is_whole=content == "half")
    assert [becomes, "taken", "taken", "taken"] == states(made)[:4]
    assert {"held": ["alder/june.csv"], "taken": []}[becomes] == [
        each.file for each in file_rows(made, "alder") if each.state == "held"
    ]


@slow
def test_half_a_file_is_held_until_it_is_released(made: Job) -> None:
    """Released it is taken as it is now: the rest may have come behind it meanwhile."""
    whole, result = with_half_a_file(made)
    (held,) = result["imports"]
    folder = made.path.parent / "processed" / "alder"
    assert ("held", True, str(folder / "held" / "june.csv"), "file_held") == (
        held["status"],
        held["held"],
        held["kept_as"],
        held["file_error"]["code"],
    )
    (told,) = (each for each in result["findings"] if each["code"] == "file_held")
    assert ("error", "cardoffers file release alder/june.csv, if it is whole") == (
        told["level"],
        told["next"],
    )
    listed = file_rows(made, "alder")
    assert ["held", "taken", "taken", "taken"] == states(made)
    assert ("alder/june.csv", 0) == (listed[0].file, listed[0].accepted)
    before = kept(made)
    (folder / "held" / "june.csv").write_bytes(whole)
    assert 12 == release_file(made, "june.csv", None, dry_run=True).accepted
    assert (before, whole) == (kept(made), (folder / "held" / "june.csv").read_bytes())
    assert 12 == release_file(made, "alder/june.csv", "alder", dry_run=False).accepted
    assert ([], "june.csv") == (names(folder / "held"), names(folder / "done")[0])
    with pytest.raises(NotFound, match="No file"):
        release_file(made, "june.csv", None, dry_run=False)
    assert doctor(made, strict=True)["ok"]


CAUSES = """
    ref  amount
    1    10.00
    1    11.00
    1    12.00
    2    x
    3    0
    4    0
    5    0
    6    10.00
"""


@slow
def test_rows_that_are_not_taken_have_their_causes_beside_them(made: Job) -> None:
    text = file_of(made.path.parent / "text", CAUSES).read_bytes()[:-1]
    dropped(made, "alder/june.csv", text)
    told = run_night(made, NightOptions(drop=made.path.parent / "drop")).findings[0]
    assert (
        "alder/june.csv: 7 of 8 rows not taken: 3 where the amount is zero or negative, 2 conflict"
        " with earlier rows, 1 cut off (the last line has no end)."
    ) == told.message
