"""Files that were taken are listed, and one can be taken back as if it had never come."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from approving import with_approvers
from cardoffers_cli.answers.why import plain_answers, why
from cardoffers_cli.archive.export import export
from cardoffers_cli.events.receiver import Receiver
from cardoffers_cli.events.sending import send
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.kernel.store.approval_requests import ApprovalNeeded
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.row_kinds import REFUNDS
from cardoffers_cli.offers.work import FeedRequest, read_feed
from cardoffers_cli.refunds.apply import apply_refunds
from cardoffers_cli.refunds.linking import RefundLink, link_refund
from cardoffers_cli.reports.work import read_funnel
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.settlements import settle_due
from cardoffers_cli.river.withdrawals import undo_import
from cardoffers_cli.storage.doctor import doctor, examine
from commands import cardoffers
from outbox import goes_to
from post import real_clock
from sizes import FULL, slow, tries
from tables import select
from work import file_of, file_rows, found, job, kept, kept_open, new_store, once, taken, tell

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

WHY = "the wrong bank"
BOUGHT = """ref cardholder identifier amount
    X-1 cardholder-0001 M1 20.00
    X-2 cardholder-0002 M1 30.00
    X-3 cardholder-0003 M9 40.00"""
OTHERS = """ref cardholder identifier amount
    Y-1 cardholder-0001 M1 50.00
    Y-2 cardholder-0004 M2 60.00"""
BACK = (
    "refund_ref,original_transaction_ref,amount,refunded_at\n"
    "R-1,X-1,20.00,2026-06-01T13:00:00Z\nR-2,Y-1,5.00,2026-06-01T13:00:00Z\n"
)


AMONG = f"{BOUGHT}\n    X-4 cardholder-0002 M1 -30.00"
SIGNED = parse_profile(
    """
    form = {delimiter = ","}
    negatives = "refund"
    [fields]
    cardholder_token = {column = "cardholder_token"}
    card_token = {column = "card_token"}
    card_acceptor_id = {column = "card_acceptor_id"}
    amount = {column = "amount"}
    transaction_ref = {column = "transaction_ref"}
    transacted_at = {column = "transacted_at", format = "%Y-%m-%dT%H:%M:%SZ", zone = "UTC"}
    """,
    "signed.toml",
)


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return at_home(tmp_path)


@once
def at_home(folder: Path) -> Job:
    """Make a store of two institutions whose offers have budgets that suffice."""
    made = new_store(folder)
    holders = [f"cardholder-000{number}" for number in range(1, 5)]
    tell(
        made,
        institutions="institution hold_days\nalder 3\nbrook 0",
        merchants="merchant\nbakery\nbutcher",
        identifiers="identifier merchant\nM1 bakery\nM2 butcher",
        offers="offer merchant cashback rate budget\nA bakery 2.00 0.1 200\nB butcher 3.00 0.2 300",
        programs="institution offer\nalder A\nalder B\nbrook A",
        links="institution cardholder offer\n"
        + "\n".join(f"alder {each} {offer}" for each in holders for offer in "AB"),
    )
    return made


def take(made: Job, folder: Path, text: str = BOUGHT, institution: str = "alder") -> str:
    """Import a text table of purchases and return the import's id."""
    return str(taken(made, file_of(folder / "tx.csv", text), institution)["import_id"])


def take_signed(made: Job, folder: Path) -> str:
    """Import a file with a refund among its rows and return the import's id."""
    path, options = file_of(folder / "signed.csv", AMONG), ImportOptions(profile=SIGNED)
    told = import_file(str(path), "alder", made, options, outputs=Outputs()).document()
    assert (4, 1) == (told["accepted"], told["refunds"]["accepted"])
    return str(told["import_id"])


def refunds(made: Job, folder: Path, institution: str = "alder") -> None:
    path = folder / "back.csv"
    path.write_text(BACK)
    import_file(str(path), institution, made, ImportOptions(kind=REFUNDS), outputs=Outputs())


def later(made: Job, days: int) -> Job:
    return replace(made, now=made.now + timedelta(days=days))


def told(made: Job) -> dict[str, Any]:
    """Return all that a store shows of purchases and their money, but for ids and times of runs."""
    queries = {
        "purchases": "select transaction_ref, amount from purchases",
        "waiting": "select transaction_ref from waiting_purchases"
        " join purchases using (purchase_no)",
        "decided": "select transaction_ref, outcome from latest_decisions"
        " join purchases using (purchase_no)",
        "ledger": "select transaction_ref, offer_no, status, merchant_funded_amount,"
        " institution_payout_amount from redemption_entries",
        "moves": "select transaction_ref, status, reason from ledger_moves"
        " join redemptions using (redemption_no)",
        "adjustments": "select transaction_ref, merchant_funded_amount from adjustments"
        " join redemptions using (redemption_no)",
        "events": "select subject_id, kind, state, body from outbox",
        "refunds": "select refund_ref, state, outcome, net_after from refund_states",
        "budgets": "select offer_no, reserved_amount from offer_budgets",
        "purchase_totals": "select institution_id, purchases, amount from purchase_totals",
        "offer_totals": "from offer_totals where redemptions > 0 or links > 0",
        "settlements": "select entries, institution_payout_amount from settlements",
        "imports": "select file_sha256, accepted, duplicates from imports",
    }
    with made.store(read_only=True) as store:
        return {name: select(store, f"{sql} order by all") for name, sql in queries.items()}


def shown(made: Job) -> dict[str, Any]:
    """Return what the commands show of the same."""
    asked = {"cardholder_token": "cardholder-0001"}
    return {
        "feed": read_feed("alder", FeedRequest(**asked), made, dry_run=True),
        "funnel": read_funnel(made, "alder"),
    }


def test_an_undone_import_leaves_the_store_as_if_it_had_never_come(
    made: Job, tmp_path: Path
) -> None:
    take(made, tmp_path, OTHERS)
    match_purchases(made)
    before = told(made), shown(made)
    import_id = take(made, tmp_path)
    match_purchases(made)
    assert 2 == len(found(made, "from redemptions where transaction_ref like 'X-%'"))
    done = undo_import(import_id, WHY, made)
    assert ("3", "90.00", "2", "4.40", "withdrawn") == tuple(
        str(done[name])
        for name in ("purchases", "amount", "redemptions", "merchant_funded_amount", "state")
    )
    assert before == (told(made), shown(made))
    assert doctor(made, strict=True).ok
    assert [
        ("withdrawn_purchases", 3),
        ("ledger_entries", 2),
        ("ledger_moves", 4),
        ("redemptions", 2),
    ] == found(
        made,
        "select 'withdrawn_purchases', count(*) from withdrawn_purchases union all"
        " (select table_name, count(*) from withdrawn_rows where table_name in"
        " ('redemptions', 'ledger_entries', 'ledger_moves') group by all order by all)",
    )


@slow
def test_the_file_may_come_again_for_any_institution(made: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", BOUGHT.replace("cardholder-000", "stranger-000"))
    undo_import(str(taken(made, path)["import_id"]), WHY, made)
    elsewhere = taken(made, path, "brook")
    undo_import(str(elsewhere["import_id"]), WHY, made)
    again = taken(made, path)
    assert (3, None, 3, None) == tuple(
        each[name] for each in (elsewhere, again) for name in ("accepted", "already_imported")
    )
    assert doctor(made, strict=True).ok
    assert [("alder", "taken"), ("brook", "withdrawn"), ("alder", "withdrawn")] == [
        (each.institution, each.state) for each in file_rows(made)
    ]


@slow
def test_what_comes_again_redeems_again_under_the_same_ids(made: Job, tmp_path: Path) -> None:
    first = take(made, tmp_path)
    match_purchases(made)
    redeemed = "select transaction_ref, redemption_id from redemptions order by all"
    ids = found(made, redeemed)
    undo_import(first, WHY, made)
    take(made, tmp_path)
    match_purchases(made)
    assert 2 == len(ids)
    assert ids == found(made, redeemed)


@slow
def test_refunds_of_an_undone_import_wait_again(made: Job, tmp_path: Path) -> None:
    take(made, tmp_path, OTHERS)
    import_id = take(made, tmp_path)
    match_purchases(made)
    refunds(made, tmp_path)
    apply_refunds(made)
    states = "select refund_ref, state, outcome from refund_states order by all"
    assert [("R-1", "linked", "reversed"), ("R-2", "linked", "kept")] == found(made, states)
    undo_import(import_id, WHY, made)
    assert [("R-1", "waiting", None), ("R-2", "linked", "kept")] == found(made, states)
    take(made, tmp_path)
    match_purchases(made)
    apply_refunds(made)
    assert [("R-1", "linked", "reversed"), ("R-2", "linked", "kept")] == found(made, states)
    assert doctor(made, strict=True).ok


@slow
def test_why_says_that_the_file_was_taken_back(made: Job, tmp_path: Path) -> None:
    undo_import(take(made, tmp_path), WHY, later(made, 1))
    answer = why("X-2", "alder", made)
    assert "withdrawn" == answer.status
    assert answer.headline.startswith("Its file ")
    assert answer.headline.endswith(f"was taken back at 2026-06-02 12:00 UTC by tester ({WHY}).")
    assert [3] == [each.line for each in answer.withdrawn]
    (said,) = plain_answers(["X-2"], "alder", made, locale="en")
    (never,) = plain_answers(["X-7"], "alder", made, locale="en")
    assert said.answer.replace("X-2", "X-7") == never.answer
    with pytest.raises(Refused, match="was withdrawn"):
        undo_import(answer.withdrawn[0].import_id.hex, WHY, made)


def settled(made: Job, folder: Path) -> None:
    del folder
    settle_due(later(made, 4))


def settled_and_reversed(made: Job, folder: Path) -> None:
    settle_due(later(made, 4))
    refunds(made, folder)
    apply_refunds(later(made, 5))


def sent(made: Job, folder: Path) -> None:
    del folder
    with Receiver(clock=real_clock) as receiver:
        goes_to(made, receiver.url)
        send(made)
        assert 2 == len(receiver.received)


def archived(made: Job, folder: Path) -> None:
    export(made, to=str(folder / "archive"))


def repeated(made: Job, folder: Path) -> None:
    text = (
        "ref cardholder identifier amount\nZ-1 cardholder-0004 M1 9.00\n" + BOUGHT.splitlines()[3]
    )
    take(made, folder, text)


def in_conflict(made: Job, folder: Path) -> None:
    take(made, folder, "ref amount\nX-2 31.00")


def linked(made: Job, folder: Path) -> None:
    path = folder / "back.csv"
    path.write_text(
        "refund_ref,original_transaction_ref,cardholder_token,card_token,card_acceptor_id,amount,"
        "refunded_at\nR-9,,cardholder-0003,card,M9,40.00,2026-06-01T13:00:00Z\n"
    )
    import_file(str(path), "alder", made, ImportOptions(kind=REFUNDS), outputs=Outputs())
    said = RefundLink(refund_ref="R-9", transaction_ref="X-3", reason="by phone")
    link_refund(made, "alder", said)


@pytest.mark.parametrize(
    ("code", "message", "happens"),
    [
        ("import_settled", "2 of its purchases settled, the first in line 2 (X-1).", settled),
        (
            "import_settled",
            "2 of its purchases settled, the first in line 2 (X-1).",
            settled_and_reversed,
        ),
        (
            "import_told",
            "Of 2 of its purchases the institution was sent a webhook, the first in line 2 (X-1).",
            sent,
        ),
        (
            "import_archived",
            "3 of its purchases are in the archive, the first in line 2 (X-1).",
            archived,
        ),
        (
            "import_relied_on",
            "1 of its purchases came again in a later file, the first in line 4 (X-3).",
            repeated,
        ),
        (
            "import_relied_on",
            "1 of its purchases came again in a later file, the first in line 3 (X-2).",
            in_conflict,
        ),
        (
            "import_relied_on",
            "To 1 of its purchases a person linked a refund, the first in line 4 (X-3).",
            linked,
        ),
    ],
)
@slow
def test_what_others_rely_on_stays(
    made: Job, tmp_path: Path, code: str, message: str, happens: Any
) -> None:
    made = job(made.path, allow_insecure_webhooks=True)
    import_id = take(made, tmp_path)
    match_purchases(made)
    happens(made, tmp_path)
    before = kept(made)
    with pytest.raises(Refused) as caught:
        undo_import(import_id, WHY, later(made, 9))
    assert (code, message) == (caught.value.code, caught.value.message)
    assert before == kept(made)


def test_only_files_of_purchases_are_taken_back(made: Job, tmp_path: Path) -> None:
    refunds(made, tmp_path)
    ((import_id,),) = found(made, "select import_id from imports")
    with pytest.raises(Refused, match="holds refunds") as caught:
        undo_import(str(import_id), WHY, made)
    assert "import_not_of_purchases" == caught.value.code
    with pytest.raises(NotFound):
        undo_import("00000000-0000-4000-8000-000000000000", WHY, made)
    with pytest.raises(UsageError):
        undo_import(str(import_id), " ", made)


@slow
def test_a_second_person_approves_where_reversals_need_it(made: Job, tmp_path: Path) -> None:
    with_approvers(made)
    set_institution(made, "alder", {}, settings={"approvals": "on"})
    nothing = take(made, tmp_path, "ref identifier\nQ-1 M9")
    import_id = take(made, tmp_path)
    match_purchases(made)
    undo_import(nothing, WHY, made)
    with pytest.raises(ApprovalNeeded, match="Taking a file back needs"):
        undo_import(import_id, WHY, made)
    assert 3 == len(found(made, "from purchases"))
    assert "pending" == undo_import(import_id, WHY, made, dry_run=True).approval


@slow
def test_a_dry_run_keeps_nothing(made: Job, tmp_path: Path) -> None:
    import_id = take(made, tmp_path)
    match_purchases(made)
    before = kept(made)
    assert (3, 2, True) == tuple(
        undo_import(import_id, WHY, made, dry_run=True)[name]
        for name in ("purchases", "redemptions", "dry_run")
    )
    assert before == kept(made)


@slow
def test_files_are_listed_with_what_came_of_them(made: Job, tmp_path: Path) -> None:
    take(made, tmp_path, OTHERS)
    match_purchases(made)
    settle_due(later(made, 4))
    take(later(made, 40), tmp_path)
    listed = [
        (str(each.amount_accepted), each.redeemed, each.settled, each.told, each.imported_by)
        for each in file_rows(made, "alder")
    ]
    assert [("90.00", 0, 0, 0, "tester"), ("110.00", 2, 2, 0, "tester")] == listed
    assert [3] == [e.accepted for e in file_rows(made, period="2026-07")]
    assert [] == file_rows(made, "brook")


@slow
def test_a_file_is_taken_back_as_an_operator_types_it(made: Job, tmp_path: Path) -> None:
    import_id = take(made, tmp_path)
    match_purchases(made)
    where = ("--store", made.path, "--as-of", "2026-06-01T12:00:00Z")
    listed = cardoffers("file", "list", "-i", "alder", "--format", "json", *where, exit_code=0)
    assert [(import_id, "taken", 3, 2)] == [
        (each["import_id"], each["state"], each["accepted"], each["redeemed"])
        for each in listed.document
    ]
    undo = ("file", "undo", import_id[:8], "--reason", WHY, *where)
    asked = cardoffers(*undo, exit_code=2)
    assert (
        f"Error: Not confirmed: Withdraw {tmp_path / 'tx.csv'} of alder: 3 purchases, 2 redemptions"
        " of GBP 4.40?\nHint: Add --yes.\n"
    ) == asked.stderr
    assert cardoffers(*undo, "--dry-run", "--format", "json", exit_code=0).document["dry_run"]
    cardoffers(*undo, "--yes", exit_code=0)
    again = cardoffers(*undo, "--yes", "--format", "json", exit_code=4)
    assert ("already_withdrawn", 4) == (again.error["code"], again.error["exit_code"])
    other = ("file", "undo", "00000000", "--reason", WHY, "--yes", *where)
    cardoffers(*other, exit_code=5)
    answer = cardoffers("why", "X-1", "-i", "alder", *where, "--format", "json", exit_code=0)
    assert ("withdrawn", WHY) == (
        answer.document["status"],
        answer.document["withdrawn"][0]["reason"],
    )
    cardoffers("doctor", "--strict", *where, exit_code=0)


OPERATIONS = ("others", "match", "refunds", "apply", "settle", "match")
ORDERS = st.tuples(
    st.permutations(OPERATIONS) if FULL else st.sampled_from([*permutations(OPERATIONS)][::61]),
    st.integers(0, len(OPERATIONS)),
    st.integers(0, len(OPERATIONS)),
    st.sampled_from([take, take_signed]),
)


@slow
@profile(
    max_examples=10_000 if FULL else tries(6, 50),
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
)
@examples(drawn=ORDERS)
def test_whatever_happens_between_an_import_and_its_undo(drawn: Any) -> None:
    """Compare a store in which a file came and was taken back with one in which it never came."""
    order, came, left, taking = drawn
    first, last = min(came, left), max(came, left)
    with TemporaryDirectory() as name, kept_open(at_home(Path(name) / "store")) as made:
        folder, import_id = Path(name), ""
        for place in range(len(order) + 1):
            today = later(made, place)
            if place == first:
                import_id = taking(today, folder)
            if place == last:
                is_settled = "transaction_ref like 'X-%' and settlement_no > 0"
                if found(made, f"from redemption_entries where {is_settled}"):
                    with pytest.raises(Refused, match="settled"):
                        undo_import(import_id, WHY, today)
                    return
                undo_import(import_id, WHY, today)
            if place < len(order):
                happen(today, folder, order[place])
        assert never_came(tuple(order)) == at_the_end(made, folder, len(order))


@cache
def never_came(order: tuple[str, ...]) -> dict[str, Any]:
    """Return what a store shows to which an order of operations happened, one a day."""
    with TemporaryDirectory() as name, kept_open(at_home(Path(name) / "store")) as made:
        for place, operation in enumerate(order):
            happen(later(made, place), Path(name), operation)
        return at_the_end(made, Path(name), len(order))


def at_the_end(made: Job, folder: Path, days: int) -> dict[str, Any]:
    """Return what a store shows once refunds that wait say so, and its audits have passed."""
    happen(later(made, days), folder, "apply")
    with made.store() as store:
        assert [] == [each.name for each in examine(store, made.path) if not each.ok]
    return told(made)


def happen(made: Job, folder: Path, operation: str) -> None:
    match operation:
        case "others":
            take(made, folder, OTHERS)
        case "refunds":
            refunds(made, folder)
        case "apply":
            apply_refunds(made)
        case "settle":
            settle_due(made)
        case _:
            match_purchases(made)
