from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.layout import put_aside
from tables import NOON

if TYPE_CHECKING:
    from pathlib import Path


def test_files_put_aside_at_one_moment_have_names_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "store"
    for text in "abc":
        file.write_text(text)
        put_aside(file, NOON)
    assert put_aside(file, NOON) is None
    assert {
        "store.20260601T120000Z.kept": "a",
        "store.20260601T120000Z.kept1": "b",
        "store.20260601T120000Z.kept2": "c",
    } == {path.name: path.read_text() for path in tmp_path.iterdir()}
