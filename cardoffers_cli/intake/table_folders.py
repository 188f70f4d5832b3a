"""Tables in a new folder of its owner's only: each as CSV, and all of them together as JSON."""

from __future__ import annotations

from shutil import rmtree
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.kernel.disk.folders import make_folder, sync_folder_if_possible
from cardoffers_cli.kernel.sheets.exports import replacing, write_frame
from cardoffers_cli.kernel.words import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_OWNER_ONLY = 0o700
_MOMENT = "%Y-%m-%dT%H:%M:%S%.6fZ"


def write_tables(folder: Path, frames: Mapping[str, pl.DataFrame], *, together: str) -> None:
    """Write each frame as `<name>.csv`, and all into the file `together`; moments are naive UTC.

    Nothing is guarded: these are the texts as they are stored. Where it fails, as on a full disk,
    the folder goes too: half of what is kept of somebody is not to lie about as if it were all.
    """
    make_folder(folder.parent)
    folder.mkdir(_OWNER_ONLY)
    try:
        for name, frame in frames.items():
            with replacing(folder / f"{name}.csv") as out:
                write_frame(frame.with_columns(pl.col(pl.Datetime).dt.strftime(_MOMENT)), out)
        rows = {name: frame.to_dicts() for name, frame in frames.items()}
        with replacing(folder / together) as out:
            out.writelines(piece.encode() for piece in json_text.pieces(rows))
            out.write(b"\n")
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    sync_folder_if_possible(folder.parent)
