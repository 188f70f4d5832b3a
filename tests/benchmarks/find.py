"""What finding one purchase costs as the store grows: whole commands, one table, one run.

    python tests/benchmarks/find.py [--scale 1.0] [--repeat 7] [--work FOLDER]

How it is measured, for those who doubt it:

- The stores are those of `feed.py`, one a hundredth of the other; at scale 1 the larger has 10 M
  purchases, and here also a decision of each and 700,000 redemptions.
- References are random, 16 hexadecimal digits behind a prefix that all share: the statistics of
  the table can then skip nothing, and every reference is looked at. Where they are numbered most of
  the table is skipped; this is the harder case.
- What names one purchase must not take longer in the larger store. What is looked for in all of
  them (a ref or an id that nobody has, a state) must take two seconds; an id that is derived, and
  so written down nowhere, takes one hash of every link, and where there were calls, which tell the
  ids of purchases, of every purchase. These stores know of none.
- What is measured is the whole command, as a shell sees it: the start of Python, opening the store,
  the search, the output. The two stores take turns, every turn asks for another purchase, and the
  medians are compared.
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
from pathlib import Path
from time import perf_counter

import feed

GOAL = 2.0
"""How many times the smaller store's time the larger one's may be, where one purchase is found."""
GOAL_S = 2.0
"""How long what looks through all of the larger store may take."""
NOT_FOUND = 5

# Every fourteenth purchase redeemed, so a redemption and its ledger entry share a number.
ADD = """
insert into redemptions
select
    range, uuid_of('redemption ' || range), larkmere(), range * 14, 1, 1, 2, timestamp '2026-02-01',
    null, amount, transacted_at, transaction_ref
from range(1, $redemptions)
inner join purchases on purchase_no = range * 14;
insert into runs by name
select 2 as run_no, uuid_of('run') as run_id, 'match' as kind, timestamp '2026-02-01' as as_of,
    timestamp '2026-02-01' as machine_at, 'bench' as actor;
insert into recent_decisions
select purchase_no, 2, case when redemption_no is null then 'not_redeemed' else 'redeemed' end, 1
from purchases left join redemptions using (purchase_no) order by purchase_no;
insert into purchase_refs select ref_hash(institution_id, transaction_ref), purchase_no
from purchases;
update match_watermark set purchase_no = (select max(purchase_no) from purchases);
update ledger_entries set settled_at = created_at
"""
MACROS = """
create temp macro larkmere() as cast('11111111-1111-4111-8111-111111111111' as uuid);
create temp macro uuid_of(text) as cast(
    regexp_replace(md5(text), '(.{8})(.{4})(.{4})(.{4})(.*)', '\\1-\\2-\\3-\\4-\\5') as uuid)
"""


def make_store(folder: Path, scale: float) -> Path:
    """Fill a new store as `feed.py` does, with random references, and add what was decided."""
    path = folder / f"store-{scale:g}.duckdb"
    if path.exists():
        return path
    feed.FILL = feed.FILL.replace("'tx-' || range", "'LAR-' || left(md5('' || range), 16)")
    feed.make_store(folder, scale)
    redemptions = int(feed.PURCHASES * scale) // feed.PER_REDEMPTION
    with feed.job(path).store() as store:
        for statement in (*MACROS.split(";\n"), *ADD.split(";\n")):
            words = {"redemptions": redemptions} if "$redemptions" in statement else {}
            store.connection.execute(statement, words)
    return path


def known(path: Path, count: int) -> dict[str, list[tuple[list[str], str]]]:
    """Return what is asked for: by what, then options and standard input of each turn."""
    asked = {
        "ref": "select transaction_ref from purchases order by hash(purchase_no) limit $1",
        "token": "select cardholder_token from cardholders order by hash(cardholder_no) limit $1",
        "redemption": "select redemption_id from redemptions order by hash(redemption_no) limit $1",
    }
    with feed.job(path).store(read_only=True) as store:
        found = {
            word: [str(value) for (value,) in store.connection.execute(sql, [count]).fetchall()]
            for word, sql in asked.items()
        }
    return {
        "find --ref": [(["find", "--ref", ref], "") for ref in found["ref"]],
        "find --cardholder": [(["find", "--cardholder", "-"], each) for each in found["token"]],
        "find --redemption": [(["find", "--redemption", each], "") for each in found["redemption"]],
        "why REF": [(["why", ref], "") for ref in found["ref"]],
    }


def everywhere(count: int) -> dict[str, list[tuple[list[str], str]]]:
    """Return what every purchase is looked at for, in the form of `known`."""
    asked = {
        "why, unknown ref": lambda turn: ["why", f"LAR-no-such-{turn}"],
        "timeline, unknown id": lambda turn: ["timeline", f"{turn:08}-0000-4000-8000-0000000000ff"],
        "timeline, derived": lambda turn: ["timeline", f"{turn:08}-0000-8000-a000-0000000000ff"],
        **{
            f"find {state}": lambda _, state=state: ["find", "--state", state]
            for state in ("settled", "reversed", "not_redeemed", "not_matched_yet")
        },
    }
    return {way: [(words(turn), "") for turn in range(count)] for way, words in asked.items()}


def process(path: Path, words: list[str], typed: str) -> float:
    """Return the seconds of one command, from the start of its process to its end.

    Nothing found is an answer too.
    """
    line = [*words, "-i", feed.SLUG, "--store", str(path), "--format", "json", "-q"]
    started = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "cardoffers_cli", *line],
        check=False,
        input=typed.encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    taken = perf_counter() - started
    assert done.returncode in {0, NOT_FOUND}, words
    return taken


def measure(paths: list[Path], repeat: int) -> dict[str, list[list[float]]]:
    """Let the stores take turns; return for each way the seconds by store."""
    taken: dict[str, list[list[float]]] = defaultdict(lambda: [[] for _ in paths])
    asked = [{**known(path, repeat + 1), **everywhere(repeat + 1)} for path in paths]
    for way in asked[0]:
        for turn in range(repeat + 1):
            for number, path in enumerate(paths):
                seconds = process(path, *asked[number][way][turn])
                if turn:  # the first one warms up
                    taken[way][number].append(seconds)
    return taken


def report(taken: dict[str, list[list[float]]]) -> str:
    """Write the outcome: for each way the medians in milliseconds, and their ratio."""
    lines = [f"{'command':21} {'small ms':>9} {'large ms':>9} {'ratio':>6}   goal"]
    whole = everywhere(0)
    for way, (small, large) in taken.items():
        low, high = statistics.median(small), statistics.median(large)
        goal = f"{GOAL_S * 1e3:.0f} ms" if way in whole else f"ratio {GOAL:g}"
        lines.append(f"{way:21} {low * 1e3:9.0f} {high * 1e3:9.0f} {high / low:6.2f}   {goal}")
    return "\n".join(lines)


def main() -> None:
    """Read the options, make the stores, take the turns and print the table."""
    parser = argparse.ArgumentParser(description="Measure what finding costs as data grows.")
    parser.add_argument("--scale", type=float, default=1.0, help="of the larger store")
    parser.add_argument("--repeat", type=int, default=7, help="turns of each store")
    parser.add_argument("--work", type=Path, help="keep the stores in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.work or Path(scratch)).resolve()
        paths = [make_store(folder, scale) for scale in (options.scale / 100, options.scale)]
        print(report(measure(paths, options.repeat)))
    print(f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
