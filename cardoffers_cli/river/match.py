"""Match: which offers every resolved purchase fits, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.river.handles import Candidates

if TYPE_CHECKING:
    from cardoffers_cli.archive.duck import Engine
    from cardoffers_cli.river.handles import Resolutions


def match(engine: Engine, resolutions: Resolutions) -> Candidates:
    """Hold each purchase against the offers of its merchant that its cardholder has a link to."""
    tables = engine.run("match", resolutions.rows)
    return Candidates(
        terms=tables["ranked_terms"], enrolled=tables["enrolled"], rows=tables["candidates"]
    )
