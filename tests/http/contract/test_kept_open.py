"""A service that keeps the store open answers what one says that opens it for each group."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.http.contract.messages import Call
from cardoffers_cli.http.contract.service import Service
from cardoffers_cli.kernel.store.layout import usage_path
from cardoffers_cli.kernel.store.store import Store
from cardoffers_cli.keys.work import revoke_key
from cardoffers_cli.river.engines import match_purchases
from doors import key_of
from sizes import FULL, slow, tries
from tables import NOON, select, uid
from work import found, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.http.contract.messages import Answer
    from cardoffers_cli.kernel.store.job import Job

KEYS = ("alderall", "aldertwo", "brookall")
KINDS = ("feed", "feed", "add", "add", "single", "batch", "batch", "report", "simulate")
ROUNDS = 60 if FULL else tries(18, 30)
"""Each asks two services, one of which opens its store for it."""

KEPT = (
    "select * exclude (received_at) from purchases order by all",
    "select * from cardholders order by all",
    "select * from instruments order by all",
    "select * from links order by all",
    "select * from engagement order by all",
    "select * exclude (import_id) from imports order by all",
    "select redemption_no, status, merchant_funded_amount from ledger_entries order by all",
)


def made(folder: Path) -> Job:
    folder.mkdir()
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder\nbrook",
        merchants="merchant\nbakery\nbutcher",
        identifiers="identifier merchant\nM0 bakery\nM1 butcher",
        offers="""
            offer  merchant  budget  uses  starts_at            expires_at
            A      bakery    3.00    -     -                    -
            B      butcher   -       1     -                    -
            C      bakery    -       -     2026-06-01T12:00:20  -
            D      butcher   -       -     -                    2026-06-01T12:00:30
        """,
        programs="institution offer\nalder A\nalder B\nalder C\nalder D\nbrook B\nbrook D",
        keys="""
            key       institution  scopes                         created     expires
            alderall  alder        offers|reporting|transactions  2026-01-01  2027-01-01
            aldertwo  alder        offers|reporting|transactions  2026-01-01  2027-01-01
            brookall  brook        offers|reporting|transactions  2026-01-01  2027-01-01
        """,
    )
    return made


class Both:
    """Two stores that are told the same, one by a service that keeps it open."""

    def __init__(self, folder: Path) -> None:
        self.seconds = 0
        self.kept_job, self.fresh_job = made(folder / "kept"), made(folder / "fresh")
        self.kept = Service(self.kept_job, self._now, keeps_open=True)
        self.fresh = Service(self.fresh_job, self._now)

    def _now(self) -> Any:
        return NOON + timedelta(seconds=self.seconds)

    def ask(self, calls: list[Call]) -> list[Answer]:
        kept = self.kept.answer_all(calls, wait_s=5)
        assert self.fresh.answer_all(calls, wait_s=5) == kept
        return kept

    def left(self) -> list[Any]:
        """Return the temporary tables in the store that is kept open."""
        opened = self.kept._store(self.kept_job, read_only=True, wait_s=5)
        with opened as store:
            return select(store, "select table_name from duckdb_tables() where temporary")

    def command(self, act: Any) -> None:
        """Let a command do something to both stores."""
        self.kept.let_go()
        for job in (self.kept_job, self.fresh_job):
            act(replace(job, now=NOON + timedelta(minutes=1)))


def call(chance: random.Random, number: int) -> Call:
    """Draw a call: a feed, an add, an event or a batch, of a few cardholders."""
    token = f"holder-{chance.randrange(3)}"
    body: Any = None
    query = ""
    match chance.choice(KINDS):
        case "feed":
            method, path = "GET", "/api/v1/offers"
            hints = chance.choice(("", "&personalize=true", "&limit=1", "&limit=no", "&segment=x"))
            query = f"cardholder_token={token}{hints}"
        case "add":
            method, path = "POST", f"/api/v1/offers/{chance.choice('ABCD')}/add"
            body = {"cardholder_token": token, "card_token": f"card-{chance.randrange(2)}"}
        case "single":
            method, path = "POST", "/api/v1/transactions"
            body = event(chance, token)
        case "batch":
            method, path = "POST", "/api/v1/transactions/batch"
            body = {"transactions": [event(chance, token) for _ in range(chance.randrange(4))]}
        case "simulate":
            method, path = "POST", "/api/v1/transactions/simulate"
            body = event(chance, token)
        case _:
            report = chance.choice(("redemptions", "settlements", "funnel"))
            method, path = "GET", f"/api/v1/reporting/{report}"
    return asked(number, method, path, body, key=chance.choice(KEYS), query=query)


def asked(
    number: int, method: str, path: str, body: Any, *, key: str = "alderall", query: str = ""
) -> Call:
    return Call(
        method=method,
        path=path,
        query=query,
        headers={"authorization": f"Bearer {key_of(key)}", "content-type": "application/json"},
        request_id=str(uid(f"call {number}")),
        body=b"" if body is None else json.dumps(body).encode(),
    )


def event(chance: random.Random, token: str) -> dict[str, Any]:
    return {
        "cardholder_token": token,
        "card_token": f"card-{chance.randrange(2)}",
        "card_acceptor_id": chance.choice(("M0", "M1", "M1", "nobody")),
        "amount": chance.choice((20, 20, 35, 0)),
        "transaction_ref": f"r-{chance.randrange(60)}",
        "transacted_at": "2026-06-01T12:00:25Z",
    }


def pause(job: Job) -> None:
    with job.store() as store:
        store.connection.execute("update offers set is_paused = not is_paused where offer_id = 'B'")


def revoke(job: Job) -> None:
    revoke_key(str(uid("aldertwo")), job)


@slow
@pytest.mark.parametrize("seed", range(tries(1, 2)))
def test_both_give_the_same_answers_and_keep_the_same(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - calls, not secrets
    both = Both(tmp_path)
    commands = [match_purchases, revoke, pause, match_purchases, pause]
    payer = {"cardholder_token": "holder-0", "card_token": "card-0"}
    bought = {**event(chance, "holder-0"), "card_acceptor_id": "M0", "amount": 35, **payer}
    both.ask([asked(-1, "POST", "/api/v1/offers/A/add", payer)])
    both.ask([asked(-2, "POST", "/api/v1/transactions", {**bought, "transaction_ref": "first"})])
    statuses = set()
    for number in range(ROUNDS):
        both.seconds += chance.choice((0, 0, 1, 2))
        calls = [call(chance, number * 10 + each) for each in range(chance.randrange(1, 5))]
        statuses |= {answer.status for answer in both.ask(calls)}
        if number % 3 == 2 and commands:
            both.command(commands.pop(0))
    assert {200, 201, 202, 403, 422} <= statuses
    assert [] == both.left()
    both.command(match_purchases)
    for table in KEPT:
        assert (rows := found(both.fresh_job, table)) == found(both.kept_job, table)
        assert rows, table


def test_a_fault_lets_go_and_the_next_call_finds_the_store(tmp_path: Path) -> None:
    faults: list[BaseException] = []
    job = made(tmp_path / "kept")
    service = Service(job, lambda: NOON, lambda _id, fault: faults.append(fault), keeps_open=True)
    feed = Call(
        method="GET",
        path="/api/v1/offers",
        query="cardholder_token=ann",
        headers={"authorization": f"Bearer {key_of('alderall')}"},
        request_id=str(uid("call")),
    )

    def status() -> int:
        (answer,) = service.answer_all([feed], wait_s=5)
        return answer.status

    with pytest.MonkeyPatch.context() as patch:
        assert 200 == status()
        patch.setattr(Store, "records", broken)
        patch.setattr(Store, "rows", broken)
        assert (500, False) == (status(), service.is_open)
    assert (200, True) == (status(), service.is_open)
    assert [ZeroDivisionError] == [type(fault) for fault in faults]


def broken(*_: Any, **__: Any) -> None:
    raise ZeroDivisionError


def test_a_call_book_that_was_put_aside_is_opened_anew(tmp_path: Path) -> None:
    job = made(tmp_path / "kept")
    service = Service(job, lambda: NOON, keeps_open=True)
    chance = random.Random(1)  # noqa: S311 - as above
    service.answer_all([call(chance, 0)], wait_s=5)
    usage_path(job.path).rename(tmp_path / "aside")
    service.answer_all([call(chance, 1)], wait_s=5)
    assert usage_path(job.path).exists()
