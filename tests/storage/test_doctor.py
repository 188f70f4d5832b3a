"""Every audit is silent on a good store, and loud on one that was broken on purpose."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.catalogue import importing as catalogue
from cardoffers_cli.credits.work import reconcile
from cardoffers_cli.documents.closing import close_all, close_invoices
from cardoffers_cli.events import deliver
from cardoffers_cli.events.deliver import Claim, FinishedAttempt
from cardoffers_cli.events.sending import alert
from cardoffers_cli.events.subscriptions import retry, set_webhook
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.sheets.exports import copy_sample_data
from cardoffers_cli.kernel.store.card_numbers import keep_numbers, numbers_of
from cardoffers_cli.kernel.store.layout import (
    journal_path,
    kept_files,
    make_folder,
    sweep,
    usage_path,
)
from cardoffers_cli.kernel.store.runs import start_run
from cardoffers_cli.kernel.store.signing_secrets import read_secrets
from cardoffers_cli.kernel.store.usage_journal import UsageJournal
from cardoffers_cli.kernel.words.card_forms import NumberForm
from cardoffers_cli.kernel.words.events import ANNOUNCEMENT
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.row_kinds import CREDITS
from cardoffers_cli.keys import work as keys
from cardoffers_cli.offers import work as offers
from cardoffers_cli.payouts.exporting import export_payout
from cardoffers_cli.payouts.importing import import_bank_file
from cardoffers_cli.river import engines as elsewhere
from cardoffers_cli.river import redemptions as reverse
from cardoffers_cli.river import settlements as settle
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.storage import doctor
from cardoffers_cli.storage.doctor import OF_A_PART, audits, offending, show_part
from cardoffers_cli.storage.stores import accept_loss
from sizes import at_the_gate, one_in, slow
from tables import HASHED, select
from work import found, new_store, settings, taken

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

BOUGHT = datetime(2026, 10, 1)  # noqa: DTZ001 - moments are naive UTC
HELD = BOUGHT + timedelta(days=7)
LATER = BOUGHT + timedelta(days=8)
CARDHOLDER = "742488db0fad2435a10c303876b855811170142399e76f757ac36b15c690058d"
CARD = "ct_f30b4142efbbd3bd8eb1005be47ec942"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Return a store in which everything has happened that can."""
    folder = tmp_path_factory.mktemp("good")
    copy_sample_data(folder)
    made = replace(new_store(folder), now=BOUGHT)
    catalogue.import_catalogue(made, folder / "catalog")
    for name, institution in [
        ("larkmere", "larkmere"),
        ("tarnhollow", "tarnhollow"),
        ("larkmere-dirty", "larkmere"),
        ("larkmere", "larkmere"),
    ]:
        taken(made, folder / "transactions" / f"{name}.csv", institution)
    credited = str(folder / "credits" / "larkmere.csv")
    import_file(
        credited,
        "larkmere",
        replace(made, now=LATER),
        ImportOptions(kind=CREDITS),
        outputs=Outputs(),
    )
    elsewhere.match_purchases(made)
    reverse_one(made, "pending")
    settle.settle_due(replace(made, now=HELD))
    reverse_one(replace(made, now=HELD), "settled")
    settle.settle_due(replace(made, now=LATER))
    give_keys_and_webhooks(made)
    send_everything(made)
    reverse_what_was_sent(made)
    request = offers.AddRequest(offer_id="of-00007", cardholder_token=CARDHOLDER, card_token=CARD)
    offers.add_offer("larkmere", request, replace(made, now=LATER))
    set_institution(made, "larkmere", {"max_active_offers": "1"})  # which takes nothing back
    for period in ("2026-09", "2026-10"):
        close_all(replace(made, now=HELD + timedelta(days=40)), period)
        close_invoices(replace(made, now=HELD + timedelta(days=40)), period)
    reconcile_some(made)  # by now, because findings keep a month open
    pay_one(made)
    return made


def pay_one(made: Job) -> None:
    """Export a statement for payment, and let the bank say that it was paid."""
    given = AccountOptions(account=ACCOUNT, holder="Larkmere plc")
    set_institution(made, "larkmere", {}, account=given)
    payer = settings(payer_name="Offers", payer_account=ACCOUNT)
    ((number,),) = found(made, "select min(number) from statements where payable > 0")
    pays = replace(made, now=HELD + timedelta(days=41), settings=payer)
    export_payout(pays, number, "csv", made.path.with_name("payment.csv"))
    bank = made.path.with_name("bank.csv")
    bank.write_text(
        f"payment_id,status,amount,currency,booked_at\n{number},booked,1.00,GBP,2026-11-01\n"
    )
    import_bank_file(pays, bank)


ACCOUNT = "GB33BUKB20201555555555"


def reconcile_some(made: Job) -> None:
    """Reconcile what larkmere credited, and again when more of it is late."""
    reconcile(replace(made, now=LATER))
    reconcile(replace(made, now=LATER + timedelta(days=30)))


ENTRIES = (
    "select status, cast(redemption_id as varchar) from redemptions"
    " join ledger_entries using (redemption_no) order by redemption_no"
)


def reverse_one(made: Job, status: str) -> None:
    redemption_id = next(each for found_in, each in found(made, ENTRIES) if found_in == status)
    reverse.reverse(redemption_id, "goods returned", made)


def give_keys_and_webhooks(made: Job) -> None:
    for slug in ("larkmere", "tarnhollow"):
        keys.create_key(keys.KeyRequest(institution=slug, name="till", scopes=("offers",)), made)
        set_webhook(made, slug, "https://example.com/hook", past="all")


def send_everything(made: Job) -> None:
    """Let events be delivered, fail, be cut off and exhaust; have some sent again, and by hand."""
    send_for_days(made, HELD, days=11)
    exhausted = "select cast(subject_id as varchar) from outbox where state = 'exhausted'"
    again, by_hand, in_vain = [each for (each,) in found(made, exhausted + " order by all")[:3]]
    retry(replace(made, now=HELD + timedelta(days=20)), subjects=[again])
    send_for_days(made, HELD + timedelta(days=20), days=11)
    send_by_hand(made, by_hand, None)
    send_by_hand(made, by_hand, "http_error")
    send_by_hand(made, in_vain, "http_error")


def reverse_what_was_sent(made: Job) -> None:
    """Let the reversals of five redemptions be sent too; some fail before that."""
    now = HELD + timedelta(days=40)
    for slug in ("larkmere", "tarnhollow"):
        set_webhook(made, slug, events=("completed", "reversed"))
    for _ in range(5):  # of which one is never heard of again
        reverse_one(replace(made, now=now), "settled")
    send_for_days(made, now, days=11)


def send_for_days(made: Job, first: datetime, days: int) -> None:
    for day in range(days):
        now = first + timedelta(days=day)
        with made.store() as store, store.transaction():
            run_no = sending(store, now)
            secrets = read_secrets(made.path)
            claims = deliver.claim_due(store, secrets, now=now, due_by=now, most=999, most_open=999)
            kept = claims if day else claims[1:]
            ended = [_ended(claim, now) for claim in kept if day < 3 or (claim.event_no + 1) % 5]
            deliver.record(store, ended, run_no=run_no)
            by_number = {claim.event_no: claim for claim in claims}
            for each in ended:
                alert(store, by_number[each.event_no], each, now=now)


def send_by_hand(made: Job, redemption_id: str, error: str | None) -> None:
    now = HELD + timedelta(days=40)
    with made.store() as store, store.transaction():
        run_no = sending(store, now)
        secrets = read_secrets(made.path)
        (claim,) = deliver.claim_one(store, redemption_id, ANNOUNCEMENT.name, secrets, now=now)
        ended = replace(_attempt(claim, now), error=error)
        ended = ended if error else ended.delivered()
        deliver.record(store, [ended], run_no=run_no)
        alert(store, claim, ended, now=now)


def sending(store: Store, now: datetime) -> int:
    """Begin to send, as every sender does: what was cut off comes first."""
    run = start_run(store, kind="webhook_send", now=now, actor="tester")
    deliver.release(store, run_no=run.run_no)
    return run.run_no


def _ended(claim: Claim, now: datetime) -> FinishedAttempt:
    """Let every third event be delivered."""
    attempt = _attempt(claim, now)
    if claim.event_no % 3 == 0:
        return replace(attempt, error=None).delivered()
    return attempt.failed(0, None)


def _attempt(claim: Claim, now: datetime) -> FinishedAttempt:
    return FinishedAttempt(
        event_no=claim.event_no,
        secret_no=claim.secret_no,
        signed_at_s=0,
        started_at=now,
        http_status=500,
        error="http_error",
        duration_ms=7,
        state=claim.state,
        failures=claim.failures,
        next_attempt_at=claim.next_attempt_at,
    )


def failed(made: Job, *, strict: bool = True) -> list[str]:
    report = doctor.doctor(made, strict=strict)
    assert report["ok"] == all(audit["ok"] for audit in report["audits"])
    return [audit["name"] for audit in report["audits"] if not audit["ok"]]


@slow
def test_a_good_store_is_clean(good: Job) -> None:
    report = doctor.doctor(good, strict=True)
    *audits, copies = report["audits"]
    assert [] == [audit for audit in audits if audit["rows"] or audit["example"]]
    assert (True, "copy_missing") == (copies["ok"], copies["example"]["fault"])
    assert report["ok"]
    assert doctor.names() == [audit["name"] for audit in report["audits"]]


@slow
def test_everything_has_happened_in_the_good_store(good: Job) -> None:
    assert {("delivered",), ("exhausted",)} <= {*found(good, "select state from outbox")}
    assert {("unknown",), ("http_error",), (None,)} == {*found(good, "select error from attempts")}
    twice = "select max(n) from (select count(*) as n from attempts group by redemption_no)"
    assert [(True,)] == found(good, f"select ({twice}) >= 18")
    assert {(True,), (False,)} == {*found(good, "select is_manual from attempts")}
    states = found(good, "select state from outbox where kind = 'redemption.reversed'")
    assert {("delivered",), ("failed",)} <= {*states}
    moves = "select distinct status from ledger_moves order by all"
    assert [("pending",), ("reversed",), ("settled",)] == found(good, moves)
    counted = "select count(*) > 0 from "
    for table in ("adjustments", "rejects", "duplicates", "inbox_messages", "acts"):
        assert [(True,)] == found(good, counted + table)
    assert [(1,)] == found(good, "select count(*) from runs where kind = 'offer_add'")


def test_the_quick_audits_are_some_of_all() -> None:
    assert set(doctor.names()) > set(doctor.names(strict=False)) == doctor.QUICK | {doctor.COPIES}


TOLD_WRONG = [
    "body = left(body, length(body) - 1)",
    "body = ''",
    "body = '[]'",
    "body = 'null'",
    "body = '{}'",
    "body = chr(0) || body",
    "body = other.body from outbox as other where other.redemption_no = 1",
    """body = replace(body, '.completed', '.undone')""",
    """body = replace(body, '"offer_id":"', '"offer_id":"x')""",
    """body = replace(body, '"cardholder_token":"', '"cardholder_token":"x')""",
    """body = replace(body, '…', '...')""",
    """body = replace(body, 'institution_payout_amount":', 'institution_payout_amount":1')""",
    """body = regexp_replace(body, '(amount":[0-9]+.[0-9]+)', '\\11')""",
    """body = regexp_replace(body, '(amount":)([0-9.]+)', '\\1"\\2"')""",
    """body = replace(body, '.000Z', '.001Z')""",
    """body = replace(body, '"offer_id":', '"currency":"XXX","offer_id":')""",
    """body = replace(body, '"offer_id":', '"transaction_ref":"","offer_id":')""",
    "occurred_at = occurred_at + to_milliseconds(1)",
]
"""What is done to events so that they say something else than the ledger."""


FETCHED = "fetched_files_are_imported_before_they_go"
PICKED = (
    "insert into picked_files"
    " select 1, institution_id, 'sftp://host/in', 'a.csv', '1:1', 1, 'x', 'x', 'a.csv',"
    " '2026-06-01', '2026-06-01', 'removed' from institutions limit 1"
)
PICKED_TWICE = (
    "update picked_files set outcome = null;"
    "insert into picked_files select * replace (2 as picked_no) from picked_files"
)
PAID_ONCE = "payouts_pay_their_statement"
POSTED = "journal_is_what_was_done"
CLOSED_ONCE = "documents_take_each_settlement_once"
ADD_UP = "documents_add_up"
CLOSED = "update closed_settlements"
LOST = "delete from closed_settlements"
OF_STATEMENT = "where document = 'statement'"
OF_INVOICE = "where document = 'invoice'"
FOLLOWING = "documents_follow_each_other"
TAKEN_BACK_WRONG = [
    "body = replace(body, 'amount\":', 'amount\":1') where kind = 'redemption.reversed'",
    "body = replace(body, 'reason\":\"', 'reason\":\"x') where kind = 'redemption.reversed'",
    "occurred_at = occurred_at + to_milliseconds(1) where kind = 'redemption.reversed'",
    "redemption_no = 1 where kind = 'redemption.reversed'",
]
"""What is done to events of reversals so that they say something else than the ledger."""

WAITING = "waiting_is_what_waits"
UNKNOWN = "select min(purchase_no) from unresolved_purchases"
DECIDED = "select min(purchase_no) from recent_decisions where outcome <> 'merchant_unresolved'"
DECIDED_ROW = (
    "select * exclude (transaction_ref, instrument_no, received_at, import_no, line)"
    " from purchases where purchase_no in (select purchase_no from recent_decisions"
    " where outcome <> 'merchant_unresolved') limit 1"
)
QUEUE = [
    "update match_watermark set purchase_no = purchase_no - 1",
    "update match_watermark set purchase_no = 0",
    "delete from match_watermark",
    "insert into match_watermark from match_watermark",
    f"delete from unresolved_purchases where purchase_no = ({UNKNOWN})",  # noqa: S608 - ours
    "insert into unresolved_purchases from unresolved_purchases limit 1",
    f"insert into unresolved_purchases by name {DECIDED_ROW}",
    f"update unresolved_purchases set purchase_no = 999999 where purchase_no = ({UNKNOWN})",  # noqa: S608
    "update unresolved_purchases set identifier_no = coalesce(identifier_no, 0) + 1",
    "update unresolved_purchases set merchant_id = institution_id",
    "update unresolved_purchases set cardholder_no = cardholder_no + 1",
    "update unresolved_purchases set amount = amount + 0.0001",
    "update unresolved_purchases set currency = 'XXX'",
    "update unresolved_purchases set transacted_at = transacted_at + to_microseconds(1)",
    "update unresolved_purchases set institution_id = uuid()",
    f"delete from recent_decisions where purchase_no = ({DECIDED})",  # noqa: S608 - ours
    "insert into recent_purchases select * replace (0 as purchase_no) from purchases limit 1",
]
"""What is done to the queue of a match, so that it looks at others than those that wait."""
INDEX = [
    "delete from purchase_refs where purchase_no < 9",
    "insert into purchase_refs from purchase_refs limit 1",
    "insert into purchase_refs values (7, 999999)",
    "update purchase_refs set ref_hash = ref_hash - 1 where purchase_no < 9",
    "update purchase_refs set purchase_no = purchase_no + 1",
    "update recent_purchases set transaction_ref = transaction_ref || 'x' where line = 2",
]
"""What is done to references, or to the hashes that they are found by."""
LOOKS = [
    "delete from purchase_looks where purchase_no < 9",
    "insert into purchase_looks from purchase_looks limit 1",
    "insert into purchase_looks values (7, 999999)",
    "update purchase_looks set look = look - 1 where purchase_no < 9",
    "update purchase_looks set purchase_no = purchase_no + 1",
    "update recent_purchases set instrument_no = instrument_no + 1 where line = 2",
    "update recent_purchases set transacted_at = transacted_at + interval 1 second where line = 2",
]
"""What is done to purchases, or to what those that are alike are found by."""
CREDITED_WRONG = [
    "insert into credits select * from credits limit 1",
    "update credits set ref_hash = ref_hash - 1 where line = 3",
    "update credits set credit_ref = credit_ref || 'x' where line = 3",
    "update credits set amount = 0 where line = 3",
    "update credits set status = 'paid' where line = 3",
    "update credits set redemption_id = null where line = 3",
]
"""What is done to what was credited."""


RECONCILED = {
    "credited_rows_are_of_one_redemption": [
        "insert into credit_links from credit_links limit 1",
        "update credit_links set redemption_no = 999999 where credit_no = 5",
        "update credit_links set amount = amount + 1",
        "update credits set credited_at = credited_at + to_days(1)",
        "delete from credits",
    ],
    "everything_reconciled_has_a_verdict": [
        "delete from reconciliation_verdicts where subject_no = 5",
        "insert into reconciliation_verdicts from reconciliation_verdicts limit 1",
        "update reconciliation_verdicts set subject = 'redemption'",
        "update reconciliation_verdicts set code = 'known_now' where subject = 'credit'",
    ],
    "reconciled_totals_are_kept": [
        "update reconciliation_totals set verdicts = verdicts + 1",
        "update reconciliation_totals set amount = amount + 0.01",
        "update reconciliation_totals set moved_amount = 0",
        "delete from reconciliation_totals",
        "update reconciliation_verdicts set credited_amount = credited_amount + 0.01",
    ],
}
"""What is done to credited rows, to their verdicts and totals, by the audit that finds it."""

BREAKS = {
    **{harm: audit for audit, harms in RECONCILED.items() for harm in harms},
    **dict.fromkeys(QUEUE, WAITING),
    **dict.fromkeys(INDEX, "references_are_indexed"),
    **dict.fromkeys(LOOKS, "looks_are_indexed"),
    **dict.fromkeys(CREDITED_WRONG, "credits_are_as_they_were_sent"),
    "delete from credits where line = 3": "imports_have_their_rows",
    "insert into recent_purchases select * from purchases limit 1": "transaction_refs_unique",
    "insert into recent_decisions select * from recent_decisions limit 1": "decided_once",
    "insert into recent_outcomes select * from recent_outcomes limit 1": "decided_once",
    "update recent_purchases set purchase_no = 2 where purchase_no < 9": "numbers_unique",
    "insert into runs select * replace (999 as run_no) from runs where run_no = 1": (
        "numbers_unique"
    ),
    "insert into cardholders select 9999, institution_id, cardholder_token from cardholders"
    " limit 1": "tokens_unique",
    "insert into identifiers select 9999, merchant_identifier_type, merchant_identifier, null"
    " from identifiers limit 1": "tokens_unique",
    "insert into history_parts select 'outcomes', 1, run_id, 1, 1, null from runs limit 1;"
    "insert into history_left select table_name, run_id, '2026-06-01' from history_parts": (
        "left_parts_are_not_listed"
    ),
    "insert into links select * from links limit 1": "links_unique",
    "delete from cardholders where cardholder_no = 1": "nothing_points_nowhere",
    "delete from instruments": "nothing_points_nowhere",
    "delete from outbox where attempts > 0": "nothing_points_nowhere",
    "update recent_purchases set import_no = 77 where import_no = 1": "nothing_points_nowhere",
    "update imports set received = received + 1 where import_no = 1": "imports_add_up",
    "update imports set duplicates = -1, received = received - duplicates - 1": "imports_add_up",
    "update imports set accepted = accepted + 1, received = received + 1 where import_no = 1": (
        "imports_have_their_rows"
    ),
    "update imports set amount_accepted = 0 where import_no = 1": "imports_have_their_rows",
    "delete from rejects": "imports_have_their_rows",
    "update recent_purchases set amount = amount + 0.01 where line = 2": "imports_have_their_rows",
    "update ledger_entries set commission_amount = 0.01 + commission_amount": "amounts_add_up",
    "update ledger_entries set commission_amount = -1, institution_payout_amount = 1 +"
    " merchant_funded_amount": "amounts_add_up",
    "update offer_versions set cashback_amount = cashback_amount + 0.01": (
        "amounts_follow_their_version"
    ),
    "update offer_versions set commission_rate = 0.5": "amounts_follow_their_version",
    "update ledger_entries set institution_payout_amount = institution_payout_amount + 0.01,"
    " merchant_funded_amount = merchant_funded_amount + 0.01": "amounts_follow_their_version",
    "update ledger_entries set institution_payout_amount = institution_payout_amount + 0.01,"
    " commission_amount = commission_amount - 0.01": "amounts_follow_their_version",
    "update redemptions set version_no = 0": "amounts_follow_their_version",
    "update redemptions set version_no = null": "amounts_follow_their_version",
    "insert into offer_versions select * replace (2 as run_no, '2026-06-01' as known_at)"
    " from offer_versions": "versions_were_in_force",
    "update settlements set entries = entries + 1": "settlements_add_up",
    "update settlements set adjustments = adjustments + 1": "settlements_add_up",
    "update settlements set merchant_funded_amount = merchant_funded_amount + 0.01,"
    " commission_amount = commission_amount + 0.01": "settlements_add_up",
    "update settlements set commission_amount = commission_amount + 0.01,"
    " institution_payout_amount = institution_payout_amount - 0.01": "settlements_add_up",
    "update adjustments set settlement_no = 1": "settlements_add_up",
    "update adjustments set settlement_no = null": "settlements_add_up",
    "update ledger_entries set settlement_no = null where settlement_no = 1": "settlements_add_up",
    "update ledger_entries set settlement_no = 99": "settlements_add_up",
    "insert into settlements select * replace (99 as settlement_no) from settlements limit 1": (
        "settlements_add_up"
    ),
    "update settlements set institution_payout_amount = 0": "settlements_add_up",
    "delete from settlements where settlement_no = 1": "settlements_add_up",
    "update ledger_entries set settlement_no = 1 where settlement_no = 2": "settlements_add_up",
    PICKED: FETCHED,
    f"{PICKED};{PICKED_TWICE}": FETCHED,
    "update settlements set currency = 'JPY'": POSTED,
    "update settlements set institution_payout_amount = institution_payout_amount + 1": (
        "settlements_add_up"
    ),
    "delete from settlements where run_no = (select max(run_no) from settlements)": POSTED,
    "update ledger_entries set merchant_id = uuid() where settlement_no is not null": POSTED,
    "update ledger_entries set institution_id = uuid() where status = 'reversed'": POSTED,
    "delete from adjustments where settlement_no is not null": POSTED,
    "delete from ledger_moves where status = 'reversed'": POSTED,
    "delete from invoices where invoice_no = (select max(invoice_no) from invoices)": POSTED,
    "insert into legal_invoices select 1, number, null, 9 from invoices limit 1": POSTED,
    "insert into invoice_settlements select 1, number, 'dispute', 9, 'x' from invoices"
    " limit 1": POSTED,
    "delete from statements using (select max(statement_no) as last from statements)"
    " where statement_no = last": POSTED,
    "delete from payouts": POSTED,
    "update payouts set withdrawn_at = exported_at": POSTED,
    "delete from bank_entries where status = 'booked'": POSTED,
    "update bank_entries set amount = amount + 1": POSTED,
    "delete from journal_lines using (select max(entry_no) as last from journal_entries)"
    " where entry_no = last; delete from journal_entries where entry_no not in"
    " (select entry_no from journal_lines)": POSTED,
    "update journal_lines set account = 'suspense' where account = 'bank'": POSTED,
    "update journal_lines set party_id = uuid() where account = 'institutions:due'": POSTED,
    "update journal_entries set run_no = run_no + 1 where event = 'settled'": POSTED,
    "update journal_lines set amount = 2 * amount where entry_no = 1": POSTED,
    "update journal_lines set amount = amount + 1 where amount > 0": "journal_balances",
    "delete from journal_lines where entry_no = 1": "journal_balances",
    "delete from journal_entries where entry_no = 1": "journal_balances",
    "insert into journal_entries select * replace (99 + entry_no as entry_no) from journal_entries"
    " limit 1": "journal_balances",
    "update statements set entries = entries + 1, payable = payable + 1": ADD_UP,
    "update statements set payable = payable + 1": ADD_UP,
    "update payouts set amount = amount + 1": PAID_ONCE,
    "update payouts set number = 'X'": PAID_ONCE,
    "update payouts set currency = 'JPY'": PAID_ONCE,
    "update payment_files set content = content || ' '": PAID_ONCE,
    "insert into bank_entries from bank_entries": POSTED,
    "update statements set carried_out = -1, payable = payable + 1": ADD_UP,
    "update statements set entry_count = entry_count + 1": ADD_UP,
    "update statements set adjustment_count = 7": ADD_UP,
    f"{CLOSED} set closing_no = 99 {OF_STATEMENT}": CLOSED_ONCE,
    f"{CLOSED} set institution_id = uuid() {OF_STATEMENT}": CLOSED_ONCE,
    f"{CLOSED} set closing_no = closing_no - 1 {OF_STATEMENT}": CLOSED_ONCE,
    f"{LOST} {OF_STATEMENT} and settlement_no = 1": CLOSED_ONCE,
    "update statements set currency = 'JPY'": CLOSED_ONCE,
    "update settlements set settled_at = '2026-11-01'": CLOSED_ONCE,
    "update statements set place = place + 1": FOLLOWING,
    "update statements set number = number || '0'": FOLLOWING,
    "update statements set sha256 = '0' where place = 1": FOLLOWING,
    "update statements set previous_number = null": FOLLOWING,
    "update statements set carried_in = -1, carried_out = -1": FOLLOWING,
    "update statements set to_at = from_at where place = 1": FOLLOWING,
    "delete from statements where place = 1": FOLLOWING,
    f"{LOST} {OF_STATEMENT}": ADD_UP,
    "update statements set adjustments = adjustments - 1, carried_out = carried_out - 1": ADD_UP,
    "update invoices set amount = amount + 0.01": ADD_UP,
    "update invoices set line_count = line_count + 1": ADD_UP,
    "delete from invoices where place > 1": ADD_UP,
    "update invoices set currency = 'JPY'": ADD_UP,
    f"{CLOSED} set closing_no = 1 {OF_INVOICE}": CLOSED_ONCE,
    f"{CLOSED} set closing_no = 99 {OF_INVOICE}": CLOSED_ONCE,
    f"{LOST} {OF_INVOICE} and settlement_no = 1": CLOSED_ONCE,
    "update invoices set place = place + 1": FOLLOWING,
    "update invoices set number = number || '0'": FOLLOWING,
    "update invoices set sha256 = '0' where place = 1": FOLLOWING,
    "update invoices set previous_number = null": FOLLOWING,
    "update invoices set amends = number": FOLLOWING,
    "delete from adjustments": "reversals_are_given_back",
    "insert into adjustments select * from adjustments": "reversals_are_given_back",
    "update adjustments set institution_payout_amount = 0": "reversals_are_given_back",
    "delete from ledger_entries where status = 'reversed'": "one_entry_per_redemption",
    "insert into ledger_entries select * from ledger_entries": "one_entry_per_redemption",
    "insert into redemptions select * replace (999 as redemption_no, uuid() as redemption_id)"
    " from redemptions limit 1": "one_redemption_per_purchase",
    "delete from recent_decisions where outcome = 'redeemed'": "one_redemption_per_purchase",
    "update redemptions set cardholder_no = 1": "redemptions_fit_their_purchase",
    "update redemptions set purchase_amount = purchase_amount + 1": (
        "redemptions_fit_their_purchase"
    ),
    "update redemptions set purchased_at = purchased_at - interval 1 second": (
        "redemptions_fit_their_purchase"
    ),
    "update redemptions set purchased_at = null": "redemptions_fit_their_purchase",
    "update redemptions set transaction_ref = transaction_ref || '?'": (
        "redemptions_fit_their_purchase"
    ),
    "update redemptions set transaction_ref = null": "redemptions_fit_their_purchase",
    "delete from links": "redemptions_fit_their_purchase",
    "insert into ledger_moves select redemption_no, 999, 'pending', moved_at, actor, null"
    " from ledger_moves where status = 'settled'": "moves_are_legal",
    "delete from ledger_moves where status = 'pending'": "moves_are_legal",
    "update ledger_entries set status = 'pending' where status = 'settled'": "states_follow_moves",
    "update ledger_entries set reversal_reason = null": "states_follow_moves",
    "update ledger_entries set settled_at = null": "states_follow_moves",
    "update offer_versions set budget_amount = 0.01": "budgets_hold",
    "update offer_versions set max_redemptions_per_cardholder = 0": "uses_hold",
    "update audit_log set old_value = '1' where field = 'max_active_offers'": "links_had_room",
    "delete from audit_log": "links_had_room",
    "delete from outbox": "one_event_per_subject",
    "insert into outbox select * from outbox limit 1": "one_event_per_subject",
    "update outbox set subject_id = uuid()": "one_event_per_subject",
    "update outbox set institution_id = uuid()": "one_event_per_subject",
    "update outbox set kind = 'redemption.undone' where kind = 'redemption.reversed'": (
        "one_event_per_subject"
    ),
    **{f"update outbox set {harm}": "events_say_what_happened" for harm in TOLD_WRONG},  # noqa: S608
    **{f"update outbox set {harm}": "events_say_what_happened" for harm in TAKEN_BACK_WRONG},  # noqa: S608
    "insert into outbox select * from outbox where kind = 'redemption.reversed'": (
        "one_event_per_subject"
    ),
    "insert into outbox select outbox.* replace ('redemption.reversed' as kind) from outbox"
    " join ledger_entries using (redemption_no) where status = 'settled' limit 1": (
        "one_event_per_subject"
    ),
    "delete from attempts where number = 2": "attempts_are_consecutive",
    "update outbox set attempts = attempts + 1": "attempts_are_consecutive",
    "insert into attempts select attempts.* replace (number + 99 as number) from attempts": (
        "attempts_end"
    ),
    "update outbox set failures = 10": "attempts_end",
    "update attempts set error = null where number = 1": "nothing_is_sent_after_success",
    "update outbox set state = 'delivered'": "events_follow_attempts",
    "update outbox set state = 'failed' where state = 'exhausted'": "events_follow_attempts",
    "update outbox set state = 'lost' where state = 'exhausted'": "events_follow_attempts",
    "delete from inbox_messages": "alerts_are_of_exhausted_events",
    "insert into inbox_messages select uuid(), institution_id, 'webhook_exhausted', '', now(), null"
    " from institutions": "alerts_are_of_exhausted_events",
    "update purchase_counts set purchases = purchases + 1": "purchases_are_counted",
    "update redemption_counts set redemptions = 0": "redemptions_are_counted",
    "delete from purchase_day_counts": "purchase_days_are_counted",
    "update offer_counts set links = links + 1": "offers_are_counted",
    "update counted_up_to set run_no = run_no + 99": "counts_end_with_what_is_there",
    "update acts set actor = 'nobody' where act_no = 2": "security_log_is_whole",
    "delete from acts where act_no = 1": "security_log_is_whole",
    "delete from runs where run_no = 1": "journal_is_the_stores",
    "insert into erasures select uuid(), institution_id, cardholder_no, '', '', now(), 1, ''"
    " from cardholders": "erased_have_tombstones",
    "update webhook_secrets set secret_sha256 = sha256('another')": "signing_secrets_are_there",
    "update cardholders set cardholder_token = '4111111111111111' where cardholder_no = 1": (
        "no_card_numbers"
    ),
    "update instruments set instrument_token = '4111 1111-1111 1111' where instrument_no = 1": (
        "no_card_numbers"
    ),
    "update recent_purchases set transaction_ref = '4111111111111111' where line = 2": (
        "no_card_numbers"
    ),
    "update ledger_entries set reversal_reason = 'of 5555555555554444, returned'"
    " where status = 'reversed'": "no_card_numbers",
    "insert into recent_purchase_details select purchase_no, institution_id, null, null,"
    " 'shop 378282246310005', null from purchases limit 3": "no_card_numbers",
}
"""What is done to a good store -> the audit that finds it."""


FIRST = {audit: harm for harm, audit in reversed(BREAKS.items())}


@pytest.mark.parametrize(
    ("harm", "audit"),
    [
        pytest.param(harm, audit, marks=() if harm == FIRST[audit] else at_the_gate, id=f"{number}")
        for number, (harm, audit) in enumerate(BREAKS.items())
    ],
)
def test_an_audit_finds_what_it_is_for(good: Job, harm: str, audit: str) -> None:
    """By the first harm of each audit all of them are asked, by the others that one alone."""
    others = frozenset() if harm == FIRST[audit] else frozenset(doctor.names()) - {audit}
    with good.store() as store, store.transaction(keep=False):
        select(store, harm)
        audits = doctor.examine(store, good.path, but=others)
    loud = {each.name: each for each in audits if not each.ok}
    assert audit in loud
    assert loud[audit].rows > 0
    assert loud[audit].example
    told = dumps([each.example for each in loud.values()])
    assert not any(number in told for number in ("4111", "5555", "3782", CARDHOLDER))


IN_A_PART = {harm: audit for harm, audit in BREAKS.items() if audit in OF_A_PART}


@pytest.mark.parametrize(
    ("harm", "audit"),
    [
        pytest.param(harm, audit, marks=() if harm == FIRST[audit] else at_the_gate, id=f"{number}")
        for number, (harm, audit) in enumerate(IN_A_PART.items())
    ],
)
def test_an_audit_finds_in_a_part_what_is_of_it(good: Job, harm: str, audit: str) -> None:
    with good.store() as store, store.transaction(keep=False):
        select(store, harm)
        show_part(store, after_run_no=0)
        rows, example = offending(store, audit)
    assert rows
    assert example


@slow
@pytest.mark.parametrize("after_run_no", range(40))
@one_in(8)
def test_no_part_of_a_good_store_has_faults(good: Job, after_run_no: int) -> None:
    with good.store() as store, store.transaction(keep=False):
        show_part(store, after_run_no)
        assert [] == [name for name in sorted(OF_A_PART) if offending(store, name)[0]]


@slow
@pytest.mark.parametrize("status", ["settled", "reversed"])
def test_a_part_is_what_later_runs_touched_with_all_that_belongs_to_it(
    good: Job, status: str
) -> None:
    newest = f"(select max(run_no) from ledger_moves where status = '{status}')"  # noqa: S608
    with good.store() as store, store.transaction(keep=False):
        ((run_no,),) = select(store, f"select {newest}")
        moved = f"select distinct redemption_no from ledger_moves where run_no >= {run_no}"  # noqa: S608
        expected = {number for (number,) in select(store, moved)}
        every = select(store, "select count(*) from ledger_entries")
        show_part(store, run_no - 1)
        assert every != select(store, "select count(*) from ledger_entries")
        for table in ("redemptions", "ledger_entries", "ledger_moves", "outbox"):
            numbers = {number for (number,) in select(store, f"select redemption_no from {table}")}  # noqa: S608
            assert expected <= numbers
        lost = "select 1 from redemptions anti join purchases using (purchase_no)"
        assert [] == select(store, lost)
    with good.store() as store:
        assert every == select(store, "select count(*) from ledger_entries")


@slow
def test_a_reference_of_long_ago_that_came_again_is_found_in_a_part(good: Job) -> None:
    first = "where purchase_no = (select min(purchase_no) from purchases)"
    tables = {"recent_purchases": "999999 as purchase_no, 999 as import_no"}
    tables["purchase_refs"] = "999999 as purchase_no"
    with good.store() as store, store.transaction(keep=False):
        ((newest,),) = select(store, "select max(run_no) from runs")
        for table, other in tables.items():
            select(store, f"insert into {table} select * replace ({other}) from {table} {first}")  # noqa: S608
        show_part(store, newest)
        assert [(2,)] == select(store, "select count(*) from purchases")
        assert 1 == offending(store, "transaction_refs_unique")[0]


@slow
def test_what_is_seldom_is_not_asked_of_a_part(good: Job) -> None:
    heard: list[str] = []
    with good.store() as store:
        audits = doctor.examine_part(store, good.path, after_run_no=3, tell=heard.append)
    expected = [name for name in doctor.names() if name not in {*doctor.SELDOM, doctor.COPIES}]
    assert expected == [each.name for each in audits if each.ok]
    assert sorted(expected) == sorted(heard)


OF_FILES = {
    "no_leftover_files",
    "history_is_whole",
    "every_block_is_whole",
    "call_book_is_whole",
    "erased_stay_erased",
    doctor.TAKEN_FILES,
    doctor.COPIES,
}
"""Audits that no statement breaks; each has a test of its own."""

OF_REFUNDS = {name for name in audits() if name.startswith(("refunds_", "reductions_"))}
"""Audits that are broken where refunds are at hand, in `tests/refunds`."""

OF_APPROVALS = {name for name in audits() if name.startswith("approvals_")}
"""Audits that are broken where approvals are at hand, in `tests/approvals/test_work.py`."""

OF_THE_WATCH = {name for name, address in audits().items() if address.startswith("watch/audits:")}
"""Audits that are broken where findings of the watch are, in `tests/watch/test_questions.py`."""


OF_ANSWERS = {"merchant_answers_are_whole", "expectations_are_set_by_a_run"}
"""Broken in `tests/merchants/test_discovery.py`, and in `tests/arrivals/test_work.py`."""

OF_ACTS = {"acts_are_of_their_rows"}
"""Broken in `tests/keys/test_acts.py`, a kind at a time."""


def test_every_audit_of_the_tables_is_broken_by_something() -> None:
    apart = OF_FILES | OF_REFUNDS | OF_APPROVALS | OF_THE_WATCH | OF_ANSWERS | OF_ACTS
    assert set(doctor.names()) - apart == set(BREAKS.values())


@slow
def test_a_block_that_was_changed_is_found_and_the_other_audits_go_on(
    good: Job, tmp_path: Path
) -> None:
    made = replace(good, path=tmp_path / "store.duckdb")
    content = bytearray(good.path.read_bytes())
    block = _block_of_merchants(good)
    content[3 * 4096 + block * (1 << 18) + 5000] ^= 1
    made.path.write_bytes(content)
    report = doctor.doctor(made, strict=True)
    loud = {each["name"]: each["example"] for each in report["audits"] if not each["ok"]}
    assert {"file": "store.duckdb", "block": block} == loud.pop("every_block_is_whole")
    assert {"fault": "store_damaged"} in loud.values()
    assert doctor.names() == [each["name"] for each in report["audits"]]
    assert not any(each["ok"] is None for each in report["audits"])


def _block_of_merchants(made: Job) -> int:
    with made.store(read_only=True) as store:
        query = "select block_id from pragma_storage_info('merchants') where block_id >= 0 limit 1"
        return int(select(store, query)[0][0])


@slow
def test_a_book_of_calls_that_is_damaged_or_was_is_found(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    make_folder(made.path)
    usage_path(made.path).write_bytes(b"birds" * 1000)
    assert ["call_book_is_whole"] == failed(made, strict=False)
    with UsageJournal(made.path):
        pass
    assert ["call_book_is_whole"] == failed(made, strict=False)
    for kept in kept_files(usage_path(made.path)):
        kept.unlink()
    assert [] == failed(made)


@pytest.mark.parametrize(
    ("text", "other"),
    [('"kind": "import"', '"kind": "settle"'), ("2026-10-01T00", "2026-10-02T00")],
)
def test_a_line_of_the_journal_that_was_changed_is_found(
    tmp_path: Path, text: str, other: str
) -> None:
    made = new_store(tmp_path)
    for _ in range(3):
        with made.store() as store, store.transaction():
            start_run(store, kind="import", now=BOUGHT, actor="tester")
    journal = journal_path(made.path)
    journal.write_text(journal.read_text().replace(text, other, 1))
    assert ["journal_is_the_stores"] == failed(made)


@slow
def test_numbers_that_look_right_by_chance_are_no_card_numbers(good: Job) -> None:
    with good.store() as store, store.transaction(keep=False):
        select(
            store,
            "update recent_purchases"
            " set transaction_ref = cast(4111111111111100 + purchase_no as varchar)",
        )
        select(
            store,
            "update redemptions set transaction_ref = purchases.transaction_ref"
            " from purchases where purchases.purchase_no = redemptions.purchase_no",
        )
        select(store, "delete from purchase_refs")
        select(store, HASHED)
        for (institution_id,) in select(store, "select institution_id from institutions"):
            numbers = numbers_of(store, institution_id, None)
            form = NumberForm("transaction_ref", 16, "alone")
            numbers.count(form, ((place, place % 10 == 0) for place in range(100)))
            keep_numbers(store, numbers)
        loud = [each.name for each in doctor.examine(store, good.path) if not each.ok]
    assert ["events_say_what_happened"] == loud
    # which name the purchases as they were


@slow
@pytest.mark.parametrize(
    ("name", "is_left"),
    [
        ("store.duckdb.d/store.new", True),
        ("store.duckdb.d/snapshot.new", True),
        ("store.duckdb.d/compact.new.wal", True),
        ("store.duckdb.d/compact.new.tmp", True),
        (".report.csv.4194301.part", True),
        ("runs/7/.result.json.4194301.part", True),
        ("reports/2026-10-01/.alder-funnel.csv.4194301.part", True),
        ("store.duckdb.tmp", True),
        (".report.csv.1.part", False),
        ("store.duckdb.d/usage", False),
        ("report.csv", False),
    ],
)
def test_what_a_killed_process_left_is_found_and_swept_away(
    good: Job, name: str, is_left: bool
) -> None:
    left = good.path.parent / name
    left.parent.mkdir(parents=True, exist_ok=True)
    left.touch()
    loud, swept = failed(good, strict=False), sweep(good.path)
    left.unlink(missing_ok=True)
    assert (["no_leftover_files"] if is_left else []) == loud
    assert ([left] if is_left else []) == swept


@slow
def test_a_store_that_has_lost_commits_can_be_looked_at(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    copy = made.path.read_bytes()
    with made.store() as store, store.transaction():
        start_run(store, kind="import", now=BOUGHT, actor="tester")
    made.path.write_bytes(copy)
    assert ["journal_is_the_stores"] == failed(made)
    accept_loss(made)
    assert [] == failed(made)
    journal_path(made.path).write_text("birds\n")
    assert ["journal_is_the_stores"] == failed(made)
