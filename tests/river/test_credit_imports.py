"""Credited rows are taken in as purchases are, in both sizes, though they name nobody."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from hypothesis import Phase
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.row_kinds import BY_NAME, CREDITS, KINDS, PURCHASES
from cardoffers_cli.river import stage
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.simulate import simulate_file
from cardoffers_cli.storage.doctor import doctor
from sizes import slow, tries
from tables import read
from work import found, job, kept, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.words.row_kinds import RowKind

REDEMPTIONS = {
    "one": "11111111-1111-4111-8111-11111111111a",
    "two": "22222222-2222-4222-8222-22222222222b",
    "ONE": "11111111-1111-4111-8111-11111111111A",
    "bad": "11111111-1111-4111-8111",
}
NAMES = {
    "ref": "credit_ref",
    "of": "redemption_id",
    "bought": "transaction_ref",
    "amount": "amount",
    "status": "status",
    "at": "credited_at",
    "why": "failure_code",
}
COUNTS = ("received", "accepted", "duplicates", "conflicts", "invalid")
OTHER_FILES = {
    "purchases": "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,"
    f"transacted_at\n{'a' * 40},a1,M1,20.00,TX-1,2026-05-01T10:00:00Z\n",
    "refunds": "refund_ref,original_transaction_ref,amount,refunded_at\n"
    "R1,TX-1,5.00,2026-05-03T10:00:00Z\n",
}


@pytest.fixture(params=[2_000, -1], ids=["few rows", "many rows"])
def alder(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job on a store with two institutions, that takes every file as of that size."""
    monkeypatch.setattr(stage, "FEW_ROWS", request.param)
    return store_in(tmp_path)


def store_in(folder: Path) -> Job:
    made = new_store(folder)
    tell(made, institutions="institution plan currency\nalder growth GBP\nbrook growth GBP")
    return made


def credits_of(table: str) -> str:
    """Write a text table as a credited file; `-` is an empty field, a word a redemption."""
    return text_of(read(table))


def text_of(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NAMES.values())
    for row in rows:
        named = {**row, "of": REDEMPTIONS.get(row["of"])}
        writer.writerow(named[word] or "" for word in NAMES)
    return text.getvalue()


def take(made: Job, path: Path, text: str, institution: str = "alder", **more: Any) -> Any:
    path.write_text(text)
    options = ImportOptions(**{"kind": CREDITS, **more})
    return import_file(str(path), institution, made, options, outputs=Outputs()).document()


ROW = st.fixed_dictionaries(
    {
        "ref": st.sampled_from(["C1", "C2", "C3", "C4", "c1", None]),
        "of": st.sampled_from(["one", "ONE", "two", "bad", None]),
        "bought": st.sampled_from(["TX-1", "C1", None]),
        "amount": st.sampled_from(["5.00", "5.0", "7.25", "0.00", "-5.00"]),
        "status": st.sampled_from(["credited", "credited", "failed", "reversed", "paid", None]),
        "at": st.sampled_from(["2026-05-03T10:00:00Z", "2026-05-03T12:00:00+02:00", "2026-05-03"]),
        "why": st.sampled_from([None, "R02"]),
    }
)


def is_good(row: dict[str, Any]) -> bool:
    """Say by the rules of one row alone whether a credited row is taken."""
    return bool(
        row["ref"]
        and (row["of"] or row["bought"])
        and row["of"] != "bad"
        and row["status"] in {"credited", "failed", "reversed"}
        and row["at"] != "2026-05-03"
        and Decimal(row["amount"]) > 0
    )


def tally(rows: list[dict[str, Any]], known: dict[str, tuple[Any, ...]]) -> tuple[int, ...]:
    """Count a file as the rules say, one row after the other."""
    accepted = duplicates = conflicts = invalid = 0
    for row in rows:
        content = (
            *((row["of"] or "").lower(), row["bought"], Decimal(row["amount"])),
            *(row["status"], row["why"]),
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


@slow
@profile(max_examples=tries(2, 12), deadline=None, phases=[Phase.generate])
@examples(files=st.lists(st.lists(ROW, min_size=4, max_size=15), min_size=2, max_size=3))
def test_any_credited_rows_come_to_the_same_in_both_sizes_and_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[dict[str, Any]]]
) -> None:
    """Each try takes files into two stores, in two seconds."""
    kept_by_size = []
    for most in (-1, 2_000):
        folder = tmp_path_factory.mktemp("credits")
        made, known = store_in(folder), dict[str, tuple[Any, ...]]()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stage, "FEW_ROWS", most)
            for rows in files:
                told = take(made, folder / "credits.csv", text_of(rows))
                assert tally(rows, known) == tuple(told[name] for name in COUNTS)
        refs = found(made, "select credit_ref from credits order by all")
        assert sorted(known) == [ref for (ref,) in refs]
        kept_by_size.append(kept(made, "runs", "imports", "acts"))
    many, few = kept_by_size
    assert many == few


CREDITS_SENT = """
ref  of   bought  amount  status    at                    why
C1   one  TX-1    5.00    credited  2026-05-03T10:00:00Z  -
C2   two  -       2.50    failed    2026-05-04T10:00:00Z  R02
C3   -    TX-9    1.00    reversed  2026-05-05T10:00:00Z  -
C4   -    -       7.00    credited  2026-05-06T10:00:00Z  -
C5   one  -       7.00    paid      2026-05-06T10:00:00Z  -
C1   ONE  TX-1    5.00    credited  2026-05-03T10:00:00Z  -
C2   two  -       2.50    credited  2026-05-04T10:00:00Z  -
C6   one  TX-1    5.00    credited  2026-05-03T10:00:00Z  -
"""
OTHERS = """
select
    (select count(*) from purchases), (select count(*) from refunds),
    (select count(*) from cardholders)
"""
KEPT = """
select
    credit_ref, redemption_id, transaction_ref, status, failure_code, amount, currency, credited_at,
    line
from credits
order by credit_no
"""


def test_each_credited_row_is_kept_once_as_it_was_sent(alder: Job, tmp_path: Path) -> None:
    told = take(alder, tmp_path / "credits.csv", credits_of(CREDITS_SENT))
    assert "credits" == told["kind_of_rows"]
    assert (8, 4, 2, 1, 2) == tuple(told[name] for name in COUNTS)
    assert Decimal("13.50") == told["amount_accepted"]
    one, two = (UUID(REDEMPTIONS[word]) for word in ("one", "two"))
    at = [datetime(2026, 5, day, 10) for day in (3, 4, 5)]  # noqa: DTZ001
    assert [
        ("C1", one, "TX-1", "credited", None, Decimal("5.0000"), "GBP", at[0], 2),
        ("C2", two, None, "failed", "R02", Decimal("2.5000"), "GBP", at[1], 3),
        ("C3", None, "TX-9", "reversed", None, Decimal("1.0000"), "GBP", at[2], 4),
        ("C6", one, "TX-1", "credited", None, Decimal("5.0000"), "GBP", at[0], 9),
    ] == found(alder, KEPT)
    assert [("redemption_missing", 5), ("credit_status_unknown", 6)] == found(
        alder, "select code, line from rejects order by line"
    )
    assert [("C1", False, 7), ("C2", True, 8)] == found(
        alder, "select transaction_ref, is_conflict, line from duplicates order by line"
    )
    assert [("credits", 4)] == found(alder, "select kind_of_rows, accepted from imports")
    assert [(0, 0, 0)] == found(alder, OTHERS)
    assert doctor(alder)["ok"]


@slow
def test_the_same_file_again_is_all_duplicates(alder: Job, tmp_path: Path) -> None:
    path = tmp_path / "credits.csv"
    text = credits_of("\n".join(CREDITS_SENT.splitlines()[:5]))
    first = take(alder, path, text)
    again = take(alder, path, text)
    assert (0, 3, 0) == (again["accepted"], again["duplicates"], again["conflicts"])
    assert first["import_id"] == again["already_imported"]
    assert 3 == take(alder, path, text, "brook", is_own=True)["accepted"]


CHANGED = {
    "of": "two",
    "bought": "TX-2",
    "amount": "5.01",
    "status": "reversed",
    "at": "2026-05-03T10:00:01Z",
    "why": "R02",
}


@slow
def test_another_content_under_one_reference_is_a_conflict(alder: Job, tmp_path: Path) -> None:
    (row, *_) = read(CREDITS_SENT)
    firsts = [{**row, "ref": name} for name in CHANGED]
    seconds = [{**row, "ref": name, name: text} for name, text in CHANGED.items()]
    path = tmp_path / "credits.csv"
    together = take(alder, path, text_of([*firsts, *seconds]))
    assert (6, 6, 6) == tuple(together[each] for each in ("accepted", "duplicates", "conflicts"))
    later = take(alder, path, text_of([*seconds, *firsts]))
    assert (0, 12, 6) == tuple(later[each] for each in ("accepted", "duplicates", "conflicts"))


@slow
@pytest.mark.parametrize("name", OTHER_FILES)
def test_references_of_credited_rows_are_apart_from_those_of_other_kinds(
    alder: Job, tmp_path: Path, name: str
) -> None:
    take(alder, tmp_path / "other.csv", OTHER_FILES[name], kind=BY_NAME[name])
    same = credits_of(CREDITS_SENT.replace("C1", "TX-1").replace("C6", "R1"))
    assert 4 == take(alder, tmp_path / "credits.csv", same)["accepted"]
    assert doctor(alder)["ok"]


@slow
def test_a_dry_run_keeps_nothing(alder: Job, tmp_path: Path) -> None:
    path, text = tmp_path / "credits.csv", credits_of(CREDITS_SENT)
    assert 4 == take(alder, path, text, dry_run=True)["accepted"]
    assert [(0,)] == found(alder, "select count(*) from credits")
    assert 4 == take(alder, path, text)["accepted"]


@pytest.mark.parametrize(
    ("sent", "field", "shown"),
    [("TX-9", "transaction_ref", "C3"), ("R02", "failure_code", "C2"), ("C3", "credit_ref", None)],
)
def test_card_numbers_in_credited_rows_are_errors_and_kept_nowhere(
    alder: Job, tmp_path: Path, sent: str, field: str, shown: str | None
) -> None:
    text = credits_of(CREDITS_SENT).replace(sent, "4111111111111111")
    take(alder, tmp_path / "credits.csv", text)
    assert [(field, shown)] == found(
        alder, "select field, transaction_ref from rejects where code = 'card_number'"
    )
    assert "4111111111111111" not in str(kept(alder))


@pytest.mark.parametrize(
    ("wanted", "other", "read_file"),
    [
        *((wanted, CREDITS, import_file) for wanted in KINDS if wanted is not CREDITS),
        *((CREDITS, other, import_file) for other in KINDS if other is not CREDITS),
        (PURCHASES, CREDITS, simulate_file),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_a_file_of_another_kind_is_told_so_by_name(
    tmp_path: Path, wanted: RowKind, other: RowKind, read_file: Any
) -> None:
    made = store_in(tmp_path)
    path = tmp_path / "a file.csv"
    path.write_text({**OTHER_FILES, "credits": credits_of(CREDITS_SENT)}[other.name])
    options = ImportOptions(kind=wanted)
    with pytest.raises(FileUnusable) as told:
        read_file(str(path), "alder", job(made.path), options, outputs=Outputs())
    assert "kind_of_rows_mismatch" == told.value.code
    assert f"The file holds {other.name}, not {wanted.name}." == told.value.message
    assert f"`cardoffers {other.command} '{path}' -i alder`" in (told.value.hint or "")
    assert [(0,)] == found(made, "select count(*) from imports")
