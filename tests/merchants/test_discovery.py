"""A person says whose an unknown identifier is; nothing else does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.answers.why import why
from cardoffers_cli.archive.export import compact, export
from cardoffers_cli.copies.work import backup
from cardoffers_cli.kernel.store.approval_requests import ApprovalNeeded
from cardoffers_cli.kernel.words.errors import CardoffersError, NotFound, Refused, UsageError
from cardoffers_cli.merchants.answers import (
    Reviewed,
    accept,
    accept_reviewed,
    make_merchant,
    refuse,
    unlink,
)
from cardoffers_cli.merchants.discovery import likely_merchants, show_evidence, suggest_merchants
from cardoffers_cli.merchants.suggestions import EVEN
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.storage.doctor import audits, offending
from cardoffers_cli.storage.restore import restore
from commands import in_a_pipe
from discovering import judge_sample, reached, unknown_world
from sizes import at_the_gate, slow, tries
from tables import NOON, put, select, snapshot, uid
from work import found, kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return unknown_world(tmp_path)


def owner(job: Job, identifier: str) -> str | None:
    return found(
        job,
        "select name from identifiers left join merchants using (merchant_id)"  # noqa: S608
        f" where merchant_identifier = '{identifier}'"
        " and merchant_identifier_type = 'card_acceptor'",
    )[0][0]


PAIRS = """identifier,descriptor
101,LUNA BOOKS #101
900,Oakwell Pharmacy 12
901,LUNA BOOKS #101
902,NOBODY OF THIS NAME
"""


@slow
def test_pairs_of_a_file_are_rated_and_nothing_is_kept(job: Job, tmp_path: Path) -> None:
    before = kept(job)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    words = ["merchant", "suggest", "--as-table", tmp_path / "pairs.csv", "--store", job.path]
    told = in_a_pipe([*words, "--format", "json"]).document
    assert {
        ("101", "LUNA BOOKS #101", "Luna Books"),
        ("900", "Oakwell Pharmacy 12", "Oakwell Pharmacy"),
        ("901", "LUNA BOOKS #101", "Luna Books"),
    } == {(each["merchant_identifier"], each["descriptor"], each["merchant_name"]) for each in told}
    ranked = [each["probability"] for each in told]
    assert sorted(ranked, reverse=True) == ranked
    assert {"known_as", "spelling", "words_in_common", "rarest_word"} == {*told[0]["evidence"]}
    assert before == kept(job)
    (tmp_path / "pairs.csv").write_text("id,name\n1,x\n")
    assert "header_column_missing" == in_a_pipe([*words, "--format", "json"]).error["code"]


def test_what_is_likely_is_suggested_with_what_hangs_on_it(job: Job) -> None:
    told = suggest_merchants(job)
    assert [
        ("101", "Luna Books", "2.00", 1, 1, 2),
        ("102", "Luna Books", "None", 1, 1, 2),  # the budget pays one of them
    ] == [
        (
            *(each.merchant_identifier, each.merchant_name, str(each.cashback)),
            *(each.purchases, each.links, each.cluster),
        )
        for each in told
    ]
    assert [] == suggest_merchants(job, "brook")


@slow
def test_links_and_payers_of_before_are_counted_of_the_merchant(job: Job) -> None:
    assert [0, 0] == [each.cardholders_in_common for each in suggest_merchants(job)]
    with job.store() as store:
        put(store, "purchases", [{"ref": "r4", "cardholder": "ann", "identifier": "100"}])
        put(store, "offers", [{"offer": each, "merchant": "Oakwell Pharmacy"} for each in "OP"])
        put(store, "links", [{"cardholder": "ann", "offer": each} for each in "OP"])
        put(store, "links", [{"cardholder": "bob", "offer": "L"}])
    told = suggest_merchants(job)
    assert [(1, 1)] * 2 == [(each.links, each.cardholders_in_common) for each in told]


def test_of_one_institution_what_waits_for_it_and_would_pay_it_is_suggested(job: Job) -> None:
    """What was paid before, and what waits for others, is not counted."""
    with job.store() as store:
        put(store, "offers", [{"offer": "M", "merchant": "Luna Books", "cashback": "3.00"}])
        put(store, "programs", [{"offer": "M"}])
        put(store, "links", [{"cardholder": "cal", "offer": "M"}])
        put(store, "purchases", [{"ref": "r4", "cardholder": "cal", "identifier": "100"}])
    match_purchases(job)
    with job.store() as store:
        row = {"institution": "brook", "cardholder": "eve", "descriptor": "LUNA BOOKS #101"}
        put(store, "purchases", [{"ref": "b1", "identifier": "101", **row}])
    assert {
        "alder": [("101", 1, "2.00"), ("102", 1, "None")],
        "brook": [("101", 1, "None")],
        None: [("101", 2, "2.00"), ("102", 1, "None")],
    } == {
        each: [
            (told.merchant_identifier, told.purchases, str(told.cashback))
            for told in suggest_merchants(job, each)
        ]
        for each in ("alder", "brook", None)
    }


@slow
def test_a_suggestion_and_its_evidence_change_nothing(job: Job) -> None:
    with job.store() as store:
        before = snapshot(store)
    suggest_merchants(job)
    shown = show_evidence(job, "101")
    with job.store() as store:
        assert before == snapshot(store)
    assert ["Luna Books"] == [each.merchant_name for each in shown.candidates]


@slow
def test_of_purchases_in_the_archive_the_same_is_suggested(job: Job, tmp_path: Path) -> None:
    match_purchases(job)
    told, shown = suggest_merchants(job), show_evidence(job, "101")
    export(job, str(tmp_path / "history"))
    assert [(0,)] == found(job, "select count(*) from recent_purchases")
    assert (told, shown) == (suggest_merchants(job), show_evidence(job, "101"))


def test_what_was_accepted_redeems_and_why_says_by_whom(job: Job) -> None:
    match_purchases(job)
    (told,) = accept(job, "101", "Luna Books", "same till")
    assert ("accepted", "Luna Books") == (told.answer, owner(job, "101"))
    assert 1 == match_purchases(job).document()["redeemed"]
    answer = why("r1", "alder", job)
    assert "redeemed" == answer.status
    assert {"since": NOON, "actor": "tester", "reason": "same till"} == answer.merchant_known
    assert [("card_acceptor:101", None, str(uid("Luna Books")), "tester")] == found(
        job, "select subject_id, old_value, new_value, actor from audit_log"
    )


@slow
@pytest.mark.parametrize("prefix", ["SQ *", "PAYPAL *", "MERCADOPAGO*", "XYZ*"])
def test_of_an_aggregator_no_merchant_is_suggested(job: Job, prefix: str) -> None:
    with job.store() as store:
        for ref, sold in zip(
            "abcd", ("LUNA BOOKS", "ELM TEA", "FIG SHOES", "OAK GYM"), strict=True
        ):
            put(store, "purchases", [{"ref": ref, "identifier": "9", "descriptor": prefix + sold}])
    assert ["101", "102"] == [each.merchant_identifier for each in suggest_merchants(job)]
    assert [] == [*show_evidence(job, "9").candidates]


def test_an_equal_name_is_likelier_than_one_that_begins_so(job: Job) -> None:
    with job.store() as store:
        put(store, "merchants", [{"merchant": "Luna Books N"}, {"merchant": "Luna Books of Luna"}])
    assert "Luna Books" == show_evidence(job, "101").candidates[0].merchant_name


@slow
def test_one_answer_covers_a_cluster(job: Job) -> None:
    dry = accept(job, "101", "Luna Books", "new tills", is_cluster=True, dry_run=True)
    assert (None, None) == (owner(job, "101"), owner(job, "102"))
    told = accept(job, "101", "Luna Books", "new tills", is_cluster=True)
    assert ["101", "102"] == [each.merchant_identifier for each in told]
    assert len(dry) == len(told)
    assert ("Luna Books", "Luna Books") == (owner(job, "101"), owner(job, "102"))


@slow
def test_what_was_refused_is_not_suggested_again(job: Job) -> None:
    refuse(job, "101", "Luna Books", "another town")
    assert ["102"] == [each.merchant_identifier for each in suggest_merchants(job)]
    with pytest.raises(Refused) as refused:
        refuse(job, "101", "Luna Books", "another town")
    assert "already_answered" == refused.value.code


def test_a_merchant_is_made_of_an_identifier(job: Job) -> None:
    told = make_merchant(job, "7", "shoes", identifier_type="card_acceptor")
    assert ("new", "PINE SHOES") == (told.answer, told.merchant_name)
    assert 2 == match_purchases(job).document()["merchant_unresolved"]


@slow
def test_what_an_unlinked_identifier_redeemed_stands(job: Job) -> None:
    accept(job, "101", "Luna Books", "same till")
    match_purchases(job)
    told = unlink(job, "101", "another shop")
    assert [("alder", 1, 0, "2.00")] == [
        (
            *(each.institution, each.redemptions, each.reversed),
            str(each.institution_payout_amount),
        )
        for each in told.redeemed
    ]
    assert owner(job, "101") is None
    assert [("pending",)] == found(job, "select status from ledger_entries")
    assert ["102"] == [each.merchant_identifier for each in suggest_merchants(job)]


def review(job: Job, **changes: str) -> list[Reviewed]:
    return [
        Reviewed(
            **{
                "merchant_identifier_type": each.merchant_identifier_type,
                "merchant_identifier": each.merchant_identifier,
                "merchant_id": str(each.merchant_id),
                "facts": each.facts,
                "reason": "looked at it",
                **changes,
            }
        )
        for each in suggest_merchants(job)
    ]


@slow
def test_of_a_reviewed_list_each_row_is_judged_for_itself(job: Job) -> None:
    rows = review(job)
    accept(job, "101", "Luna Books", "same till")
    told = accept_reviewed(job, [*review(job, facts="of another day"), *rows])
    assert ["stale", "already_answered", None] == [each.code for each in told]
    assert ("Luna Books", "Luna Books") == (owner(job, "101"), owner(job, "102"))
    assert ["already_answered"] == [each.code for each in accept_reviewed(job, rows[1:])]


@slow
def test_a_list_is_stale_once_its_names_are_another_merchants_too(job: Job) -> None:
    rows = review(job)
    accept(job, "101", "Oakwell Pharmacy", "it moved in")
    told = accept_reviewed(job, rows)
    assert ["identifier_taken", "stale"] == [each.code for each in told]
    assert owner(job, "102") is None


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("identifier_not_found", NotFound, ("999", "Luna Books", "why")),
        ("ambiguous_identifier", UsageError, ("7", "Luna Books", "why")),
        ("identifier_taken", Refused, ("100", "Oakwell Pharmacy", "why")),
        ("already_answered", Refused, ("100", "Luna Books", "why")),
        ("merchant_not_found", NotFound, ("101", "Nobody", "why")),
    ],
)
def test_what_cannot_be_accepted(
    job: Job, code: str, kind: type[CardoffersError], words: tuple[str, str, str]
) -> None:
    with pytest.raises(kind) as refused:
        accept(job, *words)
    assert code == refused.value.code


@slow
def test_an_institution_may_want_a_second_person(job: Job) -> None:
    with job.store() as store:
        select(store, "update institutions set approvals = 'on', approval_limit = 30")
    accept(job, "101", "Luna Books", "GBP 20.00 is below the limit")
    with job.store() as store:
        select(store, "update institutions set approval_limit = 10")
    with pytest.raises(ApprovalNeeded):
        accept(job, "102", "Luna Books", "GBP 20.00 is above it")
    assert owner(job, "102") is None


ORDERS = st.lists(
    st.sampled_from(
        "suggest list evidence skip match refuse unlink accept cluster new review".split()
    ),
    max_size=6,
)


@slow
@profile(max_examples=tries(6, 25), deadline=None)
@examples(orders=ORDERS)
def test_nothing_is_linked_without_a_person(
    orders: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the order of commands, an identifier is a merchant's only where a person said so."""
    job = unknown_world(tmp_path_factory.mktemp("orders"))
    expected: dict[str, str | None] = {"101": None, "102": None}
    commands: dict[str, Callable[[], Any]] = {
        "suggest": lambda: suggest_merchants(job),
        "list": lambda: likely_merchants("alder", job, limit=9),
        "evidence": lambda: show_evidence(job, "101"),
        "skip": lambda: accept(job, "101", "Luna Books", "yes", is_cluster=True, dry_run=True),
        "match": lambda: match_purchases(job),
        "refuse": lambda: [refuse(job, "101", "Luna Books", "no")],
        "unlink": lambda: unlink(job, "101", "no"),
        "accept": lambda: accept(job, "101", "Luna Books", "yes"),
        "cluster": lambda: accept(job, "102", "Luna Books", "yes", is_cluster=True),
        "new": lambda: [make_merchant(job, "101", "books", name="Luna Too")],
        "review": lambda: accept_reviewed(job, review(job)),
    }
    for order in orders:
        try:
            told = commands[order]()
        except CardoffersError:
            continue
        if order == "unlink":
            expected["101"] = None
        for each in told if order in ANSWERING else ():
            if each.answer in {"accepted", "new"}:
                expected[each.merchant_identifier] = each.merchant_name
    assert expected == {identifier: owner(job, identifier) for identifier in expected}


ANSWERING = {"refuse", "accept", "cluster", "new", "review"}
"""The orders by which a person answers."""


@at_the_gate
def test_of_a_sample_the_likeliest_four_fifths_are_right(tmp_path: Path) -> None:
    """What is proposed for an aggregator or a new merchant is wrong; so is another merchant."""
    judged = judge_sample(tmp_path, rows=20_000, unknown=400)
    firsts = [(each.probability, each.is_right) for each in judged]
    assert reached(firsts, 0.99, sum(each.is_findable for each in judged)) >= 0.8
    assert [] == [each for each in judged if each.kind == "aggregator" and each.probability >= EVEN]


AUDIT = "merchant_answers_are_whole"
BREACHES = {
    "update merchant_answers set identifier_no = 99 where answer_no = 1": "is not there",
    "update merchant_answers set merchant_id = uuid() where answer_no = 2": "is not there",
    "update merchant_answers set run_no = 99 where answer_no = 2": "is not there",
    "update merchant_answers set answer = 'maybe' where answer_no = 2": "what none can say",
    "update merchant_answers set reason = ' ' where answer_no = 2": "what none can say",
    "delete from audit_log": "is not in the audit log",
    "update audit_log set new_value = null": "is not in the audit log",
    "update identifiers set merchant_id = null": "its identifier is of nobody",
}


@pytest.mark.parametrize("breach", BREACHES)
def test_the_audit_finds_a_breach(job: Job, breach: str) -> None:
    accept(job, "101", "Luna Books", "same till")
    refuse(job, "102", "Luna Books", "another town")
    with job.store() as store:
        assert (0, None) == offending(store, AUDIT)
        select(store, breach)
        found = [row for page in store.pages(audits()[AUDIT]) for row in page]
        assert [] != [row for row in found if row["fault"].endswith(BREACHES[breach])]


@slow
def test_the_audit_lets_pass_whatever_persons_may_say(job: Job) -> None:
    refuse(job, "101", "Luna Books", "another town")
    accept(job, "101", "Luna Books", "no, here")
    unlink(job, "101", "it closed")
    make_merchant(job, "101", "books", name="Luna Too")
    refuse(job, "101", "Luna Books", "another firm")
    with job.store() as store:
        assert (0, None) == offending(store, AUDIT)


@slow
def test_answers_outlast_merge_backup_and_restore(job: Job, tmp_path: Path) -> None:
    accept(job, "101", "Luna Books", "same till")
    refuse(job, "102", "Luna Books", "another town")
    match_purchases(job)
    with job.store() as store:
        answers = snapshot(store)["merchant_answers"]
    compact(job)
    backup(job, tmp_path / "kept")
    unlink(job, "101", "after the backup")
    restore(job, tmp_path / "kept", accept_loss=True)
    with job.store() as store:
        assert answers == snapshot(store)["merchant_answers"]
        assert (0, None) == offending(store, AUDIT)
    assert ([], "Luna Books") == (suggest_merchants(job), owner(job, "101"))
