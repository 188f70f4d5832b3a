"""Find the files that travel with the product.

A wheel carries `sample_data/` inside the package (`pyproject.toml` puts it there); in a checkout,
and so in an editable install, it lies beside the package.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from pathlib import Path
from shutil import copytree

from cardoffers_cli.kernel.sheets.exports import replacing

_PACKAGE = Path(__file__).parents[2]


def sample_data() -> Path:
    """Return the folder of sample data that `cardoffers demo` runs on."""
    installed = _PACKAGE / "sample_data"
    return installed if installed.is_dir() else _PACKAGE.parent / "sample_data"


def copy_sample_data(folder: Path) -> None:
    """Copy the sample's catalogue and the files of its institutions into a folder."""
    for name in ("catalog", "transactions", "refunds", "credits"):
        copytree(sample_data() / name, folder / name, copy_function=_copied)


def _copied(source: str, target: str) -> str:
    with replacing(Path(target)) as out:
        out.write(Path(source).read_bytes())
    return target


def write_sample_tokens(folder: Path, name: str) -> tuple[str, str]:
    """Write the tokens of a cardholder of the sample, and of the card, as lines of a file."""
    with (folder / "catalog" / "links.csv").open(encoding="utf-8", newline="") as links:
        link = next(csv.DictReader(links))
    tokens = (link["cardholder_token"], link["card_token"])
    with replacing(folder / name) as out:
        out.write("\n".join((*tokens, "")).encode())
    return tokens


# Tables that stand as text beside the code: what is looked up, one thing a line.
#
# A file begins with what its lines mean; then come the tables, each below its name in brackets.


@cache
def read_tables(package: str, file: str) -> dict[str, list[str]]:
    """Return the lines of each table of a file in a package, by the name of the table."""
    text = files(package).joinpath(file).read_text("utf-8")
    parts = (part.partition("]\n") for part in text.split("\n[")[1:])
    return {name: lines.strip().split("\n") for name, _, lines in parts}
