"""Find the files that travel with the product.

A wheel carries `sample_data/` inside the package (`pyproject.toml` puts it there); in a checkout,
and so in an editable install, it lies beside the package.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def sample_data() -> Path:
    """Return the folder of sample data that `cardoffers demo` runs on."""
    installed = _PACKAGE / "sample_data"
    return installed if installed.is_dir() else _PACKAGE.parent / "sample_data"
