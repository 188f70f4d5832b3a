"""The funnel as its readers see it, held against the goldens beside this file.

To accept a change: `UPDATE_GOLDENS=1 pytest tests/cli/test_funnel.py`, and read the difference.
"""

from __future__ import annotations

import io
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import fastexcel
import polars as pl
import pytest
from rich.cells import cell_len

from cardoffers_cli.cli.funnel_picture import picture
from cardoffers_cli.cli.layout import print_blocks
from cardoffers_cli.cli.options import Format
from cardoffers_cli.cli.show import Style, Text
from cardoffers_cli.domain.funnel import STEPS
from goldens import held
from tables import NOON
from work import new_store, tell

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def asked(cardoffers: Any, tmp_path: Path) -> Any:
    """Ask for the funnel of a bank whose cardholders saw, added and redeemed a few offers."""
    job = new_store(tmp_path)
    views = [f"c{number % 7} widget_view - 2026-05-30T{number:02}:00Z" for number in range(24)]
    seen = [f"c{number % 7} offer_impression A 2026-05-30T{number:02}:00Z" for number in range(19)]
    tell(
        job,
        institutions="institution\nalder",
        merchants="merchant\nbakery\ncinema",
        offers="offer merchant\nA bakery\n=B cinema",
        engagement="\n".join(["cardholder event offer at", *views, *seen]),
        links="cardholder offer added_at\nc1 A 2026-05-31T12:00Z\nc2 A 2026-05-31T12:00Z\n"
        "c2 =B 2026-05-31T12:00Z\nc3 A 2026-04-05T00:00Z\nc4 A 2026-04-05T00:00Z",
        redemptions="cardholder offer at\nc2 =B 2026-05-31T18:00Z",
    )

    def ask(*words: object) -> Any:
        known = ("--store", job.path, "--as-of", f"{NOON.isoformat()}Z", "-i", "alder")
        ended = cardoffers("report", "funnel", *known, *words)
        assert 0 == ended.exit_code, ended.stderr
        return ended

    return ask


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "json", "jsonl", "md"])
def test_it_is_shown_in_every_format(asked: Any, form: str) -> None:
    held(f"funnel.{form}", asked("--compare", "--format", form).stdout)


@pytest.mark.parametrize("by", ["day", "offer", "merchant"])
@pytest.mark.parametrize("form", ["table", "csv"])
def test_it_is_taken_apart(asked: Any, by: str, form: str) -> None:
    shown = asked("--by", by, "--from", "2026-05-29", "--format", form).stdout
    held(f"funnel-{by}.{form}", shown)


def test_parquet_and_workbooks_hold_exact_shares(asked: Any, tmp_path: Path) -> None:
    shares = [None, Decimal("0.291667"), Decimal("2.714286"), Decimal("0.157895")]
    shares = [share and share.quantize(Decimal("0.0001")) for share in shares]
    asked("-o", tmp_path / "funnel.parquet")
    frame = pl.read_parquet(tmp_path / "funnel.parquet")
    assert shares == frame["conversion"].to_list()[:4]
    asked("-o", tmp_path / "funnel.xlsx", "--by", "day")
    book = fastexcel.read_excel(tmp_path / "funnel.xlsx")
    assert ["by day", "funnel"] == book.sheet_names
    numbers = book.load_sheet("funnel").to_polars()["conversion"].to_list()
    assert [share and float(share) for share in shares] == numbers[:4]


def test_an_empty_window_is_a_wrong_use(cardoffers: Any) -> None:
    refused = cardoffers(
        "report", "funnel", "-i", "alder", "--from", "2026-06-02", "--to", "2026-06-01",
        "--format", "json",
    )  # fmt: skip
    assert (2, "window_empty") == (refused.exit_code, refused.error["code"])


# The picture


def document(counts: tuple[int, ...], previous: tuple[int, ...] | None = None) -> dict[str, Any]:
    window = {"from": NOON.replace(month=5), "to": NOON}
    found: dict[str, Any] = {"window": window, "data": dict(zip(STEPS, counts, strict=True))}
    if previous:
        found["previous"] = {"window": window, "data": dict(zip(STEPS, previous, strict=True))}
    return found


COUNTS = [
    ((0, 0, 0, 0, 0), None),
    ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0)),
    ((1, 1, 1, 1, 1), (0, 0, 0, 0, 0)),
    ((0, 0, 0, 12, 900), None),
    ((10_000_000, 1, 123_456_789, 1, 0), (1, 999_999_999, 1, 1, 1)),
]


@pytest.mark.parametrize(("counts", "previous"), COUNTS)
def test_a_picture_fits_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, counts: tuple[int, ...], previous: tuple[int, ...] | None
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = list(picture(document(counts, previous)))
    assert max(map(cell_len, lines)) < 80
    out = io.StringIO()
    print_blocks([Text(lines)], Style(Format.table, is_terminal=True), out)
    assert lines == out.getvalue().splitlines()
