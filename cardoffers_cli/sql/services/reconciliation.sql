-- name: open_findings
-- The open findings of an institution of what was redeemed, or credited, before a moment, or of all
-- times where that is null. Grain: one row per code and currency.
select
    reconciliation_findings.code, reconciliation_findings.currency, count(*) as findings,
    sum(coalesce(reconciliation_findings.amount, reconciliation_findings.credited_amount))
        as amount,
    min(reconciliation_findings.since_at) as oldest_at
from reconciliation_findings
where reconciliation_findings.institution_id = $institution_id
    and reconciliation_findings.state = 'open'
    and ($before is null or reconciliation_findings.since_at < $before)
group by reconciliation_findings.code, reconciliation_findings.currency
order by reconciliation_findings.code, reconciliation_findings.currency;
