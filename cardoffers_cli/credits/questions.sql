-- name: findings
-- The findings of an institution, or of all, with a code, in a state, with an id, or whatever where
-- that is null; the open ones first, then the oldest; `findings` says how many there are. What people
-- know them by is looked up for the rows that are shown only; what no payout explains is of no
-- institution. Grain: one row per finding.
with page as materialized (
    select
        reconciliation_findings.*, count(*) over () as findings,
        case reconciliation_findings.state when 'open' then 1 when 'accepted' then 2 else 3 end
            as state_no
    from reconciliation_findings
    where ($institution_id is null or reconciliation_findings.institution_id = $institution_id)
        and ($code is null or reconciliation_findings.code = $code)
        and ($state is null or reconciliation_findings.state = $state)
        and (
            $finding_id is null
            or reconciliation_findings.finding_id = try_cast($finding_id as uuid)
        )
    order by
        state_no, reconciliation_findings.since_at, reconciliation_findings.subject,
        reconciliation_findings.finding_id, reconciliation_findings.first_run_no
    limit $limit
)
select
    page.finding_id, page.code,
    coalesce(redemptions.redemption_id, credits.redemption_id) as redemption_id,
    coalesce(purchases.transaction_ref, credits.transaction_ref) as transaction_ref,
    credits.credit_ref, page.amount, page.credited_amount, page.currency,
    greatest(date_sub('day', page.since_at, coalesce(ended.as_of, $now)), 0) as age_days,
    page.state, institutions.slug as institution, page.bank_code,
    coalesce(statements.number, bank_entries.payment_id, bank_entries.bank_ref) as paid_as,
    page.subject, page.subject_no, page.since_at, first_runs.as_of as first_found_at,
    newest_runs.as_of as last_found_at, ended.as_of as resolved_at, page.accepted_by,
    page.accepted_reason, page.accepted_at, page.findings
from page
left join institutions on institutions.institution_id = page.institution_id
inner join runs as first_runs on first_runs.run_no = page.first_run_no
inner join runs as newest_runs on newest_runs.run_no = page.newest_run_no
left join runs as ended on ended.run_no = page.resolved_run_no
left join redemptions
    on page.subject = 'redemption'
    and redemptions.redemption_no = page.subject_no
    and redemptions.institution_id = page.institution_id
left join purchases
    on purchases.purchase_no = redemptions.purchase_no
    and purchases.institution_id = redemptions.institution_id
left join credits
    on page.subject = 'credit'
    and credits.credit_no = page.subject_no
    and credits.institution_id = page.institution_id
left join statements
    on page.subject = 'statement'
    and statements.statement_no = page.subject_no
    and statements.institution_id = page.institution_id
left join bank_entries
    on page.subject = 'entry'
    and bank_entries.entry_no = page.subject_no
order by page.state_no, page.since_at, page.subject, page.finding_id, page.first_run_no;

-- name: credited_rows
-- The credited rows that a finding is about, in the order in which they are read
-- (rules.md#what-was-credited). Grain: one row per credited row.
with about as (
    select
        reconciliation_findings.institution_id, reconciliation_findings.subject,
        reconciliation_findings.subject_no
    from reconciliation_findings
    where reconciliation_findings.finding_id = $finding_id
),
numbers as (
    select about.institution_id, about.subject_no as credit_no
    from about
    where about.subject = 'credit'
    union all
    select about.institution_id, credit_links.credit_no
    from about
    inner join credit_links
        on credit_links.redemption_no = about.subject_no
        and credit_links.institution_id = about.institution_id
    where about.subject = 'redemption'
)
select
    credits.credit_ref, credits.status, credits.amount, credits.currency, credits.credited_at,
    credits.received_at, credits.failure_code, imports.file_name as file, credits.line
from numbers
inner join credits using (credit_no, institution_id)
left join imports using (import_no, institution_id)
order by credits.credited_at, credits.credit_no;

-- name: accept
-- Writes that a person accepted a finding.
insert into finding_acceptances (
    finding_id, institution_id, actor, reason, run_no, accepted_at
)
select
    reconciliation_findings.finding_id, reconciliation_findings.institution_id, $actor, $reason,
    $run_no, $now
from reconciliation_findings
where reconciliation_findings.finding_id = $finding_id;

-- name: open_findings
-- The open findings of an institution, or of all, of what was redeemed, or credited, before a moment,
-- or of all times where that is null. Grain: one row per code and currency.
select
    reconciliation_findings.code, reconciliation_findings.currency, count(*) as findings,
    sum(coalesce(reconciliation_findings.amount, reconciliation_findings.credited_amount))
        as amount,
    min(reconciliation_findings.since_at) as oldest_at
from reconciliation_findings
where ($institution_id is null or reconciliation_findings.institution_id = $institution_id)
    and reconciliation_findings.state = 'open'
    and ($before is null or reconciliation_findings.since_at < $before)
group by reconciliation_findings.code, reconciliation_findings.currency
order by reconciliation_findings.code, reconciliation_findings.currency;
