"""A server that is killed while clients call it: what it acknowledged is there, and there once."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from callers import Calls, not_once, under_load
from chaos.children import ENVIRONMENT
from chaos.judging import Fault
from chaos.places import AS_OF, STORE, job_of
from chaos.strikes import Struck, faults_of_doctor
from serving import serving

if TYPE_CHECKING:
    import random

    from chaos.places import Places

_BEFORE = "2026-10-09T11:00:00Z"
_LONGEST_S = 1.5


def killed_server(places: Places, chance: random.Random) -> Struck:
    """Kill a server at a moment, while clients call it, and look for what it had acknowledged."""
    store = places.put("ready") / STORE
    key = (places.place / "app.key").read_text().strip()
    calls = Calls(key=key, offer=places.ids["offer"], moment=_BEFORE)
    environment = {**os.environ, **ENVIRONMENT}
    with serving(store, "--as-of", AS_OF, environment=environment) as served:
        clients = under_load(served.port, "client", calls)
        time.sleep(seconds := chance.random() * _LONGEST_S)
        served.process.kill()
        for client in clients:
            client.join()
    lost, doubled = not_once(job_of(places.place), clients)
    faults = [
        *(Fault(kind="lost", text=each) for each in lost),
        *(Fault(kind="doubled", text=each) for each in doubled),
        *faults_of_doctor(places.place),
    ]
    acknowledged = sum(len(client.accepted) + len(client.added) for client in clients)
    how = f"after {seconds:.3f} s and {acknowledged:,} acknowledged"
    return Struck(how=how, ended=False, told=[], faults=faults)
