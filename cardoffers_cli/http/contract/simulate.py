"""Simulate: what one event would come to; nothing is written (rules.md#simulation)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.http.contract.bodies import json_object
from cardoffers_cli.http.contract.events import refusal
from cardoffers_cli.http.contract.messages import Answer
from cardoffers_cli.intake.fields import COLUMNS
from cardoffers_cli.river.simulate import simulate_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.http.contract.gate import Caller
    from cardoffers_cli.http.contract.messages import Call
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


def simulate(
    store: Store, caller: Caller, call: Call, _parameters: Mapping[str, str], job: Job
) -> Answer:
    """Answer with the outcome of one event, with every check that was made."""
    event = json_object(call)
    simulated = simulate_event(store, caller.institution, event, job)
    if simulated.item is None:
        raise refusal(simulated.errors)
    unknown = len(event.keys() - set(COLUMNS))
    return Answer.of(
        200, {"simulated": True, **replace(simulated.item, line=None)}, unknown_fields=unknown
    )
