"""Files beside the store that hold a token, or may: what an erasure leaves to people.

Files that institutions sent are theirs, with the rows of others in them, and copies of the store
are whole or nothing. So none is changed: each is named, with what is to be done.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.drop.file_changes import KEPT_IN, TAKEN
from cardoffers_cli.kernel.store import layout
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


# Files that hold a text, looked for in their bytes, also where these are packed.
#
# Of gzip, zip (workbooks too) and Parquet what is in them is looked at. A file that cannot be read
# as what it seems to be is looked at as it is.


_PIECE = 1 << 20
_GZIP, _ZIP, _PARQUET = b"\x1f\x8b", b"PK\x03\x04", b"PAR1"


def holds_any(path: Path, texts: Sequence[str]) -> bool:
    """Return whether a file holds any of these texts, as UTF-8 or UTF-16."""
    if not texts:
        return False
    forms = [text.encode(form) for text in texts for form in ("utf-8", "utf-16-le", "utf-16-be")]
    try:
        return any(_is_in(file, forms) for file in _contents(path))
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError):
        with path.open("rb") as file:
            return _is_in(file, forms)


def _contents(path: Path) -> Iterator[Any]:
    """Yield what is in a file: its bytes, and what they unpack to."""
    with path.open("rb") as file:
        yield file
        file.seek(0)
        begin = file.read(len(_ZIP))
    if begin.startswith(_GZIP):
        with gzip.open(path) as unpacked:
            yield unpacked
    elif begin == _ZIP:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as member:
                    yield member
    elif begin == _PARQUET:
        from io import BytesIO  # noqa: PLC0415

        import polars as pl  # noqa: PLC0415  heavy

        yield BytesIO(pl.read_parquet(path).cast(pl.String, strict=False).write_csv().encode())


def _is_in(file: Any, forms: Sequence[bytes]) -> bool:
    """Return whether a stream holds one of these, also across the pieces that it is read in."""
    longest = max(map(len, forms))
    before = b""
    while piece := file.read(_PIECE):
        content = before + piece
        if any(form in content for form in forms):
            return True
        before = content[-longest:]
    return False


class Trace(Record, sheet="why file"):
    """A file, and why it is named.

    `holds_token`; `copy_of_before`, of the store as it was.
    """

    file: str
    why: str


def traces(store: Store, job: Job, institution: str, tokens: Sequence[str]) -> list[Trace]:
    """Return the files that hold any of the tokens, and what was put aside of the store.

    Looked at are the folder of the store, its runs and reports, and the folders in which files of
    the institution are kept. The store's own file is not: compacting it is what cleans it.
    """
    files = sorted({path for path in _looked_at(store, job, institution) if path.is_file()})
    holding = [path for path in files if holds_any(path, tokens)]
    put_aside = (job.path, layout.snapshot_path(job.path), layout.log_path(job.path))
    before = [path for file in put_aside for path in layout.kept_files(file)]
    named = {"holds_token": holding, "copy_of_before": sorted(before)}
    return [Trace(file=str(path), why=why) for why, paths in named.items() for path in paths]


def _looked_at(store: Store, job: Job, institution: str) -> Iterator[Path]:
    # Locks, the snapshot and the archive are looked at apart.
    folder = layout.folder_of(job.path)
    left_out = {folder / name for name in layout.LOCKS} | {layout.snapshot_path(job.path)}
    archive = Path(layout.history_root(job.path))
    yield from (
        file for file in folder.rglob("*") if file not in left_out and archive not in file.parents
    )
    for folder in (layout.runs_folder(job.path), layout.reports_folder(job.path)):
        yield from folder.rglob("*")
    for processed in store.rows("drop/file_changes:kept_folders"):
        for kind in ("", TAKEN, *KEPT_IN.values()):
            yield from (Path(processed["folder"]) / institution / kind).glob("*")
