-- name: open_since
-- What is open of an institution, with the oldest purchase that it is about: files that came before
-- that one are of nothing open. A period is unclosed only where statements are closed at all.
-- Grain: one row per institution and reason with anything open.
with open_redemptions as (
    select deliveries.institution_id, deliveries.redemption_no, 'undelivered_webhooks' as why
    from deliveries
    where deliveries.state in ('due', 'failed')
        and deliveries.webhook_url is not null
    union all
    select ledger_entries.institution_id, ledger_entries.redemption_no, 'unsettled'
    from ledger_entries
    where ledger_entries.status = 'pending'
    union all
    select ledger_entries.institution_id, ledger_entries.redemption_no, 'unclosed_period'
    from ledger_entries
    anti join closed_settlements
        on closed_settlements.document = 'statement'
        and closed_settlements.settlement_no = ledger_entries.settlement_no
    where ledger_entries.settlement_no is not null
        and ledger_entries.institution_id in (select statements.institution_id from statements)
    union all
    select
        reconciliation_findings.institution_id, reconciliation_findings.subject_no, 'open_findings'
    from reconciliation_findings
    where reconciliation_findings.state = 'open'
        and reconciliation_findings.subject = 'redemption'
),
open_purchases as (
    select open_redemptions.institution_id, open_redemptions.why, purchases.received_at as since_at
    from open_redemptions
    inner join redemptions using (redemption_no, institution_id)
    inner join purchases using (purchase_no, institution_id)
    union all
    select purchases.institution_id, 'unmatched_purchases', purchases.received_at
    from waiting_purchases
    inner join purchases using (purchase_no, institution_id)
    where purchases.purchase_no > (
        select coalesce(max(match_watermark.purchase_no), 0)
        from match_watermark
    )
)
select open_purchases.institution_id, open_purchases.why, min(open_purchases.since_at) as since_at
from open_purchases
group by open_purchases.institution_id, open_purchases.why
order by open_purchases.institution_id, open_purchases.why;

-- name: runs
-- The nightly runs that have ended, but the newest, whose folder is not needed any more.
-- Grain: one row per run.
select nights.run_id, nights.as_of
from nights
where nights.ended_at is not null
    and nights.night_no < (select max(newest.night_no) from nights as newest)
order by nights.night_no;
