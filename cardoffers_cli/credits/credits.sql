-- name: listed
-- The credited rows of an institution with a status, or any where that is null, of a span of time, the
-- newest first; `credits` says how many there are. Grain: one row per credited row.
select
    credits.credit_ref, credits.status, credits.amount, credits.currency, credits.credited_at,
    credits.redemption_id, credits.transaction_ref, credits.failure_code, credits.received_at,
    count(*) over () as credits
from credits
where credits.institution_id = $institution_id
    and ($status is null or credits.status = $status)
    and ($from_at is null or credits.credited_at >= $from_at)
    and ($to_at is null or credits.credited_at < $to_at)
order by credits.credited_at desc, credits.credit_no desc
limit $limit;

-- name: shown
-- One credited row of an institution, the file that it came in, and the redemption that it is of: that
-- of its redemption_id or, where it names none, of its transaction_ref. Grain: one row, or none.
with sent as materialized (
    select
        credits.credit_ref, credits.status, credits.amount, credits.currency, credits.credited_at,
        credits.redemption_id, credits.transaction_ref, credits.failure_code, credits.received_at,
        credits.import_no, credits.line,
        ref_hash(credits.institution_id, credits.transaction_ref) as hash_of_purchase
    from credits
    where credits.institution_id = $institution_id
        and credits.ref_hash = ref_hash(cast($institution_id as uuid), $credit_ref)
        and credits.credit_ref = $credit_ref
),
bought as (
    select purchase_refs.purchase_no
    from sent
    inner join purchase_refs on purchase_refs.ref_hash = sent.hash_of_purchase
    where sent.redemption_id is null
),
found_owed as materialized (
    select
        redemption_facts.redemption_id, redemption_facts.transaction_ref, redemption_facts.status,
        redemption_facts.institution_payout_amount, redemption_facts.created_at,
        redemption_facts.settled_at, redemption_facts.reversed_at
    from redemption_facts
    where redemption_facts.institution_id = $institution_id
        and (
            redemption_facts.redemption_id in (select sent.redemption_id from sent)
            or (
                redemption_facts.purchase_no in (select bought.purchase_no from bought)
                and redemption_facts.transaction_ref in (select sent.transaction_ref from sent)
            )
        )
)
select
    sent.credit_ref, sent.status, sent.amount, sent.currency, sent.credited_at,
    sent.redemption_id, sent.transaction_ref, sent.failure_code, sent.received_at,
    imports.file_name as file, imports.import_id, sent.line,
    found_owed.redemption_id as owed_redemption_id, found_owed.transaction_ref as owed_transaction_ref,
    found_owed.status as redemption_status, found_owed.institution_payout_amount,
    found_owed.created_at as redeemed_at, found_owed.settled_at, found_owed.reversed_at
from sent
left join imports
    on imports.import_no = sent.import_no
    and imports.institution_id = $institution_id
left join found_owed on true;

-- name: of_redemption
-- The credited rows of a redemption, named by its id or, in rows without one, by the reference of its
-- purchase, the oldest first. Grain: one row per credited row.
select
    credits.credit_ref, credits.status, credits.amount, credits.currency, credits.credited_at,
    credits.redemption_id, credits.transaction_ref, credits.failure_code, credits.received_at,
    count(*) over () as credits
from credits
where credits.institution_id = $institution_id
    and (
        credits.redemption_id = $redemption_id
        or (credits.redemption_id is null and credits.transaction_ref = $transaction_ref)
    )
order by credits.credited_at, credits.credit_no;
