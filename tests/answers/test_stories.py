"""Eleven stories of a redemption (rules.md#stories), each the same at every door."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest

import cardoffers_cli
from banks import BERLIN, LONDON, listed
from cardoffers_cli.answers import PurchaseState
from cardoffers_cli.answers.browse import pages
from cardoffers_cli.answers.browse.inquiry import Inquiry
from cardoffers_cli.answers.find import find
from cardoffers_cli.answers.money_trails import stories_of
from cardoffers_cli.answers.search import STATES, PurchaseFilter
from cardoffers_cli.answers.timelines import tell_timeline
from cardoffers_cli.answers.why import plain_answers, why
from cardoffers_cli.credits.work import reconcile
from cardoffers_cli.documents.closing import close_statement
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.words.row_kinds import CREDITS
from cardoffers_cli.kernel.words.texts import texts_in
from cardoffers_cli.payouts.exporting import export_payout
from cardoffers_cli.payouts.importing import import_bank_file
from cardoffers_cli.reports.page_work import redemptions_page
from cardoffers_cli.reports.questions import Filters, redemptions
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from languages import with_spanish
from tables import NOON, read, select, uid
from work import found, new_store, once, settings, tell

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

# What staff read of a purchase is its story, its moment and a sentence; the cardholder the last.
STORIES = """
ref  of     story                at                staff                                                                                     cardholder
a1   alder  taken_back           2026-06-02-12:00  Reversed_at_2026-06-02_12:00_UTC_(returned)                                                            which_was_taken_back_on_2_June_2026
a2   alder  credit_failed        2026-06-03-00:00  Not_credited:_the_institution_tried_it_and_failed,_last_at_2026-06-03_00:00_UTC                        Your_bank_could_not_credit_it_yet._We_are_looking_into_it
a3   alder  credit_differs       2026-06-04-00:00  Credited_GBP_4.00_by_the_institution,_last_at_2026-06-04_00:00_UTC:_another_amount_than_its_cashback_is_credited  What_your_bank_credited_for_it_does_not_fit_yet._We_are_looking_into_it
a4   alder  credited_twice       2026-06-06-00:00  Credited_GBP_10.00_by_the_institution,_last_at_2026-06-06_00:00_UTC:_credited_more_than_once           Your_bank_credited_more_than_that._We_are_looking_into_it
a5   alder  credited             2026-06-07-00:00  Credited_GBP_5.00_by_the_institution,_last_at_2026-06-07_00:00_UTC                                     Your_bank_credited_it_on_7_June_2026
a6   alder  credit_late          2026-06-20-12:00  Not_credited_in_time_by_the_institution,_as_of_2026-06-20_12:00_UTC                                    Your_bank_has_not_credited_it_yet._We_are_looking_into_it
b1   brook  paid_to_institution  2026-08-05-00:00  Paid_to_the_institution_at_2026-08-05_00:00_UTC                                                        Your_bank_was_paid_for_it_on_5_August_2026
b2   brook  telling_failed       2026-06-01-14:00  Not_told_to_the_institution,_the_last_attempt_failed_at_2026-06-01_14:00_UTC                           Your_bank_could_not_be_told_of_it_yet._We_are_looking_into_it
b3   brook  settled              2026-07-02-12:00  Settled_at_2026-07-02_12:00_UTC                                                                        It_was_settled_on_2_July_2026
b4   brook  told                 2026-06-01-14:00  Told_to_the_institution,_pending_until_2026-08-30_00:00_UTC                                            It_is_on_its_way_to_you
b5   brook  on_hold              2026-08-30-00:00  Pending_until_2026-08-30_00:00_UTC                                                                     It_is_to_be_settled_on_30_August_2026
"""  # noqa: E501 - a table
PACKAGE = Path(cardoffers_cli.__file__).parent
ROWS = read(STORIES)
REFS = [str(row["ref"]) for row in ROWS]
CREDITED = """transaction_ref,amount,status,credited_at,credit_ref
a2,5.00,failed,2026-06-03T00:00:00Z,c2
a3,4.00,credited,2026-06-04T00:00:00Z,c3
a4,5.00,credited,2026-06-05T00:00:00Z,c4
a4,5.00,credited,2026-06-06T00:00:00Z,c5
a5,5.00,credited,2026-06-07T00:00:00Z,c6
"""
IDS = "select transaction_ref, redemption_id from redemptions"
CHANGES = """
    create temp table told as
    select transaction_ref as ref, redemption_no from redemptions;
    update ledger_entries set settles_at = if(ref = 'b1', '2026-06-01', '2026-08-30')
    from told
    where told.redemption_no = ledger_entries.redemption_no and ref in ('b1', 'b2', 'b4', 'b5');
    update outbox set state = if(ref = 'b2', 'exhausted', 'delivered'), attempts = 1
    from told where told.redemption_no = outbox.redemption_no and ref in ('b2', 'b4');
    insert into attempts by name
    select event_no, redemption_no, institution_id, 1 as number, 3 as run_no, false as is_manual,
        timestamp '2026-06-01 14:00' as started_at,
        if(state = 'exhausted', 'timeout', null) as error
    from outbox where attempts = 1
"""


@once
def lived(folder: Path) -> Job:
    """Make a store with each story: those of credits at alder, the others at brook."""
    made = replace(
        new_store(folder), settings=settings(payer_name="Offers & Co", payer_account=LONDON)
    )
    tell(
        made,
        institutions="institution hold_days\nalder 0\nbrook 31",
        merchants="merchant\nbakery",
        offers="offer merchant cashback rate\nA bakery 5.00 0",
        links="institution offer\nalder A\nbrook A",
        purchases="\n".join(
            ["ref institution merchant", *(f"{row['ref']} {row['of']} bakery" for row in ROWS)]
        ),
    )
    with made.store() as store:
        decide(store, made)
        for change in CHANGES.split(";"):
            select(store, change)
    ids = {str(ref): str(id_) for ref, id_ in found(made, IDS)}
    reverse(ids["a1"], "returned", replace(made, now=NOON + timedelta(days=1)))
    june = replace(made, now=NOON + timedelta(days=19))
    file = folder / "credited.csv"
    file.write_text(CREDITED)
    import_file(str(file), "alder", june, ImportOptions(kind=CREDITS), outputs=Outputs())
    reconcile(june, "alder")
    settle_due(replace(made, now=NOON))
    account = AccountOptions(account=BERLIN, holder="Brook plc", address="Berlin, DE")
    set_institution(made, "brook", {}, account=account)
    august = replace(made, now=NOON + timedelta(days=70))
    close_statement(august, "brook", "2026-06")
    export_payout(august, "BROOK-2026-000001", "csv", folder / "payment.csv")
    file = folder / "bank.csv"
    file.write_bytes(listed("BROOK-2026-000001,booked,5.00,GBP,2026-08-05,,"))
    import_bank_file(august, file)
    settle_due(replace(made, now=NOON + timedelta(days=31)))
    return replace(made, now=NOON + timedelta(days=70))


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return replace(lived(tmp_path), now=NOON + timedelta(days=70))


def told_by(made: Job, ref: str, owner: str) -> dict[str, tuple[object, ...]]:
    """Return what each door says of a purchase: story, moment, sentence, those that it has."""
    answer = why(ref, owner, made)
    redemption, timeline = answer.redemption, tell_timeline(ref, owner, made).redemption
    assert redemption is not None
    assert timeline is not None
    (hit,) = (
        hit
        for hit in find(owner, PurchaseFilter(state=redemption.story), made, limit=99).data
        if hit.transaction_ref == ref
    )
    (plain,) = plain_answers([ref], owner, made, locale="en")
    inquiry = Inquiry(made, lambda: made.now, owner)
    case = inquiry.case(inquiry.search(f"ref:{ref}").rows[0])
    _, money, _ = pages.glance(case)
    with made.store(read_only=True) as store:
        chosen = Filters(institution_id=uid(owner))
        (call,) = (
            row
            for row in redemptions(store, chosen, limit=99, cursor=None).rows
            if row["transaction_ref"] == ref
        )
        page = redemptions_page(store, chosen, limit=99)
    (row,) = (row for row in page.rows if row["transaction_ref"] == ref)
    return {
        "why": (redemption.story, redemption.story_at, answer.headline),
        "plain": (plain.answer,),
        "find": (hit["story"], hit["story_at"]),
        "timeline": (timeline.story, timeline.story_at, timeline.sentence),
        "browse": (money.text,),
        "HTTP": (call["story"], call["story_at"]),
        "page": (row["story"], row["story_at"]),
    }


@pytest.mark.parametrize("row", ROWS, ids=REFS)
def test_every_door_tells_the_same_story(made: Job, row: dict[str, str]) -> None:
    story, at = row["story"], datetime.strptime(row["at"], "%Y-%m-%d-%H:%M")  # noqa: DTZ007
    staff, cardholder = (row[name].replace("_", " ") for name in ("staff", "cardholder"))
    told = told_by(made, row["ref"], row["of"])
    headline, plain, money = told["why"][-1], told["plain"][0], told["browse"][0]
    assert f"for the cardholder, {staff[0].lower()}{staff[1:]}; " in str(headline)
    assert str(plain).endswith(f"{cardholder}.")
    assert f" {story.replace('_', ' ')} {at:%Y-%m-%d %H:%M} UTC (" in str(money)
    assert {
        "why": (story, at, headline),
        "plain": (plain,),
        "find": (story, at),
        "timeline": (story, at, f"{staff}."),
        "browse": (money,),
        "HTTP": (story, at),
        "page": (story, at),
    } == told


def test_the_stories_have_one_order_and_are_the_states_of_find() -> None:
    """That of the texts, of the view, which takes the first that holds, and of the rule."""
    order = [row["story"] for row in ROWS]
    view = (PACKAGE / "credits" / "views.sql").read_text("utf-8").partition("name: stories_of")[2]
    rule = (PACKAGE / "docs" / "rules.md").read_text("utf-8").partition("### Stories\n")[2]
    assert order == list(texts_in("en")["stories"])
    assert order == re.findall(r"'story': '(\w+)'", view)
    assert order == re.findall(r"^\| `(\w+)`", rule.partition("\n### ")[0], re.MULTILINE)
    assert set(order) <= set(STATES)
    assert STATES == get_args(PurchaseState)


OF_STORIES = re.compile(
    r"credit_differs|credit_late|paid_to_institution|telling_failed"
    r"|webhook_only|file_only|credited_too_early"
)
"""Words of stories, and the verdicts that they follow from, that nothing else is called by."""
TOLD_IN = {
    "credits/views.sql": "the stories",
    "credits/reconcile.sql": "the verdicts",
    "answers/__init__.py": "what can be asked for",
}
"""Where they stand."""


def derived_in(path: str, text: str) -> bool:
    """Whether a file may derive a story of its own."""
    return path not in TOLD_IN and bool(OF_STORIES.search(text))


def test_no_other_place_derives_a_story() -> None:
    files = {
        str(file.relative_to(PACKAGE)): file.read_text("utf-8")
        for kind in ("*.py", "*.sql")
        for file in PACKAGE.rglob(kind)
    }
    assert [] == [path for path, text in files.items() if derived_in(path, text)]
    assert [] == [path for path in TOLD_IN if not OF_STORIES.search(files[path])]
    assert derived_in("reports/questions.sql", "case when verdict = 'webhook_only' then 'late' end")


TEXTS = """
[stories]
credited.cardholder = "{purchase}: su banco lo abonó el {when}."
"""


def test_a_language_tells_the_story_in_its_own_words_and_else_in_english(
    made: Job, tmp_path: Path
) -> None:
    with with_spanish(tmp_path, TEXTS):
        (own,), (english,) = (
            plain_answers([ref], "alder", made, locale="es") for ref in ("a5", "a2")
        )
        assert " credited GBP 5.00 by the institution" in why("a5", "alder", made).headline
    assert own.answer.endswith(": su banco lo abonó el 7 de junio de 2026.")
    assert english.answer.endswith("Your bank could not credit it yet. We are looking into it.")


def test_many_stories_are_told_at_once_and_none_of_none(made: Job) -> None:
    with made.store(read_only=True) as store:
        told = stories_of(store, uid("alder"), range(1, 12))
        assert {} == stories_of(store, uid("alder"), [])
    assert 6 == len(told)
    assert {row["story"] for row in ROWS if row["of"] == "alder"} == {
        row["story"] for row in told.values()
    }
