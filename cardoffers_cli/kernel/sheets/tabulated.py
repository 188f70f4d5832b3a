"""Tables that stand as text beside the code: what is looked up, one thing a line.

A file begins with what its lines mean; then come the tables, each below its name in brackets.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def read_tables(package: str, file: str) -> dict[str, list[str]]:
    """Return the lines of each table of a file in a package, by the name of the table."""
    text = files(package).joinpath(file).read_text("utf-8")
    parts = (part.partition("]\n") for part in text.split("\n[")[1:])
    return {name: lines.strip().split("\n") for name, _, lines in parts}
