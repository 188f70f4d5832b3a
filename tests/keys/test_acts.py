"""Every kind of act: what became of its row afterwards is found, and told by kind and subject."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from cardoffers_cli.storage.doctor import audits, offending
from commands import in_a_pipe
from everything import Line, Place, everything
from sizes import one_in, slow
from tables import read, select
from work import job, templates

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

AUDIT = "acts_are_of_their_rows"

DONE = """
alice   0  payout export --statement {statement} -o again.csv --config payer.toml {again}
tester  0  approve give {approval} --key ben --yes
alice   0  institution set tarnhollow --approvals off
tester  0  payout withdraw {statement} --reason old
tester  0  institution set larkmere --refund-window-days 90 --plan enterprise
tester  0  institution set larkmere --numbers card_acceptor_id=15 --hold-short off
tester  0  institution set larkmere --shares-tokens-with tarnhollow --time-zone Asia/Tokyo
tester  0  institution set larkmere --account GB33BUKB20201555555555/BUKBGB22
tester  0  refund link RF-LAR1-000003 LAR1-5cd18016a546ac67 -i larkmere --reason receipt
tester  0  refund dismiss RF-LAR1-000005 -i larkmere --reason twice
tester  0  reconcile accept {finding} --reason cheque
tester  0  redemption reverse {redemption} --reason returned
tester  0  key rotate {key} --overlap 1d
tester  0  key revoke {key} --yes
tester  0  webhook rotate-secret -i larkmere
tester  0  import few.csv -i larkmere --yes-it-is
tester  0  bank allocate {receipt} --to suspense=40.00 --reason letter
tester  0  invoice set INV-2026-000001 --legal-number RE-4711 --tax 2.00
tester  0  invoice settle INV-2026-000001 --amount 1.00 --as dispute --reason broken
tester  0  file undo latest --reason wrong --yes
tester  0  privacy erase --cardholder - -i larkmere --reason asked --yes < cardholder.txt
tester  0  institution set larkmere --legal-hold on
tester  4  approver add cleo --key cleo.pub
tester  0  approve give --all --kind approver_add --key ada --yes
tester  0  approve give --all --kind approver_add --key ben --yes
tester  0  approver add cleo --key cleo.pub
tester  4  approver remove cleo
tester  0  approve give --all --kind approver_remove --key ada --yes
tester  0  approve give --all --kind approver_remove --key cleo --yes
tester  0  approver remove cleo
"""
"""Who does what in the place where everything has happened, and how it ends."""


@cache
def stored() -> Job:
    """Return a store with an act of every kind; all of them hold."""
    folder = templates() / "acts"
    place = everything(folder / "place")
    with place.copied() as copy:
        row = (copy / "transactions/larkmere.csv").read_text().splitlines()[:2]
        (copy / "few.csv").write_text("\n".join(row).replace("LAR1-", "LAR9-") + "\n")
        for line in DONE.strip().splitlines():
            _run(place, *line.split(maxsplit=2))
        made = job(folder / "cardoffers.duckdb")
        Path("cardoffers.duckdb").rename(made.path)
    return made


def _run(place: Place, who: str, code: str, words: str) -> None:
    words, _, stdin = words.partition(" < ")
    line = Line(int(code), False, words, stdin)
    with patch("cardoffers_cli.kernel.cli.people.person", return_value=who):
        ended = in_a_pipe(place.words(line), stdin=place.stdin(line))
    assert line.exit_code == ended.exit_code, (words, ended)


ROWS = """
kind                    table                changed               added
account_changed         institution_accounts account='FR76'        institution_id=uuid()
account_changed         audit_log            old_value='x'         audit_no=999,field='account'
approval_given          approvals            answered_by='eve'     approval_id=uuid()
approval_policy_changed audit_log            actor='eve'           audit_no=999,field='approvals'
approval_policy_changed institutions         approval_limit=1      -
approval_requested      approvals            maker='eve'           approval_id=uuid()
approval_signed         approvals            signed_by='eve'       approval_id=uuid()
approval_used           approvals            used_run_no=1         approval_id=uuid()
approver_added          approvers            institution_id=uuid()  name='eve',public_key='x'
approver_removed        approvers            removed_run_no=1      -
bank_file_taken         bank_files           sha256='x'            bank_file_no=99
bank_file_taken         bank_entries         amount=1              entry_id=uuid()
bank_file_taken         bank_statements      closing=1             to_on='2020-1-1'
cardholder_erased       erasures             token_hash='x'        erasure_id=uuid()
file_taken              imports              accepted=7            import_no=99,import_id=uuid()
file_taken              withdrawn_imports    accepted=7            import_no=99,import_id=uuid()
file_undone             withdrawn_imports    actor='eve'           import_no=99,import_id=uuid()
finding_accepted        finding_acceptances  actor='eve'           finding_id=uuid()
hold_short_changed      institutions         hold_short='both'     -
invoices_closed         invoice_periods      to_at='2020-1-1'      period_no=99,from_at='2020-1-1'
invoices_closed         invoices             amount=amount+1       invoice_no=99,number='X'
invoices_closed         closed_offers        offer_title='X'       offer_no=9,document='invoice'
invoice_settled         invoice_settlements  amount=9              run_no=99,number='X'
invoice_set            legal_invoices       tax=9                 run_no=99,number='X'
key_created             api_keys             scopes='x'            key_id=uuid()
key_revoked             api_keys             revoked_at=created_at key_id=uuid()
key_rotated             api_keys             retires_at=null       key_id=uuid()
legal_hold_changed      legal_holds          is_on=false           hold_no=99
legal_hold_changed      audit_log            new_value='off'       audit_no=999,field='legal_hold'
numbers_declared        institutions         numbers=null          -
payout_exported         payouts              due_on='2020-1-1'     payout_no=9,payment_id=9,number=9
payout_withdrawn        payouts              withdrawn_by='eve'    -
receipt_allocated       bank_allocations     actor='eve'           entry_id=uuid()
redemptions_reversed    ledger_moves         actor='eve'           status='reversed',run_no=1
refund_dismissed        refund_dismissals    actor='eve'           refund_no=99
refund_linked           refund_links         amount=1              refund_no=99,how='person'
refund_policy_changed   institutions         refund_window_days=1  -
settings_changed        audit_log            actor='eve'           audit_no=999,field='plan'
settings_changed        institutions         plan='growth'         -
settled                 settlements          entries=99            settlement_no=9
statement_closed        statements           actor='eve'           statement_no=99,number='X'
statement_closed        closed_offers        merchant_name='X'     offer_no=9,document='statement'
terms_changed           offer_versions       min_spend=9           run_no=99
time_zone_changed       institutions         time_zone='X'         -
token_sharing_changed   institutions         shares_tokens_with=1  -
watch_changed           audit_log            run_no=1              audit_no=999,field='watch'
webhook_secret_made     webhook_secrets      secret_sha256='x'     secret_no=99
webhook_set             institutions         webhook_url='x'       -
webhook_set             audit_log            field='plan'          audit_no=999
"""
"""The tables that an act of a kind is of; how a row may be changed, and told from a made up one."""


def harms() -> dict[str, tuple[str, str]]:
    """Return kind and statement of everything that is done to the rows of an act."""
    made = {}
    for row in read(ROWS):
        kind, table, added = row["kind"], row["table"], row["added"]
        done = {
            "deleted": f"delete from {table}",  # noqa: S608 - of the table above, as the others
            "changed": f"update {table} set {row['changed']}",  # noqa: S608
        }
        if added:
            new = re.sub(r"(\w+)=([^,]+)", r"\2 as \1", added)
            copy = f"select * replace ({new}) from {table} limit 1"  # noqa: S608
            done["added"] = f"insert into {table} {copy}"
        made |= {f"{kind}-{table}-{what}": (kind, sql) for what, sql in done.items()}
    return made


HARMS = harms()


@slow
@pytest.mark.parametrize(("kind", "harm"), HARMS.values(), ids=HARMS)
@one_in(10)
def test_what_became_of_the_row_of_an_act_is_found(kind: str, harm: str) -> None:
    with stored().store() as store, store.transaction(keep=False):
        select(store, harm)
        found = {row["kind"]: row["subject"] for row in store.rows(audits()[AUDIT])}
        assert kind in found, found
        assert found[kind]


@slow
def test_every_kind_has_its_rows() -> None:
    with stored().store() as store:
        assert (0, None) == offending(store, AUDIT)
        kinds = {kind for (kind,) in select(store, "select distinct kind from act_rows")}
    assert kinds == {row["kind"] for row in read(ROWS)}
