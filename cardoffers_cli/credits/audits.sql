-- name: credits_are_as_they_were_sent
-- Credited rows whose reference came twice, or cannot be found by its hash, and such as no file is
-- taken with (rules.md#credited-files). Grain: one row per credited row and fault.
with faults as (
    select min(credits.credit_no) as credit_no, 'its reference came twice' as fault
    from credits
    group by credits.institution_id, credits.credit_ref
    having count(*) > 1
    union all
    select credits.credit_no, 'it is not found by its reference'
    from credits
    where credits.ref_hash <> ref_hash(credits.institution_id, credits.credit_ref)
    union all
    select credits.credit_no, 'it says what none can say'
    from credits
    where credits.amount <= 0
        or credits.status not in ('credited', 'failed', 'reversed')
        or (credits.redemption_id is null and credits.transaction_ref is null)
)
select faults.credit_no, faults.fault
from faults
order by faults.credit_no, faults.fault;

-- name: credited_rows_are_of_one_redemption
-- Credited rows that are linked more than once, or to a redemption that is not there or is another
-- institution's, or with another amount (rules.md#reconciliation). Grain: one row per credited row and
-- fault.
with faults as (
    select credit_links.credit_no, 'linked more than once' as fault
    from credit_links
    group by credit_links.credit_no
    having count(*) > 1
    union all
    select credit_links.credit_no, 'linked to what it is not of'
    from credit_links
    left join credits using (credit_no, institution_id, amount, status, credited_at)
    left join redemptions using (redemption_no, institution_id)
    where credits.credit_no is null
        or redemptions.redemption_no is null
)
select faults.credit_no, faults.fault
from faults
order by faults.credit_no, faults.fault;

-- name: everything_reconciled_has_a_verdict
-- Redemptions and credited rows that the last reconciliation of their institution knew, and statements
-- and entries of banks so, of which no verdict, or more than one, tells; a linked row has that of its
-- redemption, and an entry that of the statement whose payout was known then.
-- Grain: one row per subject.
with reached as (
    select
        reconciliations.institution_id,
        max(reconciliations.last_redemption_no) as redemption_no,
        max(reconciliations.last_credit_no) as credit_no,
        max(reconciliations.run_no) as run_no,
        max_by(reconciliations.statements, reconciliations.run_no) > 0 as is_paid
    from reconciliations
    group by reconciliations.institution_id
),
subjects as (
    select
        ledger_entries.institution_id, 'redemption' as subject,
        ledger_entries.redemption_no as subject_no, 1 as verdicts
    from ledger_entries
    inner join reached on reached.institution_id = ledger_entries.institution_id
    where ledger_entries.redemption_no <= reached.redemption_no
    union all
    select credits.institution_id, 'credit', credits.credit_no, 1
    from credits
    inner join reached on reached.institution_id = credits.institution_id
    where credits.credit_no <= reached.credit_no
        and credits.credit_no not in (select credit_links.credit_no from credit_links)
    union all
    select statements.institution_id, 'statement', statements.statement_no, 1
    from statements
    inner join reached on reached.institution_id = statements.institution_id
    where statements.run_no < reached.run_no
        and statements.payable > 0
        and reached.is_paid
    union all
    select reached.institution_id, 'entry', bank_bookings.entry_no, 1
    from bank_bookings
    inner join reached on reached.institution_id = no_institution()
    left join payouts on payouts.payout_no = bank_bookings.payout_no
    where bank_bookings.run_no < reached.run_no
        and (payouts.payout_no is null or payouts.run_no >= reached.run_no)
    union all
    select
        current_verdicts.institution_id, current_verdicts.subject, current_verdicts.subject_no, -1
    from current_verdicts
    where current_verdicts.code <> 'known_now'
)
select
    subjects.institution_id, subjects.subject, subjects.subject_no,
    -sum(subjects.verdicts) as too_many
from subjects
group by subjects.institution_id, subjects.subject, subjects.subject_no
having sum(subjects.verdicts) <> 0
order by subjects.institution_id, subjects.subject, subjects.subject_no;

-- name: reconciled_totals_are_kept
-- Totals of the last reconciliation of an institution that are not what the verdicts that hold come
-- to. Grain: one row per institution, verdict and currency.
with last_runs as (
    select reconciliations.institution_id, max(reconciliations.run_no) as run_no
    from reconciliations
    group by reconciliations.institution_id
),
both_sides as (
    select reconciliation_totals.*, 1 as sign
    from reconciliation_totals
    semi join last_runs using (institution_id, run_no)
    union all by name
    select verdict_sums.* exclude (subject, subject_no), -1 as sign
    from verdict_sums
    semi join current_verdicts using (institution_id, subject, subject_no, run_no)
)
select
    institution_id, code, currency, sum(sign * verdicts) as too_many,
    sum(sign * redemptions) as redemptions, sum(sign * credited_rows) as credited_rows,
    sum(sign * statements) as statements, sum(sign * bank_entries) as bank_entries,
    sum(sign * amount) as amount, sum(sign * credited_amount) as credited_amount,
    sum(sign * moved_amount) as moved_amount
from both_sides
group by institution_id, code, currency
having sum(sign * verdicts) <> 0
    or sum(sign * redemptions) <> 0
    or sum(sign * credited_rows) <> 0
    or sum(sign * statements) <> 0
    or sum(sign * bank_entries) <> 0
    or sum(sign * amount) <> 0
    or sum(sign * credited_amount) <> 0
    or sum(sign * moved_amount) <> 0
order by institution_id, code, currency;
