"""Answers and reports in the formats that people and programs open, held against goldens.

Those of `why`, `timeline`, `find` and `redemption show` in text formats are held by
`test_answers.py`. Parquet and workbooks are held as text that says what each cell is. To accept a
change: `UPDATE_GOLDENS=1 pytest tests/answers/test_formats.py`, and read the difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from complaints import complaints, redemption
from goldens import held, parquet_text, workbook_text
from sizes import one_in

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

FORMATS = ("table", "tsv", "csv", "json", "jsonl", "md")
REPORTS = {
    "redemptions": "report redemptions --all",
    "settlements": "report settlements --all",
    "unresolved": "report unresolved --all",
}
LINES = {
    "why-small": "why small -i alder",
    "why-list": "why --file refs.txt -i alder",
    "timeline": "timeline won -i alder",
    "find": "find -i alder --ref s*",
    "redemption": "redemption show WON",
    **REPORTS,
    "redemptions-by-offer": "report redemptions --by offer",
    "funnel-by-offer": "report funnel -i alder --by offer --from 2026-06-01 --to 2026-06-03",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on the scene of `complaints`, which these tests only look at."""
    made = complaints(tmp_path_factory.mktemp("complaints"))
    (made.path.parent / "refs.txt").write_text("won\nsmall\nfree\nwon\n")
    return made


@pytest.fixture
def ask(cardoffers: Any, made: Job, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command line at the scene."""
    monkeypatch.chdir(made.path.parent)

    def run(name: str, *words: object) -> str:
        line = LINES[name].replace("WON", redemption(made, "won"))
        at = ("--store", made.path, "--as-of", f"{made.now.isoformat()}Z")
        ended = cardoffers(*line.split(), *words, *at)
        assert 0 == ended.exit_code, ended
        return str(ended.stdout)

    return run


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", REPORTS)
@one_in(3)
def test_a_report_is_shown_in_every_text_format(ask: Any, name: str, form: str) -> None:
    held(f"{name}.{form}", ask(name, "--format", form))


@pytest.mark.parametrize("name", LINES)
@one_in(4)
def test_parquet_has_decimals_moments_in_utc_and_text(ask: Any, name: str, tmp_path: Path) -> None:
    ask(name, "-o", tmp_path / "file.parquet")
    held(f"{name}.parquet.txt", parquet_text(tmp_path / "file.parquet"))


@pytest.mark.parametrize("name", LINES)
@one_in(4)
def test_a_workbook_has_numbers_dates_and_text(ask: Any, name: str, tmp_path: Path) -> None:
    ask(name, "-o", tmp_path / "file.xlsx")
    held(f"{name}.xlsx.txt", workbook_text(tmp_path / "file.xlsx"))
