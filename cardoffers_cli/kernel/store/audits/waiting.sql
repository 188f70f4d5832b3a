-- name: waiting_is_what_waits
-- Purchases that wait for a match and are not where it looks, or are there and do not wait: decided
-- behind the watermark, of which they would be decided again; undecided before it, and not among the
-- unresolved; among these and decided, or more than once, or with other content. `fault` says which.
-- Grain: one row per purchase and fault; no purchase where there is not one watermark.
with watermark as (
    select coalesce(max(match_watermark.purchase_no), 0) as purchase_no
    from match_watermark
),
unresolved as (
    select
        unresolved_purchases.purchase_no,
        count(*) as times,
        min(
            hash(
                unresolved_purchases.institution_id, unresolved_purchases.cardholder_no,
                unresolved_purchases.identifier_no, unresolved_purchases.merchant_id,
                unresolved_purchases.amount, unresolved_purchases.currency,
                unresolved_purchases.transacted_at
            )
        ) as content
    from unresolved_purchases
    group by unresolved_purchases.purchase_no
),
resolved as (
    select distinct decisions.purchase_no
    from decisions
    where decisions.outcome <> 'merchant_unresolved'
),
undecided as (
    select
        purchases.purchase_no,
        hash(
            purchases.institution_id, purchases.cardholder_no, purchases.identifier_no,
            purchases.merchant_id, purchases.amount, purchases.currency, purchases.transacted_at
        ) as content
    from purchases
    cross join watermark
    where purchases.purchase_no <= watermark.purchase_no
        and not exists (
            select 1
            from resolved
            where resolved.purchase_no = purchases.purchase_no
        )
),
faults as (
    select cast(null as bigint) as purchase_no, 'not one watermark' as fault
    from match_watermark
    having count(*) <> 1
    union all
    select distinct decisions.purchase_no, 'decided behind the watermark'
    from decisions
    cross join watermark
    where decisions.purchase_no > watermark.purchase_no
    union all
    select
        coalesce(undecided.purchase_no, unresolved.purchase_no),
        case
            when unresolved.purchase_no is null then 'is nowhere'
            when undecided.purchase_no is null then 'does not wait'
            when unresolved.times > 1 then 'waits twice'
            else 'waits with other content'
        end
    from undecided
    full outer join unresolved on unresolved.purchase_no = undecided.purchase_no
    where undecided.purchase_no is null
        or unresolved.purchase_no is null
        or unresolved.times > 1
        or unresolved.content <> undecided.content
)
select faults.purchase_no, faults.fault
from faults
order by faults.purchase_no nulls first, faults.fault;

-- name: references_are_indexed
-- Purchases that are not found by their reference, because the hash that they are found by is
-- missing, there twice or another one; and hashes of no purchase (`transaction_ref` is null then).
-- Grain: one row per purchase, or number of none.
with hashed as (
    select
        purchase_refs.purchase_no, count(*) as times, min(purchase_refs.ref_hash) as ref_hash
    from purchase_refs
    group by purchase_refs.purchase_no
),
final as (
    select
        coalesce(purchases.purchase_no, hashed.purchase_no) as purchase_no,
        purchases.institution_id,
        coalesce(hashed.times, 0) as hashes
    from purchases
    full outer join hashed on hashed.purchase_no = purchases.purchase_no
    where purchases.purchase_no is null
        or hashed.purchase_no is null
        or hashed.times > 1
        or hashed.ref_hash <> ref_hash(purchases.institution_id, purchases.transaction_ref)
)
select final.purchase_no, final.institution_id, final.hashes
from final
order by final.purchase_no;

-- name: looks_are_indexed
-- Purchases that later ones which are alike would not be compared with, because what tells it is
-- missing, there twice or another one; and such numbers of no purchase. Those behind the last one
-- that has it get it with the next import. Grain: one row per purchase, or number of none.
with indexed as (
    select
        purchases.purchase_no, purchases.institution_id, purchases.instrument_no,
        purchases.amount, purchases.transacted_at
    from purchases
    where purchases.purchase_no <= (select max(purchase_looks.purchase_no) from purchase_looks)
),
looks as (
    select
        purchase_looks.purchase_no, count(*) as times,
        min(purchase_looks.look) as look
    from purchase_looks
    group by purchase_looks.purchase_no
),
final as (
    select
        coalesce(indexed.purchase_no, looks.purchase_no) as purchase_no,
        indexed.institution_id,
        coalesce(looks.times, 0) as looks
    from indexed
    full outer join looks on looks.purchase_no = indexed.purchase_no
    where indexed.purchase_no is null
        or looks.purchase_no is null
        or looks.times > 1
        or looks.look
        <> look_of(indexed.instrument_no, indexed.amount, indexed.transacted_at)
)
select final.purchase_no, final.institution_id, final.looks
from final
order by final.purchase_no;
