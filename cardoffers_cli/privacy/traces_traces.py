"""Files that hold a text, looked for in their bytes, also where these are packed.

Of gzip, zip (workbooks too) and Parquet what is in them is looked at. A file that cannot be read as
what it seems to be is looked at as it is.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

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
        yield _parquet(path)


def _parquet(path: Path) -> Any:
    from io import BytesIO  # noqa: PLC0415

    import polars as pl  # noqa: PLC0415  heavy

    return BytesIO(pl.read_parquet(path).cast(pl.String, strict=False).write_csv().encode())


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
