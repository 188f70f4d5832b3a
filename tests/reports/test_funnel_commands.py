"""The funnel as its readers see it, held against goldens.

To accept a change: `UPDATE_GOLDENS=1 pytest tests/reports/test_funnel_commands.py`, and read the
difference.
"""

from __future__ import annotations

import io
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import fastexcel
import polars as pl
import pytest
from rich.cells import cell_len

from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.layout import print_blocks
from cardoffers_cli.kernel.cli.show import Style, Text
from cardoffers_cli.reports.funnel import STEPS, FunnelCounts, FunnelPeople
from cardoffers_cli.reports.result_commands import picture
from cardoffers_cli.reports.work import Funnel, PeopleFunnel
from goldens import held
from sizes import one_in
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
@one_in(3)
def test_it_is_shown_in_every_format(asked: Any, form: str) -> None:
    held(f"funnel.{form}", asked("--compare", "--format", form).stdout)


@pytest.mark.parametrize("by", ["day", "offer", "merchant"])
@pytest.mark.parametrize("form", ["table", "csv"])
@one_in(3)
def test_it_is_taken_apart(asked: Any, by: str, form: str) -> None:
    shown = asked("--by", by, "--from", "2026-05-29", "--format", form).stdout
    held(f"funnel-{by}.{form}", shown)


def test_parquet_holds_exact_shares(asked: Any, tmp_path: Path) -> None:
    shares = [None, Decimal("0.291667"), Decimal("2.714286"), Decimal("0.157895")]
    shares = [share and share.quantize(Decimal("0.0001")) for share in shares]
    asked("-o", tmp_path / "funnel.parquet")
    frame = pl.read_parquet(tmp_path / "funnel.parquet")
    assert shares == frame["conversion"].to_list()[:4]
    assert ["widget_views", "unique_cardholders"] == frame["conversion_of"].to_list()[1:3]


def test_a_workbook_is_for_people(asked: Any, tmp_path: Path) -> None:
    asked("-o", tmp_path / "funnel.xlsx", "--by", "day", "--compare")
    book = fastexcel.read_excel(tmp_path / "funnel.xlsx")
    assert ["by day", "cardholders", "what happened", "funnel"] == book.sheet_names
    steps = book.load_sheet("cardholders").to_polars()
    assert ["step", "count", "share", "previous", "change"] == steps.columns
    assert ["Saw offers", "of these, had added one", "of these, redeemed"] == steps[
        "step"
    ].to_list()
    assert [None, 0.5714, 0.25] == steps["share"].to_list()
    happened = book.load_sheet("what happened").to_polars()
    assert ["Views", "Offers shown", "Offers added", "Redemptions"] == happened["label"].to_list()
    assert "conversion_of" in book.load_sheet("funnel").to_polars().columns


def test_an_empty_window_is_a_wrong_use(cardoffers: Any) -> None:
    refused = cardoffers(
        "report", "funnel", "-i", "alder", "--from", "2026-06-02", "--to", "2026-06-01",
        "--format", "json",
    )  # fmt: skip
    assert (2, "window_empty") == (refused.exit_code, refused.error["code"])


# The picture


def document(counts: tuple[int, ...], previous: tuple[int, ...] | None = None) -> Funnel:
    return Funnel(**of(counts), previous=of(previous) if previous else None)


def of(counts: tuple[int, ...]) -> PeopleFunnel:
    names = ("saw", "added", "redeemed", "all_who_redeemed")
    return PeopleFunnel(
        window={"from": NOON.replace(month=5), "to": NOON},
        data=FunnelCounts(**dict(zip(STEPS, counts, strict=True))),
        people=FunnelPeople(**dict(zip(names, counts[1:], strict=True))),
    )


COUNTS = [
    ((0, 0, 0, 0, 0), None),
    ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0)),
    ((1, 1, 1, 1, 1), (0, 0, 0, 0, 0)),
    ((9, 900, 12, 12, 900), None),
    ((1, 999_999_999, 123_456_789, 1, 1), (10_000_000, 1, 1, 1, 0)),
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


def test_a_step_is_never_more_than_the_one_before(asked: Any) -> None:
    shown = asked("--format", "table").stdout
    shares = [float(share) for share in re.findall(r"([\d.]+) %", shown)]
    assert shares
    assert max(shares) <= 100
