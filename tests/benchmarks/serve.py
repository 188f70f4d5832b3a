"""What the server bears, and what it costs to send events to it instead of a file.

    python tests/benchmarks/serve.py [--seconds 30] [--rows 200000] [--clients 20] [--before FOLDER]

Three measurements, each on a new store and with the server as a process of its own:

- Alone: feeds, single events, batches of 1000 and pages of a report, each by one client and by all,
  a tenth of the seconds each; then both feeds and events by all, while another process opens the
  store as a command does, again and again: how long it waits. With `--before` a server of another
  checkout of the same schema does the same, in turns, and the ratio of the two is told.
- Load: clients with a connection each send batches of 1000, single events, feed reads and reports
  in turn, without a pause, while `cardoffers import` takes a file into the same store in another
  process. Every status must be one that the contract names for such a call, and every event
  acknowledged must be in the store afterwards, once. A snapshot was published before; the limit of
  reporting calls is lifted, so that reports are answered and not refused.
- Batches: the rows of a file sent in batches of 1000, against the time `cardoffers import` needs
  for that file, from the start of its process to its end, in the same run.

Clients and server share the machine, so the clients' own work is in every figure; their bodies are
written beforehand.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "kit"))

from cardoffers_cli.copies.work import publish
from commands import command
from serving import Served, serving
from tables import key_text
from work import file_of, found, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cardoffers_cli.kernel.store.job import Job

AS_OF = ("--as-of", "2026-06-01T12:00:00Z")
BATCH = 1000
GOAL_RATIO, GOAL_RATE = 2.0, 20_000
CARDHOLDERS, MERCHANTS = 5_000, 200
SPECIFIED = {
    "batch": {202, 503},
    "single": {202, 503},
    "feed": {200, 503},
    "redemptions": {200, 503},
    "settlements": {200, 503},
    "funnel": {200, 503},
}
SITUATION = {
    "institutions": "institution\nalder",
    "merchants": "\n".join(["merchant", *(f"m{number}" for number in range(MERCHANTS))]),
    "identifiers": "\n".join(
        ["identifier merchant", *(f"M{number} m{number}" for number in range(MERCHANTS))]
    ),
    "offers": "\n".join(["offer merchant", *(f"o{number} m{number}" for number in range(20))]),
    "programs": "\n".join(["offer", *(f"o{number}" for number in range(20))]),
    "keys": "key institution scopes\nall alder offers|reporting|transactions",
}
HEADERS = {"authorization": f"Bearer {key_text('all')}", "content-type": "application/json"}


def make_store(folder: Path) -> Job:
    """Make a store with a catalogue and a key in a new folder."""
    folder.mkdir()
    made = new_store(folder)
    tell(made, **SITUATION)
    return made


@cache
def _token(number: int) -> str:
    return sha256(str(number).encode()).hexdigest()


def token_of(number: int) -> str:
    """Return the token of one of the cardholders, as an institution makes them."""
    return _token(number * 7919 % CARDHOLDERS)


def event(number: int, ref: str) -> dict[str, str]:
    """Return one purchase as a row of a text table."""
    return {
        "cardholder": token_of(number),
        "identifier": f"M{number % MERCHANTS}",
        "amount": f"{number % 90 + 1}.50",
        "ref": ref,
    }


def as_json(row: dict[str, str]) -> str:
    """Write a purchase as an event of the contract."""
    return (
        f'{{"cardholder_token":"{row["cardholder"]}","card_token":"card-1",'
        f'"card_acceptor_id":"{row["identifier"]}","amount":{row["amount"]},'
        f'"transaction_ref":"{row["ref"]}","transacted_at":"2026-06-01T12:00:00Z"}}'
    )


def batch_of(rows: Sequence[dict[str, str]]) -> bytes:
    """Write purchases as the body of a batch."""
    return f'{{"transactions":[{",".join(map(as_json, rows))}]}}'.encode()


@dataclass
class Outcome:
    """What the clients of one run heard."""

    seconds: float = 0
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    accepted: list[str] = field(default_factory=list)
    imported: int = 0

    @property
    def unspecified(self) -> list[tuple[str, int]]:
        """What was answered that the contract does not name."""
        return [(name, status) for name, status in self.statuses if status not in SPECIFIED[name]]


Alone = dict[tuple[str, int], Outcome]
"""What clients heard, by what they called for and how many they were."""


class Client(threading.Thread):
    """One client: a connection, and calls in turn until the time is over."""

    def __init__(  # noqa: PLR0917 - a thread of a table
        self,
        served: Served,
        number: int,
        until: float,
        outcome: Outcome,
        kinds: Sequence[str] = ("batch", "single", "feed", "report"),
        name: str = "client",
    ) -> None:
        super().__init__()
        self._connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
        self._kinds = kinds
        self._name = f"{name}-{number}"
        self._sent = number * 7919  # every client begins with other cardholders
        self._until = until
        self._outcome = outcome

    def run(self) -> None:
        of_kind = {"batch": self._batch, "single": self._single, "feed": self._feed}
        calls = [of_kind.get(kind, self._report) for kind in self._kinds]
        turn = 0
        while time.monotonic() < self._until:
            calls[turn % len(calls)]()
            turn += 1
        self._connection.close()

    def _rows(self, count: int) -> list[dict[str, str]]:
        first, self._sent = self._sent, self._sent + count
        return [event(number, f"{self._name}-{number}") for number in range(first, self._sent)]

    def _batch(self) -> None:
        rows = self._rows(BATCH)
        if self._call("batch", "POST", "/transactions/batch", batch_of(rows)) == 202:
            self._outcome.accepted += [row["ref"] for row in rows]

    def _single(self) -> None:
        (row,) = self._rows(1)
        if self._call("single", "POST", "/transactions", as_json(row).encode()) == 202:
            self._outcome.accepted.append(row["ref"])

    def _feed(self) -> None:
        self._sent += 1
        token = token_of(self._sent)
        self._call("feed", "GET", f"/offers?cardholder_token={token}")

    def _report(self) -> None:
        name = ("redemptions", "settlements", "funnel")[self._sent // BATCH % 3]
        self._call(name, "GET", f"/reporting/{name}")

    def _call(self, name: str, method: str, path: str, body: bytes | None = None) -> int:
        began = time.monotonic()
        self._connection.request(method, f"/api/v1{path}", body, HEADERS)
        answer = self._connection.getresponse()
        answer.read()
        self._outcome.times[name].append(time.monotonic() - began)
        self._outcome.statuses[name, answer.status] += 1
        return answer.status


WAITING = """
import sys, time
from cardoffers_cli.kernel.store.job import Job
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.store.settings import Settings
from pathlib import Path
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    job = Job(path=Path(sys.argv[1]), settings=Settings(), now=real_now(), actor="a", command="c")
    began = time.monotonic()
    with job.store():
        print(time.monotonic() - began)
    time.sleep(0.1)
"""
"""A command that has the store for an instant, and tells how long it waited until it was open."""


def alone(made: Job, *, seconds: float, clients: int, code: str | None = None) -> Alone:
    """Let clients call for one thing at a time; the server runs the code of a checkout."""
    environment = _unlimited() | ({"PYTHONPATH": code, "PYTHONSAFEPATH": "1"} if code else {})
    found: Alone = {}
    with serving(made.path, *AS_OF, environment=environment) as served:
        for kind in ("feed", "single", "batch", "redemptions"):
            for crowd in dict.fromkeys((1, clients)):
                _called(served, 1, 0.3, (kind,))  # what a new server loads, and waits for, is known
                found[kind, crowd] = _called(served, crowd, seconds / 10, (kind,))
        words = [sys.executable, "-c", WAITING, str(made.path), str(seconds / 5)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as command:
            _called(served, clients, seconds / 5 + 0.5, ("feed", "single"))
            waits, _ = command.communicate()
        found["command", 1] = Outcome(seconds / 5, {"command": [*map(float, waits.split())]})
    return found


def _called(served: Served, clients: int, seconds: float, kinds: Sequence[str]) -> Outcome:
    outcome = Outcome()
    began = time.monotonic()
    name = f"{'-'.join(kinds)}-{began}"
    crowd = [
        Client(served, number, began + seconds, outcome, kinds, name) for number in range(clients)
    ]
    for client in crowd:
        client.start()
    for client in crowd:
        client.join()
    outcome.seconds = time.monotonic() - began
    return outcome


def told(after: Alone, before: Alone | None) -> Iterator[str]:
    """Write one line for each kind of call and number of clients."""
    heads = ("per s", "p50 ms", "p95 ms", "p99 ms")
    yield f"{'alone':12} {'clients':>7} {' '.join(f'{each:>8}' for each in heads)}  before"
    for (kind, clients), outcome in after.items():
        assert not outcome.unspecified, outcome.statuses
        rate, *_ = figures = _figures(outcome)
        line = f"{kind:12} {clients:7} " + " ".join(f"{each:8.1f}" for each in figures)
        if before:
            old_rate, old_middle, *_ = _figures(before[kind, clients])
            assert not before[kind, clients].unspecified, before[kind, clients].statuses
            line += f"  {old_rate:.1f}/s, p50 {old_middle:.1f}: {rate / old_rate:.1f} x the calls"
        yield line


def _figures(outcome: Outcome) -> list[float]:
    times = [each for some in outcome.times.values() for each in some] or [0.0]
    percentiles = statistics.quantiles(times, n=100) if len(times) > 1 else times * 99
    return [len(times) / outcome.seconds, *(1e3 * percentiles[each - 1] for each in (50, 95, 99))]


def load(made: Job, *, seconds: float, rows: int, clients: int) -> Outcome:
    """Let clients call the server while a file is imported; return what they heard."""
    file = file_of(
        made.path.with_name("file.csv"), [event(number, f"file-{number}") for number in range(rows)]
    )
    publish(made)
    outcome = Outcome()
    with serving(made.path, *AS_OF, environment=_unlimited()) as served:
        began = time.monotonic()
        crowd = [Client(served, number, began + seconds, outcome) for number in range(clients)]
        for client in crowd:
            client.start()
        time.sleep(seconds / 10)
        subprocess.run(_import(made, file), check=True, stdout=subprocess.DEVNULL)
        for client in crowd:
            client.join()
        outcome.seconds = time.monotonic() - began
    outcome.imported = rows
    return outcome


def lost(made: Job, outcome: Outcome) -> list[str]:
    """Return what was acknowledged, or imported, and is not in the store exactly once."""
    times = Counter(ref for (ref,) in found(made, "select transaction_ref from purchases"))
    expected = [*outcome.accepted, *(f"file-{number}" for number in range(outcome.imported))]
    return [ref for ref in expected if times[ref] != 1]


def compare(folder: Path, *, rows: int, clients: int) -> tuple[float, float]:
    """Return the seconds that an import needs for some rows, and clients that send them."""
    purchases = [event(number, f"file-{number}") for number in range(rows)]
    by_file, by_calls = make_store(folder / "by_file"), make_store(folder / "by_calls")
    file = file_of(folder / "file.csv", purchases)
    began = time.monotonic()
    subprocess.run(_import(by_file, file), check=True, stdout=subprocess.DEVNULL)
    importing = time.monotonic() - began
    bodies = [batch_of(purchases[at : at + BATCH]) for at in range(0, rows, BATCH)]
    with serving(by_calls.path, *AS_OF) as served:
        served.call("POST", "/api/v1/transactions", as_json(event(0, "warm")), HEADERS)
        began = time.monotonic()
        _send_all(served, bodies, clients)
        sending = time.monotonic() - began
    (count,) = found(by_calls, "select count(*) from purchases")
    assert (rows + 1,) == count
    return importing, sending


def _send_all(served: Served, bodies: Sequence[bytes], clients: int) -> None:
    waiting = iter(bodies)
    mine = threading.Lock()
    statuses: Counter[int] = Counter()

    def take() -> bytes | None:
        with mine:
            return next(waiting, None)

    def send() -> None:
        connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
        while (body := take()) is not None:
            connection.request("POST", "/api/v1/transactions/batch", body, HEADERS)
            answer = connection.getresponse()
            answer.read()
            statuses[answer.status] += 1
        connection.close()

    crowd = [threading.Thread(target=send) for _ in range(clients)]
    for client in crowd:
        client.start()
    for client in crowd:
        client.join()
    assert Counter({202: len(bodies)}) == statuses


def _import(made: Job, file: Path) -> list[str]:
    return command("import", file, "-i", "alder", "--store", made.path, *AS_OF, "-q")


def _unlimited() -> dict[str, str]:
    return {**os.environ, "CARDOFFERS_REPORTING_CALLS_PER_MINUTE": "1000000"}


def report(outcome: Outcome) -> Iterator[str]:
    """Write one line for each endpoint, and how many answers had which status."""
    yield f"{'endpoint':12} {'calls':>7} {'per s':>8} {'p50 ms':>8} {'p95 ms':>8}   statuses"
    for name, times in outcome.times.items():
        percentiles = statistics.quantiles(times, n=20) if len(times) > 1 else times * 19
        statuses = ", ".join(
            f"{status} x {count}"
            for (which, status), count in sorted(outcome.statuses.items())
            if which == name
        )
        yield (
            f"{name:12} {len(times):7,} {len(times) / outcome.seconds:8.1f}"
            f" {percentiles[9] * 1e3:8.0f} {percentiles[18] * 1e3:8.0f}   {statuses}"
        )
    rate = len(outcome.accepted) / outcome.seconds
    yield f"{len(outcome.accepted):,} events acknowledged in {outcome.seconds:.1f} s: {rate:,.0f}/s"


def main() -> None:
    """Read the options, take both measurements and print them."""
    parser = argparse.ArgumentParser(description="Measure the server under load.")
    parser.add_argument("--seconds", type=float, default=30, help="of load")
    parser.add_argument("--rows", type=int, default=200_000, help="of the file")
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--before", help="a checkout to compare with")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        sizes = {"seconds": options.seconds, "clients": options.clients}
        before = options.before and alone(
            make_store(folder / "before"), **sizes, code=options.before
        )
        after = alone(make_store(folder / "after"), **sizes)
        print(*told(after, before), sep="\n")
        made = make_store(folder / "load")
        outcome = load(made, seconds=options.seconds, rows=options.rows, clients=options.clients)
        print(*report(outcome), sep="\n")
        print(f"unspecified answers: {outcome.unspecified}; lost: {len(lost(made, outcome))}")
        importing, sending = compare(folder, rows=options.rows, clients=options.clients)
    print(
        f"{options.rows:,} rows: import {importing:.2f} s, batches {sending:.2f} s"
        f" ({options.rows / sending:,.0f}/s, goal {GOAL_RATE:,});"
        f" ratio {sending / importing:.2f}, goal {GOAL_RATIO:g} at most"
    )
    print(f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
