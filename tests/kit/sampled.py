"""A folder of the sample data, with a store in which it was taken in and matched."""

from __future__ import annotations

import shlex
from contextlib import chdir
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.sheets.exports import copy_sample_data
from commands import in_a_pipe

if TYPE_CHECKING:
    from pathlib import Path

LINES = (
    "init",
    "catalog import ../catalog",
    "import ../transactions/larkmere.csv -i larkmere",
    "import ../transactions/tarnhollow.csv -i tarnhollow",
    "match",
)


def sampled(folder: Path, *more: str, as_of: str = "2026-10-01") -> Path:
    """Make the folder, do what is needed in its folder `home`, and more; return `home`."""
    copy_sample_data(folder)
    home = folder / "home"
    home.mkdir()
    with chdir(home):
        for line in (*LINES, *more):
            ended = in_a_pipe([*shlex.split(line), "--as-of", as_of, "--format", "json"])
            assert ended.exit_code in {0, 3}, (line, ended)
    return home
