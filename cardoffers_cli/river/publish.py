"""Publish: what happened becomes events for the institutions it happened to, in the outbox.

It runs in the transaction of what it tells of, so there is no redemption without its event and no
event of a simulation. The bytes are written once and sent as they are on every attempt. An
institution need have no webhook yet: its events wait, and are sent when it has one
(rules.md#redemption-events). Other kinds are written where the institution wants them by then. What
happened is asked of the statement of the kind (`kernel/words/events.toml`), by the run in which it
did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.events import EVENTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


def publish(
    store: Store,
    what: str,
    *,
    run_no: int | None = None,
    after_run_no: int = 0,
    institution_id: UUID | None = None,
) -> int:
    """Write the events that there are not of what happened in a run, or in all after one.

    `what` is the statement of a kind. Returns how many there are; of an institution its own alone.
    """
    kind = next(entry for entry in EVENTS.values() if entry.what == what)
    first, last = (run_no, run_no) if run_no else (after_run_no + 1, 2**62)
    bounds: Mapping[str, Any] = {"first_run_no": first, "last_run_no": last}
    happened = store.define(f"river/publish:{what}", **bounds)
    how = {"kind": kind.name, "is_always": kind.always, "moot_when": kind.moot_when}
    of = {**bounds, **how, "institution_id": institution_id}
    return store.execute("river/publish:queue", happened, **of)
