"""Many clients while a file is imported: a short run of `benchmarks/serve.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.serve import compare, load, lost, make_store
from sizes import at_the_gate, slow

if TYPE_CHECKING:
    from pathlib import Path


@slow
def test_under_load_every_answer_is_specified_and_nothing_acknowledged_is_lost(
    tmp_path: Path,
) -> None:
    made = make_store(tmp_path / "load")
    outcome = load(made, seconds=3, rows=20_000, clients=20)
    assert [] == outcome.unspecified
    assert [] == lost(made, outcome)
    assert len(outcome.accepted) > 0


@at_the_gate
def test_batches_take_what_an_import_takes(tmp_path: Path) -> None:
    importing, sending = compare(tmp_path, rows=20_000, clients=10)
    assert 0 < sending < 20 * importing
