from __future__ import annotations

import csv
import gzip
import hashlib
import os
import threading
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.errors import FileRefused, FileUnusable, NotFound, Refused
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.simulate import simulate_file
from sizes import slow, tries
from tables import NOON, uid
from work import RECORDS, file_of, found, job, kept, new_store, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

INSTITUTIONS = """
institution  plan        currency
alder        growth      GBP
brook        enterprise  GBP
cedar        starter     GBP
dogwood      growth      JPY
"""
DIRTY = """
ref  amount  at
1    10.00   2026-06-01T12:00:00Z
2    x       yesterday
1    10.00   2026-06-01T12:00:00Z
3    0.00    2026-06-01T12:00:00Z
1    11.00   2026-06-01T12:00:00Z
4    0.07    2026-06-01T12:00:00Z
"""


@pytest.fixture
def alder(tmp_path: Path) -> Job:
    """A job on a store with institutions of every plan."""
    made = new_store(tmp_path)
    tell(made, institutions=INSTITUTIONS)
    return made


def counts(told: dict[str, Any]) -> tuple[int, ...]:
    names = ("received", "accepted", "duplicates", "conflicts", "invalid")
    return tuple(told[name] for name in names)


def test_a_file_is_counted_and_summed(alder: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", DIRTY)
    told = taken(alder, path)
    assert (6, 2, 2, 1, 2) == counts(told)
    assert ("10.07", "GBP", uid("alder")) == (
        str(told["amount_accepted"]),
        told["currency"],
        told["institution_id"],
    )
    codes = {row["code"]: (row["rows"], row["lines"]) for row in told["findings"]}
    assert {
        "amount_invalid": (1, [3]),
        "timestamp_invalid": (1, [3]),
        "amount_not_positive": (1, [5]),
        "duplicate": (1, [4]),
        "duplicate_conflict": (1, [6]),
        "merchant_missing": (6, [2, 3, 4, 5, 6, 7]),
        "token_weak": (6, [2, 3, 4, 5, 6, 7]),
    } == codes


def test_the_import_is_recorded(alder: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", DIRTY)
    told = taken(alder, path)
    with alder.store() as store:
        record = dict(
            zip(
                [row[0] for row in store.connection.execute("describe imports").fetchall()],
                store.connection.execute("from imports").fetchone() or (),
                strict=True,
            )
        )
    assert {
        "import_no": 1,
        "import_id": told["import_id"],
        "institution_id": uid("alder"),
        "run_no": 1,
        "file_name": told["file"],
        "file_kind": "csv",
        "file_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "size_bytes": path.stat().st_size,
        "received": 6,
        "accepted": 2,
        "duplicates": 2,
        "conflicts": 1,
        "invalid": 2,
        "blank_lines": 0,
        "amount_accepted": Decimal("10.07"),
        "currency": "GBP",
        "options": '{"delimiter": ",", "assume_timezone": null, "allow_unterminated": false}',
        "imported_at": NOON,
        "kind_of_rows": "purchases",
    } == record
    assert [("import", NOON, "tester")] == found(alder, "select kind, as_of, actor from runs")
    rejects = "select line, transaction_ref, field, code from rejects order by all"
    assert [
        (3, "2", "amount", "amount_invalid"),
        (3, "2", "transacted_at", "timestamp_invalid"),
        (5, "3", "amount", "amount_not_positive"),
    ] == found(alder, rejects)
    duplicates = "select line, transaction_ref, is_conflict from duplicates order by all"
    assert [(4, "1", False), (6, "1", True)] == found(alder, duplicates)


def test_only_growth_and_enterprise_may_upload(alder: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", DIRTY)
    before = kept(alder)
    for dry_run in (False, True):
        with pytest.raises(Refused) as caught:
            taken(alder, path, "cedar", dry_run=dry_run)
        assert "plan_not_allowed" == caught.value.code
    assert before == kept(alder)
    assert 2 == taken(alder, path, "brook", is_own=True)["accepted"]


def test_a_last_line_that_was_cut_is_not_taken(alder: Job, tmp_path: Path) -> None:
    whole = file_of(tmp_path / "tx.csv", "ref amount\n1 10.00\n2 139.75").read_text()
    cut = tmp_path / "cut.csv"
    cut.write_text(whole[:-1])
    told = taken(alder, cut)
    assert (2, 1, 0, 0, 1) == counts(told)
    assert {"last_line_unterminated": [3]} == {
        row["code"]: row["lines"] for row in told["findings"] if row["level"] == "error"
    }
    options = ImportOptions(allow_unterminated=True)
    again = import_file(str(cut), "alder", alder, options, outputs=Outputs())
    assert (2, 1, 1, 0, 0) == counts(again.document())


def test_an_unknown_institution_is_told_with_near_ones(alder: Job, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        taken(alder, file_of(tmp_path / "tx.csv", DIRTY), "aldr")
    assert "alder" in str(caught.value.hint)


def messages(told: dict[str, Any], path: Path, code: str) -> dict[int, str]:
    """Return the messages of a code in the report of a file, by line."""
    with path.open(newline="") as report:
        rows = [row for row in csv.DictReader(report) if row["code"] == code]
    (found,) = [row for row in told["findings"] if row["code"] == code]
    assert ("warning", len(rows)) == (found["level"], found["rows"])
    return {int(row["line"]): row["message"] for row in rows}


def test_a_conflict_says_where_the_first_one_stands(alder: Job, tmp_path: Path) -> None:
    taken(alder, file_of(tmp_path / "first.csv", "ref amount\n1 1.00\n2 1.00"))
    path = file_of(tmp_path / "tx.csv", "ref amount\n2 9.00\n3 1.00\n3 9.00")
    report = tmp_path / "errors.csv"
    told = taken(alder, path, errors=report)
    conflict = "the transaction_ref was received before with other content: the first is"
    assert {
        2: f"{conflict} line 3 of {tmp_path}/first.csv, received on 2026-06-01",
        4: f"{conflict} line 3",
    } == messages(told, report, "duplicate_conflict")


LOOK_ALIKES = """
ref  cardholder  card  identifier  amount  at
a    ann         c1    M1          5.00    2026-06-01T09:00:00Z
b    ann         c1    M1          5.00    2026-06-01T09:00:00.9Z
c    ann         c2    M1          5.00    2026-06-01T09:00:00Z
d    bea         c1    M1          5.00    2026-06-01T09:00:00Z
e    ann         c1    M2          5.00    2026-06-01T09:00:00Z
f    ann         c1    M1          5.01    2026-06-01T09:00:00Z
g    ann         c1    M1          5.00    2026-06-01T09:00:01Z
h    ann         c1    M1          5.00    2026-06-01T10:00:00+01:00
a    ann         c1    M1          5.00    2026-06-01T09:00:00Z
i    ann         c1    -           5.00    2026-06-01T09:00:00Z
j    ann         c1    -           5.00    2026-06-01T09:00:00Z
"""


@slow
def test_look_alikes_are_taken_and_told(alder: Job, tmp_path: Path) -> None:
    report = tmp_path / "errors.csv"
    told = taken(alder, file_of(tmp_path / "tx.csv", LOOK_ALIKES), errors=report)
    assert (11, 10, 1, 0, 0) == counts(told)
    like = "another transaction has the same instrument, second, amount and merchant: the first is"
    assert {3: f"{like} line 2", 9: f"{like} line 2", 12: f"{like} line 11"} == messages(
        told, report, "look_alike"
    )
    later = "ref cardholder card identifier amount at\nz ann c1 M1 5.00 2026-06-01T09:00:00Z"
    told = taken(alder, file_of(tmp_path / "later.csv", later), errors=report)
    assert 1 == told["accepted"]
    assert {2: f"{like} line 2 of {tmp_path}/tx.csv, received on 2026-06-01"} == messages(
        told, report, "look_alike"
    )
    again = taken(alder, file_of(tmp_path / "again.csv", LOOK_ALIKES))
    assert "look_alike" not in {row["code"] for row in again["findings"]}
    other = taken(alder, file_of(tmp_path / "other.csv", later), "brook", is_own=True)
    assert "look_alike" not in {row["code"] for row in other["findings"]}


def test_bare_dates_are_alike_by_chance_within_a_file(alder: Job, tmp_path: Path) -> None:
    rows = "ref cardholder card identifier amount at\n{} ann c1 M1 5.00 {}\n{} ann c1 M1 5.00 {}"
    for name, refs_and_times, by_date, alike in (
        ("days", ("a", "2026-06-01", "b", "2026-06-01"), 1, 0),  # two tickets on a day
        ("later", ("c", "2026-06-01", "d", "2026-05-31"), 0, 1),  # as of another file
        ("seconds", ("e", "2026-05-30T00:00:00", "f", "2026-05-30T00:00:00"), 0, 1),
    ):
        path = file_of(tmp_path / f"{name}.csv", rows.format(*refs_and_times))
        for is_dry in (True, False):
            how = ImportOptions(assume_timezone="UTC", is_own=True, dry_run=is_dry)
            told = import_file(str(path), "alder", alder, how, outputs=Outputs()).document()
            told_alike = [row["rows"] for row in told["findings"] if row["code"] == "look_alike"]
            assert (2, by_date, alike) == (
                *(told[name] for name in ("valid", "look_alikes_by_date")),
                sum(told_alike),
            )


@slow
def test_a_second_is_the_same_whatever_its_fraction(alder: Job, tmp_path: Path) -> None:
    head, report = "ref cardholder card identifier amount at", tmp_path / "errors.csv"
    for name, at in (("a", "09:00:00.25Z"), ("b", "09:00:01.999Z")):
        first = f"{head}\n{name} ann c1 M1 5.00 2026-06-01T{at}"
        taken(alder, file_of(tmp_path / f"{name}.csv", first))
    rows = {"c": "09:00:00Z", "d": "09:00:00.999999Z", "e": "09:00:01Z", "f": "09:00:02Z"}
    later = "\n".join(
        [head, *(f"{name} ann c1 M1 5.00 2026-06-01T{at}" for name, at in rows.items())]
    )
    told = taken(alder, file_of(tmp_path / "later.csv", later), errors=report)
    found = messages(told, report, "look_alike")
    assert {2: "a.csv", 3: "a.csv", 4: "b.csv"} == {
        line: text.partition(", received")[0].rpartition("/")[2] for line, text in found.items()
    }


def test_the_same_bytes_again_are_recognised_however_they_come(alder: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", DIRTY)
    packed = tmp_path / "other.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    first = taken(alder, path)
    second, third = taken(alder, path), taken(alder, packed)
    assert [None, first["import_id"], first["import_id"]] == [
        told["already_imported"] for told in (first, second, third)
    ]
    assert (str(path), NOON) == (second["already_imported_as"], second["already_imported_at"])
    assert [(6, 0, 4, 1, 2)] * 2 == [counts(second), counts(third)]
    assert taken(alder, path, "brook", is_own=True)["already_imported"] is None


def test_importing_again_changes_nothing(alder: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", DIRTY)
    taken(alder, path)
    before = kept(alder, *RECORDS)
    taken(job(alder.path, now=NOON + timedelta(days=1)), path)
    assert before == kept(alder, *RECORDS)


SECOND_TIME = {
    "": "duplicate",
    "mcc=5411": "duplicate",
    "amount=20.0": "duplicate",
    "amount=20": "duplicate",
    "at=2026-06-01T14:00:00+02:00": "duplicate",
    "at=2026-06-01T12:00:00.000Z": "duplicate",
    "cardholder=ben": "duplicate_conflict",
    "card=other": "duplicate_conflict",
    "cardholder=card card=ann": "duplicate_conflict",
    "identifier=M2": "duplicate_conflict",
    "identifier=": "duplicate_conflict",
    "merchant=9c4e1852-991b-5a75-a73e-d9ba1d2b977c": "duplicate_conflict",
    "amount=20.01": "duplicate_conflict",
    "at=2026-06-01T12:00:00.000001Z": "duplicate_conflict",
    "ref=other-ref": None,
    "ref=REF-15": None,
    "ref=ref-16,": None,
}
"""What a row with a ref known already says differently, and what that makes it."""


@pytest.mark.parametrize("where", ["in the same file", "in a later file"])
def test_what_makes_a_duplicate_and_what_a_conflict(alder: Job, tmp_path: Path, where: str) -> None:
    first = [{"ref": f"ref-{n}", "identifier": "M1"} for n in range(len(SECOND_TIME))]
    second = [
        {**row, **dict(change.split("=") for change in changes.split())}
        for row, changes in zip(first, SECOND_TIME, strict=True)
    ]
    if where == "in the same file":
        told = taken(alder, file_of(tmp_path / "tx.csv", first + second))
        line = len(first) + 2
    else:
        taken(alder, file_of(tmp_path / "tx.csv", first))
        told = taken(alder, file_of(tmp_path / "later.csv", second))
        line = 2
    for code in ("duplicate", "duplicate_conflict"):
        lines = [line + n for n, meant in enumerate(SECOND_TIME.values()) if meant == code]
        assert [lines] == [found["lines"] for found in told["findings"] if code == found["code"]]


def test_a_ref_belongs_to_its_institution(alder: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", "ref\n1")
    assert [1, 1] == [
        taken(alder, path, where, is_own=True)["accepted"] for where in ("alder", "brook")
    ]


def test_amounts_have_the_decimals_of_the_institution(alder: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", "ref amount\n1 2000\n2 2000.5\n3 2000.0")
    told = taken(alder, path, "dogwood")
    assert (3, 2, 0, 0, 1) == counts(told)
    assert "4000" == str(told["amount_accepted"])


def test_rows_go_apart_byte_for_byte(alder: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", DIRTY)
    outputs = {name: tmp_path / f"{name}.csv" for name in ("errors", "valid", "rejected")}
    taken(alder, path, **outputs)
    lines = path.read_bytes().splitlines(keepends=True)
    assert b"".join(lines[n] for n in (0, 1, 6)) == outputs["valid"].read_bytes()
    assert b"".join(lines[n] for n in (0, 2, 3, 4, 5)) == outputs["rejected"].read_bytes()
    report = outputs["errors"].read_text().splitlines()
    assert "line,transaction_ref,column,code,level,message" == report[0]
    cells = [line.split(",")[:5] for line in report[1:]]
    assert [int(line[0]) for line in cells] == sorted(int(line[0]) for line in cells)
    assert [
        "3,2,amount,amount_invalid,error",
        "3,2,transacted_at,timestamp_invalid,error",
        "4,1,transaction_ref,duplicate,warning",
        "5,3,amount,amount_not_positive,error",
        "6,1,transaction_ref,duplicate_conflict,warning",
    ] == [",".join(line) for line in cells if line[3] not in {"token_weak", "merchant_missing"}]


def test_a_file_cut_short_leaves_nothing(alder: Job, tmp_path: Path) -> None:
    rows = [{"ref": str(n), "cardholder": f"ch_{n * n:x}"} for n in range(50_000)]
    whole = gzip.compress(file_of(tmp_path / "tx.csv", rows).read_bytes())
    path = tmp_path / "tx.gz"
    path.write_bytes(whole[:-5])
    outputs = {name: tmp_path / f"{name}.csv" for name in ("errors", "valid", "rejected")}
    before = kept(alder)
    with pytest.raises(FileUnusable) as caught:
        taken(alder, path, **outputs)
    assert "file_corrupt" == caught.value.code
    assert before == kept(alder)
    assert [] == [path for path in outputs.values() if path.exists()]


@slow
def test_a_dry_run_tells_the_same_and_keeps_nothing(alder: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", DIRTY)
    before = kept(alder)
    dry = taken(alder, path, dry_run=True)
    assert before == kept(alder)
    wet = taken(alder, path)
    assert [True, False] == [told["dry_run"] for told in (dry, wet)]
    assert {**dry, "import_id": wet["import_id"], "dry_run": False} == wet


def test_a_header_alone_is_a_file_of_no_rows(alder: Job, tmp_path: Path) -> None:
    told = taken(alder, file_of(tmp_path / "tx.csv", []))
    assert ((0, 0, 0, 0, 0), "0.00", True) == (
        counts(told),
        str(told["amount_accepted"]),
        told["ok"],
    )


ROW = st.fixed_dictionaries(
    {
        "ref": st.sampled_from(["1", "2", "3", "a", "A", ""]),
        "amount": st.sampled_from(["1", "1.00", "2", "0", "x"]),
        "cardholder": st.sampled_from(["ann", "ben", ""]),
        "identifier": st.sampled_from(["M1", "M2", None]),
        "at": st.sampled_from(["2026-06-01T12:00:00Z", "2026-06-01T13:00:00+01:00", "noon"]),
    }
)


@profile(max_examples=tries(4, 10), deadline=None)
@examples(files=st.lists(st.lists(ROW, min_size=4, max_size=12), min_size=2, max_size=3))
def test_every_row_is_accepted_a_duplicate_or_invalid(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[dict[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    made = new_store(folder)
    tell(made, institutions=INSTITUTIONS)
    known: dict[str, tuple[Any, ...]] = {}
    for rows in files:
        told = taken(made, file_of(folder / "tx.csv", rows))
        assert tally(rows, known) == counts(told)
        assert told["received"] == told["accepted"] + told["duplicates"] + told["invalid"]
    refs = found(made, "select transaction_ref from purchases order by all")
    assert sorted(known) == [ref for (ref,) in refs]


def tally(rows: list[dict[str, Any]], known: dict[str, tuple[Any, ...]]) -> tuple[int, ...]:
    """Count a file as the rules say, one row after the other."""
    accepted = duplicates = conflicts = invalid = 0
    for row in rows:
        content = (row["cardholder"], row["identifier"], row["amount"].partition(".")[0])
        if not row["ref"] or not row["cardholder"] or "noon" == row["at"] or content[2] in "0x":
            invalid += 1
        elif row["ref"] in known:
            duplicates += 1
            conflicts += known[row["ref"]] != content
        else:
            accepted += 1
            known[row["ref"]] = content
    return len(rows), accepted, duplicates, conflicts, invalid


@slow
@pytest.mark.parametrize("command", ["import", "simulate"])
def test_a_pipe_holds_nothing_up_while_it_is_written(
    alder: Job, tmp_path: Path, command: str
) -> None:
    text = file_of(tmp_path / "tx.csv", DIRTY).read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    told: list[dict[str, Any]] = []

    def read() -> None:
        if command == "import":
            told.append(taken(alder, pipe))
        else:
            given = (str(pipe), "alder", alder, ImportOptions())
            told.append(simulate_file(*given, outputs=Outputs()).document())

    reading = threading.Thread(target=read)
    reading.start()
    with pipe.open("wb", buffering=0) as writer:
        writer.write(text[:50])
        with alder.store(wait_s=0):
            assert [] == told
        writer.write(text[50:])
    reading.join()
    assert (6, 2) == (told[0]["received"], told[0]["accepted"])


def test_a_file_that_was_sent_before_under_other_references_is_refused(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(made, institutions="institution plan\nalder growth")
    days = [f"2026-05-{day:02}T12:00:00Z" for day in range(10, 30)]
    first = [{"ref": f"A-{n}", "at": at} for n, at in enumerate(days)]
    again = [{"ref": f"B-{n}", "at": at} for n, at in enumerate(days[:10])]
    others = [{"ref": f"C-{n}", "amount": f"{n}.01"} for n in range(11)]
    taken(made, file_of(tmp_path / "first.csv", first))
    half = file_of(tmp_path / "half.csv", [*again, *others[:10]])
    with pytest.raises(Refused) as caught:
        taken(made, half)
    assert "file_known_under_other_references" == caught.value.code
    assert (
        21
        == taken(made, file_of(tmp_path / "less.csv", [*again, *others]), dry_run=True)["accepted"]
    )
    options = ImportOptions(is_own=True)
    assert 20 == import_file(str(half), "alder", made, options, outputs=Outputs()).accepted


def rows_of(path: Path, first: int, rows: int, *, cut: bool = False) -> Path:
    """Write so many purchases; cut off in the end of the last line."""
    numbers = range(1 + 100 * first, 1 + 100 * first + rows)
    file_of(path, [{"ref": f"{number}", "amount": f"{number}.00"} for number in numbers])
    if cut:
        path.write_bytes(path.read_bytes()[:-1])
    return path


# rows of the files before, hold_short, rows of the file, whether it is cut off, what becomes of it
HALVES = [
    ([11, 10], "both", 5, True, "taken"),
    ([11, 10, 12], "both", 5, True, "held"),
    ([11, 10, 12], "both", 6, True, "taken"),
    ([11, 10, 12], "both", 5, False, "short"),
    ([11, 10, 12], "on", 5, False, "held"),
    ([11, 10, 12], "off", 5, True, "short"),
    ([4, *range(10, 22)], "both", 5, True, "held"),
    ([*range(10, 21), 4], "both", 5, True, "taken"),
]


@pytest.mark.parametrize(("before", "hold_short", "rows", "cut", "becomes"), HALVES)
def test_half_a_file_is_held(
    alder: Job,
    tmp_path: Path,
    before: list[int],
    hold_short: str,
    rows: int,
    *,
    cut: bool,
    becomes: str,
) -> None:
    for number, count in enumerate(before):
        taken(alder, rows_of(tmp_path / f"{number}.csv", number, count))
    set_institution(alder, "alder", {}, settings={"hold_short": hold_short})
    path, earlier = rows_of(tmp_path / "half.csv", 100, rows, cut=cut), kept(alder)
    if becomes == "held":
        with pytest.raises(FileRefused, match="under 60 %") as caught:
            taken(alder, path)
        assert ("file_held", True, rows) == (
            caught.value.code,
            *(caught.value.details[name] for name in ("held", "received")),
        )
        assert earlier == kept(alder)
        vouched = ImportOptions(is_whole=True)
        told = import_file(str(path), "alder", alder, vouched, outputs=Outputs()).document()
    else:
        told = taken(alder, path)
    assert not told["held"]
    assert rows - cut == told["accepted"]
    is_told = "file_short" in [found["code"] for found in told["findings"]]
    assert (becomes != "taken") == is_told
