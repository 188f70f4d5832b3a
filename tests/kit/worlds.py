"""Stores to look at: with nothing, one day, a year, and as many rows as are asked for.

Each has the pages of everything that makes one. Names, amounts and counts are such as banks have:
offers with titles, two currencies, several institutions, unknown merchants, reversals, a file that
cannot be read and one with bad rows.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.reports.questions import Filters, redemptions
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.redemptions import reverse_redemption
from cardoffers_cli.river.settlements import settle_in
from commands import in_a_pipe
from tables import HASHED, put, uid
from work import job, new_store

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store

TODAY = datetime(2026, 10, 1, 3)  # noqa: DTZ001 - moments are naive UTC
AS_OF = "2026-10-01T03:00:00Z"
SHOPS = {
    "Harbour Coffee": ("GBP", "£1 back when you spend £5 or more", "1.00", "300.00"),
    "Quayside Books & Records": ("GBP", "£2.50 back when you spend £20 or more", "2.50", None),
    "Maldater Grocers": ("GBP", "£2 back when you spend £22 or more", "2.00", "90.00"),
    "Wendington Gym": ("GBP", "£4 back on any membership", "4.00", "30.00"),
    "Audio Solozco": ("MXN", "$270 de regreso en compras de $1410 o más", "270.00", None),
    "Gasolinera Zapivela": ("MXN", "$110 de regreso en compras de $550 o más", "110.00", "9000.00"),
    "Café Quetazul": ("MXN", "$10 de regreso en compras de $50 o más", "10.00", None),
    "Moda Yurumbre": ("MXN", "$30 de regreso en compras de $320 o más", "30.00", None),
}
INSTITUTIONS = {"larkmere": "GBP", "tarnhollow": "GBP", "sierraluz": "MXN", "quietwater": "GBP"}
PEOPLE = 12
REPORTS = {
    "redemptions": "report redemptions",
    "redemptions by day": "report redemptions --by day",
    "redemptions by offer": "report redemptions --by offer",
    "settlements": "report settlements",
    "offers": "report offers",
    "merchants": "report merchants",
    "unknown merchants": "report unresolved",
    "funnel": "report funnel -i larkmere",
    "validation": "validate {good}",
    "validation of bad rows": "validate {bad}",
    "validation of no file": "validate {none}",
    "nights by command": "run list",
    "status": "status",
}
NIGHTS = {"night": "index.html", "institution": "institution-larkmere.html"}
HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"


@dataclass(frozen=True)
class World:
    """A store in a folder, and what its pages are called."""

    folder: Path
    pages: dict[str, Path]


def no_data(folder: Path) -> World:
    """Make a world with institutions and offers, in which nothing has happened."""
    made = new_store(folder)
    with made.store() as store:
        _catalogue(store)
    return _seen(folder)


def one_day(folder: Path) -> World:
    """Make a world of one day."""
    made = new_store(folder)
    with made.store() as store:
        _catalogue(store)
        _live(store, TODAY - timedelta(days=1), 30)
        decide(store, job(now=TODAY - timedelta(hours=1)))
    _drop(folder)
    return _seen(folder)


def a_year(folder: Path) -> World:
    """Make a world of a year, in steps of four weeks, with the last nights of it."""
    made = new_store(folder)
    with made.store() as store:
        _catalogue(store)
        for step in range(13, 0, -1):
            at = TODAY - timedelta(days=28 * step - 27)
            _live(store, at, 20 + step % 7)
            decide(store, job(now=at + timedelta(hours=20)))
            settle_in(store, job(now=at + timedelta(hours=21)))
        (last, *_) = redemptions(store, Filters(), limit=5, cursor=None).rows
        by: Any = {"now": TODAY, "actor": "tester"}
        with run_record(store, kind="reverse", **by) as run:
            reverse_redemption(
                store, str(last["id"]), reason="goods returned", run_no=run.run_no, **by
            )
    for days in (2, 1):
        _night(folder, TODAY - timedelta(days=days))
    _drop(folder)
    return _seen(folder)


def many(folder: Path, rows: int) -> World:
    """Make a world of so many purchases, of which a quarter redeemed, spread over 90 days.

    They are written by statements, for a match of a million takes its time.
    """
    made = new_store(folder)
    with made.store() as store:
        _catalogue(store)
        _live(store, TODAY - timedelta(days=1), 40)
        decide(store, job(now=TODAY - timedelta(hours=2)))
        for statement in _MANY:
            store.connection.execute(statement.format(rows=rows))
    _drop(folder)
    return _seen(folder)


def _catalogue(store: Store) -> None:
    put(
        store,
        "institutions",
        [
            {"institution": slug, "currency": currency, "hold_days": "2" if slug[0] == "t" else "0"}
            for slug, currency in INSTITUTIONS.items()
        ],
    )
    put(store, "merchants", [{"merchant": shop, "category": "shops"} for shop in SHOPS])
    offers = {f"of-{number:05}": shop for number, shop in enumerate(SHOPS)}
    whole = {"starts_at": TODAY - timedelta(days=300), "expires_at": TODAY + timedelta(days=65)}
    put(
        store,
        "offers",
        [
            {
                "offer": offer,
                "merchant": shop,
                "currency": SHOPS[shop][0],
                "cashback": SHOPS[shop][2],
                "budget": SHOPS[shop][3],
                "rate": "0.05",
                **whole,
            }
            for offer, shop in offers.items()
        ],
    )
    put(
        store,
        "texts",
        [
            {"offer": offer, "language": "en", "title": f"{shop}: {SHOPS[shop][1]}"}
            for offer, shop in offers.items()
        ],
    )
    program = [
        {"institution": slug, "offer": offer, "currency": currency}
        for slug, currency in INSTITUTIONS.items()
        for offer, shop in offers.items()
        if SHOPS[shop][0] == currency
    ]
    put(store, "programs", program)
    put(
        store,
        "links",
        [
            {**row, "cardholder": f"c{number:02}", "added_at": TODAY - timedelta(days=299)}
            for row in program
            if row["institution"] != "quietwater"
            for number in range(0, PEOPLE, 2)
        ],
    )


def _live(store: Store, at: datetime, purchases: int) -> None:
    """Let cardholders look at offers and buy, at known shops and unknown ones."""
    shops = {
        currency: [each for each in SHOPS if SHOPS[each][0] == currency]
        for currency in "GBP MXN".split()
    }
    rows: list[dict[str, Any]] = []
    seen: list[dict[str, Any]] = []
    for number in range(purchases):
        slug = ("larkmere", "sierraluz", "tarnhollow")[number % 3]
        currency = INSTITUTIONS[slug]
        moment = at + timedelta(minutes=37 * number)
        who = {"institution": slug, "cardholder": f"c{number * 5 % PEOPLE:02}", "at": moment}
        rows.append(
            {
                **who,
                "ref": f"{slug[:3].upper()}-{at:%m%d}-{number:05}",
                "currency": currency,
                "amount": f"{(number * 13 % 90 + 10) * (20 if currency == 'MXN' else 1)}.25",
                **(
                    {
                        "identifier": f"0000000000{number % 9:05}",
                        "descriptor": f"CORNER SHOP {number % 9}",
                    }
                    if number % 5 == 4
                    else {"merchant": shops[currency][number // 3 % 4]}
                ),
            }
        )
        seen.append({**who, "event": "widget_view"})
        offer = list(SHOPS).index(shops[currency][number % 4])
        seen.append({**who, "event": "offer_impression", "offer": f"of-{offer:05}"})
    put(store, "purchases", rows)
    put(store, "engagement", seen)


_MANY = (
    """
    insert into recent_purchases by name
    select 1000000 + i as purchase_no, institution_id, 'M-' || i as transaction_ref, cardholder_no,
        instrument_no, case when i % 10 = 9 then identifier_no end as identifier_no,
        case when i % 10 < 9 then merchant_id end as merchant_id,
        cast(5 + i % 900 / 4 as decimal(18, 4)) as amount, 'GBP' as currency,
        timestamp '2026-07-03 08:00:00' + to_seconds(i * 7776000 // {rows}) as transacted_at,
        timestamp '2026-09-30 12:00:00' as received_at
    from range({rows}) as numbers(i)
    inner join (
        select institution_id, cardholder_no, instrument_no,
            row_number() over (order by cardholder_no) - 1 as place, count(*) over () as people
        from instruments
        where institution_id in (select institution_id from institutions where currency = 'GBP')
    ) as payers on payers.place = i % payers.people
    inner join (
        select merchant_id, row_number() over (order by merchant_no) - 1 as shop
        from merchants limit 4
    ) as shops on shops.shop = i % 4
    inner join (
        select identifier_no, row_number() over (order by identifier_no) - 1 as stand,
            count(*) over () as stands
        from identifiers
    ) as stands on stands.stand = i % stands.stands
    """,
    """
    insert into redemptions by name
    select purchase_no as redemption_no, derived_id('r' || purchase_no) as redemption_id,
        institution_id, purchase_no, cardholder_no, offer_no, 900 as run_no,
        transacted_at + interval 20 hour as created_at, amount as purchase_amount,
        transacted_at as purchased_at, transaction_ref
    from recent_purchases
    inner join offers on offers.merchant_id = recent_purchases.merchant_id
    where purchase_no >= 1000000 and purchase_no % 4 = 0
    """,
    """
    insert into ledger_entries by name
    select redemption_no, derived_id('e' || redemption_no) as entry_id,
        redemptions.institution_id, cardholder_no, redemptions.offer_no, merchant_id, currency,
        merchant_funded_amount, commission_amount, cashback_amount as institution_payout_amount,
        case when redemption_no % 97 = 0 then 'reversed' else 'pending' end as status,
        created_at, created_at + interval 5 day as settles_at
    from redemptions
    inner join offer_terms on offer_terms.offer_no = redemptions.offer_no
    where redemption_no >= 1000000
    """,
    """
    insert into recent_decisions by name
    select recent_purchases.purchase_no, 900 as run_no,
        case
            when redemptions.purchase_no is not null then 'redeemed'
            when recent_purchases.merchant_id is null then 'merchant_unresolved'
            else 'not_redeemed'
        end as outcome
    from recent_purchases
    left join redemptions on redemptions.purchase_no = recent_purchases.purchase_no
    where recent_purchases.purchase_no >= 1000000
    """,
    """
    insert into unresolved_purchases by name
    select purchase_no, institution_id, cardholder_no, identifier_no, merchant_id, amount, currency,
        transacted_at
    from recent_purchases
    where purchase_no in (
        select purchase_no from recent_decisions
        where run_no = 900 and outcome = 'merchant_unresolved'
    )
    """,
    "update match_watermark set purchase_no = 1000000 + {rows}",
    HASHED,
    """
    insert into engagement by name
    select institution_id, cardholder_no, 'widget_view' as event, transacted_at as occurred_at
    from recent_purchases
    where purchase_no >= 1000000
    """,
)


def _drop(folder: Path) -> None:
    """Drop a good file, one with bad rows and one that cannot be read, for the night to come."""
    (folder / "drop" / "larkmere").mkdir(parents=True, exist_ok=True)
    holder = "ab" * 32
    good = [
        f"{holder},card,{uid('none')!s:.15},{number + 5}.00,NEW-{number},2026-09-30T12:00:00Z"
        for number in range(6)
    ]
    files = {
        "good.csv": "\n".join([HEADER, *good, ""]),
        "bad.csv": "\n".join(
            [HEADER, *good, "x", f"{holder},card,1,-3,R,2026-09-30T12:00:00Z", ""]
        ),
        "none.csv": "no header\nof ours\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
        shutil.copy(folder / name, folder / "drop" / "larkmere" / name)
        (folder / "drop" / "larkmere" / f"{name}.done").touch()


def _night(folder: Path, now: datetime) -> None:
    (folder / "drop").mkdir(exist_ok=True)
    given = ["--store", folder / "store.duckdb", "--as-of", f"{now.isoformat()}Z"]
    ended = in_a_pipe(["nightly", folder / "drop", *given])
    assert ended.exit_code in {0, 3}, ended


def _seen(folder: Path) -> World:
    """Run the night, make every page, and return the world."""
    for name in ("good", "bad", "none"):
        if not (folder / f"{name}.csv").exists():
            (folder / f"{name}.csv").write_text(f"{HEADER}\n" if name == "good" else "")
    _night(folder, TODAY)
    pages = {}
    for name, words in REPORTS.items():
        page = folder / f"{name.replace(' ', '-')}.html"
        files = {each: folder / f"{each}.csv" for each in ("good", "bad", "none")}
        given = ["--store", folder / "store.duckdb", "--as-of", AS_OF, "--format", "html"]
        ended = in_a_pipe([*words.format(**files).split(), *given, "-o", page])
        assert ended.exit_code in {0, 3, 14}, ended
        pages[name] = page
    (reports,) = folder.glob("reports/2026-10-01")
    there = {name: reports / file for name, file in NIGHTS.items() if (reports / file).exists()}
    return World(folder, {**pages, **there, "nights": folder / "reports" / "index.html"})
