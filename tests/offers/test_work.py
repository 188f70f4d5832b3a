from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.store.layout import folder_of
from cardoffers_cli.kernel.store.store import Store
from cardoffers_cli.kernel.words.errors import CardoffersError, NotFound, Refused, UsageError
from cardoffers_cli.offers.work import (
    AddRequest,
    FeedRequest,
    add_offer,
    cardholder_links,
    program,
    read_feed,
    show_offer,
)
from commands import command
from sizes import one_in, slow
from tables import NOON, moment, uid
from work import found, kept, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

MONTH = timedelta(days=30)
BOB = {"cardholder_token": "bob"}
OTHER_CARD = {"card_token": "card-2"}
OFFERS = [f"o{number:03}" for number in range(1, 121)]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A program of 120 offers, of which the widget shows 105."""
    job = new_store(tmp_path)
    tell(
        job,
        institutions="institution languages widget_limit\nalder en|es|pt-BR 105\nbrook en 5",
        merchants="merchant category\nbakery food",
        offers="offer merchant\n" + "\n".join(f"{offer} bakery" for offer in OFFERS),
        programs="offer\n" + "\n".join(OFFERS),
    )
    return job


def read(job: Job, *, dry_run: bool = False, **asked: Any) -> dict[str, Any]:
    institution = asked.pop("institution", "alder")
    request = FeedRequest(**{"cardholder_token": "ann", **asked})
    return read_feed(institution, request, job, dry_run=dry_run)


def add(job: Job, offer_id: str, *, dry_run: bool = False, **asked: Any) -> dict[str, Any]:
    institution = asked.pop("institution", "alder")
    usual = {"cardholder_token": "ann", "card_token": "card-1"}
    request = AddRequest(offer_id=offer_id, **{**usual, **asked})
    return add_offer(institution, request, job, dry_run=dry_run)


# The feed


def test_an_offer_is_what_the_contract_says(job: Job) -> None:
    assert {
        "offers": [
            {
                "id": "o001",
                "title": "o001",
                "description": "",
                "merchant_id": uid("bakery"),
                "min_spend": Decimal("0.00"),
                "cashback_amount": Decimal("1.00"),
                "currency": "GBP",
                "starts_at": NOON - MONTH,
                "expires_at": NOON + MONTH,
                "added": False,
            }
        ],
        "total": 120,
        "personalized": False,
    } == read(job, limit=1)


def test_money_has_the_decimals_of_its_currency(job: Job) -> None:
    tell(
        job,
        institutions="institution currency\nkitano JPY",
        offers="offer merchant currency cashback min_spend\nyen bakery JPY 150 1000",
        programs="institution offer\nkitano yen",
    )
    (offer,) = read(job, institution="kitano")["offers"]
    assert ("150", "1000") == (str(offer["cashback_amount"]), str(offer["min_spend"]))


# limit, widget_limit -> offers shown
LIMITS = [
    (1, 105, 1),
    (99, 105, 99),
    (100, 105, 100),
    (None, 105, 100),
    (None, 7, 7),
    (6, 7, 6),
    (7, 7, 7),
    (8, 7, 7),
    (100, 7, 7),
]


@pytest.mark.parametrize(("limit", "widget_limit", "expected"), LIMITS)
@one_in(3)
def test_a_limit_is_cut_to_what_the_widget_shows(
    job: Job, limit: int | None, widget_limit: int, expected: int
) -> None:
    set_institution(job, "alder", {"widget_limit": str(widget_limit)})
    body = read(job, limit=limit)
    assert (expected, 120) == (len(body["offers"]), body["total"])
    assert OFFERS[:expected] == [offer["id"] for offer in body["offers"]]


@pytest.mark.parametrize("limit", [-1, 0, 101])
def test_a_limit_outside_of_1_to_100_is_refused(job: Job, limit: int) -> None:
    with pytest.raises(UsageError) as error:
        read(job, limit=limit)
    assert "limit_invalid" == error.value.code
    assert [] == events(job)


@pytest.mark.parametrize(
    ("locale", "title"),
    [(None, "bread"), ("en", "bread"), ("es", "pan"), ("pt-BR", "bread"), ("de", "bread")],
)
@one_in(3)
def test_a_feed_speaks_the_language_asked_for(job: Job, locale: str | None, title: str) -> None:
    tell(job, texts="offer language title\no001 en bread\no001 es pan")
    assert title == read(job, locale=locale, limit=1)["offers"][0]["title"]


def test_a_language_the_program_does_not_offer_falls_back(job: Job) -> None:
    tell(job, texts="offer language title\no001 en bread\no001 es pan")
    set_institution(job, "alder", {"languages": "pt-BR|en"})
    assert "bread" == read(job, locale="es", limit=1)["offers"][0]["title"]
    set_institution(job, "alder", {"languages": "es"})
    assert "pan" == read(job, locale="en", limit=1)["offers"][0]["title"]


def test_a_personal_feed_gives_reasons(job: Job) -> None:
    plain = read(job, prefer_merchants=("bakery",), limit=2)
    assert (False, [None, None]) == (
        plain["personalized"],
        [offer.get("reason") for offer in plain["offers"]],
    )
    body = read(job, prefer_merchants=("Bakery",), personalize=True, limit=2)
    assert (True, ["preferred_merchant"] * 2) == (
        body["personalized"],
        [offer["reason"] for offer in body["offers"]],
    )


def test_an_added_offer_says_so(job: Job) -> None:
    add(job, "o002")
    assert [False, True] == [offer["added"] for offer in read(job, limit=2)["offers"]]
    assert [False, False] == [offer["added"] for offer in read(job, limit=2, **BOB)["offers"]]


def events(job: Job) -> list[tuple[Any, ...]]:
    return found(
        job,
        "select cardholder_token, event, offer_id, occurred_at from engagement"
        " join cardholders using (cardholder_no) left join offers using (offer_no) order by all",
    )


def test_a_read_is_a_view_and_an_impression_of_each_offer(job: Job) -> None:
    shown = [("ann", "offer_impression", offer, NOON) for offer in OFFERS[:2]]
    view = ("ann", "widget_view", None, NOON)
    read(job, limit=2)
    assert [*shown, view] == events(job)
    read(job, limit=2)
    assert sorted([*shown, view] * 2, key=str) == sorted(events(job), key=str)


def test_a_read_without_offers_is_a_view(job: Job) -> None:
    assert {"offers": [], "total": 0, "personalized": False} == read(job, institution="brook")
    assert [("ann", "widget_view", None, NOON)] == events(job)


@slow
@pytest.mark.parametrize("personalize", [False, True])
def test_a_dry_run_writes_nothing(job: Job, personalize: bool) -> None:
    before = kept(job)
    body = read(job, limit=3, personalize=personalize, dry_run=True)
    assert before == kept(job)
    assert body == read(job, limit=3, personalize=personalize)
    assert before != kept(job)


@pytest.mark.parametrize("word", ["cardholder_token", "card_token"])
def test_tokens_are_judged_as_in_files(job: Job, word: str) -> None:
    before = kept(job)
    with pytest.raises(UsageError) as error:
        add(job, "o001", **{word: "4111111111111111"})
    assert "card_number" == error.value.code
    if word == "cardholder_token":
        for door in (read, lambda job, **asked: cardholder_links("alder", asked[word], job)):
            with pytest.raises(UsageError):
                door(job, **{word: "kanarie@example.com"})
    assert before == kept(job)


# Adding


def test_an_added_offer_is_a_link(job: Job) -> None:
    dry = add(job, "o001", dry_run=True)
    assert [] == cardholder_links("alder", "ann", job)["links"]
    done = add(job, "o001")
    assert "added" == done["status"]
    assert dry == done
    links = found(
        job,
        "select cardholder_token, instrument_token, offer_id, added_at, kind from links"
        " join cardholders using (cardholder_no) join instruments using (instrument_no)"
        " join offers using (offer_no) join runs using (run_no)",
    )
    assert [("ann", "card-1", "o001", NOON, "offer_add")] == links
    (link,) = cardholder_links("alder", "ann", job)["links"]
    assert done["cardholder_offer_id"] == link["cardholder_offer_id"]


# What changes the offer after it was added
AFTERWARDS = [
    "update offers set is_paused = true",
    "update offers set expires_at = starts_at",
    "update offers set budget_amount = 0",
    "update offers set segments = 'gold'",
    "update institutions set max_active_offers = 1",
    "delete from program_offers",
]


@pytest.mark.parametrize("change", AFTERWARDS)
@one_in(3)
def test_a_repeated_add_finds_the_link_whatever_became_of_the_offer(job: Job, change: str) -> None:
    done = add(job, "o001")
    with job.store() as store:
        store.connection.execute(change)
    before = kept(job)
    again = add(replace(job, now=NOON + MONTH), "o001", **OTHER_CARD)
    assert {**done, "status": "already_added"} == again
    assert before == kept(job)


def test_who_adds_what_tells_links_apart(job: Job) -> None:
    tell(job, programs="institution offer\nbrook o001")
    ids = [
        add(job, offer, institution=institution, cardholder_token=cardholder)["cardholder_offer_id"]
        for institution, cardholder, offer in [
            ("alder", "ann", "o001"),
            ("alder", "ann", "o002"),
            ("alder", "bob", "o001"),
            ("brook", "ann", "o001"),
        ]
    ]
    assert 4 == len(set(ids))


# Every refusal, the first to speak first; each row mends the fault of the row before.
REFUSALS: list[tuple[str, type[CardoffersError], str]] = [
    ("", UsageError, "personal_data"),
    ("cardholder_token", UsageError, "card_number"),
    ("card_token", NotFound, "institution_not_found"),
    ("institution", NotFound, "offer_not_found"),
    ("offer_id", NotFound, "offer_not_found"),
    ("insert into program_offers select institution_id, 'X', 999 from institutions", Refused,
     "offer_not_available"),
    ("update offers set expires_at = '2027-01-01' where offer_id = 'X'", Refused,
     "offer_not_available"),
    ("update offers set is_paused = false where offer_id = 'X'", Refused, "offer_not_available"),
    ("update offers set starts_at = '2026-01-01' where offer_id = 'X'", Refused,
     "offer_not_available"),
    ("update offers set budget_amount = 1.00 where offer_id = 'X'", Refused,
     "segment_not_eligible"),
    ("segment", Refused, "max_active_offers"),
]  # fmt: skip
LAST = "update institutions set max_active_offers = 2"
STATES = {5: "expired", 6: "paused", 7: "not_started", 8: "budget_spent"}


@slow
def test_every_refusal_of_an_add_has_its_turn(job: Job) -> None:
    good = {
        "institution": "alder",
        "cardholder_token": "ann",
        "card_token": "card-1",
        "offer_id": "X",
        "segment": "gold",
    }
    asked = {
        "institution": "nowhere",
        "cardholder_token": "ann@example.com",
        "card_token": "4111111111111111",
        "offer_id": "Y",
        "segment": "silver",
    }
    tell(
        job,
        offers="""
            offer  merchant  budget  segments  paused  starts_at   expires_at
            X      bakery    0.99    gold|vip  yes     2026-12-01  2026-06-01T12:00:00
        """,
        links="cardholder offer\nann o001",
    )
    mend(job, "update institutions set max_active_offers = 1")
    for row, (mended, error, code) in enumerate(REFUSALS):
        if mended in good:
            asked[mended] = good[mended]
        elif mended:
            mend(job, mended)
        before = kept(job)
        with pytest.raises(error) as refusal:
            add(job, **asked)
        assert (row, code) == (row, refusal.value.code)
        assert STATES.get(row) == refusal.value.details.get("state")
        assert before == kept(job)
    mend(job, LAST)
    assert "added" == add(job, **asked)["status"]


def mend(job: Job, statement: str) -> None:
    with job.store() as store:
        store.connection.execute(statement)


# segments of the offer, segment sent -> code of the refusal
SEGMENTS = [
    (None, None, None),
    (None, "gold", None),
    ("gold", None, "segment_not_eligible"),
    ("gold", "", "segment_not_eligible"),
    ("gold", "silver", "segment_not_eligible"),
    ("gold", "gold", None),
    ("gold|vip", "vip", None),
    ("gold|vip", "gold|vip", "segment_not_eligible"),
]


@pytest.mark.parametrize(("segments", "segment", "code"), SEGMENTS)
@one_in(3)
def test_a_segment_gates_an_add(
    job: Job, segments: str | None, segment: str | None, code: str | None
) -> None:
    with job.store() as store:
        store.connection.execute("update offers set segments = $1", [segments])
    try:
        refused = add(job, "o001", segment=segment)["status"] != "added"
    except Refused as refusal:
        refused = refusal.code
    assert (code or False) == refused


# the other link of ann -> whether it counts towards a maximum of one
COUNTS = [
    ("", True),
    ("update offers set is_paused = true where offer_no = 101", True),
    ("update offers set budget_amount = 0 where offer_no = 101", True),
    ("update offers set starts_at = '2026-06-02' where offer_no = 101", True),
    ("update offers set expires_at = '2026-06-01T12:00:01' where offer_no = 101", True),
    ("update offers set expires_at = '2026-06-01T12:00:00' where offer_no = 101", False),
    ("update offers set max_redemptions_per_cardholder = 2 where offer_no = 101", True),
    ("update offers set max_redemptions_per_cardholder = 1 where offer_no = 101", False),
    ("delete from program_offers where offer_id = 'o001'", True),
]


@pytest.mark.parametrize(("change", "expected"), COUNTS)
@one_in(3)
def test_links_that_can_still_redeem_count(job: Job, change: str, expected: bool) -> None:
    tell(
        job,
        links="cardholder offer\nann o001\nbob o003",
        ledger="cardholder offer status\nann o001 pending\nann o001 reversed\nbob o001 pending",
    )
    set_institution(job, "alder", {"max_active_offers": "1"})
    if change:
        mend(job, change)
    if expected:
        with pytest.raises(Refused) as refusal:
            add(job, "o002")
        assert "max_active_offers" == refusal.value.code
    else:
        assert "added" == add(job, "o002")["status"]


def test_a_new_maximum_counts_at_once(job: Job) -> None:
    set_institution(job, "alder", {"max_active_offers": "1"})
    add(job, "o001")
    with pytest.raises(Refused):
        add(job, "o002")
    set_institution(job, "alder", {"max_active_offers": "2"})
    assert "added" == add(job, "o002")["status"]
    held = cardholder_links("alder", "ann", job)
    assert (2, 2) == (held["active"], held["max_active_offers"])


@slow
def test_processes_that_add_at_once_share_the_maximum(job: Job) -> None:
    set_institution(job, "alder", {"max_active_offers": "2"})
    wanted = ["o001", "o001", "o002", "o003"]
    options = "-i alder --cardholder ann --card card-1 --format json --as-of 2026-06-01T12:00:00Z"
    running = [
        subprocess.Popen(
            command("offer", "add", offer, *options.split(), "--store", job.path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for offer in wanted
    ]
    ended = Counter(outcome(process) for process in running)
    assert 2 == ended["added"]
    assert 2 == ended["max_active_offers"] + ended["already_added"]
    links = found(job, "select offer_no, count(*) from links group by all")
    assert [1, 1] == [count for _, count in links]


def outcome(process: subprocess.Popen[str]) -> str:
    """Return the status of an add, or the code of its refusal."""
    out, err = process.communicate(timeout=120)
    if process.returncode:
        return str(json.loads(err.splitlines()[-1])["error"]["code"])
    return str(json.loads(out)["status"])


# What operators see


def test_a_program_is_listed_and_an_offer_shown(job: Job) -> None:
    assert OFFERS == [offer["id"] for offer in program("alder", job)]
    assert [] == program("brook", job)
    assert "active" == show_offer("o001", job)["state"]
    late = replace(job, now=moment("2026-12-01"))
    assert "expired" == show_offer("o001", late)["state"]


def test_a_stranger_has_no_links_and_is_not_taken_in(job: Job) -> None:
    assert {"active": 0, "max_active_offers": 100, "links": []} == cardholder_links(
        "alder", "ann", job
    )
    assert [] == found(job, "select cardholder_token from cardholders")


# Privacy


def test_hints_and_segment_are_written_nowhere(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = {
        "segment": "kanarie-segment",
        "prefer_merchants": ("kanarie-merchant", "bakery"),
        "prefer_categories": ("kanarie-category",),
    }
    written: dict[str, bytes] = {}
    close = Store.close

    def look_and_close(store: Store) -> None:
        """Look while the log is there: closing works it into the store."""
        written.update(contents(job))
        close(store)

    monkeypatch.setattr(Store, "close", look_and_close)
    read(job, personalize=True, **planted)
    add(job, "o001", segment="kanarie-segment")
    written |= {f"closed {name}": content for name, content in contents(job).items()}
    names = {job.path.name, f"{job.path.name}.wal", "lock"}
    assert names <= written.keys()
    assert b"o001" in written[f"closed {job.path.name}"]
    assert [] == [name for name, content in written.items() if b"kanarie" in content]


def test_a_request_shows_neither_tokens_nor_hints_of_itself() -> None:
    secrets = dict.fromkeys(["cardholder_token", "segment"], "kanarie")
    lists = dict.fromkeys(["prefer_merchants", "prefer_categories"], ("kanarie",))
    feed = FeedRequest(**secrets, **lists)
    add = AddRequest(offer_id="A", card_token="kanarie", **secrets)  # noqa: S106
    assert "kanarie" not in f"{feed!r} {add!r}"


def contents(job: Job) -> dict[str, bytes]:
    """Read a store and its folder by another process: this one must not open the store."""
    made = job.path.parent / "copies"
    made.mkdir(exist_ok=True)
    beside = [*job.path.parent.iterdir(), *folder_of(job.path).iterdir()]
    files = [str(file) for file in beside if file.is_file()]
    subprocess.run(["cp", *files, str(made)], check=True)  # noqa: S607
    return {file.name: file.read_bytes() for file in made.iterdir()}
