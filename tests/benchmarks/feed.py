"""What a feed read costs as the store grows: one command, one table, one run.

    python tests/benchmarks/feed.py [--scale 1.0] [--repeat 15] [--work FOLDER]

How it is measured, for those who doubt it:

- Two stores, one a hundredth of the other: at scale 1 the larger has 10 M purchases, 6 M links and
  20,000 offers, all of one institution and all in its program, and 700,000 redemptions. They are
  filled by SQL, so that making them is quick; every cardholder has 22 links and some 36 purchases
  of the last year. Purchases and links lie in the order of time, so those of one cardholder are
  strewn over the whole table, and merchants and offers have a long tail.
- The two stores take turns, each turn reads the feed of another cardholder, and the medians are
  compared. `process` is the whole command from its start to its end, as a shell sees it. `inside`
  is the job alone, in a process that is warm: open the store, read, record, commit, close.
- A read records its view and its impressions, as it always does.
- The first personal read after an import of many links counts them, and keeps the count for all
  later ones; it comes before the turns, and its time is told apart.
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
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from time import perf_counter

from cardoffers_cli.kernel.store.job import Job
from cardoffers_cli.kernel.store.settings import Settings
from cardoffers_cli.offers.work import FeedRequest, read_feed
from cardoffers_cli.storage.stores import init

NOW = datetime(2026, 6, 1, 12)  # noqa: DTZ001 - moments are naive UTC inside the product
SLUG = "larkmere"
SMALLER = 100
GOAL = 2.0
PURCHASES, LINKS, OFFERS = 10_000_000, 6_000_000, 20_000
PER_CARDHOLDER = 22  # links
PER_MERCHANT = 4  # offers
PER_REDEMPTION = 14  # purchases

# chance(number, what) is an even share from 0 to 1, the same in every run; `tail` prefers the low.
FILL = """
create temp macro chance(number, what) as (hash(number, what) % 1000003) / 1000003.0;
create temp macro tail(number, what, size) as
    1 + cast(floor(size * pow(chance(number, what), 3)) as integer);
create temp macro merchant(number) as cast(
    '00000000-0000-4000-8000-' || lpad(cast(number as varchar), 12, '0') as uuid);
create temp macro larkmere() as cast('11111111-1111-4111-8111-111111111111' as uuid);
insert into institutions by name
select larkmere() as institution_id, 'larkmere' as slug, 'Larkmere' as name, 'growth' as plan,
    'GBP' as currency, 'en|es' as languages, 100 as max_active_offers, 20 as widget_limit,
    0 as settlement_hold_days;
insert into merchants by name
select merchant(range) as merchant_id, range as merchant_no, 'Merchant ' || range as name,
    'category ' || range % 24 as category
from range(1, $merchants + 1);
insert into identifiers
select range, 'card_acceptor', lpad(cast(range as varchar), 15, '0'),
    merchant(1 + range % $merchants)
from range(1, 2 * $merchants + 1);
insert into offers
select range, 'of-' || lpad(cast(range as varchar), 6, '0'), merchant(1 + range % $merchants),
    10, 2.50, 'GBP', 0.05, case when range % 3 = 0 then 5000 end,
    timestamp '2025-12-01' + to_days(range % 120),
    timestamp '2026-04-01' + to_days(range % 240),
    case when range % 7 = 0 then 'gold|student' end, case when range % 5 = 0 then 3 end,
    range % 50 = 0, null, null, null, null, null
from range(1, $offers + 1);
insert into offer_texts
select offer_id, unnest(['en', 'es']), unnest(['Cashback', 'Reembolso']),
    unnest(['2.50 back from 10.00 on.', '2.50 de vuelta desde 10.00.'])
from offers;
insert into program_offers
select larkmere(), offer_id, hash(offer_no) % 1000000 from offers;
insert into cardholders
select range, larkmere(), sha256('cardholder ' || range)
from range(1, $cardholders + 1) order by 3;
insert into instruments
select cardholder_no, cardholder_no, larkmere(), sha256('card ' || cardholder_no) from cardholders;
insert into links
select larkmere(), 1 + range % $cardholders, 1 + range % $cardholders,
    tail(range, 'offer', $offers), timestamp '2025-12-01' + to_seconds(range * 15700000 // $links),
    0
from range($links);
insert into recent_purchases
select range, larkmere(), 'tx-' || range, 1 + hash(range, 'cardholder') % $cardholders, 1,
    tail(range, 'identifier', 2 * $merchants), null, 5 + range % 9000 * 0.01, 'GBP',
    timestamp '2025-06-01' + to_seconds(range * 31536000 // $purchases),
    timestamp '2025-06-02' + to_seconds(range * 31536000 // $purchases), 1, range
from range($purchases);
insert into ledger_entries
select range, '00000000-0000-4000-8000-000000000000', larkmere(),
    1 + hash(range, 'redeems') % $cardholders, tail(range, 'redeemed', $offers), merchant(1),
    'GBP', 2.63, 0.13, 2.50, 'settled', timestamp '2026-02-01', timestamp '2026-02-01', null,
    null, null, 1
from range($redemptions);
"""


def make_store(folder: Path, scale: float) -> Path:
    """Fill a new store, unless an earlier run left it in the folder; return its path."""
    path = folder / f"store-{scale:g}.duckdb"
    if path.exists():
        return path
    made = job(path)
    init(made)
    sizes = {
        "purchases": int(PURCHASES * scale),
        "links": int(LINKS * scale),
        "offers": int(OFFERS * scale),
        "merchants": int(OFFERS * scale) // PER_MERCHANT,
        "cardholders": int(LINKS * scale) // PER_CARDHOLDER,
        "redemptions": int(PURCHASES * scale) // PER_REDEMPTION,
    }
    with made.store() as store:
        for statement in FILL.split(";\n"):
            words = {name: size for name, size in sizes.items() if f"${name}" in statement}
            store.connection.execute(statement, words)
    return path


def job(path: Path) -> Job:
    """Return a job on a store, by the settings of everybody."""
    return Job(path=path, settings=Settings(), now=NOW, actor="bench", command="feed")


def tokens(path: Path, count: int) -> list[str]:
    """Return the tokens of a few cardholders, strewn over the store."""
    with job(path).store(read_only=True) as store:
        rows = store.connection.execute(
            "select cardholder_token from cardholders order by hash(cardholder_no) limit $1",
            [count],
        )
        return [token for (token,) in rows.fetchall()]


def process(path: Path, token: str, *, personalize: bool) -> float:
    """Return the seconds of one command, from the start of its process to its end."""
    words = ["offer", "feed", "-i", SLUG, "--cardholder", "-", "--store", str(path)]
    words += ["--as-of", NOW.isoformat(), "--format", "json", "-q"]
    words += ["--personalize"] if personalize else []
    started = perf_counter()
    subprocess.run(
        [sys.executable, "-m", "cardoffers_cli", *words],
        check=True,
        input=token.encode(),
        stdout=subprocess.DEVNULL,
    )
    return perf_counter() - started


def inside(path: Path, token: str, *, personalize: bool) -> float:
    """Return the seconds of one job in this process."""
    request = FeedRequest(cardholder_token=token, personalize=personalize, locale="es")
    started = perf_counter()
    read_feed(SLUG, request, job(path))
    return perf_counter() - started


def measure(paths: list[Path], repeat: int) -> dict[tuple[str, bool], list[list[float]]]:
    """Let the stores take turns; return for each way and kind the seconds by store."""
    taken: dict[tuple[str, bool], list[list[float]]] = defaultdict(lambda: [[] for _ in paths])
    readers = [tokens(path, repeat) for path in paths]
    for way, times in ((inside, repeat), (process, max(3, repeat // 2))):
        for personalize in (False, True):
            for turn in range(times):
                for number, path in enumerate(paths):
                    seconds = way(path, readers[number][turn], personalize=personalize)
                    taken[way.__name__, personalize][number].append(seconds)
    return taken


def report(taken: dict[tuple[str, bool], list[list[float]]]) -> str:
    """Write the outcome: for each way and kind the medians in milliseconds, and their ratio."""
    lines = [f"{'way':8} {'feed':13} {'small ms':>9} {'large ms':>9} {'ratio':>6}   goal {GOAL:g}"]
    for (way, personalize), (small, large) in taken.items():
        low, high = statistics.median(small), statistics.median(large)
        kind = "personalised" if personalize else "plain"
        lines.append(f"{way:8} {kind:13} {low * 1e3:9.1f} {high * 1e3:9.1f} {high / low:6.2f}")
    return "\n".join(lines)


def main() -> None:
    """Read the options, make the stores, take the turns and print the table."""
    parser = argparse.ArgumentParser(description="Measure what a feed read costs as data grows.")
    parser.add_argument("--scale", type=float, default=1.0, help="of the larger store")
    parser.add_argument("--repeat", type=int, default=15, help="turns of each store")
    parser.add_argument("--work", type=Path, help="keep the stores in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.work or Path(scratch)).resolve()
        scales = (options.scale / SMALLER, options.scale)
        paths = [make_store(folder, scale) for scale in scales]
        for path in paths:
            print(f"{path.name}: {path.stat().st_size:,} bytes", file=sys.stderr)
        for path in paths:
            first = inside(path, tokens(path, 1)[0], personalize=True)
            print(f"{path.name}: first personal read {first * 1e3:.0f} ms", file=sys.stderr)
        print(report(measure(paths, options.repeat)))
    print(f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
