-- name: redemptions
-- A page of redemptions, newest first, after a position; nulls in the parameters filter nothing.
-- Grain: one row per redemption.
select
    redemptions.redemption_id,
    redemptions.created_at,
    ledger_entries.status,
    ledger_entries.currency,
    ledger_entries.merchant_funded_amount,
    ledger_entries.commission_amount,
    ledger_entries.institution_payout_amount,
    offers.offer_id,
    coalesce(in_first_language.title, in_english.title) as offer_title,
    merchants.name as merchant_name,
    cardholders.cardholder_token,
    institutions.slug as institution,
    purchases.transaction_ref
from redemptions
inner join ledger_entries
    on ledger_entries.redemption_no = redemptions.redemption_no
    and ledger_entries.institution_id = redemptions.institution_id
inner join institutions on institutions.institution_id = redemptions.institution_id
inner join purchases
    on purchases.purchase_no = redemptions.purchase_no
    and purchases.institution_id = redemptions.institution_id
inner join cardholders
    on cardholders.cardholder_no = redemptions.cardholder_no
    and cardholders.institution_id = redemptions.institution_id
inner join offers on offers.offer_no = redemptions.offer_no
inner join merchants on merchants.merchant_id = ledger_entries.merchant_id
left join offer_texts as in_first_language
    on in_first_language.offer_id = offers.offer_id
    and in_first_language.language = split_part(institutions.languages, '|', 1)
left join offer_texts as in_english
    on in_english.offer_id = offers.offer_id
    and in_english.language = 'en'
where ($institution_id is null or redemptions.institution_id = $institution_id)
    and ($status is null or ledger_entries.status = $status)
    and ($from_at is null or redemptions.created_at >= $from_at)
    and ($to_at is null or redemptions.created_at < $to_at)
    and ($after_run_no is null or redemptions.run_no > $after_run_no)
    and ($to_run_no is null or redemptions.run_no <= $to_run_no)
    and (
        $after_at is null
        or redemptions.created_at < $after_at
        or (redemptions.created_at = $after_at and redemptions.redemption_id < $after_id)
    )
order by redemptions.created_at desc, redemptions.redemption_id desc
limit $limit;

-- name: settlements
-- A page of ledger entries, newest first, after a position; nulls in the parameters filter nothing.
-- Grain: one row per ledger entry.
select
    ledger_entries.entry_id,
    redemptions.redemption_id,
    offers.offer_id,
    ledger_entries.merchant_id,
    purchases.transaction_ref,
    ledger_entries.currency,
    ledger_entries.merchant_funded_amount,
    ledger_entries.commission_amount,
    ledger_entries.institution_payout_amount,
    ledger_entries.status,
    ledger_entries.created_at,
    ledger_entries.settles_at,
    ledger_entries.settled_at,
    ledger_entries.reversed_at,
    ledger_entries.reversal_reason,
    settlements.settlement_id,
    institutions.slug as institution
from ledger_entries
inner join redemptions
    on redemptions.redemption_no = ledger_entries.redemption_no
    and redemptions.institution_id = ledger_entries.institution_id
inner join institutions on institutions.institution_id = ledger_entries.institution_id
inner join purchases
    on purchases.purchase_no = redemptions.purchase_no
    and purchases.institution_id = redemptions.institution_id
inner join offers on offers.offer_no = ledger_entries.offer_no
left join settlements
    on settlements.settlement_no = ledger_entries.settlement_no
    and settlements.institution_id = ledger_entries.institution_id
where ($institution_id is null or ledger_entries.institution_id = $institution_id)
    and ($status is null or ledger_entries.status = $status)
    and ($from_at is null or ledger_entries.created_at >= $from_at)
    and ($to_at is null or ledger_entries.created_at < $to_at)
    and ($after_run_no is null or settlements.run_no > $after_run_no)
    and ($to_run_no is null or settlements.run_no <= $to_run_no)
    and (
        $after_at is null
        or ledger_entries.created_at < $after_at
        or (ledger_entries.created_at = $after_at and ledger_entries.entry_id < $after_id)
    )
order by ledger_entries.created_at desc, ledger_entries.entry_id desc
limit $limit;

-- name: unresolved
-- What purchases named their merchant by and nobody knows; most purchases first.
-- Grain: one row per institution, identifier (or merchant_id sent) and currency.
select
    institutions.slug as institution,
    identifiers.merchant_identifier_type,
    identifiers.merchant_identifier,
    purchases.merchant_id,
    purchases.currency,
    count(*) as purchases,
    sum(purchases.amount) as amount,
    count(distinct purchases.cardholder_no) as cardholders,
    min(purchases.transacted_at) as first_seen_at,
    max(purchases.transacted_at) as last_seen_at
from purchases
inner join institutions on institutions.institution_id = purchases.institution_id
left join identifiers on identifiers.identifier_no = purchases.identifier_no
left join merchants as named on named.merchant_id = purchases.merchant_id
left join merchants
    on merchants.merchant_id = coalesce(named.merchant_id, identifiers.merchant_id)
where merchants.merchant_id is null
    and ($institution_id is null or purchases.institution_id = $institution_id)
    and ($from_at is null or purchases.transacted_at >= $from_at)
    and ($to_at is null or purchases.transacted_at < $to_at)
group by all
order by
    purchases desc, institution, merchant_identifier_type nulls last,
    merchant_identifier nulls last, purchases.merchant_id nulls last, purchases.currency
limit $limit;

-- name: count_unresolved
-- How many rows `unresolved` has in all.
with named as (
    select distinct
        purchases.institution_id,
        purchases.identifier_no,
        purchases.merchant_id,
        purchases.currency
    from purchases
    left join identifiers on identifiers.identifier_no = purchases.identifier_no
    left join merchants as named on named.merchant_id = purchases.merchant_id
    left join merchants
        on merchants.merchant_id = coalesce(named.merchant_id, identifiers.merchant_id)
    where merchants.merchant_id is null
        and ($institution_id is null or purchases.institution_id = $institution_id)
        and ($from_at is null or purchases.transacted_at >= $from_at)
        and ($to_at is null or purchases.transacted_at < $to_at)
)

select count(*) as rows
from named;

-- name: redemptions_by_day
-- Redemptions and their money by day (UTC), newest first, from the first day with any to the last,
-- the days between without any too. An entry is as old as its redemption.
-- Grain: one row per day and currency.
with counted as (
    select
        date_trunc('day', created_at) as day,
        currency,
        count(*) as redemptions,
        count(*) filter (where status = 'reversed') as reversed,
        sum(merchant_funded_amount) as merchant_funded_amount,
        sum(institution_payout_amount) as institution_payout_amount
    from ledger_entries
    where ($institution_id is null or institution_id = $institution_id)
        and ($status is null or status = $status)
        and ($from_at is null or created_at >= $from_at)
        and ($to_at is null or created_at < $to_at)
    group by all
),

days as (
    select unnest(
        range(
            cast(min(day) as timestamp),
            cast(max(day) as timestamp) + interval 1 day,
            interval 1 day
        )
    ) as day
    from counted
),

currencies as (
    select distinct currency
    from counted
)

select
    cast(days.day as date) as day,
    coalesce(counted.redemptions, 0) as redemptions,
    coalesce(counted.reversed, 0) as reversed,
    currencies.currency,
    coalesce(counted.merchant_funded_amount, 0) as merchant_funded_amount,
    coalesce(counted.institution_payout_amount, 0) as institution_payout_amount
from days
cross join currencies
left join counted on counted.day = days.day and counted.currency = currencies.currency
order by days.day desc, currencies.currency
limit $limit;

-- name: redemptions_by_offer
-- Redemptions and their money by offer, the most redeemed first; titles in the first language of
-- the institution asked for, else in English. Grain: one row per offer and currency.
with counted as (
    select
        offer_no,
        currency,
        count(*) as redemptions,
        count(*) filter (where status = 'reversed') as reversed,
        sum(merchant_funded_amount) as merchant_funded_amount,
        sum(institution_payout_amount) as institution_payout_amount
    from ledger_entries
    where ($institution_id is null or institution_id = $institution_id)
        and ($status is null or status = $status)
        and ($from_at is null or created_at >= $from_at)
        and ($to_at is null or created_at < $to_at)
    group by all
)

select
    offers.offer_id,
    coalesce(in_first_language.title, in_english.title) as title,
    merchants.name as merchant_name,
    counted.redemptions,
    counted.reversed,
    counted.currency,
    counted.merchant_funded_amount,
    counted.institution_payout_amount
from counted
inner join offers on offers.offer_no = counted.offer_no
inner join merchants on merchants.merchant_id = offers.merchant_id
left join institutions on institutions.institution_id = $institution_id
left join offer_texts as in_first_language
    on in_first_language.offer_id = offers.offer_id
    and in_first_language.language = split_part(institutions.languages, '|', 1)
left join offer_texts as in_english
    on in_english.offer_id = offers.offer_id
    and in_english.language = 'en'
order by counted.redemptions desc, offers.offer_id, counted.currency
limit $limit;

-- name: redemptions_by_merchant
-- Redemptions and their money by the merchant they were made at, the most redeemed first.
-- Grain: one row per merchant and currency.
with counted as (
    select
        merchant_id,
        currency,
        count(*) as redemptions,
        count(*) filter (where status = 'reversed') as reversed,
        sum(merchant_funded_amount) as merchant_funded_amount,
        sum(institution_payout_amount) as institution_payout_amount
    from ledger_entries
    where ($institution_id is null or institution_id = $institution_id)
        and ($status is null or status = $status)
        and ($from_at is null or created_at >= $from_at)
        and ($to_at is null or created_at < $to_at)
    group by all
)

select
    counted.merchant_id,
    merchants.name as merchant_name,
    counted.redemptions,
    counted.reversed,
    counted.currency,
    counted.merchant_funded_amount,
    counted.institution_payout_amount
from counted
inner join merchants on merchants.merchant_id = counted.merchant_id
order by counted.redemptions desc, counted.merchant_id, counted.currency
limit $limit;

-- name: settlement_totals
-- What ledger entries come to. Grain: one row per institution, currency and state.
select
    institutions.slug as institution,
    ledger_entries.currency,
    ledger_entries.status,
    count(*) as entries,
    sum(ledger_entries.merchant_funded_amount) as merchant_funded_amount,
    sum(ledger_entries.commission_amount) as commission_amount,
    sum(ledger_entries.institution_payout_amount) as institution_payout_amount
from ledger_entries
inner join institutions on institutions.institution_id = ledger_entries.institution_id
where ($institution_id is null or ledger_entries.institution_id = $institution_id)
    and ($status is null or ledger_entries.status = $status)
    and ($from_at is null or ledger_entries.created_at >= $from_at)
    and ($to_at is null or ledger_entries.created_at < $to_at)
group by institutions.slug, ledger_entries.currency, ledger_entries.status
order by
    institutions.slug,
    ledger_entries.currency,
    list_position(['settled', 'pending', 'reversed'], ledger_entries.status);
