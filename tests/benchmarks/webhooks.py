"""What it costs to deliver webhooks: one command, one table, one run.

    python tests/benchmarks/webhooks.py [--events 20000] [--repeat 3] [--work FOLDER]

How it is measured, for those who doubt it:

- A receiver in a process of its own (that of `webhook listen`, which is aiohttp's server) answers
  every post with 200 and verifies nothing.
- `send` is the whole job over events that are due, of 100 institutions: claim, sign, send, verify
  the answer, record, until the store is closed. The others only post a body of the same size, 64 at
  once, with no signature, no deadline, no store: `aiohttp` on its own, and `httpx` with one client
  and its default pool (of fewer events, because it is slow). They take turns, and medians count.
- Then the same events once more to two sets of receivers: in the second, one institution of the 100
  posts to a receiver that never answers. What counts is the 99th percentile of how long the others'
  attempts took, and when the last of them was delivered.
"""
# ruff: noqa: T201  a table is what this prints

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import statistics
import tempfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Timer
from time import perf_counter
from typing import TYPE_CHECKING, Any

import aiohttp
import httpx

from cardoffers_cli.events.receiver import Receiver
from cardoffers_cli.events.sending import send
from cardoffers_cli.kernel.store.clock import Clock, Watch
from cardoffers_cli.kernel.store.job import Job
from cardoffers_cli.kernel.store.settings import Settings
from cardoffers_cli.kernel.store.signing_secrets import add_secrets
from cardoffers_cli.kernel.words.signing import secret_sha256
from cardoffers_cli.storage.stores import init

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from multiprocessing.connection import Connection

NOW = datetime(2026, 6, 1, 12)  # noqa: DTZ001 - moments are naive UTC inside the product
INSTITUTIONS = 100
AT_ONCE = 64
BODY = b"x" * 440
SECRET = "whsec_" + "x" * 43
GOAL, MOST_SLOWER = 0.4, 2.0
PATIENCE_S = 120  # with the receiver that never answers
SLOW_CLIENTS_SHARE = 20

FILL = """
create temp macro institution(number) as cast(
    '00000000-0000-4000-8000-' || lpad(cast(number as varchar), 12, '0') as uuid);
insert into institutions by name
select institution(range) as institution_id, 'bank-' || range as slug, 'Bank' as name,
    'growth' as plan, 'GBP' as currency, 'en' as languages, 20 as widget_limit,
    0 as settlement_hold_days, $url as webhook_url
from range($institutions);
insert into webhook_secrets by name
select range as secret_no, institution(range) as institution_id, $secret_sha256 as secret_sha256,
    $now as created_at, $now as activate_at
from range($institutions);
insert into ledger_entries by name
select range as redemption_no, uuid() as entry_id,
    institution(range % $institutions) as institution_id, range as cardholder_no, 1 as offer_no,
    uuid() as merchant_id, 'GBP' as currency, 1 as merchant_funded_amount, 0 as commission_amount,
    1 as institution_payout_amount, 'pending' as status, $now as created_at, $now as settles_at
from range($events);
insert into outbox by name
select range as event_no, 'redemption.completed' as kind, range as redemption_no, 1 as run_no,
    uuid() as subject_id, institution(range % $institutions) as institution_id, $body as body,
    $now as occurred_at, 'due' as state, 0 as attempts, 0 as failures, $now as next_attempt_at
from range($events);
"""


async def _never(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


def receive(urls: Connection) -> None:
    """Serve a receiver that answers and one that never does; tell where they are."""

    async def serve_silence() -> None:
        server = await asyncio.start_server(_never, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        urls.send([receiver.url, f"http://127.0.0.1:{port}/"])
        await asyncio.Event().wait()

    with Receiver(clock=lambda: NOW) as receiver:
        asyncio.run(serve_silence())


def filled(folder: Path, name: str, events: int, url: str, hanging: str | None = None) -> Job:
    """Make a store with events that are due, all to one URL; the first institution's may hang."""
    settings = Settings(allow_insecure_webhooks=True)
    job = Job(path=folder / name, settings=settings, now=NOW, actor="bench", command="bench")
    job.path.unlink(missing_ok=True)
    init(job)
    values: dict[str, Any] = {
        "url": url,
        "institutions": INSTITUTIONS,
        "events": events,
        "now": NOW,
        "body": BODY.decode(),
        "secret_sha256": secret_sha256(SECRET),
    }
    add_secrets(job.path, [SECRET])
    with job.store() as store, store.transaction():
        for sql in FILL.split(";"):
            given = {key: value for key, value in values.items() if f"${key}" in sql}
            store.connection.execute(sql, given) if sql.strip() else None
        if hanging:
            where = "where slug = 'bank-0'"
            store.connection.execute(f"update institutions set webhook_url = $1 {where}", [hanging])  # noqa: S608 - ours
    return job


def sending(folder: Path, events: int, url: str) -> float:
    """Return the events delivered per second by the job."""
    job = filled(folder, "rate.duckdb", events, url)
    begun = perf_counter()
    report = send(job)
    seconds = perf_counter() - begun
    assert report["delivered"] == events, report
    return events / seconds


def posting(post: Callable[[int, str], Awaitable[None]], events: int, url: str) -> float:
    """Return the posts per second of a bare loop."""
    begun = perf_counter()
    asyncio.run(post(events, url))
    return events / (perf_counter() - begun)


async def bare_aiohttp(events: int, url: str) -> None:
    left = iter(range(events))

    async def work(session: aiohttp.ClientSession) -> None:
        for _ in left:
            async with session.post(url, data=BODY) as response:
                await response.read()

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work(session))


async def default_httpx(events: int, url: str) -> None:
    left = iter(range(events))

    async def work(client: httpx.AsyncClient) -> None:
        for _ in left:
            await client.post(url, content=BODY)

    async with httpx.AsyncClient() as client, asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work(client))


def others(folder: Path, events: int, url: str, hanging: str | None) -> tuple[float, float]:
    """Return the 99th percentile of the others' attempts (ms), and when the last one ended (s)."""
    job = filled(folder, "hang.duckdb", events, url, hanging)
    watch = Watch(clock=Clock(NOW))
    answered = events - (events // INSTITUTIONS if hanging else 0)
    wanted = replace(watch, tell=lambda counts, _: _enough(counts["delivered"], answered, watch))
    patience = Timer(PATIENCE_S, watch.stop.set)
    patience.start()
    send(job, watch=wanted)
    patience.cancel()
    with job.store(read_only=True) as store:
        ((p99, last),) = store.connection.execute(
            "select quantile_disc(duration_ms, 0.99),"
            " epoch(max(started_at + to_milliseconds(duration_ms)) - $1)"
            " from attempts where error is null",
            [NOW],
        ).fetchall()
    return float(p99), float(last)


def _enough(delivered: int, wanted: int, watch: Watch) -> None:
    if delivered >= wanted:
        watch.stop.set()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    mine, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.Process(target=receive, args=(theirs,), daemon=True)
    receiver.start()
    url, hanging = mine.recv()
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        compare(Path(folder), options, url, hanging)
    receiver.terminate()


def compare(folder: Path, options: argparse.Namespace, url: str, hanging: str) -> None:
    """Measure everything and print it."""
    events, few = options.events, options.events // SLOW_CLIENTS_SHARE
    rates: dict[str, list[float]] = {"send": [], "aiohttp": [], "httpx": []}
    for _ in range(options.repeat):
        rates["aiohttp"].append(posting(bare_aiohttp, events, url))
        rates["send"].append(sending(folder, events, url))
        rates["httpx"].append(posting(default_httpx, few, url))
    medians = {name: statistics.median(found) for name, found in rates.items()}
    print(f"| {events:,} events | a second | share of aiohttp |\n|---|---:|---:|")
    for name, text in (
        ("aiohttp", "a bare aiohttp loop, posts only"),
        ("send", "`webhook send`: claimed, signed, sent, recorded"),
        ("httpx", f"httpx with its default pool, posts only ({few:,})"),
    ):
        print(f"| {text} | {medians[name]:,.0f} | {medians[name] / medians['aiohttp']:.2f} |")
    alone, beside = (others(folder, events, url, each) for each in (None, hanging))
    print(
        f"\n99th percentile of an attempt: {alone[0]:.0f} ms; beside a hanging one {beside[0]:.0f}"
    )
    print(f"the last delivered after {alone[1]:.1f} s; beside a hanging one {beside[1]:.1f} s")
    reached = medians["send"] >= GOAL * medians["aiohttp"]
    print("goals:", "reached" if reached and beside[0] < MOST_SLOWER * alone[0] else "MISSED")


if __name__ == "__main__":
    main()
