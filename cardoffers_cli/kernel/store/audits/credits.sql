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
