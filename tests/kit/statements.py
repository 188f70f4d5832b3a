"""The statements that the engine runs for one call of the contract, by its own log of queries."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from uuid import uuid4

from cardoffers_cli.http.contract.messages import Call
from cardoffers_cli.http.contract.service import Service
from cardoffers_cli.kernel.store.opening import Holding
from tables import NOON, key_text
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.opening import Opening
    from cardoffers_cli.kernel.store.store import Store

_LOG = "select message from duckdb_logs where type = 'QueryLog'"

CATALOGUE = {
    "institutions": "institution\nalder",
    "merchants": "merchant\nbakery",
    "identifiers": "identifier merchant\nM1 bakery",
    "offers": "offer merchant budget\nA bakery 100.00\nB bakery -",
    "programs": "offer\nA\nB",
    "links": "cardholder offer added_at\nann A 08:00:00\nann B 08:00:00",
    "keys": "key institution scopes created expires\nall alder - 2026-01-01 2027-01-01",
}
EVENT = {
    "cardholder_token": "ann",
    "card_token": "card",
    "card_acceptor_id": "M1",
    "amount": 20,
    "transacted_at": "2026-06-01T09:00:00Z",
}


def statements_of(path: str, **changes: Any) -> list[str]:
    """Return what the engine runs for an event that is sent to a path of a server.

    It is of a known cardholder, card and merchant; `changes` are those of the event. What a server
    does once a minute, and once with each store that it opens, is done before.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = new_store(Path(folder))
        tell(made, **CATALOGUE)
        service = Service(made, lambda: NOON, keeps_open=True)
        before = {name: f"{value}-before" for name, value in changes.items()}
        _said(service, path, {**EVENT, **before, "transaction_ref": "before"})
        _said(service, path, {**EVENT, "transaction_ref": "before-too"})
        said = _said(service, path, {**EVENT, "transaction_ref": "now", **changes})
        service.let_go()
        return said


def _said(service: Service, path: str, event: dict[str, Any]) -> list[str]:
    call = Call(
        method="POST",
        path=f"/api/v1/transactions{path}",
        query="",
        headers={"authorization": f"Bearer {key_text('all')}", "content-type": "application/json"},
        body=json.dumps(event).encode(),
        request_id=str(uuid4()),
    )
    said: list[str] = []
    use = Holding.use

    @contextmanager
    def logged(holding: Holding, opening: Opening) -> Iterator[Store]:
        with use(holding, opening) as store, statements_in(store, said):
            yield store

    with patch.object(Holding, "use", logged):
        (answer,) = service.answer_all([call], wait_s=5)
    assert answer.status in {200, 202}, answer
    return said


@contextmanager
def statements_in(store: Store, said: list[str]) -> Iterator[None]:
    """Add what the engine runs in the block; its log outlives the store, and is emptied."""
    store.connection.execute("call enable_logging('QueryLog')")
    yield
    found = store.connection.execute(_LOG).fetchall()
    store.connection.execute("call disable_logging()")
    store.connection.execute("call truncate_duckdb_logs()")
    said.extend(text for (text,) in found if "_logging(" not in text and "duckdb_logs" not in text)
