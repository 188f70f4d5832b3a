"""Publish: every redemption becomes an event for its institution, in the outbox.

It runs in the transaction that redeems, so there is no redemption without its event and no event of
a simulation. The bytes are written once and sent as they are on every attempt. An institution need
have no webhook yet: its events wait, and are sent when it has one (rules.md#redemption-events).
A reversal becomes an event in the same way, where its institution wants that by then
(rules.md#reversed-events).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.store.store import Store


def publish(store: Store, *, run_no: int) -> int:
    """Write the events of the redemptions of a run; return how many there are."""
    return store.execute("pipeline/publish:outbox", run_no=run_no)


def publish_reversals(store: Store, *, run_no: int) -> int:
    """Write the events of the reversals of a run, of institutions that want them; count them."""
    return store.execute("pipeline/publish:reversals", run_no=run_no)
