-- name: list
-- Settlements with their sums, net of adjustments, the newest or the largest first; nulls in the
-- parameters filter nothing. `settlements` is how many there are in all.
-- Grain: one row per settlement.
select
    institutions.slug as institution, settlements.currency, settlements.settled_at,
    settlements.entries, settlements.adjustments, settlements.merchant_funded_amount,
    settlements.commission_amount, settlements.institution_payout_amount, settlements.settlement_id,
    count(*) over () as settlements
from settlements
inner join institutions on institutions.institution_id = settlements.institution_id
where ($institution_id is null or settlements.institution_id = $institution_id)
    and ($from_at is null or settlements.settled_at >= $from_at)
    and ($to_at is null or settlements.settled_at < $to_at)
order by
    case when $order = 'largest' then settlements.institution_payout_amount end desc nulls last,
    settlements.settled_at desc, settlements.settlement_no desc
limit $limit;

-- name: owed
-- What is settled and what will be: settlements of the window, and, of now, entries on hold with the
-- days they are due, and adjustments that no settlement has deducted yet. Nulls in the parameters
-- filter nothing. Grain: one row per institution and currency that has any of these.
with settled as (
    select
        institution_id, currency, count(*) as settlements, sum(entries) as entries,
        sum(adjustments) as adjustments, sum(merchant_funded_amount) as merchant_funded_amount,
        sum(commission_amount) as commission_amount,
        sum(institution_payout_amount) as institution_payout_amount
    from settlements
    where ($institution_id is null or institution_id = $institution_id)
        and ($from_at is null or settled_at >= $from_at)
        and ($to_at is null or settled_at < $to_at)
    group by institution_id, currency
),

pending as (
    select
        institution_id, currency, count(*) as pending,
        sum(institution_payout_amount) as pending_payout_amount, min(settles_at) as next_settles_at,
        max(settles_at) as last_settles_at
    from ledger_entries
    where status = 'pending'
        and ($institution_id is null or institution_id = $institution_id)
    group by institution_id, currency
),

taken_back as (
    select
        institution_id, currency, count(*) as open_adjustments,
        sum(institution_payout_amount) as open_adjustment_amount
    from open_adjustments
    where ($institution_id is null or institution_id = $institution_id)
    group by institution_id, currency
)

select
    institutions.slug as institution, currency,
    coalesce(settled.settlements, 0) as settlements,
    cast(coalesce(settled.entries, 0) as bigint) as entries,
    cast(coalesce(settled.adjustments, 0) as bigint) as adjustments,
    coalesce(settled.merchant_funded_amount, 0) as merchant_funded_amount,
    coalesce(settled.commission_amount, 0) as commission_amount,
    coalesce(settled.institution_payout_amount, 0) as institution_payout_amount,
    coalesce(pending.pending, 0) as pending,
    coalesce(pending.pending_payout_amount, 0) as pending_payout_amount,
    pending.next_settles_at, pending.last_settles_at,
    coalesce(taken_back.open_adjustments, 0) as open_adjustments,
    coalesce(taken_back.open_adjustment_amount, 0) as open_adjustment_amount
from settled
full join pending using (institution_id, currency)
full join taken_back using (institution_id, currency)
inner join (select institution_id, slug from institutions) as institutions using (institution_id)
order by currency, coalesce(settled.institution_payout_amount, 0) desc, institutions.slug
limit $limit;

-- name: due
-- Entries on hold by the day (UTC) they are due, the first day first.
-- Grain: one row per day, institution and currency.
select
    cast(ledger_entries.settles_at as date) as day, institutions.slug as institution,
    ledger_entries.currency, count(*) as entries,
    sum(ledger_entries.institution_payout_amount) as institution_payout_amount,
    count(*) over () as rows
from ledger_entries
inner join institutions on institutions.institution_id = ledger_entries.institution_id
where ledger_entries.status = 'pending'
    and ($institution_id is null or ledger_entries.institution_id = $institution_id)
group by cast(ledger_entries.settles_at as date), institutions.slug, ledger_entries.currency
order by day, institutions.slug, ledger_entries.currency
limit $limit;

-- name: find
-- Settlements whose id begins with a text. Grain: one row per settlement, two at most.
select settlement_no, settlement_id, institution_id
from settlements
where starts_with(cast(settlement_id as varchar), lower($beginning))
order by settlement_no
limit 2;
