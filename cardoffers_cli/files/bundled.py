"""Find the files that travel with the product.

A wheel carries `sample_data/` inside the package (`pyproject.toml` puts it there); in a checkout,
and so in an editable install, it lies beside the package.
"""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

_PACKAGE = Path(__file__).parents[1]


def sample_data() -> Path:
    """Return the folder of sample data that `cardoffers demo` runs on."""
    installed = _PACKAGE / "sample_data"
    return installed if installed.is_dir() else _PACKAGE.parent / "sample_data"


def copy_sample_data(folder: Path) -> None:
    """Copy the sample's catalogue and transactions into a folder."""
    for name in ("catalog", "transactions"):
        copytree(sample_data() / name, folder / name)
