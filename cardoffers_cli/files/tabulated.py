"""Tables that stand as text beside the code: what is looked up, one thing a line.

A file begins with what its lines mean; then come the tables, each below its name in brackets.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def read_tables(file: str) -> dict[str, list[str]]:
    """Return the lines of each table of a file of this folder, by the name of the table."""
    text = Path(__file__).with_name(file).read_text("utf-8")
    parts = (part.partition("]\n") for part in text.split("\n[")[1:])
    return {name: lines.strip().split("\n") for name, _, lines in parts}
