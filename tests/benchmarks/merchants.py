"""How well merchants are found for unknown identifiers, on acquirer numbers with real descriptors.

    python tests/benchmarks/merchants.py --data FOLDER [--fit]
    python tests/benchmarks/merchants.py --sample ROWS [--unknown 500] [--work FOLDER]
    python tests/benchmarks/merchants.py --scale 1 [--work FOLDER]

`--sample` judges what is suggested on sample data, whose truth is known. Coverage is of the
identifiers that are a known merchant's; the firsts of aggregators and new merchants are wrong.
`--scale` measures what one `merchant suggest` takes instead: at 1, of 1,000,000 purchases that wait
for 200,000 unknown identifiers, held against 100,000 merchants (`discovering.py`).

How it is measured, for those who doubt it:

- `train.csv` is the catalogue: one merchant per description, as a normalising of three lines has
  them, with its numbers. `queries.csv` are other descriptions of these numbers; the numbers that
  are asked for are nobody's in the catalogue, so only names, and numbers nearby, can find them.
- An answer is right where it is the merchant of the true number, as that normalising has it.
- Weights are fitted on four fifths of the merchants and tried on the others, five times; all whose
  names begin with one word are in one fifth. `--fit` prints those of all.
- Each query is learned from twice: with its merchant in the catalogue, and without it, when none
  is right. Numbers with many queries count as five of them.
- No part is held out: what is learned from, and how strongly (`NAMES`, `RIDGE`), was chosen by
  looking at the very fifths that are reported, so that a list never seen may do worse.
- Intervals are Wilson's, of 95 %, as if the queries were independent; most are of a few numbers.
- A number with four first words or more, behind any prefix and its `*`, is an aggregator's.
"""
# ruff: noqa: T201  tables are what this prints

from __future__ import annotations

import argparse
import csv
import re
import resource
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from rapidfuzz import fuzz, process

sys.path.insert(0, str(Path(__file__).parents[1] / "kit"))

from cardoffers_cli.merchants import suggestions
from cardoffers_cli.merchants.discovery import suggest_merchants
from cardoffers_cli.merchants.suggestions import EVEN, WEIGHTS
from cardoffers_cli.sample.merchants import KINDS
from discovering import fill_unknown, judge_sample, reached
from splinked import linked
from tables import put, rows_of
from work import new_store, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.kernel.store.store import Store

NAMES = [name for name in WEIGHTS if name != "bias"]
FOLDS, RIDGE, MOST_OF_A_NUMBER = 5, 0.002, 5
LEGAL = set(
    "inc incorporated corp corporation co company ltd limited llc llp lp plc gmbh the com"
    " www".split()
)
MANY, FIRMS = 10, 4
MERCHANTS, PURCHASES = 100_000, 1_000_000
FILL = """
insert into merchants by name
select uuid_of(merchant_no) as merchant_id, merchant_no, name from known;
insert into identifiers by name
select
    identifier_no, 'card_acceptor' as merchant_identifier_type, identifier as merchant_identifier,
    uuid_of(merchant_no) as merchant_id
from numbers;
insert into recent_purchases by name
select
    purchase_no, uuid_of(0) as institution_id, 'r' || purchase_no as transaction_ref,
    1 as cardholder_no, 1 as instrument_no, identifier_no, 1 as amount, 'USD' as currency,
    timestamp '2026-01-01' as transacted_at, timestamp '2026-01-01' as received_at
from said;
insert into recent_purchase_details by name
select purchase_no, uuid_of(0) as institution_id, text as merchant_descriptor from said
"""


def judged(text: str) -> str:
    words = re.sub(r"[^a-z0-9]+", " ", text.lower().replace("'", "")).split()
    kept = [word for word in words if not re.search(r"\d", word) and word not in LEGAL]
    return " ".join(kept or words)


def firm(text: str) -> str:
    behind = re.sub(r"^\s*[^*]{2,5}\*", "", text.lower())
    return next(iter(re.findall(r"[a-z]{2,}", behind)), text)


@dataclass
class Query:
    """A description that is asked for, and the merchant of its number."""

    text: str
    number: str
    merchant_no: int
    names: int
    weight: float
    fold: int
    firms: int


@dataclass
class World:
    """The catalogue by merchant, and what is asked for."""

    names: list[str]
    queries: list[Query]
    rows: list[dict[str, Any]]
    spellings: int


def read(folder: Path) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    with (folder / "train.csv").open() as train, (folder / "queries.csv").open() as queries:
        return [*csv.DictReader(train)], [*csv.DictReader(queries)]


def build(folder: Path) -> World:
    """Put the catalogue and the queries into a store, and let it hold them against each other."""
    train, asked = read(folder)
    keys = {
        name: no for no, name in enumerate(dict.fromkeys(judged(r["descriptor"]) for r in train), 1)
    }
    of_number = {row["identifier"]: keys[judged(row["descriptor"])] for row in train}
    names = {keys[judged(row["descriptor"])]: row["descriptor"] for row in reversed(train)}
    true_numbers = {row["true_identifier"] for row in asked}
    counts = Counter(row["true_identifier"] for row in asked)
    first_words = {no: name.split()[0] for name, no in keys.items()}
    folds = {w: i % FOLDS for i, w in enumerate(sorted(set(first_words.values())))}
    by_number = defaultdict(list)
    for row in asked:
        by_number[row["true_identifier"]].append(row["descriptor"])
    queries = [
        Query(
            row["descriptor"],
            row["true_identifier"],
            of_number[row["true_identifier"]],
            int(row["names_of_identifier"]),
            min(counts[row["true_identifier"]], MOST_OF_A_NUMBER) / counts[row["true_identifier"]],
            folds[first_words[of_number[row["true_identifier"]]]],
            len({firm(text) for text in by_number[row["true_identifier"]]}),
        )
        for row in asked
    ]
    numbers = [
        {
            "identifier_no": len(queries) + place,
            "identifier": row["identifier"],
            "merchant_no": of_number[row["identifier"]],
        }
        for place, row in enumerate(train, 1)
        if row["identifier"] not in true_numbers
    ] + [
        {"identifier_no": no, "identifier": q.number, "merchant_no": None}
        for no, q in enumerate(queries, 1)
    ]
    said = [
        (len(queries) + place, row["descriptor"])
        for place, row in enumerate(train, 1)
        if row["identifier"] not in true_numbers
    ]
    for no, query in enumerate(queries, 1):
        said += [(no, query.text)] * 2 + [
            (no, other) for other in by_number[query.number] if other != query.text
        ]
    with new_store(Path(tempfile.mkdtemp())).store() as store, store.transaction(keep=False):
        fill(store, names, numbers, said)
        tables = suggestions.compare(store)
        rows = store.rows("merchants/suggestions:list_features", tables["features"])
        known = rows_of(store, tables["known_names"])
    spellings = len({name for _, name, *_ in known})
    return World([names[no] for no in sorted(names)], queries, rows, spellings)


def fill(store: Store, names: dict[int, str], numbers: Any, said: Any) -> None:
    connection = store.connection
    connection.execute("create temp macro uuid_of(n) as cast(md5(n::varchar) as uuid)")
    frames = {
        "known": pl.DataFrame({"merchant_no": list(names), "name": list(names.values())}),
        "numbers": pl.DataFrame(numbers, infer_schema_length=None),
        "said": pl.DataFrame(
            {
                "purchase_no": range(1, len(said) + 1),
                "identifier_no": [n for n, _ in said],
                "text": [t for _, t in said],
            }
        ),
    }
    for name, frame in frames.items():
        connection.register(name, frame.to_arrow())
    for statement in FILL.split(";"):
        connection.execute(statement)
    for name in frames:
        connection.unregister(name)


@dataclass
class Group:
    """The candidates of a query by merchant, the rows of features of each."""

    merchants: list[int]
    rows: list[np.ndarray]

    def best(self, weights: np.ndarray) -> np.ndarray:
        return np.array([each[np.argmax(each @ weights)] for each in self.rows])


def groups(world: World) -> dict[int, Group]:
    found: dict[int, dict[int, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for row in world.rows:
        values = [1.0, *(float(row[name]) for name in NAMES)]
        found[row["identifier_no"]][row["merchant_no"]].append(values)
    return {
        no: Group([*each], [np.array(rows) for rows in each.values()]) for no, each in found.items()
    }


def fit(world: World, of: dict[int, Group], skip: int | None) -> np.ndarray:
    """Fit the odds of each candidate against none, and the others, by gradient descent."""
    start = np.array([WEIGHTS["bias"], *(WEIGHTS[name] for name in NAMES)])
    weights = start.copy()
    for _ in range(4):
        sets: list[tuple[np.ndarray, int, float]] = []
        for no, query in enumerate(world.queries, 1):
            if query.fold == skip or no not in of:
                continue
            rows = of[no].best(weights)
            place = (
                of[no].merchants.index(query.merchant_no)
                if query.merchant_no in of[no].merchants
                else -1
            )
            sets.append((rows, place, query.weight))
            if place >= 0 and len(rows) > 1:
                sets.append((np.delete(rows, place, 0), -1, query.weight))
        weights = descend(sets, weights)
    return weights


SIGNS = np.array([0, 1, 1, 1, 1, 1, -1])


def descend(sets: list[tuple[np.ndarray, int, float]], weights: np.ndarray) -> np.ndarray:
    x = np.concatenate([rows for rows, _, _ in sets])
    group = np.concatenate([np.full(len(rows), i) for i, (rows, _, _) in enumerate(sets)])
    importance = np.array([w for _, _, w in sets])
    y = np.concatenate([(np.arange(len(rows)) == place) * 1.0 for rows, place, _ in sets])
    moment, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, 1500):
        odds = np.exp(np.clip(x @ weights, -30, 30))
        total = 1 + np.bincount(group, odds, len(sets))
        p = odds / total[group]
        gradient = ((p - y) * importance[group]) @ x / importance.sum() + RIDGE * 0.1 * weights * (
            np.arange(len(weights)) > 0
        )
        moment = 0.9 * moment + 0.1 * gradient
        spread = 0.999 * spread + 0.001 * gradient**2
        weights = weights - 0.05 * (moment / (1 - 0.9**step)) / (
            np.sqrt(spread / (1 - 0.999**step)) + 1e-9
        )
        weights = np.where(SIGNS * weights < 0, 0.0, weights)
    return weights


def answers(
    world: World, of: dict[int, Group], weights_of: dict[int, np.ndarray]
) -> list[tuple[float, bool]]:
    """Return the probability of the answer to each query (0: none), and whether it is right."""
    found = []
    for no, query in enumerate(world.queries, 1):
        if no not in of:
            found.append((0.0, False))
            continue
        weights = weights_of[query.fold]
        odds = np.exp(of[no].best(weights) @ weights)
        place = int(np.argmax(odds))
        found.append(
            (float(odds[place] / (1 + odds.sum())), of[no].merchants[place] == query.merchant_no)
        )
    return found


def baseline(world: World) -> list[tuple[float, bool]]:
    names = [judged(name) for name in world.names]
    found = []
    for query in world.queries:
        _, value, place = process.extractOne(judged(query.text), names, scorer=fuzz.token_set_ratio)
        found.append((value / 100, place + 1 == query.merchant_no))
    return found


def of_splink(world: World) -> list[tuple[float, bool]]:
    """Let splink judge the very pairs that the features are of; nothing where it is missing."""
    texts = [judged(query.text) for query in world.queries]
    pairs = [
        (
            row["identifier_no"],
            row["merchant_no"],
            texts[row["identifier_no"] - 1],
            row["known_name"],
        )
        for row in world.rows
    ]
    right = sum(merchant == world.queries[no - 1].merchant_no for no, merchant, *_ in pairs)
    try:
        likeliest = linked(pairs, right / len(pairs))
    except ImportError:
        print("splink is not installed: pip install 'cardoffers-cli[bench]'")
        return []
    found = [likeliest.get(no, (0.0, 0)) for no in range(1, len(world.queries) + 1)]
    return [
        (p, merchant_no == query.merchant_no)
        for (p, merchant_no), query in zip(found, world.queries, strict=True)
    ]


def wilson(right: int, count: int) -> tuple[float, float]:
    z, share = 1.96, right / count
    middle = share + z * z / (2 * count)
    half = z * (share * (1 - share) / count + z * z / (4 * count * count)) ** 0.5
    return (middle - half) / (1 + z * z / count), (middle + half) / (1 + z * z / count)


def table(title: str, found: list[tuple[float, bool]], findable: int | None = None) -> None:
    whole = findable or len(found)
    print(f"\n{title}: {whole} queries")
    print("   at least  coverage  precision    95 %")
    for bound in (0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5, 0.0):
        kept = [right for value, right in found if value >= bound and value > 0]
        if kept:
            low, high = wilson(sum(kept), len(kept))
            print(
                f"  {bound:8.2f}  {len(kept) / whole:8.1%}  {sum(kept) / len(kept):9.1%}"
                f"   {low:.1%} to {high:.1%}"
            )
    for wanted in (0.98, 0.99):
        print(f"  highest coverage at {wanted:.0%}:", f"{reached(found, wanted, whole):.1%}")


def proposed(world: World, found: list[tuple[float, bool]], firms: Callable[[int], bool]) -> str:
    """Count the numbers of so many firms, their queries, and the merchants proposed for these."""
    of = [(q, each) for q, each in zip(world.queries, found, strict=True) if firms(q.firms)]
    numbers = len({query.number for query, _ in of})
    likely = [is_right for _, (value, is_right) in of if value >= EVEN]
    return (
        f"{numbers} numbers, {len(of)} queries, {len(likely)} of them proposed a merchant,"
        f" {sum(likely)} rightly"
    )


def cpu() -> float:
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


def measure(work: Path | None, scale: float) -> None:
    """Print what one `merchant suggest` takes: CPU seconds of all threads, seconds, most memory."""
    merchants, purchases = int(scale * MERCHANTS), int(scale * PURCHASES)
    with tempfile.TemporaryDirectory(dir=work) as folder:
        made = new_store(Path(folder))
        job = replace(made, settings=settings(threads=2, memory_limit="1500MiB"))
        with job.store() as store:
            put(store, "institutions", [{"institution": "alder"}])
            fill_unknown(store, merchants, purchases)
        filled = peak()
        begun, began = perf_counter(), cpu()
        told = suggest_merchants(job, limit=50)
        seconds, used = perf_counter() - begun, cpu() - began
    print(
        f"{purchases:,} waiting purchases, {merchants:,} merchants: {len(told)} suggestions shown"
    )
    print(f"{used:.1f} CPU s of all threads, {seconds:.1f} s, at most {peak():,} MiB")
    print(f"(as it was filled {filled:,} MiB); goal at --scale 1: 60 s, 2,048 MiB")


def judge(work: Path | None, rows: int, unknown: int) -> None:
    """Print how well merchants are found on a sample."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        judged = judge_sample(Path(folder), rows, unknown)
    findable = sum(each.is_findable for each in judged)
    found = [(each.probability, each.is_right) for each in judged]
    table(f"a sample of {rows:,} rows, {len(judged)} unknown identifiers", found, findable)
    for kind in KINDS:
        of = [each for each in judged if each.kind == kind]
        likely = [each.is_right for each in of if each.probability >= EVEN]
        print(f"  {kind}: {len(of)}, {len(likely)} of them proposed, {sum(likely)} rightly")
    print("goal at 99 %: 80.0%")


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    words = argparse.ArgumentParser()
    asked = words.add_mutually_exclusive_group(required=True)
    asked.add_argument("--data", type=Path)
    asked.add_argument("--scale", type=float)
    asked.add_argument("--sample", type=int, metavar="ROWS")
    words.add_argument("--unknown", type=int, default=500)
    words.add_argument("--work", type=Path)
    words.add_argument("--fit", action="store_true")
    words.add_argument("--wrong", action="store_true")
    given = words.parse_args()
    if given.scale:
        measure(given.work, given.scale)
        return
    if given.sample:
        judge(given.work, given.sample, given.unknown)
        return
    world = build(given.data)
    of = groups(world)
    tried = {fold: fit(world, of, fold) for fold in range(FOLDS)}
    found = answers(world, of, tried)
    plain = baseline(world)
    few = [query.names < MANY for query in world.queries]
    results = {"cross-validated": found, "token_set_ratio": plain, "splink": of_splink(world)}
    for title, each in results.items():
        if not each:
            continue
        table(f"{title}, all", each)
        table(
            f"{title}, without numbers of ten or more names",
            [a for a, k in zip(each, few, strict=True) if k],
        )
    print(f"\nagainst {len(world.names)} merchants with {world.spellings} names, once normal")
    print("aggregators:", proposed(world, found, lambda firms: firms >= FIRMS))
    print("two or three first words:", proposed(world, found, lambda firms: 1 < firms < FIRMS))
    if given.wrong:
        for (p, right), q in zip(found, world.queries, strict=True):
            if not right and p > 0.5:
                print(f"{p:.3f} {q.names:4} {q.text} | {world.names[q.merchant_no - 1]}")
    if given.fit:
        for name, value in zip(["bias", *NAMES], fit(world, of, None), strict=True):
            print(f'    "{name}": {value:.2f},')


if __name__ == "__main__":
    main()
