"""Erasing a cardholder leaves the token in no file of the store, and every count where it was."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import stat
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from approving import approved, with_approvers
from cardoffers_cli.archive.export import compact
from cardoffers_cli.archive.export import export as move_out
from cardoffers_cli.copies.work import backup, publish
from cardoffers_cli.documents.closing import close_statement
from cardoffers_cli.documents.kinds import STATEMENT
from cardoffers_cli.documents.verifying import verify
from cardoffers_cli.events.subscriptions import set_webhook
from cardoffers_cli.institutions.holds import standing_holds
from cardoffers_cli.institutions.work import set_institution, show_institution
from cardoffers_cli.kernel.store.erasures import own_list
from cardoffers_cli.kernel.store.layout import erasures_path, folder_of
from cardoffers_cli.kernel.store.statements import statements
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.row_kinds import REFUNDS
from cardoffers_cli.privacy.erase import erase_cardholder, reapply
from cardoffers_cli.privacy.erasures import TEXTS
from cardoffers_cli.privacy.export import ALL, EXPORTED, export_cardholder
from cardoffers_cli.privacy.holds import hold_cardholder
from cardoffers_cli.privacy.traces import holds_any
from cardoffers_cli.refunds.apply import apply_refunds
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from cardoffers_cli.storage.doctor import doctor
from cardoffers_cli.storage.restore import restore
from cardoffers_cli.watch.observations import Observation
from cardoffers_cli.watch.questions import record_findings
from killing import killed_everywhere
from sizes import slow
from tables import NOON, select, uid
from work import file_of, found, job, kept, new_store, next_run, once, taken, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.kernel.store.job import Job

TOKEN = "ch_9f8e7d6c5b4a3kanarie0f1e2d3c4b5a6"  # noqa: S105 - a token of a test
CARD = "ct_1a2b3c4d5e6f7kanarie8a9b0c1d2e3f4"
SHARED = "ct_shared_by_two_people_0123456789"
LATER = NOON + timedelta(days=3)


@pytest.fixture
def alder(tmp_path: Path) -> Job:
    return with_two(tmp_path)


@once
def with_two(folder: Path) -> Job:
    """Make a store in which two cardholders redeemed, and one has a merchant that nobody knows."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution plan\nalder growth",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant cashback\nbread bakery 2.50",
        programs="offer\nbread",
        links=f"cardholder card offer\n{TOKEN} {CARD} bread\nbea {SHARED} bread",
    )
    sent = f"""
        ref    cardholder  card       identifier  amount
        ref-1  {TOKEN}     {CARD}     M1          20.00
        ref-2  {TOKEN}     {SHARED}   M2          30.00
        ref-3  bea         {SHARED}   M1          40.00
    """
    with made.store() as store, store.transaction():
        select(store, WATCHED)
    send(made, folder, sent)
    match_purchases(made)
    settle_due(made)
    with made.store() as store, store.transaction():
        run_no = next_run(store)
        busy = Observation("cardholder_busy", "cardholder 1", NOON.date(), {"redemptions": 12})
        record_findings(store, uid("alder"), [busy], run_no=run_no, now=NOON)
        select(store, REFUSED)
    return made


WATCHED = """
insert into watched_institutions select institution_id, timestamp '2026-06-01' from institutions
"""
REFUSED = """
insert into merchant_answers
select
    1, identifiers.identifier_no, merchants.merchant_id, 'refused', 'another one', 'ann',
    runs.run_no, runs.as_of
from identifiers, merchants, runs
where identifiers.merchant_identifier = 'M2' and runs.kind = 'test'
"""


def send(made: Job, folder: Path, sent: str) -> None:
    """Take in a file of these purchases, which is gone then."""
    file = file_of(folder / "sent.csv", sent)
    taken(made, file)
    file.unlink()


def erase(made: Job, token: str = TOKEN, **more: Any) -> Any:
    """Erase as the command does: the store is written anew."""
    done = erase_cardholder(made, "alder", token, "asked", **more)
    if not more.get("dry_run"):
        compact(made)
    return done


def holding(folder: Path, *but: str) -> list[str]:
    """Return the files under a folder that hold the token of ours or of the card, in any form."""
    files = sorted(each for each in folder.rglob("*") if each.is_file() and each.name not in but)
    return [str(each.relative_to(folder)) for each in files if holds_any(each, [TOKEN, CARD])]


def code_of(work: Callable[[], Any]) -> str:
    with pytest.raises(CardoffersError) as caught:
        work()
    assert caught.value.hint
    assert TOKEN not in f"{caught.value}{caught.value.hint}{caught.value.details}"
    return caught.value.code


OF_THE_WATCH = ("watched_institutions", "watch_findings", "import_shapes", "merchant_answers")
MONEY = ("ledger_entries", "ledger_moves", "settlements", "redemptions", "offer_counts", "links")


def money(made: Job) -> dict[str, Any]:
    rows = kept(made)
    of = (*MONEY, *OF_THE_WATCH, "purchases", "decisions", "redemption_counts")
    assert all(rows[name] for name in OF_THE_WATCH)
    return {name: rows[name] for name in of}


@slow
def test_the_token_is_nowhere_and_everything_else_is_where_it_was(
    alder: Job, tmp_path: Path
) -> None:
    before = money(alder)
    publish(alder)
    assert {"store.duckdb", "store.duckdb.d/snapshot"} == {*holding(tmp_path)}
    done = erase(alder)
    assert (2, 1, 1, 2, 1, 1) == (
        *(done.instruments, done.shared_instruments, done.links),
        *(done.purchases, done.redemptions, done.events),
    )
    assert (2, 5) == (done.tokens_removed, done.kept_rows)  # the token, and the card of its own
    assert "erased-" == dict_of(alder)[done.cardholder_no][:7]
    assert ([], []) == ([*done.places], [*done.files])
    assert [] == holding(tmp_path)
    assert before == money(alder)
    assert doctor(alder, strict=True).ok
    publish(alder)
    backup(alder, tmp_path / "copy.duckdb")
    move_out(alder, str(tmp_path / "parts"))
    compact(alder)
    assert [] == holding(tmp_path)
    assert doctor(alder, strict=True).ok


@slow
def test_the_security_log_names_nobody(alder: Job) -> None:
    done = erase(alder)
    ((kind, details),) = found(
        alder, "select kind, details from acts where kind = 'cardholder_erased'"
    )
    assert ("cardholder_erased", done.token_hash) == (kind, json.loads(details)["token_hash"])
    assert done.token_hash is not None
    assert TOKEN not in str(kept(alder))


@slow
def test_others_keep_a_card_that_they_have_too(alder: Job) -> None:
    erase(alder)
    rows = kept(alder)["instruments"]
    ((owner, token),) = [(row[1], row[3]) for row in rows if not row[3].startswith("erased-")]
    assert ("bea", SHARED) == (dict_of(alder)[owner], token)


def dict_of(made: Job) -> dict[int, str]:
    """Return the tokens of cardholders by number."""
    return {number: token for number, _, token in kept(made)["cardholders"]}


@slow
def test_a_closed_statement_is_verified_as_before(alder: Job) -> None:
    later = replace(alder, now=NOON + timedelta(days=40))
    settle_due(later)
    close_statement(later, "alder", "2026-06")
    before = found(alder, "select number, payable, sha256 from statements")
    erase(later)
    assert before == found(alder, "select number, payable, sha256 from statements")
    assert [True] == [each.ok for each in verify(later, STATEMENT)]
    assert doctor(later, strict=True).ok


@slow
def test_a_dry_run_changes_nothing_and_draws_no_key(alder: Job) -> None:
    before = kept(alder)
    done = erase(alder, dry_run=True)
    assert (2, None) == (done.purchases, done.token_hash)
    assert before == kept(alder)
    assert not erasures_path(alder.path).exists()


@slow
def test_who_returns_is_somebody_new(alder: Job, tmp_path: Path) -> None:
    erase(alder)
    send(alder, tmp_path, f"ref cardholder card identifier amount\nr-9 {TOKEN} c M1 9")
    match_purchases(alder)
    earned = found(
        alder,
        "select cardholder_token from redemptions join cardholders using"
        " (cardholder_no) order by all",
    )
    assert ["bea", "erased-"] == [token[:7] for (token,) in earned]
    assert 3 == len(dict_of(alder))
    again = erase(alder)
    assert (1, False) == (again.purchases, again.was_erased)
    assert 2 == len(own_list(alder.path).erasures) == len(kept(alder)["erasures"])
    assert doctor(alder, strict=True).ok


@slow
def test_a_purchase_whose_merchant_is_known_later_earns_nothing(alder: Job) -> None:
    erase(alder)
    with alder.store() as store, store.transaction():
        store.connection.execute(
            "update identifiers set merchant_id = (select merchant_id from merchants)"
        )
    before = len(kept(alder)["redemptions"])
    match_purchases(replace(alder, now=LATER))
    assert before == len(kept(alder)["redemptions"])
    assert doctor(alder, strict=True).ok


@slow
def test_a_refund_that_names_its_purchase_takes_back_what_it_earned(
    alder: Job, tmp_path: Path
) -> None:
    erase(alder)
    refunds = tmp_path / "refunds.csv"
    refunds.write_text(
        "cardholder_token,card_token,card_acceptor_id,amount,refund_ref,refunded_at,"
        "original_transaction_ref\n"
        f"{TOKEN},{CARD},M1,20.00,back-1,2026-06-02T12:00:00Z,ref-1\n"
    )
    later = replace(alder, now=LATER)
    import_file(str(refunds), "alder", later, ImportOptions(kind=REFUNDS), outputs=Outputs())
    apply_refunds(later)
    assert [("ref-1", "reversed")] == found(
        alder,
        "select transaction_ref, status from redemption_entries where status = 'reversed'",
    )
    assert doctor(later, strict=True).ok


@slow
def test_what_waits_comes_first(alder: Job, tmp_path: Path) -> None:
    send(alder, tmp_path, f"ref cardholder card identifier amount\nr-9 {TOKEN} c M1 9")
    assert "purchases_waiting" == code_of(lambda: erase(alder))
    match_purchases(alder)
    set_webhook(alder, "alder", "https://hooks.example.com/x", past="all")
    assert "webhooks_undelivered" == code_of(lambda: erase(alder))


@slow
def test_a_legal_hold_wins(alder: Job) -> None:
    hold_cardholder(alder, "alder", TOKEN, "case 1")
    assert "legal_hold" == code_of(lambda: erase(alder))
    hold_cardholder(alder, "alder", TOKEN, "case 1 is over", release=True)
    set_institution(alder, "alder", {}, legal_hold="on")
    assert "on" == show_institution(alder, "alder").legal_hold
    assert "legal_hold" == code_of(lambda: erase(alder))
    with alder.store(read_only=True) as store:
        assert ["alder"] == [hold.institution for hold in standing_holds(store)]
    set_institution(alder, "alder", {}, legal_hold="off")
    assert "legal_hold" not in show_institution(alder, "alder")
    assert 2 == erase(alder).purchases


@pytest.mark.parametrize(
    ("code", "token", "reason"),
    [
        ("cardholder_not_found", "nobody-of-this-name", "asked"),
        ("usage", TOKEN, " "),
        ("usage", TOKEN, f"asked by {TOKEN}"),
    ],
)
def test_what_cannot_be_erased_is_refused(alder: Job, code: str, token: str, reason: str) -> None:
    assert code == code_of(lambda: erase_cardholder(alder, "alder", token, reason))
    assert [] == [*own_list(alder.path).erasures]


@slow
def test_two_persons_erase_where_approvals_are_on(alder: Job) -> None:
    with_approvers(alder)
    set_institution(alder, "alder", {}, settings={"approvals": "on"})
    assert "approval_required" == code_of(lambda: erase(alder))
    assert [] == [*own_list(alder.path).erasures]
    assert TOKEN[:4] not in str(kept(alder)["approvals"])
    approved(alder)
    assert "used" == erase(alder).approval
    assert 1 == len(kept(alder)["erasures"])


# What else holds a token is told


@slow
def test_files_of_before_are_named(alder: Job, tmp_path: Path) -> None:
    drop = tmp_path / "drop" / "alder"
    drop.mkdir(parents=True)
    (drop / "next.csv.gz").write_bytes(gzip.compress(f"a,{TOKEN}".encode()))
    (folder_of(alder.path) / "usage.20260101T000000Z.kept").write_text(TOKEN)
    with alder.store() as store, store.transaction():
        store.connection.execute(
            "insert into nights (night_no, run_id, run_no, as_of, number, drop_folder,"
            " processed_folder, after_run_no, began_at)"
            " values (1, uuid(), 1, '2026-06-01', 1, $drop, $drop, 0, '2026-06-01')",
            {"drop": str(tmp_path / "drop")},
        )
    expected = {
        (str(drop / "next.csv.gz"), "holds_token"),
        (str(folder_of(alder.path) / "usage.20260101T000000Z.kept"), "holds_token"),
    }
    assert expected == {(each.file, each.why) for each in erase(alder).files}
    again = erase(alder)
    assert again.was_erased
    assert expected == {(each.file, each.why) for each in again.files}


@slow
def test_a_reference_that_is_the_token_is_told(alder: Job, tmp_path: Path) -> None:
    send(alder, tmp_path, f"ref cardholder card identifier amount\n{TOKEN} bea c M9 9")
    assert {"recent_purchases"} == {each.place for each in erase(alder).places}


WRITTEN = """
select reason from ledger_moves where reason like '%erased%'
union all select reversal_reason from ledger_entries where status = 'reversed'
union all select reason from merchant_answers
"""


def test_what_people_wrote_is_erased_too(alder: Job, tmp_path: Path) -> None:
    """A token, and one of the card, in each place; a dry run says what is left too."""
    send(alder, tmp_path, f"ref cardholder card identifier amount\n{TOKEN} bea c M9 9")
    ((redemption,),) = found(
        alder, "select redemption_id from redemptions where transaction_ref = 'ref-1'"
    )
    reverse(str(redemption), f"{TOKEN} and {CARD} asked", alder)
    with alder.store() as store, store.transaction():
        select(store, f"update merchant_answers set reason = 'is {TOKEN}'")  # noqa: S608 - ours
    tried = erase(alder, dry_run=True)
    assert {"recent_purchases": 1} == {each.place: each.rows for each in tried.places}
    done = erase(alder)
    assert tried.places == done.places
    assert {("erased-", "erased-"), ("is", "erased-")} == {
        (text.split()[0][:7], text.split()[-1 if text.startswith("is") else 2][:7])
        for (text,) in found(alder, WRITTEN)
    }
    assert doctor(alder, strict=True).ok


def test_every_reason_that_is_kept_is_erased() -> None:
    schema = {
        f"{name}_{column}"
        for name, sql in statements("kernel/store/schema").items()
        for column in re.findall(r"^    (\w*reason) varchar", sql, re.MULTILINE)
    }
    assert {*schema, "runs_counts"} == {*TEXTS}


# Restores


@slow
def test_a_restored_backup_of_before_is_erased_again(alder: Job, tmp_path: Path) -> None:
    backup(alder, tmp_path / "before.duckdb")
    erase(alder)
    after = money(alder)
    tried = restore(alder, tmp_path / "before.duckdb", dry_run=True)
    assert (1, 1) == (tried.erased_again, len(tried.lost_runs))
    done = restore(alder, tmp_path / "before.duckdb", accept_loss=True)
    assert 1 == done.erased_again
    assert ["before.duckdb"] == holding(tmp_path)
    assert after == money(alder)
    assert doctor(alder, strict=True).ok
    assert 0 == reapply(alder).erasures


@slow
def test_who_returned_is_left_alone_by_a_restore(alder: Job, tmp_path: Path) -> None:
    erase(alder)
    send(alder, tmp_path, f"ref cardholder card identifier amount\nr-9 {TOKEN} c M1 9")
    backup(alder, tmp_path / "after.duckdb")
    assert "erased_again" not in restore(alder, tmp_path / "after.duckdb")
    assert TOKEN in dict_of(alder).values()


def lost(made: Job, folder: Path) -> Job:
    """Lose the machine of a store, with all in its folder; return one on another."""
    shutil.rmtree(folder_of(made.path))
    made.path.unlink()
    folder.mkdir()
    return job(folder / "store.duckdb")


LIST, NONE = "newest list", "no list"


@slow
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (NONE, (None, True)),
        (LIST, (1, False)),
    ],
)
def test_who_was_erased_does_not_come_back_elsewhere_without_a_word(
    alder: Job, tmp_path: Path, given: str, expected: tuple[int | None, bool]
) -> None:
    """As after the loss of a machine; each restore that knows no newest list says so."""
    (backups := tmp_path / "backups").mkdir()
    file = Path(backup(alder, backups).point)
    erase(alder)
    shutil.copy(erasures_path(alder.path), tmp_path / "newest")
    elsewhere = lost(alder, tmp_path / "elsewhere")
    newest = tmp_path / "newest" if given == LIST else None
    done = restore(elsewhere, file, erasures=newest)
    is_unknown = done.get("erasures_unknown_since") is not None
    assert expected == (done.get("erased_again"), is_unknown)
    assert (expected[0] is None) == ("store.duckdb" in holding(tmp_path / "elsewhere"))
    assert is_unknown == (not doctor(elsewhere, strict=True).ok)
    assert is_unknown == ("erasures_unknown_since" in reapply(elsewhere))
    reapply(elsewhere, tmp_path / "newest")
    compact(elsewhere)
    assert [] == holding(tmp_path / "elsewhere")
    assert doctor(elsewhere, strict=True).ok


@slow
def test_somebody_may_say_that_the_list_is_whole(alder: Job, tmp_path: Path) -> None:
    file = Path(backup(alder, tmp_path / "before.duckdb").point)
    elsewhere = lost(alder, tmp_path / "elsewhere")
    assert NOON == restore(elsewhere, file).erasures_unknown_since
    assert NOON == restore(elsewhere, file).erasures_unknown_since
    reapply(elsewhere, none_since=True)
    assert ("erasures_known",) in found(elsewhere, "select kind from acts")
    assert "erasures_unknown_since" not in restore(elsewhere, file, accept_loss=True)


@slow
def test_a_list_of_another_store_is_refused(alder: Job, tmp_path: Path) -> None:
    backup(alder, tmp_path / "before.duckdb")
    erase(alder)
    other = with_two(tmp_path / "other")
    erase(other)
    theirs = erasures_path(other.path)
    assert "erasures_of_other_store" == code_of(
        lambda: restore(alder, tmp_path / "before.duckdb", erasures=theirs, accept_loss=True)
    )
    assert 1 == len(own_list(alder.path).erasures)


@slow
def test_a_store_that_lost_an_erasure_is_noticed(alder: Job) -> None:
    before = alder.path.read_bytes()
    erase(alder)
    (folder_of(alder.path) / "journal").unlink()
    alder.path.write_bytes(before)
    faults = [audit for audit in doctor(alder).audits if not audit.ok]
    assert ["erased_stay_erased"] == [audit.name for audit in faults]
    assert faults[0].example is not None
    assert "cardoffers privacy reapply" == faults[0].example["next"]
    assert 1 == reapply(alder, dry_run=True).erasures
    assert 1 == reapply(alder).erasures
    compact(alder)
    assert [] == holding(alder.path.parent)
    assert doctor(alder, strict=True).ok


@slow
def test_a_file_that_was_not_written_anew_is_noticed(alder: Job, tmp_path: Path) -> None:
    """As where the disk is too full for that: the erasure is kept, freed blocks hold the token."""
    erase_cardholder(alder, "alder", TOKEN, "asked")
    compact(alder, dry_run=True)
    assert ["store.duckdb"] == holding(tmp_path)
    (fault,) = [audit for audit in doctor(alder).audits if not audit.ok]
    assert ("erased_stay_erased", "cardoffers store compact") == (
        fault.name,
        (fault.example or {})["next"],
    )
    compact(alder)
    assert [] == holding(tmp_path)
    assert doctor(alder, strict=True).ok


# Killed

WORK = f"""
from cardoffers_cli.privacy.erase import erase_cardholder
from cardoffers_cli.archive.export import compact
from work import job

def work(folder):
    made = job(folder / "store.duckdb")
    erase_cardholder(made, "alder", "{TOKEN}", "asked")
    compact(made)
"""


@slow
def test_killed_anywhere_and_run_again_it_is_erased_once(tmp_path: Path) -> None:
    # Some seconds: each moment is a process, a store written anew, and audits of everything.
    template = tmp_path / "template"
    template.mkdir()
    publish(with_two(template))
    about = "^erasures$|^compact.new$"
    for each in killed_everywhere(template, tmp_path / "killed", WORK, about):
        left = job(each / "store.duckdb")
        erase(left)
        assert [] == holding(each)
        assert 1 == len(kept(left)["erasures"]) == len(own_list(left.path).erasures)
        assert doctor(left, strict=True).ok


# Export


def tables_of_the_schema() -> set[str]:
    made = {
        name for name, sql in statements("kernel/store/schema").items() if "create table" in sql
    }
    return {name.removeprefix("recent_") for name in made}


NOT_EXPORTED = {
    table: why
    for why, tables in {
        "the catalogue and settings, of nobody": """
            currencies institutions institution_accounts institution_profiles merchants
            offer_texts offer_versions program_offers audit_log expectations
            watched_institutions
        """,
        "about the store and what ran on it": """
            schema_versions store_views runs terms_of_purchases match_watermark nights
            night_steps history history_parts history_left counted_up_to watch_looks
            rehearsal
        """,
        "sums of many cardholders": """
            settlements reconciliations reconciliation_totals statements
            invoice_periods closed_settlements closed_offers invoices payouts legal_invoices
            invoice_settlements payment_files
            bank_files bank_entries bank_statements bank_allocations purchase_counts
            redemption_counts purchase_day_counts offer_counts import_shapes import_merchants
            number_evidence journal_entries journal_lines
        """,
        "about institutions and their keys": """
            webhook_secrets api_keys key_notices inbox_messages approvals approvers
        """,
        "hashes of purchases that are exported, which the store finds them by": """
            purchase_refs purchase_looks
        """,
        "about files; whose rows are in them, the purchases say": "imports withdrawn_imports",
        "about files, as imports": "night_files picked_files",
        "about files and institutions": "watch_findings",
        "errors of rows that nothing was kept of, not even whose they were": "rejects",
        "what staff answered of merchants, of nobody": "merchant_answers",
        "what staff wrote of findings, which are exported as verdicts": "finding_acceptances",
        "what staff did; of erasures it has keyed hashes alone": "acts",
        "keyed hashes of who is no longer a cardholder": "erasures",
    }.items()
    for table in tables.split()
}
"""Why nothing of a table is exported."""


def test_every_table_is_exported_or_says_why_not() -> None:
    assert set() == {*EXPORTED} & {*NOT_EXPORTED}
    assert tables_of_the_schema() == {*EXPORTED, *NOT_EXPORTED}


def test_no_table_that_names_a_cardholder_is_left_out() -> None:
    schema = statements("kernel/store/schema")
    naming = {
        name.removeprefix("recent_")
        for name, sql in schema.items()
        if "create table" in sql and "cardholder_no bigint" in sql
    }
    assert {"erasures"} == naming - {*EXPORTED}


def test_an_export_has_all_of_one_and_nothing_of_another(alder: Job, tmp_path: Path) -> None:
    done = export_cardholder(alder, "alder", TOKEN, tmp_path / "out")
    assert {0o600} == {stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "out").iterdir()}
    assert 0o700 == stat.S_IMODE((tmp_path / "out").stat().st_mode)
    document = json.loads((tmp_path / "out" / ALL).read_text())
    assert {"ref-1", "ref-2"} == {row["transaction_ref"] for row in document["purchases"]}
    assert {CARD, SHARED} == {row["instrument_token"] for row in document["instruments"]}
    assert TOKEN in document["outbox"][0]["body"]
    expected = {"cardholders", "instruments", "links", "purchases", "redemptions", "outbox"}
    assert expected <= {table.table_name for table in done.tables} == {*document}
    text = "".join(each.read_text() for each in (tmp_path / "out").iterdir())
    assert "ref-3" not in text
    assert "bea" not in text
    again = lambda: export_cardholder(alder, "alder", TOKEN, tmp_path / "out")  # noqa: E731
    assert "file_exists" == code_of(again)


def test_an_export_writes_nothing_in_a_dry_run(alder: Job, tmp_path: Path) -> None:
    export_cardholder(alder, "alder", TOKEN, tmp_path / "out", dry_run=True)
    assert not (tmp_path / "out").exists()
