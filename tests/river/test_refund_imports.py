"""Refunds are taken in as purchases are, in both sizes, and none counts as a purchase."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.row_kinds import PURCHASES, REFUNDS
from cardoffers_cli.river import stage
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.simulate import simulate_file
from cardoffers_cli.storage.doctor import doctor
from sizes import slow, tries
from tables import read
from test_calderdale import DATA, SLUGS
from work import found, job, kept, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

HOLDERS = {letter: letter * 40 for letter in "abc"}
NAMES = {
    "ref": "refund_ref",
    "of": "original_transaction_ref",
    "holder": "cardholder_token",
    "card": "card_token",
    "shop": "card_acceptor_id",
    "amount": "amount",
    "at": "refunded_at",
    "kind": "kind",
}
COUNTS = ("received", "accepted", "duplicates", "conflicts", "invalid")
PURCHASE_FILE = (
    "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
    f"{HOLDERS['a']},a1,M1,20.00,TX-1,2026-05-01T10:00:00Z\n"
)


@pytest.fixture(params=[2_000, -1], ids=["few rows", "many rows"])
def alder(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job on a store with two institutions, that takes every file as of that size."""
    monkeypatch.setattr(stage, "FEW_ROWS", request.param)
    return store_in(tmp_path)


def store_in(folder: Path) -> Job:
    made = new_store(folder)
    tell(made, institutions="institution plan currency\nalder growth GBP\nbrook growth GBP")
    return made


def refunds_of(table: str) -> str:
    """Write a text table as a file of refunds; `-` is an empty field, a letter a holder."""
    return text_of(read(table))


def text_of(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NAMES.values())
    for row in rows:
        named = {**row, "holder": HOLDERS.get(row["holder"], row["holder"])}
        writer.writerow(named[word] or "" for word in NAMES)
    return text.getvalue()


def take(made: Job, path: Path, text: str, institution: str = "alder", **more: Any) -> Any:
    path.write_text(text)
    options = ImportOptions(**{"kind": REFUNDS, **more})
    return import_file(str(path), institution, made, options, outputs=Outputs()).document()


ROW = st.fixed_dictionaries(
    {
        "ref": st.sampled_from(["R1", "R2", "R3", "R4", "r1", None]),
        "of": st.sampled_from(["TX-1", "TX-2", None]),
        "holder": st.sampled_from(["a", "b", "c", None]),
        "card": st.sampled_from(["c1", "c2", None]),
        "shop": st.sampled_from(["M1", "M2", None]),
        "amount": st.sampled_from(["5.00", "5.00", "7.25", "0.00", "-5.00"]),
        "at": st.sampled_from(["2026-05-03T10:00:00Z", "2026-05-03T12:00:00+02:00", "2026-05-03"]),
        "kind": st.sampled_from([None, "refund", "void", "return"]),
    }
)


def is_good(row: dict[str, Any]) -> bool:
    """Say by the rules of one row alone whether a refund is taken."""
    is_found = row["of"] or (row["holder"] and row["card"] and row["shop"])
    is_of_time = row["at"] != "2026-05-03"
    return bool(
        row["ref"]
        and is_found
        and is_of_time
        and row["amount"] > "0.00"
        and row["kind"] != "return"
    )


def tally(rows: list[dict[str, Any]], known: dict[str, tuple[Any, ...]]) -> tuple[int, ...]:
    """Count a file as the rules say, one row after the other."""
    accepted = duplicates = conflicts = invalid = 0
    for row in rows:
        card = row["card"] if row["holder"] else None  # a card is somebody's
        content = (
            row["of"],
            row["holder"],
            card,
            row["shop"],
            row["amount"],
            row["kind"] or "refund",
        )
        if not is_good(row):
            invalid += 1
        elif row["ref"] in known:
            duplicates += 1
            conflicts += known[row["ref"]] != content
        else:
            accepted += 1
            known[row["ref"]] = content
    return len(rows), accepted, duplicates, conflicts, invalid


@profile(max_examples=tries(2, 12), deadline=None, phases=[Phase.generate])
@examples(files=st.lists(st.lists(ROW, min_size=4, max_size=15), min_size=2, max_size=3))
def test_any_refunds_come_to_the_same_in_both_sizes_and_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[dict[str, Any]]]
) -> None:
    """Each try takes files into two stores, in two seconds."""
    kept_by_size = []
    for most in (-1, 2_000):
        folder = tmp_path_factory.mktemp("refunds")
        made, known = store_in(folder), dict[str, tuple[Any, ...]]()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stage, "FEW_ROWS", most)
            for rows in files:
                told = take(made, folder / "refunds.csv", text_of(rows))
                assert tally(rows, known) == tuple(told[name] for name in COUNTS)
        refs = found(made, "select refund_ref from refunds order by all")
        assert sorted(known) == [ref for (ref,) in refs]
        kept_by_size.append(kept(made, "runs", "imports", "acts"))
    many, few = kept_by_size
    assert many == few


@slow
@pytest.mark.parametrize("files", [["R1 - c1", "R1 - -"], ["R1 - c1\nR1 - -"]], ids=["two", "one"])
def test_a_card_of_nobody_makes_no_conflict(tmp_path: Path, files: list[str]) -> None:
    made, conflicts = store_in(tmp_path), 0
    for rows in files:
        sent = "\n".join(f"{row} TX-1 M1 5.00 2026-05-03T10:00:00Z -" for row in rows.split("\n"))
        table = f"ref holder card of shop amount at kind\n{sent}"
        conflicts += take(made, tmp_path / "refunds.csv", refunds_of(table))["conflicts"]
    assert 0 == conflicts


REFUNDS_SENT = """
ref  of    holder  card  shop  amount  at                    kind
R1   TX-1  a       a1    M1    5.00    2026-05-03T10:00:00Z  -
R2   TX-1  -       -     -     2.50    2026-05-04T10:00:00Z  void
R3   TX-9  b       -     -     1.00    2026-05-05T10:00:00Z  adjustment
R4   -     c       c1    M2    7.00    2026-05-06T10:00:00Z  refund
R5   -     c       -     M2    7.00    2026-05-06T10:00:00Z  refund
R1   TX-1  a       a1    M1    5.00    2026-05-03T10:00:00Z  refund
R2   TX-1  -       -     -     2.50    2026-05-04T10:00:00Z  refund
R3   TX-9  b       b1    -     1.00    2026-05-05T10:00:00Z  adjustment
"""
KEPT = """
select
    refund_ref, original_transaction_ref, kind, refunds.amount, cardholder_token, instrument_token,
    merchant_identifier, refunds.merchant_id, refunds.currency, refunded_at, line
from refunds
left join cardholders using (cardholder_no)
left join instruments on instruments.instrument_no = refunds.instrument_no
left join identifiers using (identifier_no)
order by refund_no
"""


def test_each_refund_is_kept_once_as_it_was_sent(alder: Job, tmp_path: Path) -> None:
    told = take(alder, tmp_path / "refunds.csv", refunds_of(REFUNDS_SENT))
    assert "refunds" == told["kind_of_rows"]
    assert (8, 4, 3, 2, 1) == tuple(told[name] for name in COUNTS)
    assert Decimal("15.50") == told["amount_accepted"]
    a, b, c = HOLDERS.values()
    at = [datetime(2026, 5, day, 10) for day in (3, 4, 5, 6)]  # noqa: DTZ001
    assert [
        ("R1", "TX-1", "refund", Decimal("5.0000"), a, "a1", "M1", None, "GBP", at[0], 2),
        ("R2", "TX-1", "void", Decimal("2.5000"), None, None, None, None, "GBP", at[1], 3),
        ("R3", "TX-9", "adjustment", Decimal("1.0000"), b, None, None, None, "GBP", at[2], 4),
        ("R4", None, "refund", Decimal("7.0000"), c, "c1", "M2", None, "GBP", at[3], 5),
    ] == found(alder, KEPT)
    assert [("original_missing", 6)] == found(alder, "select code, line from rejects")
    assert [("R1", False, 7), ("R2", True, 8), ("R3", True, 9)] == found(
        alder, "select transaction_ref, is_conflict, line from duplicates order by line"
    )
    assert [("refunds", 4)] == found(alder, "select kind_of_rows, accepted from imports")
    assert [(0,)] == found(alder, "select count(*) from purchases")
    assert doctor(alder)["ok"]


@slow
def test_the_same_file_again_is_all_duplicates(alder: Job, tmp_path: Path) -> None:
    path = tmp_path / "refunds.csv"
    text = refunds_of("\n".join(REFUNDS_SENT.splitlines()[:5]))
    first = take(alder, path, text)
    again = take(alder, path, text)
    assert (0, 3, 0) == (again["accepted"], again["duplicates"], again["conflicts"])
    assert first["import_id"] == again["already_imported"]
    assert 3 == take(alder, path, text, "brook", is_own=True)["accepted"]


CHANGED = {
    "of": "TX-2",
    "holder": "b",
    "card": "a2",
    "shop": "M2",
    "amount": "5.01",
    "at": "2026-05-03T10:00:01Z",
    "kind": "void",
}


@slow
@pytest.mark.parametrize("name", CHANGED)
def test_another_content_under_one_reference_is_a_conflict(
    alder: Job, tmp_path: Path, name: str
) -> None:
    header, first = REFUNDS_SENT.strip().splitlines()[:2]
    values = dict(zip(header.split(), first.split(), strict=True)) | {name: CHANGED[name]}
    changed = " ".join(values.values())
    path = tmp_path / "refunds.csv"
    together = take(alder, path, refunds_of(f"{header}\n{first}\n{changed}"))
    assert (1, 1, 1) == tuple(together[each] for each in ("accepted", "duplicates", "conflicts"))
    later = take(alder, path, refunds_of(f"{header}\n{changed}\n{first}"))
    assert (0, 2, 1) == tuple(later[each] for each in ("accepted", "duplicates", "conflicts"))


@slow
def test_references_of_refunds_are_apart_from_those_of_purchases(
    alder: Job, tmp_path: Path
) -> None:
    take(alder, tmp_path / "tx.csv", PURCHASE_FILE, kind=PURCHASES)
    same = refunds_of(REFUNDS_SENT.replace("R1", "TX-1"))
    assert 4 == take(alder, tmp_path / "refunds.csv", same)["accepted"]
    assert [(1,)] == found(alder, "select count(*) from purchases")
    assert doctor(alder)["ok"]


@slow
def test_a_dry_run_keeps_nothing(alder: Job, tmp_path: Path) -> None:
    path, text = tmp_path / "refunds.csv", refunds_of(REFUNDS_SENT)
    assert 4 == take(alder, path, text, dry_run=True)["accepted"]
    assert [(0,)] == found(alder, "select count(*) from refunds")
    assert 4 == take(alder, path, text)["accepted"]


def test_numbers_that_look_like_cards_in_refunds_are_errors(alder: Job, tmp_path: Path) -> None:
    sent = REFUNDS_SENT.replace("TX-9", "4111111111111111")
    told = take(alder, tmp_path / "refunds.csv", refunds_of(sent))
    (finding,) = [each for each in told["findings"] if each["code"] == "card_number"]
    assert [4, 9] == finding["lines"]
    assert [("original_transaction_ref", "R3")] * 2 == found(
        alder, "select field, transaction_ref from rejects where code = 'card_number'"
    )


READERS: dict[str, Callable[[str, Job, ImportOptions], Any]] = {
    "import": lambda path, made, options: import_file(
        path, "alder", made, options, outputs=Outputs()
    ),
    "simulate": lambda path, made, options: simulate_file(
        path, "alder", made, options, outputs=Outputs()
    ),
}


@pytest.mark.parametrize(
    ("reader", "kind"),
    [*product(["import"], [PURCHASES, REFUNDS]), ("simulate", PURCHASES)],
    ids=lambda each: getattr(each, "name", each),
)
def test_a_file_of_the_other_kind_is_told_so_by_name(
    tmp_path: Path, reader: str, kind: Any
) -> None:
    made = store_in(tmp_path)
    path = tmp_path / "a file.csv"
    path.write_text({PURCHASES: refunds_of(REFUNDS_SENT), REFUNDS: PURCHASE_FILE}[kind])
    with pytest.raises(FileUnusable) as told:
        READERS[reader](str(path), job(made.path), ImportOptions(kind=kind))
    other = {PURCHASES: REFUNDS, REFUNDS: PURCHASES}[kind]
    assert "kind_of_rows_mismatch" == told.value.code
    assert f"The file holds {other.name}, not {kind.name}." == told.value.message
    assert f"`cardoffers {other.command} '{path}' -i alder`" in (told.value.hint or "")
    assert [(0,)] == found(made, "select count(*) from imports")


def test_a_header_of_no_kind_is_told_by_the_names_that_were_wanted(tmp_path: Path) -> None:
    made = store_in(tmp_path)
    with pytest.raises(FileUnusable) as told:
        take(made, tmp_path / "refunds.csv", "reference,value\nR1,5.00\n")
    assert "header_missing" == told.value.code
    assert "refund_ref, original_transaction_ref" in (told.value.hint or "")


def test_refunds_are_no_part_of_what_was_bought(tmp_path: Path) -> None:
    made = store_in(tmp_path)
    take(made, tmp_path / "refunds.csv", refunds_of(REFUNDS_SENT))
    assert [(0,)] == found(made, "select count(*) from waiting_purchases")
    assert [] == found(made, "select * from purchase_totals where purchases > 0")


@slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the data is not beside the repository")
@pytest.mark.parametrize("name", ["refunds", "refunds_referenced"])
def test_real_refunds_are_taken(tmp_path: Path, name: str) -> None:
    made = store_in(tmp_path)
    rows, answers = (
        list(csv.DictReader((DATA / file).read_text().splitlines()))
        for file in (f"{name}.csv", f"expected_{name}.csv")
    )
    again = [answer.get("outcome") for answer in answers]
    for slug in SLUGS:
        own = [place for place, row in enumerate(rows) if row["institution"] == slug]
        known = sum(str(again[place]).startswith("duplicate") for place in own)
        conflicts = sum(again[place] == "duplicate_conflict" for place in own)
        text = io.StringIO()
        names = [each for each in rows[0] if each != "institution"]
        writer = csv.DictWriter(text, names, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows[place] for place in own)
        told = take(made, tmp_path / "refunds.csv", text.getvalue(), slug)
        expected = (len(own), len(own) - known, known, conflicts, 0)
        assert expected == tuple(told[each] for each in COUNTS)
    assert doctor(made)["ok"]
