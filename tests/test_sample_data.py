"""`sample_data/` is what the command makes: nobody edits it by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
