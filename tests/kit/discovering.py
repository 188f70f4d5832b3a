# ruff: noqa: S608  the sizes and names of FILL are its own
"""Unknown merchants whose truth is known: those of a sample, and made ones at any size.

What is made: a catalogue, and purchases that wait for nobody's identifiers.

Names are two or three words of a vocabulary in which few are frequent, as in real catalogues. Of
ten unknown identifiers six are new terminals of a known merchant, whose name stands in the text
with a number or a date; one is spelled otherwise, one an aggregator's, with another name in each
purchase, and two are of merchants that nobody knows.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cardoffers_cli.catalogue.importing import import_catalogue
from cardoffers_cli.merchants import suggestions
from cardoffers_cli.sample.merchants import KINDS
from cardoffers_cli.sample.plan import Plan
from cardoffers_cli.sample.sample import write_sample
from tables import NOON, put, rows_of, select
from work import new_store, taken

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

WORLD: dict[str, list[dict[str, Any]]] = {
    "institutions": [{"institution": "alder"}, {"institution": "brook"}],
    "merchants": [{"merchant": "Luna Books"}, {"merchant": "Oakwell Pharmacy"}],
    "identifiers": [
        {"identifier": "100", "merchant": "Luna Books"},
        {"identifier": "7", "type": "psp_merchant_id"},
    ],
    "offers": [{"offer": "L", "merchant": "Luna Books", "cashback": "2.00", "budget": "3.00"}],
    "programs": [{"offer": "L"}],
    "links": [{"institution": "alder", "cardholder": "ann", "offer": "L"}],
    "purchases": [
        {"ref": "r1", "cardholder": "ann", "identifier": "101", "descriptor": "LUNA BOOKS #101"},
        {"ref": "r2", "cardholder": "ann", "identifier": "102", "descriptor": "LUNA BOOKS #102"},
        {"ref": "r3", "cardholder": "bob", "identifier": "7", "descriptor": "PINE SHOES"},
    ],
}
"""Two new terminals of one merchant, and an identifier that two types have."""


def unknown_world(folder: Path) -> Job:
    """Make a store of the few unknown merchants that tests know by heart."""
    made = new_store(folder)
    with made.store() as store:
        for word, rows in WORLD.items():
            put(store, word, rows)
    return made


TERMINALS, PURCHASES = 2, 5
"""Known identifiers of a merchant, and waiting purchases of an unknown identifier."""

MACROS = (
    "create temp macro uuid_of(n) as cast(md5('m' || n) as uuid)",
    "create temp macro chance(n, salt) as (hash(n, salt) % 1000000) / 1000000.0",
    "create temp macro rank(n, salt, most) as cast(floor(pow(most, chance(n, salt))) as bigint)",
    """
    create temp macro syllable(n, place) as [
        'ba', 'cor', 'del', 'fi', 'gan', 'hol', 'ju', 'kel', 'lum', 'mar', 'no', 'pel', 'qui',
        'ras', 'sto', 'tan', 'ul', 'ver', 'wes', 'zo'
    ][1 + n * 7919 // cast(pow(20, place) as bigint) % 20]
    """,
    """
    create temp macro word(n, salt, most) as
        syllable(rank(n, salt, most), 0) || syllable(rank(n, salt, most), 1)
        || syllable(rank(n, salt, most), 2) || syllable(rank(n, salt, most), 3)
    """,
)
NAME = """
word({n}, 1, $merchants) || ' ' || word({n}, 2, $merchants // 10)
|| case when {n} % 3 = 0 then ' ' || word({n}, 3, 100) else '' end
"""
FILL = (
    f"""
    insert into merchants by name
    select uuid_of(i) as merchant_id, i as merchant_no, {NAME.format(n="i")} as name
    from range(1, $merchants + 1) as numbers(i)
    """,
    f"""
    insert into identifiers by name
    select
        i as identifier_no, 'card_acceptor' as merchant_identifier_type,
        (1000000000 + hash(i // {TERMINALS}) % 9000000000) || lpad(cast(i as varchar), 7, '0')
            as merchant_identifier,
        case when i <= {TERMINALS} * $merchants then uuid_of(1 + (i - 1) // {TERMINALS}) end
            as merchant_id
    from range(1, {TERMINALS} * $merchants + $purchases // {PURCHASES} + 1) as numbers(i)
    """,
    f"""
    create temp table said_as as
    with numbered as (
        select
            i as purchase_no,
            case
                when i <= {TERMINALS} * $merchants then i
                else {TERMINALS} * $merchants + 1 + i % ($purchases // {PURCHASES})
            end as identifier_no
        from range(1, {TERMINALS} * $merchants + $purchases + 1) as numbers(i)
    ),
    kinds as (
        select
            *, identifier_no > {TERMINALS} * $merchants as is_unknown,
            hash(identifier_no, 4) % 10 as kind,
            1 + hash(case when hash(identifier_no, 4) % 10 = 7 then purchase_no
                else identifier_no end, 5) % $merchants as other_no
        from numbered
    ),
    whose as (
        select
            *,
            case
                when not is_unknown then 1 + (identifier_no - 1) // {TERMINALS}
                when kind < 8 then other_no
            end as merchant_no
        from kinds
    )
    select
        whose.purchase_no, whose.identifier_no,
        upper(case
            when merchants.name is null then word(identifier_no, 6, 150000) || ' '
                || word(identifier_no, 7, $merchants)
            when is_unknown and kind = 6 then replace(merchants.name, 'r', '')
            when is_unknown and kind = 7 then 'sq *' || merchants.name
            else merchants.name
        end) || case purchase_no % 3
            when 0 then ' #' || identifier_no % 10000
            when 1 then ' ' || (1 + purchase_no % 12) || '/' || (1 + purchase_no % 28) || '/26'
            else ''
        end as text
    from whose
    left join merchants on merchants.merchant_no = whose.merchant_no
    """,
    """
    insert into recent_purchases by name
    select
        purchase_no, institution_id, 'r' || purchase_no as transaction_ref,
        1 + purchase_no % 50000 as cardholder_no, 1 + purchase_no % 50000 as instrument_no,
        identifier_no, 10 + purchase_no % 90 as amount, 'USD' as currency,
        timestamp '2026-05-01' + to_minutes(cast(purchase_no % 40000 as integer)) as transacted_at,
        timestamp '2026-06-01' as received_at
    from said_as
    cross join institutions
    """,
    """
    insert into recent_purchase_details by name
    select purchase_no, institution_id, '5411' as mcc, text as merchant_descriptor
    from said_as
    cross join institutions
    """,
    f"update match_watermark set purchase_no = {TERMINALS} * $merchants",
)


def fill_unknown(store: Store, merchants: int, purchases: int) -> None:
    """Fill a store that has one institution with so many merchants, and waiting purchases."""
    sizes = {"merchants": merchants, "purchases": purchases}
    for statement in (*MACROS, *FILL):
        given = {name: size for name, size in sizes.items() if f"${name}" in statement}
        store.connection.execute(statement, given)


MERCHANTS = "select merchant_no, merchant_id from merchants"
WAITING = """
select distinct identifier_no, merchant_identifier
from waiting_purchases
inner join identifiers using (identifier_no)
where identifiers.merchant_id is null
order by all
"""


@dataclass
class Judgement:
    """An unknown identifier of a sample, and how likely and how right its first suggestion is.

    A `probability` of 0 says that it was held against nobody.
    """

    identifier: str
    kind: str
    probability: float
    is_right: bool

    @property
    def is_findable(self) -> bool:
        return self.kind in KINDS[:2]


def judge_sample(folder: Path, rows: int, unknown: int) -> list[Judgement]:
    """Take in a sample with unknown merchants, and judge what is suggested by its truth."""
    plan = Plan(rows=rows, seed=1, unknown_merchants=unknown)
    for _ in write_sample(folder / "sample", plan):
        pass
    job = replace(new_store(folder), now=NOON + timedelta(days=600))
    import_catalogue(job, folder / "sample" / "catalog")
    for file in sorted((folder / "sample" / "transactions").iterdir()):
        taken(job, file, file.stem)
    with (folder / "sample" / "truth" / "merchants.csv").open() as file:
        truth = {row["merchant_identifier"]: row for row in csv.DictReader(file)}
    with job.store() as store, store.transaction(keep=False):
        rows = rows_of(store, suggestions.compare(store)["weighed"])
        weighed = {no: (merchant, p) for no, merchant, _, _, p, place, *_ in rows if place == 1}
        waiting = select(store, WAITING)
        merchants = dict(select(store, MERCHANTS))
    found = []
    for identifier_no, identifier in waiting:
        merchant_no, probability = weighed.get(identifier_no, (None, 0.0))
        row = truth[identifier]
        is_right = str(merchants.get(merchant_no)) == row["merchant_id"]
        found.append(Judgement(identifier, row["kind"], probability, is_right))
    return found


def reached(found: Iterable[tuple[float, bool]], wanted: float, of: int | None = None) -> float:
    """Return the highest coverage, `of` all that can be found, at a precision of the likeliest."""
    answered = [*found]
    ordered = sorted((each for each in answered if each[0] > 0), key=lambda each: -each[0])
    best = right = 0
    for count, (value, is_right) in enumerate(ordered, 1):
        right += is_right
        is_last = count == len(ordered) or ordered[count][0] < value
        if is_last and right / count >= wanted:
            best = count
    return best / (of or len(answered))
