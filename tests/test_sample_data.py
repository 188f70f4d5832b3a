"""`sample_data/` is what the command makes, and what was credited for it: nobody edits it."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cardoffers_cli.kernel.words.row_kinds import CREDITS

SAMPLE = Path(__file__).parents[1] / "sample_data"
COMMAND = ["sample", "--rows", "600", "--seed", "7", "--dirty"]
FOLDERS = ("catalog", "transactions", "refunds")


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for name in FOLDERS for path in (folder / name).iterdir())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("threads", ["1", "4"])
def test_the_command_makes_it_byte_for_byte_on_any_number_of_threads(
    tmp_path: Path, threads: str
) -> None:
    subprocess.run(
        [sys.executable, "-m", "cardoffers_cli", *COMMAND, str(tmp_path)],
        check=True,
        capture_output=True,
        env=os.environ | {"POLARS_MAX_THREADS": threads},
    )
    assert contents(SAMPLE) == contents(tmp_path)


ODD = {
    # the redemptions of which something else was credited than is owed, by their place
    3: {"amount": "0.01"},
    8: {"status": "failed", "failure_code": "ACCOUNT_CLOSED"},
    21: {"redemption_id": "00000000-0000-8000-8000-000000000021"},
}
LEFT_OUT, TWICE, TAKEN_BACK, BY_PURCHASE = 13, 17, 26, 30


def credited(redemptions: str, slug: str) -> str:
    """Write what an institution credited the day after it was settled, with some mistakes in it."""
    rows: list[dict[str, str]] = []
    settled = (
        row for row in csv.DictReader(redemptions.splitlines()) if row["status"] == "settled"
    )
    for place, row in enumerate(each for each in settled if each["institution"] == slug):
        told = {
            "redemption_id": row["id"],
            "amount": row["institution_payout_amount"],
            "status": "credited",
            "credited_at": "2026-10-02T06:00:00Z",
            **ODD.get(place, {}),
        }
        if place == BY_PURCHASE:
            told |= {"redemption_id": "", "transaction_ref": row["transaction_ref"]}
        again = {**told, "credited_at": "2026-10-03T06:00:00Z"}
        more = {TWICE: [again], TAKEN_BACK: [{**again, "status": "reversed"}]}
        rows += [] if place == LEFT_OUT else [told, *more.get(place, [])]
    names = [name for name in CREDITS.columns if name not in {"currency", "institution_id"}]
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    for number, told in enumerate(rows, start=1):
        writer.writerow({**told, "credit_ref": f"CR-{slug[:3].upper()}-{number:06}"})
    return text.getvalue()


def test_what_was_credited_fits_the_redemptions() -> None:
    path = SAMPLE / "credits" / "larkmere.csv"
    expected = credited((SAMPLE / "expected" / "redemptions.csv").read_text("utf-8"), "larkmere")
    if os.environ.get("UPDATE_GOLDENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(expected, "utf-8")
    assert expected == path.read_text("utf-8")
