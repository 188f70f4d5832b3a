"""A file that is provably another institution's is refused before anything of it is taken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.errors import FileRefused
from cardoffers_cli.kernel.words.row_kinds import CREDITS, REFUNDS
from cardoffers_cli.night.options import NightOptions
from cardoffers_cli.night.run import run_night
from cardoffers_cli.river import stage
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.withdrawals import undo_import
from commands import cardoffers
from sizes import slow
from tables import read
from work import file_of, found, kept, new_store, short_nights, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

EVERY = range(1, 21)
OWN = "\n".join(
    ["ref cardholder amount", *(f"{n} holder-of-alder-{n} {n}0.00" for n in EVERY)],
)
"""What brook has taken; the references of both begin at 1."""

REFUND = "refund_ref,original_transaction_ref,amount,refunded_at\n" + "".join(
    f"{{0}}-{n},{n},5.00,2026-06-01T13:00:00Z\n" for n in EVERY
)
CREDIT = "credit_ref,transaction_ref,amount,status,credited_at\n" + "".join(
    f"{{0}}-{n},{n},5.00,credited,2026-06-01T11:00Z\n" for n in EVERY
)


@pytest.fixture(params=[2_000, -1], ids=["few rows", "many rows"])
def made(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job on a store of two institutions, that takes every file as of that size."""
    monkeypatch.setattr(stage, "FEW_ROWS", request.param)
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder\nbrook")
    taken(made, file_of(tmp_path / "own.csv", OWN), "brook")
    return made


def changed(*changes: dict[int, dict[str, str]]) -> list[dict[str, Any]]:
    """Return the rows of brook's file, changed by their reference."""
    rows = dict(zip(EVERY, read(OWN), strict=True))
    for number, cells in [pair for each in changes for pair in each.items()]:
        rows[number] = {**rows[number], **cells}
    return [*rows.values()]


def strangers(*numbers: int) -> dict[int, dict[str, str]]:
    return {each: {"cardholder": f"somebody-else-{each}"} for each in numbers}


def other_amounts(*numbers: int) -> dict[int, dict[str, str]]:
    return {each: {"amount": f"0.{each:02}"} for each in numbers}


ROWS_DIFFER = other_amounts(*EVERY)
ALL = strangers(*EVERY)
LATER = {each: {"at": "2026-06-01T12:00:01Z"} for each in EVERY[:5]}


@pytest.mark.parametrize(
    ("message", "rows"),
    [
        ("The same file was taken for another institution.", changed()),
        ("20 of 20 rows are another institution's: reference, amount and time.", changed(ALL)),
        (
            "10 of 20 rows are another institution's: reference, amount and time.",
            changed(ALL, LATER, other_amounts(*EVERY[5:10])),
        ),
        (None, changed(ALL, other_amounts(*EVERY[9:]))),
        ("10 of 10 rows are another institution's: reference, amount and time.", changed(ALL)[:10]),
        (None, changed(ALL)[:9]),
        ("20 of 20 cardholder tokens are another institution's.", changed(ROWS_DIFFER)),
        (
            "10 of 20 cardholder tokens are another institution's.",
            changed(ROWS_DIFFER, strangers(*EVERY[10:])),
        ),
        (None, changed(ROWS_DIFFER, strangers(*EVERY[9:]))),
        ("10 of 10 cardholder tokens are another institution's.", changed(ROWS_DIFFER)[:10]),
        (
            None,
            changed(
                ROWS_DIFFER, {n: {"cardholder": f"holder-of-alder-{n % 9 + 1}"} for n in EVERY}
            ),
        ),
        (None, changed(ROWS_DIFFER)[:1]),
        (None, changed(ROWS_DIFFER, ALL)),
        (None, changed({n: {"ref": f"x-{n}", "cardholder": f"short-{n}"} for n in EVERY})),
    ],
)
def test_half_of_what_is_anothers_is_enough(
    made: Job, tmp_path: Path, message: str | None, rows: list[dict[str, Any]]
) -> None:
    short = [{"ref": f"s-{n}", "cardholder": f"short-{n}"} for n in EVERY]
    taken(made, file_of(tmp_path / "short.csv", short), "brook")
    path = file_of(tmp_path / "tx.csv", rows)
    before = kept(made)
    if message is None:
        assert len(rows) == taken(made, path)["accepted"]
        return
    with pytest.raises(FileRefused) as caught:
        taken(made, path)
    assert ("file_of_other_institution", message) == (caught.value.code, caught.value.message)
    assert "brook" not in message
    assert "-i brook" in str(caught.value.hint)
    assert before == kept(made)


@slow
def test_what_is_this_ones_too_counts_for_nothing(made: Job, tmp_path: Path) -> None:
    """Both have tokens and rows in common, each with the other's consent."""
    options = ImportOptions(is_own=True)
    path = file_of(tmp_path / "own.csv", OWN)
    import_file(str(path), "alder", made, options, outputs=Outputs())
    assert 20 == taken(made, path)["duplicates"]
    assert (
        1 == taken(made, file_of(tmp_path / "more.csv", OWN + "\n21 holder-of-alder-4 1"))["valid"]
    )
    ((details,),) = found(
        made, "select details from acts where kind = 'file_of_other_institution_taken'"
    )
    told = json.loads(details)
    assert ("digest", "brook", 1, 1) == tuple(
        told[name] for name in ("evidence", "institution", "alike", "among")
    )


@slow
@pytest.mark.parametrize("kind", [REFUNDS, CREDITS])
def test_refunds_and_credits_are_told_by_their_rows(made: Job, tmp_path: Path, kind: Any) -> None:
    text = REFUND if kind is REFUNDS else CREDIT
    options = ImportOptions(kind=kind)
    path = tmp_path / "rows.csv"

    def take(content: str, institution: str) -> int:
        path.write_text(content)
        return import_file(str(path), institution, made, options, outputs=Outputs()).accepted

    assert 20 == take(text.format("A"), "brook")
    with pytest.raises(FileRefused, match="20 of 20 rows are another"):
        take(text.format("A") + "\n", "alder")
    assert 20 == take(text.format("B"), "alder")


@slow
def test_institutions_may_share_their_tokens(made: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", changed(ROWS_DIFFER))
    with pytest.raises(FileRefused, match="tokens"):
        taken(made, path)
    set_institution(made, "brook", {}, token_sharers=["alder"])
    assert 20 == taken(made, path, dry_run=True)["accepted"]
    set_institution(made, "brook", {}, token_sharers=[])
    with pytest.raises(FileRefused, match="tokens"):
        taken(made, path)
    assert [("token_sharing_changed", '{"shares_tokens_with": [null, "alder"]}')] == found(
        made, "select kind, details from acts where kind <> 'file_taken' order by act_no limit 1"
    )


@slow
def test_a_withdrawn_file_counts_for_nothing(made: Job, tmp_path: Path) -> None:
    ((import_id,),) = found(made, "select import_id from imports")
    undo_import(str(import_id), "it is alder's", made)
    assert 20 == taken(made, tmp_path / "own.csv")["accepted"]
    with pytest.raises(FileRefused):
        taken(made, tmp_path / "own.csv", "brook")


@slow
def test_at_the_terminal_it_is_exit_4_and_the_other_files_are_taken(
    made: Job, tmp_path: Path
) -> None:
    good = file_of(tmp_path / "good.csv", "ref cardholder\nA-7 somebody-else-7")
    own = tmp_path / "own.csv"
    where = ("--store", made.path, "--as-of", "2026-06-01T12:00:00Z")
    ended = cardoffers("import", own, good, "-i", "alder", *where, exit_code=4)
    assert (
        f"Error: {own}: The same file was taken for another institution.\n"
        f"Hint: `cardoffers import {own} -i brook` takes it for brook; --yes-it-is takes it for"
        " alder all the same.\n"
    ) == ended.stderr
    assert [("A-7",)] == found(
        made,
        "select transaction_ref from purchases where amount = 20 and transaction_ref like 'A%'",
    )
    wrong = cardoffers("import", own, "-i", "alder", *where, "--format", "json", exit_code=4)
    assert ("file_of_other_institution", 4) == (wrong.error["code"], wrong.error["exit_code"])
    cardoffers("import", own, "-i", "alder", "--yes-it-is", *where, exit_code=0)


@slow
def test_in_the_drop_folder_it_is_a_failed_file(
    made: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_nights(monkeypatch, "import")
    drop = tmp_path / "drop" / "alder"
    drop.mkdir(parents=True)
    file_of(drop / "june.csv", OWN)
    (drop / "june.csv.done").touch()
    told = run_night(made, NightOptions(drop=drop.parent))
    (finding,) = told.findings
    assert ("file_of_other_institution", "error") == (finding["code"], finding["level"])
    (kept_file,) = (tmp_path / "processed" / "alder" / "failed").glob("*june.csv")
    assert f"`cardoffers import {kept_file} -i brook` takes it" in finding["next"]
    (report,) = (tmp_path / "processed" / "alder" / "failed").glob("*.errors.csv")
    assert "The same file was taken for another institution." in report.read_text()
    assert "brook" not in report.read_text()
    assert [(20,)] == found(made, "select count(*) from purchases")
