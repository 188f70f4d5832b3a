"""Match: which offers every resolved purchase fits, best first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cardoffers_cli.river.handles import Candidates

if TYPE_CHECKING:
    from cardoffers_cli.archive.duck import Engine
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.handles import Resolutions


def depends_on_purchases(store: Store) -> bool:
    """Whether the reward or the commission of any version of an offer depends on the purchase."""
    address = "river/resolve:terms_depend_on_purchases"
    read = partial(store.value, address)
    return bool(store.memory.recall((address,), (address,), read))


def match(engine: Engine, resolutions: Resolutions, *, is_priced: bool = False) -> Candidates:
    """Hold each purchase against the offers of its merchant that its cardholder has a link to.

    Where it `is_priced`, what an offer gives may depend on the purchase, and so what is best.
    """
    tables = engine.run("match", resolutions.rows)
    terms, enrolled = tables["ranked_terms"], tables["enrolled"]
    if is_priced:
        tables = engine.run("priced", enrolled, resolutions.rows, terms)
        enrolled = tables["priced"].called("enrolled")
    else:
        tables = engine.run("candidates", enrolled)
    return Candidates(
        terms=terms, enrolled=enrolled, rows=tables["candidates"], is_priced=is_priced
    )
