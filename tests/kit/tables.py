"""Situations as text tables, written straight into the tables of a store.

A table is a header and rows of cells between spaces; `-` is an empty cell. `given` knows for each
word (`_PUT` lists them) how its cells become a row, and fills in what a test does not mention.
Names stand for ids: `uid("bakery")` is always the same.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import md5, sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

import polars as pl

from cardoffers_cli.kernel.store.acts import ChangeAuthor, append_run
from cardoffers_cli.kernel.store.binding import run
from cardoffers_cli.kernel.store.interning import intern_identifiers, intern_payers
from cardoffers_cli.kernel.words.moments import parse_moment
from cardoffers_cli.keys.rules import key_hash, last_four, prefix_of, with_checksum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store

Row = dict[str, Any]

NOON = datetime(2026, 6, 1, 12)  # noqa: DTZ001 - moments are naive UTC inside the product
"""When everything happens in tests that do not care."""

FIRST = {
    "offers": 101,
    "merchants": 301,
    "identifiers": 401,
    "cardholders": 1_001,
    "instruments": 5_001,
}
"""The number of the first row of a table: rows of two tables never have the same one by chance.

So a join of two numbers that are of different things finds nothing in a test.
"""

EXACT = pl.Decimal(38, 6)
TIME = pl.Datetime("us")


def read(text: str) -> list[Row]:
    """Read a text table; cells are text, `-` is None."""
    header, *lines = [line.split() for line in text.strip().splitlines()]
    return [
        {name: None if cell == "-" else cell for name, cell in zip(header, cells, strict=True)}
        for cells in lines
    ]


def uid(name: str) -> UUID:
    """Return the id a name stands for; a name that is a UUID stands for itself."""
    try:
        return UUID(name)
    except ValueError:
        return UUID(md5(name.encode(), usedforsecurity=False).hexdigest())


def given(store: Store, word: str, text: str) -> None:
    """Write a text table into the store."""
    put(store, word, read(text))


def put(store: Store, word: str, rows: list[Row]) -> None:
    """Write rows into the store, as `given` does; cells may be text or values."""
    store.memory.forget()  # tests write around it
    if rows:
        _PUT[word](store, rows)


def select(store: Store, sql: str) -> list[tuple[Any, ...]]:
    """Return what a query of the test finds in the store."""
    return store.connection.execute(sql).fetchall()


def log_acts(store: Store) -> None:
    """Append what runs did that were written around their end, as `finish_run` does."""
    numbers = "select distinct run_no from act_rows where run_no is not null order by run_no"
    for (run_no,) in select(store, numbers):
        by = ChangeAuthor(run_no=run_no, now=NOON, actor="tester")
        append_run(store, by, "kernel/store/acts:of_run")


def rows_of(store: Store, table: Table) -> list[tuple[Any, ...]]:
    """Return the rows of a temporary table, be it made or only defined."""
    rows: list[tuple[Any, ...]] = run(store.connection, store.tables.reading(table)).fetchall()
    return rows


def temporary(store: Store, name: str, query: str) -> Table:
    """Make a temporary table of a query of the test, to be handed to statements by a name."""
    found = store.connection.execute(f"describe {query}").fetchall()
    table = store.tables.name(name, [column for column, *_ in found])
    store.connection.execute(f"create temp table {table.identifier} as {query}")
    return table


TABLES = """
select replace(table_name, 'recent_', '') as table_name
from duckdb_tables() where not temporary order by all
"""


def snapshot(store: Store, *but: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table, sorted, except the tables named.

    Of what may be in the history the view is read, wherever its rows are.
    """
    names = [name for (name,) in select(store, TABLES) if name not in but]
    any_row = " union all ".join(f"select '{name}' where exists (from {name})" for name in names)
    return {name: [] for name in names} | {
        name: select(store, f"from {name} order by all") for (name,) in select(store, any_row)
    }


def moment(cell: Any) -> datetime:
    """Read a cell's moment; a time alone is of the day of `NOON`."""
    if isinstance(cell, datetime):
        return cell
    return parse_moment(cell if "-" in cell else f"{NOON.date()}T{cell}")


def money(cell: Any) -> Decimal | None:
    return None if cell is None else Decimal(cell)


def _institutions(store: Store, rows: list[Row]) -> None:
    _insert(
        store,
        "institutions",
        [
            {
                "institution_id": str(row.get("institution_id") or uid(row["institution"])),
                "slug": row["institution"],
                "name": row.get("name", row["institution"]),
                "plan": row.get("plan", "growth"),
                "currency": row.get("currency", "GBP"),
                "languages": row.get("languages", "en|es"),
                "max_active_offers": int(row.get("max_active_offers", 100)),
                "widget_limit": int(row.get("widget_limit", 10)),
                "settlement_hold_days": int(row.get("hold_days", 0)),
                "accepts_percent": row.get("percent") == "yes",
            }
            for row in rows
        ],
    )


def _merchants(store: Store, rows: list[Row]) -> None:
    first = _next(store, "merchants")
    _insert(
        store,
        "merchants",
        [
            {
                "merchant_id": str(uid(row["merchant"])),
                "merchant_no": number,
                "name": row["merchant"],
                "category": row.get("category"),
            }
            for number, row in enumerate(rows, first)
        ],
    )


def _identifiers(store: Store, rows: list[Row]) -> None:
    pairs = [(row.get("type", "card_acceptor"), row["identifier"]) for row in rows]
    _intern(store, pairs)
    for row, pair in zip(rows, pairs, strict=True):
        store.connection.execute(
            "update identifiers set merchant_id = $3"
            " where merchant_identifier_type = $1 and merchant_identifier = $2",
            [*pair, uid(row["merchant"]) if row.get("merchant") else None],
        )


def _offers(store: Store, rows: list[Row]) -> None:
    first = _next(store, "offers")
    offers = [_offer(row, number) for number, row in enumerate(rows, first)]
    _insert(store, "offers", offers)
    kept = _columns(store, "offer_versions")
    versions = [{**offer, "run_no": 0, "known_at": NOON} for offer in offers]
    _insert(store, "offer_versions", [{name: row[name] for name in kept} for row in versions])
    texts = [{"offer_id": row["offer"], "language": "en", "title": row["offer"]} for row in rows]
    _insert(store, "offer_texts", texts)
    log_acts(store)


def _offer(row: Row, number: int) -> Row:
    uses = row.get("uses")
    return {
        "offer_no": number,
        "offer_id": row["offer"],
        "merchant_id": str(uid(row["merchant"])),
        "min_spend": money(row.get("min_spend")) or Decimal(0),
        "cashback_amount": money(row.get("cashback", None if row.get("percent") else "1.00")),
        "currency": row.get("currency", "GBP"),
        "commission_rate": money(row.get("rate")) or Decimal(0),
        "budget_amount": money(row.get("budget")),
        "starts_at": moment(row.get("starts_at") or NOON - timedelta(days=30)),
        "expires_at": moment(row.get("expires_at") or NOON + timedelta(days=30)),
        "segments": row.get("segments"),
        "max_redemptions_per_cardholder": None if uses is None else int(uses),
        "is_paused": row.get("paused") == "yes",
        "reward_type": "percent" if row.get("percent") else None,
        "cashback_percent": money(row.get("percent")),
        "max_cashback_amount": money(row.get("cap")),
        "commission_basis": row.get("basis"),
        "max_commission_amount": money(row.get("most_commission")),
    }


def _versions(store: Store, rows: list[Row]) -> None:
    """Change offers as catalogue imports do, each row in a run of its own.

    A row has the offer, `known_at`, and by the words of `_offers` what changes; the rest stays.
    """
    for number, row in enumerate(rows, _count(store, "runs") + 1):
        known_at = moment(row["known_at"])
        run = {"run_no": number, "run_id": str(uid(f"run {number}")), "kind": "catalog_import"}
        clocks = {"as_of": known_at, "machine_at": known_at}
        _insert(store, "runs", [{**run, **clocks, "actor": "tester"}])
        new = _offer({"merchant": "-", **row}, 0)
        changed = [name for word, name in _CHANGES.items() if word in row]
        changed += ["reward_type"] if "percent" in row else []
        store.connection.execute(
            f"update offers set {', '.join(f'{name} = ${name}' for name in changed)}"  # noqa: S608
            " where offer_id = $offer_id",
            {name: new[name] for name in (*changed, "offer_id")},
        )
        columns = ", ".join(name for name in _columns(store, "offer_versions") if name not in run)
        store.connection.execute(
            f"insert into offer_versions by name select $run_no as run_no, {columns}"  # noqa: S608
            " from (select *, $known_at as known_at from offers) where offer_id = $offer_id",
            {"run_no": number, "known_at": known_at, "offer_id": row["offer"]},
        )
    log_acts(store)


_CHANGES = {
    "min_spend": "min_spend",
    "cashback": "cashback_amount",
    "rate": "commission_rate",
    "uses": "max_redemptions_per_cardholder",
    "budget": "budget_amount",
    "starts_at": "starts_at",
    "expires_at": "expires_at",
    "percent": "cashback_percent",
    "cap": "max_cashback_amount",
    "basis": "commission_basis",
    "most_commission": "max_commission_amount",
}
"""What a version may change: the word for it, and its column."""


def _texts(store: Store, rows: list[Row]) -> None:
    """Write texts in place of those that an offer came with."""
    names = ("offer", "language", "title", "description")
    texts = [[row.get(name) for name in names] for row in rows]
    for text in texts:
        store.connection.execute("insert or replace into offer_texts values ($1, $2, $3, $4)", text)


def _programs(store: Store, rows: list[Row]) -> None:
    programs = [
        {
            "institution_id": str(uid(row.get("institution", "alder"))),
            "offer_id": row["offer"],
            "position": int(row.get("position", number)),
        }
        for number, row in enumerate(rows, 1)
    ]
    _insert(store, "program_offers", programs)


def _links(store: Store, rows: list[Row]) -> None:
    payers = _payers(store, rows)
    offers = dict(select(store, "select offer_id, offer_no from offers"))
    links = [
        {
            "institution_id": payer[0],
            "cardholder_no": payer[1],
            "instrument_no": payer[2],
            "offer_no": offers[row["offer"]],
            "added_at": moment(row.get("added_at") or NOON - timedelta(days=20)),
            "run_no": 0,
        }
        for row, payer in zip(rows, payers, strict=True)
    ]
    _insert(store, "links", links)


def _purchases(store: Store, rows: list[Row]) -> None:
    payers = _payers(store, rows)
    pairs = [_identifier(row) for row in rows]
    _intern(store, [pair for pair in pairs if pair])
    found = select(
        store,
        "select merchant_identifier_type, merchant_identifier, identifier_no from identifiers",
    )
    numbers = {(kind, identifier): number for kind, identifier, number in found}
    first = _count(store, "purchases") + 1
    purchases = [
        {
            "purchase_no": first + place,
            "institution_id": payers[place][0],
            "transaction_ref": row["ref"],
            "cardholder_no": payers[place][1],
            "instrument_no": payers[place][2],
            "identifier_no": numbers.get(pairs[place]) if pairs[place] else None,
            "merchant_id": str(uid(row["merchant"])) if row.get("merchant") else None,
            "amount": money(row.get("amount", "20.00")),
            "currency": row.get("currency", "GBP"),
            "transacted_at": moment(row.get("at") or NOON),
            "received_at": NOON,
        }
        for place, row in enumerate(rows)
    ]
    _insert(store, "recent_purchases", purchases)
    if select(store, "from duckdb_tables() where table_name = 'purchase_refs'"):  # a current store
        store.connection.execute(HASHED)
    details = [
        {
            "purchase_no": first + place,
            "institution_id": payers[place][0],
            "merchant_descriptor": row["descriptor"],
        }
        for place, row in enumerate(rows)
        if row.get("descriptor")
    ]
    if details:
        _insert(store, "recent_purchase_details", details)


def _refunds(store: Store, rows: list[Row]) -> None:
    """Write refunds as an import does."""
    whose = [row for row in rows if row.get("cardholder", "ann")]
    payers = {id(row): payer for row, payer in zip(whose, _payers(store, whose), strict=True)}
    pairs = [_identifier(row) for row in rows]
    _intern(store, [pair for pair in pairs if pair])
    found = select(
        store,
        "select merchant_identifier_type, merchant_identifier, identifier_no from identifiers",
    )
    numbers = {(kind, identifier): number for kind, identifier, number in found}
    ids = dict(select(store, "select slug, cast(institution_id as varchar) from institutions"))
    first = _count(store, "refunds") + 1
    refunds = [
        {
            "refund_no": first + place,
            "institution_id": ids[row.get("institution", "alder")],
            "refund_ref": row["ref"],
            "ref_hash": 0,
            "kind": row.get("kind", "refund"),
            "original_transaction_ref": row.get("original"),
            "cardholder_no": payers[id(row)][1] if id(row) in payers else None,
            "instrument_no": payers[id(row)][2] if id(row) in payers else None,
            "identifier_no": numbers.get(pair) if pair else None,
            "merchant_id": str(uid(row["merchant"])) if row.get("merchant") else None,
            "amount": money(row.get("amount", "20.00")),
            "currency": row.get("currency", "GBP"),
            "refunded_at": moment(row.get("at") or NOON),
            "received_at": NOON,
        }
        for place, (row, pair) in enumerate(zip(rows, pairs, strict=True))
    ]
    _insert(store, "refunds", refunds)
    store.connection.execute("update refunds set ref_hash = ref_hash(institution_id, refund_ref)")


HASHED = """
insert into purchase_refs
select ref_hash(institution_id, transaction_ref), purchase_no from purchases
where purchase_no not in (select purchase_no from purchase_refs)
"""
"""Lets purchases that a test wrote be found by their references."""


def _engagement(store: Store, rows: list[Row]) -> None:
    offers = dict(select(store, "select offer_id, offer_no from offers"))
    events = [
        {
            "institution_id": payer[0],
            "cardholder_no": payer[1],
            "event": row["event"],
            "offer_no": offers[row["offer"]] if row.get("offer") else None,
            "occurred_at": moment(row.get("at") or NOON),
            "run_no": 0,
        }
        for row, payer in zip(rows, _payers(store, rows), strict=True)
    ]
    _insert(store, "engagement", events)


def _redemptions(store: Store, rows: list[Row]) -> None:
    """Write redemptions with their entries, for those who only count them.

    They are of the first purchases, as far as there are any.
    """
    offers = dict(select(store, "select offer_id, offer_no from offers"))
    bought = select(
        store, "select purchase_no, amount, transacted_at, transaction_ref from recent_purchases"
    )
    names = ("purchase_amount", "purchased_at", "transaction_ref")
    known = select(
        store, "select column_name from duckdb_columns() where table_name = 'redemptions'"
    )
    of_purchase = {  # a store of before may not have all of them
        number: {name: value for name, value in zip(names, told, strict=True) if (name,) in known}
        for number, *told in bought
    }
    first = _count(store, "redemptions") + 1
    redemptions = [
        {
            "redemption_no": number,
            "redemption_id": str(uid(f"redemption {number}")),
            "institution_id": payer[0],
            "purchase_no": number,
            "cardholder_no": payer[1],
            "offer_no": offers[row["offer"]],
            "run_no": 0,
            "created_at": moment(row.get("at") or NOON),
            **of_purchase.get(number, {}),
        }
        for number, (row, payer) in enumerate(zip(rows, _payers(store, rows), strict=True), first)
    ]
    _insert(store, "redemptions", redemptions)
    _ledger(store, rows)


def _ledger(store: Store, rows: list[Row]) -> None:
    """Write ledger entries alone, for those who only look at what a budget has left."""
    offers = {
        row[0]: row[1:]
        for row in select(store, "select offer_id, offer_no, merchant_id from offers")
    }
    first = _count(store, "ledger_entries") + 1
    entries = [
        {
            "redemption_no": number,
            "entry_id": str(uid(f"entry {number}")),
            "institution_id": payer[0],
            "cardholder_no": payer[1],
            "offer_no": offers[row["offer"]][0],
            "merchant_id": str(offers[row["offer"]][1]),
            "currency": "GBP",
            "merchant_funded_amount": money(row.get("amount", "1.00")),
            "commission_amount": Decimal(0),
            "institution_payout_amount": money(row.get("amount", "1.00")),
            "status": row.get("status", "pending"),
            "created_at": moment(row.get("at") or NOON),
            "settles_at": NOON,
        }
        for number, (row, payer) in enumerate(zip(rows, _payers(store, rows), strict=True), first)
    ]
    _insert(store, "ledger_entries", entries)


def key_text(name: str) -> str:
    """Return the key that a name stands for."""
    return with_checksum("co_live_" + (sha256(name.encode()).hexdigest() * 2)[:43])


def _keys(store: Store, rows: list[Row]) -> None:
    """Write keys, each by the name of its key; `-` as scopes is a key from before scopes."""
    texts = [key_text(row["key"]) for row in rows]
    times = ("expires", "rotated", "retires", "revoked")
    keys = [
        {
            "key_id": str(uid(row["key"])),
            "institution_id": str(uid(row.get("institution", "alder"))),
            "name": row["key"],
            "prefix": prefix_of(text),
            "last_four": last_four(text),
            "key_hash": key_hash(text),
            "scopes": row.get("scopes", "offers|reporting|transactions"),
            "created_at": moment(row.get("created") or NOON),
            **{f"{word}_at": row.get(word) and moment(row[word]) for word in times},
            "replaced_by": row.get("replaced_by") and str(uid(row["replaced_by"])),
        }
        for row, text in zip(rows, texts, strict=True)
    ]
    _insert(store, "api_keys", keys)


def _identifier(row: Row) -> tuple[str, str] | None:
    return (row.get("type", "card_acceptor"), row["identifier"]) if row.get("identifier") else None


def _payers(store: Store, rows: list[Row]) -> list[tuple[str, int, int]]:
    """Return (institution_id, cardholder_no, instrument_no) of each row's cardholder."""
    ids = dict(select(store, "select slug, cast(institution_id as varchar) from institutions"))
    tokens = [
        (
            ids[row.get("institution", "alder")],
            row.get("cardholder", "ann"),
            row.get("card", "card"),
        )
        for row in rows
    ]
    names = ["institution_id", "cardholder_token", "instrument_token"]
    frame = pl.DataFrame(tokens, schema=dict.fromkeys(names, pl.String), orient="row")
    store.connection.register("rows", frame)
    payers = "select * replace (cast(institution_id as uuid) as institution_id) from rows"
    with _numbered(store, "cardholders", "instruments"):
        intern_payers(store, temporary(store, "payers", payers))
    store.connection.unregister("rows")
    found = select(
        store,
        "select cast(cardholders.institution_id as varchar), cardholder_token, instrument_token,"
        " cardholder_no, instrument_no from cardholders join instruments using (cardholder_no)",
    )
    numbers = {
        (owner, token, card): (owner, holder, instrument)
        for owner, token, card, holder, instrument in found
    }
    return [numbers[key] for key in tokens]


def _intern(store: Store, pairs: list[tuple[str, str]]) -> None:
    names = ["merchant_identifier_type", "merchant_identifier"]
    frame = pl.DataFrame(pairs, schema=dict.fromkeys(names, pl.String), orient="row")
    store.connection.register("rows", frame)
    with _numbered(store, "identifiers"):
        intern_identifiers(store, temporary(store, "identifiers", "from rows"))
    store.connection.unregister("rows")


def _next(store: Store, table: str) -> int:
    return _count(store, table) + FIRST[table]


_BEFORE = {
    "cardholders": "select $number, uuid(), 'nobody'",
    "instruments": "select $number, 0, uuid(), 'none'",
    "identifiers": "select $number, 'none', 'none', null",
}


@contextmanager
def _numbered(store: Store, *tables: str) -> Iterator[None]:
    """Let the product number rows of empty tables from `FIRST` on, behind a row that goes again."""
    empty = [table for table in tables if not _count(store, table)]
    for table in empty:
        before = f"insert into {table} {_BEFORE[table]}"
        store.connection.execute(before, {"number": FIRST[table] - 1})
    yield
    for table in empty:
        number = f"{table.removesuffix('s')}_no"
        store.connection.execute(f"delete from {table} where {number} = {FIRST[table] - 1}")  # noqa: S608


def _count(store: Store, table: str) -> int:
    return int(select(store, f"select count(*) from {table}")[0][0])  # noqa: S608 - our tables


def _columns(store: Store, table: str) -> list[str]:
    return [name for name, *_ in store.connection.execute(f"describe {table}").fetchall()]


def _insert(store: Store, table: str, rows: list[Row]) -> None:
    frame = pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.selectors.decimal().cast(EXACT), pl.selectors.temporal().cast(TIME)
    )
    _run(store, f"insert into {table} by name from rows", frame)


def _run(store: Store, sql: str, rows: pl.DataFrame) -> None:
    """Run a statement that reads `rows`."""
    store.connection.register("rows", rows)
    store.connection.execute(sql)
    store.connection.unregister("rows")


_PUT: dict[str, Callable[[Store, list[Row]], None]] = {
    "institutions": _institutions,
    "merchants": _merchants,
    "identifiers": _identifiers,
    "offers": _offers,
    "versions": _versions,
    "texts": _texts,
    "programs": _programs,
    "links": _links,
    "purchases": _purchases,
    "refunds": _refunds,
    "engagement": _engagement,
    "redemptions": _redemptions,
    "ledger": _ledger,
    "keys": _keys,
}
