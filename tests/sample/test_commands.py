from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sizes import slow

if TYPE_CHECKING:
    import pytest


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cardoffers_cli", "sample", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@slow
def test_the_outcome_lists_the_files_that_are_there(tmp_path: Path) -> None:
    options = "--rows 90 --seed 3 --institutions 3 --files 2 --gzip --kind jsonl --format json"
    done = run(str(tmp_path), *options.split())
    assert (0, "") == (done.returncode, done.stderr)
    told = {made["file"]: made["bytes"] for made in json.loads(done.stdout)}
    there = {
        path.relative_to(tmp_path).as_posix(): path.stat().st_size
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert there == told
    assert "transactions/sierraluz-2.jsonl.gz" in told


@slow
def test_a_plan_without_sense_is_a_usage_error(tmp_path: Path) -> None:
    done = run(str(tmp_path), "--rows", "1", "--seed", "3")
    assert (2, "") == (done.returncode, done.stdout)
    assert "--rows must be at least one for each institution" in done.stderr


def test_without_a_word_it_writes_a_small_sample(
    cardoffers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cardoffers("sample")
    folders = sorted(path.name for path in Path("sample").iterdir())
    assert ["catalog", "refunds", "transactions"] == folders
    rows = [len(path.read_text().splitlines()) - 1 for path in Path("sample").glob("trans*/*.csv")]
    assert 1000 == sum(rows)
