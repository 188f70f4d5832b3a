from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.answers.explanations import explain
from cardoffers_cli.answers.why import plain_answers, why, why_each
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.river.engines import match_purchases
from complaints import ANN, HOSTILE, complaints
from sizes import one_in, slow
from tables import given, select, uid
from work import kept

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job on the scene of `complaints`, which these tests only look at."""
    return complaints(tmp_path_factory.mktemp("complaints"))


# ref, status, reason, offer, headline
ANSWERS = """
won      | redeemed            | redeemed                 | A | It redeemed A at bakery: GBP 3.00 \
for the cardholder, settled at 2026-06-03 12:00 UTC; no webhook is configured, so the institution \
was not told.
second   | redeemed            | redeemed                 | B | It redeemed B at bakery: GBP 2.00 \
for the cardholder, reversed at 2026-06-03 12:00 UTC (goods returned); the \
webhook is stopped.
third    | not_redeemed        | redemption_limit_reached | B | It redeemed nothing: 1 of 1 uses \
were spent, the last at 2026-06-01 09:00 UTC (B at bakery).
spent    | not_redeemed        | budget_exhausted         | A | It redeemed nothing: the budget \
was spent at 2026-06-01 08:00 UTC by earlier purchases, which held GBP 9.90 of GBP 9.90, and one \
redemption takes GBP 3.30 (A at bakery).
small    | not_redeemed        | below_min_spend          | C | It redeemed nothing: it is short \
by GBP 7.50 (C at CINEMA).
early    | not_redeemed        | offer_not_started        | C | It redeemed nothing: the offer \
began 1 s later (C at CINEMA).
ended    | not_redeemed        | offer_expired            | C | It redeemed nothing: the offer had \
ended at the same time (C at CINEMA).
late     | not_redeemed        | enrolled_after_purchase  | A | It redeemed nothing: it came 2 h \
before the enrolment (A at bakery).
stranger | not_redeemed        | not_enrolled             | A | It redeemed nothing: the \
cardholder had not added the offer (A at bakery).
nothing  | not_redeemed        | no_offer                 | - | It redeemed nothing: there is no \
offer at kiosk that the cardholder could have.
unknown  | merchant_unresolved | merchant_unresolved      | - | It waits: the merchant \
card_acceptor M9 is not in the catalogue yet.
nobody   | merchant_unresolved | merchant_unresolved      | - | It redeemed nothing: it came \
without a merchant, so it fits no offer.
waits    | not_matched_yet     | not_matched_yet          | - | It was received at \
2026-06-03 12:00 UTC and waits for the next match.
theirs   | not_received        | not_received             | - | This institution did not send it; \
brook sent a purchase of this reference.
nowhere  | not_received        | not_received             | - | Nothing with this reference was \
ever received.
"""
ROWS = [[cell.strip() for cell in line.split(" | ")] for line in ANSWERS.strip().splitlines()]
SHOWN = r"=cinema\x1b[31m[bold]<b>|\u202e"


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
@one_in(4)
def test_every_reason_has_its_answer(made: Job, row: list[str]) -> None:
    ref, status, reason, offer, headline = (cell.replace("CINEMA", SHOWN) for cell in row)
    told = why(ref, "alder", made)
    assert [ref, status, reason, None if offer == "-" else offer, headline] == [
        told[name] for name in ("transaction_ref", "status", "reason", "offer_id", "headline")
    ]


# the event's state, attempts, and whether the last failed; what staff and the cardholder are told
DELIVERIES = """
settled due       0 -       yes | the webhook is not sent yet | It was settled on 3 June 2026.
settled due       0 -       no  | no webhook is configured, so the institution was not told \
| It was settled on 3 June 2026.
settled failed    1 timeout yes | the webhook failed (timeout, 1 attempt); it is tried again at \
2026-06-05 12:00 UTC | It was settled on 3 June 2026.
settled due       2 timeout yes | the webhook failed (timeout, 2 attempts); it is tried again at \
2026-06-05 12:00 UTC | It was settled on 3 June 2026.
settled failed    1 timeout no  | no webhook is configured, so the institution was not told \
| It was settled on 3 June 2026.
settled exhausted 6 timeout yes | the webhook failed (timeout, 6 attempts) and is not tried again \
| Your bank could not be told of it yet. We are looking into it.
settled delivered 2 -       yes | the webhook was delivered at 2026-06-04 12:00 UTC \
| It was settled on 3 June 2026.
settled delivered 2 -       no  | the webhook was delivered at 2026-06-04 12:00 UTC \
| It was settled on 3 June 2026.
pending due       0 -       yes | the webhook is not sent yet | It is to be settled on 3 June 2026.
pending failed    1 timeout yes | the webhook failed (timeout, 1 attempt); it is tried again at \
2026-06-05 12:00 UTC | It is to be settled on 3 June 2026.
pending exhausted 6 timeout yes | the webhook failed (timeout, 6 attempts) and is not tried again \
| Your bank could not be told of it yet. We are looking into it.
pending delivered 1 -       yes | the webhook was delivered at 2026-06-04 12:00 UTC \
| It is on its way to you.
"""


@slow
def test_what_is_told_is_how_far_the_webhook_is(tmp_path: Path) -> None:
    scene = complaints(tmp_path)
    rows = DELIVERIES.strip().splitlines()
    told = []
    for row in rows:
        status, state, attempts, error, has_webhook = row.partition("|")[0].split()
        changes = f"""
            update ledger_entries set status = '{status}';
            update outbox set state = '{state}', attempts = {attempts},
                next_attempt_at = timestamp '2026-06-05 12:00';
            update institutions set webhook_url = if('{has_webhook}' = 'yes', 'https://a.example',
                null);
            delete from attempts;
            insert into attempts by name
            select redemption_no as event_no, redemption_no, institution_id,
                {attempts} as number, 3 as run_no,
                false as is_manual, timestamp '2026-06-04 12:00' as started_at,
                nullif('{error}', '-') as error
            from redemptions where {attempts} > 0;
            delete from webhook_secrets;
            insert into webhook_secrets
            select row_number() over (), institution_id, 'x', timestamp '2026-06-01',
                timestamp '2026-06-01'
            from institutions where '{has_webhook}' = 'yes'
        """  # noqa: S608 - the rows of this file
        with scene.store() as store:
            for change in changes.split(";"):
                select(store, change)
        headline = why("won", "alder", scene)["headline"].partition("; ")[2].rstrip(".")
        (plain,) = plain_answers(["won"], "alder", scene, locale="en")
        ending = plain["answer"].partition("“Bread!”. ")[2]
        told.append(f"{status} {state} {attempts} {error} {has_webhook} | {headline} | {ending}")
    assert [" ".join(row.split()) for row in rows] == told


@slow
def test_a_list_tells_what_single_questions_tell(made: Job) -> None:
    refs = [*(row[0] for row in ROWS), "won"]
    single = [why(ref, "alder", made) for ref in refs[:-1]]
    assert single == [
        {**each, "institution": "alder", "near": []} for each in why_each(refs, "alder", made)
    ]


def evaluations(told: dict[str, Any]) -> list[str]:
    names = ("offer_id", "outcome", "expected", "actual")
    return [" ".join(str(each[name]) for name in names) for each in told["evaluations"]]


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("won", ["A redeemed None None", "B outranked 3.00 2.00"]),
        ("second", ["B redeemed None None", "A budget_exhausted 9.90 9.90"]),
        ("third", ["B redemption_limit_reached 1 1", "A budget_exhausted 9.90 9.90"]),
        ("small", ["C below_min_spend 20.00 12.50"]),
        ("nothing", []),
        ("unknown", ["C merchant_unresolved None None"]),
        ("waits", []),
    ],
)
def test_the_nearest_offer_comes_first(made: Job, ref: str, expected: list[str]) -> None:
    assert expected == evaluations(why(ref, "alder", made))


def checks(told: dict[str, Any]) -> dict[str, bool | None]:
    return {each["check"]: each["ok"] for each in told["checks"]}


def test_every_check_of_the_nearest_offer_is_told(made: Job) -> None:
    names = ("enrolled", "started", "not_expired", "min_spend", "budget", "uses", "best_offer")
    assert dict.fromkeys(names, True) == checks(why("won", "alder", made))
    assert {**dict.fromkeys(names[:3], True), "min_spend": False, **dict.fromkeys(names[4:])} == (
        checks(why("small", "alder", made))
    )
    assert [] == why("unknown", "alder", made)["checks"]


def test_what_was_decided_stays_when_the_terms_change(made: Job) -> None:
    before = why("small", "alder", made)
    with made.store() as store, store.transaction(keep=False):
        select(store, "update offers set min_spend = 1, cashback_amount = 9")
        later = "insert into offer_versions select * replace (99 as run_no, 1 as min_spend)"
        select(store, f"{later} from offer_versions")
        found = explain(store, uid("alder"), ["small"])["small"]
    assert before["evaluations"] == found["evaluations"]
    assert before["checks"] == found["checks"]


def test_a_rejected_row_is_told_with_its_line_and_how_to_mend_it(made: Job) -> None:
    told = why("free", "alder", made)
    assert ("rejected", "rejected") == (told["status"], told["reason"])
    (reject,) = told["rejects"]
    assert (14, "amount", "amount_not_positive") == tuple(
        reject[name] for name in ("line", "column", "code")
    )
    assert reject["fix"]
    assert re.fullmatch(
        r"It was rejected: the amount is zero or negative \(.*, line 14\)\.", told["headline"]
    )


def test_a_purchase_tells_where_it_came_again(made: Job) -> None:
    again = {
        ref: [(each["line"], each["conflict"]) for each in why(ref, "alder", made)["duplicates"]]
        for ref in ("won", "second", "third")
    }
    assert {"won": [(15, False)], "second": [(16, True)], "third": []} == again


@pytest.mark.parametrize("ref", ["tx-0010", "TX-OOIO", "TX-10", "tx 0010", "TX0010"])
def test_a_near_miss_is_suggested(made: Job, ref: str) -> None:
    told = why(ref, "alder", made)
    assert ("not_received", ["TX-0010"]) == (told["status"], told["near"])


@pytest.mark.parametrize("ref", ["theirs", "THEIRS", "their5"])
def test_another_institution_is_never_heard_of(made: Job, ref: str) -> None:
    told = why(ref, "alder", made)
    assert ("not_received", []) == (told["status"], told["near"])
    assert "redeemed" == why("theirs", "brook", made)["status"]


def test_an_unknown_institution_is_not_found(made: Job) -> None:
    with pytest.raises(NotFound) as caught:
        why("won", "nowhere", made)
    assert "institution_not_found" == caught.value.code


# Decided again, now


def test_now_nothing_differs_where_nothing_changed(made: Job) -> None:
    for ref in ("won", "small", "late"):
        assert [] == why(ref, "alder", made, now=True)["now"]["differs"]


@slow
def test_now_tells_what_has_changed_and_keeps_nothing(tmp_path: Path) -> None:
    changed = complaints(tmp_path)
    with changed.store() as store:
        given(store, "identifiers", "identifier merchant\nM9 kiosk")
        given(store, "links", "cardholder offer added_at\nben K 2026-05-20")
        given(store, "programs", "institution offer\nalder K")
        select(store, "update links set run_no = 1 where run_no = 0")
    before = kept(changed)
    told = why("unknown", "alder", changed, now=True)
    assert ("merchant_unresolved", "redeemed") == (told["status"], told["now"]["status"])
    assert "K" == told["now"]["offer_id"]
    assert {"status", "reason", "offer_id"} < set(told["now"]["differs"])
    third = why("third", "alder", changed, now=True)["now"]
    assert ("redeemed", "B") == (third["status"], third["offer_id"])  # a reversal gave the use back
    assert before == kept(changed)
    match_purchases(changed)
    assert "redeemed" == why("unknown", "alder", changed)["status"]


# What the cardholder is told


def test_a_plain_answer_holds_nothing_internal(made: Job) -> None:
    refs = [*(row[0] for row in ROWS), "free"]
    internal = re.compile(r"\b(M1|M9|ann|ben|[ABCDK]|alder|brook|ledger|redem\w*)\b|\x1b|\u202e")
    for locale in ("en", "es", "pt-BR"):
        for each in plain_answers(refs, "alder", made, locale=locale):
            text = each["answer"].replace("“B”", "").replace("«B»", "")
            assert not internal.search(text), text


@pytest.mark.parametrize(
    ("locale", "answer"),
    [
        (
            "en",
            (
                "Your purchase of GBP 20.00 at bakery on 1 June 2026 earned GBP 3.00 of cashback "
                "with the offer “Bread!”. It was settled on 3 June 2026."
            ),
        ),
        (
            "es",
            (
                "Your purchase of GBP 20.00 at bakery on 1 June 2026 earned GBP 3.00 of cashback "
                "with the offer “¡Pan!”. It was settled on 3 June 2026."
            ),
        ),
        (
            "PT-br",
            (
                "Your purchase of GBP 20.00 at bakery on 1 June 2026 earned GBP 3.00 of cashback "
                "with the offer “Bread!”. It was settled on 3 June 2026."
            ),
        ),
    ],
)
def test_a_plain_answer_is_english_and_names_the_offer_in_the_language(
    made: Job, locale: str, answer: str
) -> None:
    (told,) = plain_answers(["won"], "alder", made, locale=locale)
    assert ("en", answer) == (told["locale"], told["answer"])


def test_without_a_locale_it_is_the_first_of_the_institution(made: Job) -> None:
    (told,) = plain_answers(["won"], "alder", made, locale=None)
    assert "en" == told["locale"]
    with pytest.raises(UsageError) as caught:
        plain_answers(["won"], "alder", made, locale="fr")
    assert "locale_unknown" == caught.value.code


@slow
def test_no_token_leaves(made: Job) -> None:
    told = [why(row[0], "alder", made, now=True) for row in ROWS]
    assert ANN not in repr(told)
    assert "ann-…b1a0" == told[0]["purchase"]["cardholder_token_masked"]
    assert HOSTILE == told[4]["purchase"]["merchant_name"]  # doors make it harmless
