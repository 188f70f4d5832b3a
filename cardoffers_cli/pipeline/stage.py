"""Stage: the valid rows and the findings of a transaction file become temporary tables.

Whole rows for an import; for a check alone just the ref, a fingerprint of the content and one of
the cardholder, which is all that duplicates and unstable tokens are found by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.store.store import Store


class Stage:
    """The temporary tables `staged` and `staged_findings`, empty at first."""

    def __init__(self, store: Store, *, whole: bool) -> None:
        self._store = store
        self._form = "whole" if whole else "slim"
        store.execute(f"pipeline/stage:staged_{self._form}")
        store.execute("pipeline/stage:staged_findings")

    def add(self, rows: pl.DataFrame, findings: pl.DataFrame) -> None:
        """Append a chunk: valid rows and findings, as `files/transactions.py` gives them."""
        if rows.height:
            self._store.load(f"pipeline/stage:stage_{self._form}", rows)
        if findings.height:
            self._store.load("pipeline/stage:stage_findings", findings)
