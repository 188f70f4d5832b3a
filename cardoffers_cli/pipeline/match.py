"""Match: which offers every resolved purchase fits, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.engine.plan import Engine


def match(engine: Engine) -> None:
    """Make `enrolled` (with the first check that failed) and `candidates` from `resolutions`."""
    engine.run("match")
