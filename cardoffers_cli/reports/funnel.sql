-- name: count
-- The five counts of an institution in a half-open window. Grain: one row.
with seen as (
    select
        count(*) filter (where event = 'widget_view') as widget_views,
        count(distinct cardholder_no) filter (where event = 'widget_view') as unique_cardholders,
        count(*) filter (where event = 'offer_impression') as offer_impressions
    from engagement
    where institution_id = $institution_id
        and occurred_at >= $from_at
        and occurred_at < $to_at
),

added as (
    select count(*) as offer_add_successes
    from links
    where institution_id = $institution_id and added_at >= $from_at and added_at < $to_at
),

redeemed as (
    select cast(coalesce(sum(redemptions), 0) as bigint) as redemptions
    from redemption_totals
    where institution_id = $institution_id and created_at >= $from_at and created_at < $to_at
)

select
    seen.widget_views, seen.unique_cardholders, seen.offer_impressions, added.offer_add_successes,
    redeemed.redemptions
from seen
cross join added
cross join redeemed;

-- name: people
-- The cardholders of an institution: who saw offers in a half-open window, who of them had added any
-- by its end, and who of these redeemed in it; each a part of the one before. Beside them, all who
-- redeemed in it. Grain: one row.
with saw as (
    select distinct cardholder_no
    from engagement
    where institution_id = $institution_id
        and event in ('widget_view', 'offer_impression')
        and occurred_at >= $from_at
        and occurred_at < $to_at
),

added as (
    select distinct cardholder_no
    from links
    where institution_id = $institution_id and added_at < $to_at
),

redeemed as (
    select distinct cardholder_no
    from redemptions
    where institution_id = $institution_id and created_at >= $from_at and created_at < $to_at
),

stepped as (
    select
        count(*) as saw, count(added.cardholder_no) as added,
        count(redeemed.cardholder_no) filter (where added.cardholder_no is not null) as redeemed
    from saw
    left join added on added.cardholder_no = saw.cardholder_no
    left join redeemed on redeemed.cardholder_no = saw.cardholder_no
)

select
    stepped.saw, stepped.added, stepped.redeemed,
    (select count(*) from redeemed) as all_who_redeemed
from stepped;

-- name: by_day
-- The five counts of an institution by day (UTC), days without any too, and the redemptions of the
-- window by the day of their purchase, those of purchases before it nowhere. Days of purchases that
-- lie in the window are counted already; of the two that it cuts, the redemptions are looked at.
-- Grain: one row per day that the half-open window touches.
with happened as (
    select occurred_at as happened_at, event, cardholder_no, times
    from cardholder_events
    where institution_id = $institution_id
        and occurred_at >= $from_at
        and occurred_at < $to_at
    union all
    select cast(purchased_on as timestamp), 'purchase', null, redemptions
    from purchase_day_totals
    where institution_id = $institution_id
        and created_at >= $from_at
        and created_at < $to_at
        and purchased_on >= cast(first_whole_day($from_at) as date)
        and purchased_on < cast($to_at as date)
    union all
    select redemptions.purchased_at, 'purchase', null, 1
    from redemptions
    where redemptions.institution_id = $institution_id
        and redemptions.created_at >= $from_at
        and redemptions.created_at < $to_at
        and redemptions.purchased_at >= $from_at
        and redemptions.purchased_at < $to_at
        and (
            redemptions.purchased_at < first_whole_day($from_at)
            or redemptions.purchased_at >= date_trunc('day', cast($to_at as timestamp))
        )
),

counted as (
    select
        date_trunc('day', happened_at) as day,
        cast(coalesce(sum(times) filter (where event = 'widget_view'), 0) as bigint)
            as widget_views,
        count(distinct cardholder_no) filter (where event = 'widget_view') as unique_cardholders,
        cast(coalesce(sum(times) filter (where event = 'offer_impression'), 0) as bigint)
            as offer_impressions,
        cast(coalesce(sum(times) filter (where event = 'offer_add'), 0) as bigint)
            as offer_add_successes,
        cast(coalesce(sum(times) filter (where event = 'redemption'), 0) as bigint)
            as redemptions,
        cast(coalesce(sum(times) filter (where event = 'purchase'), 0) as bigint)
            as purchase_day_redemptions
    from happened
    group by date_trunc('day', happened_at)
),

days as (
    select unnest(
        range(
            date_trunc('day', cast($from_at as timestamp)), cast($to_at as timestamp),
            interval 1 day
        )
    ) as day
)

select
    cast(cast(days.day as date) as varchar) as day,
    coalesce(counted.widget_views, 0) as widget_views,
    coalesce(counted.unique_cardholders, 0) as unique_cardholders,
    coalesce(counted.offer_impressions, 0) as offer_impressions,
    coalesce(counted.offer_add_successes, 0) as offer_add_successes,
    coalesce(counted.redemptions, 0) as redemptions,
    coalesce(counted.purchase_day_redemptions, 0) as purchase_day_redemptions
from days
left join counted on counted.day = days.day
order by days.day;

-- name: by_offer
-- What an institution's cardholders did with each offer in a half-open window, the most redeemed
-- first. Grain: one row per offer with any count.
with counted as (
    select
        offer_no,
        cast(coalesce(sum(times) filter (where event = 'offer_impression'), 0) as bigint) as offer_impressions,
        cast(coalesce(sum(times) filter (where event = 'offer_add'), 0) as bigint) as offer_add_successes,
        cast(coalesce(sum(times) filter (where event = 'redemption'), 0) as bigint) as redemptions
    from cardholder_events
    where institution_id = $institution_id
        and offer_no is not null
        and occurred_at >= $from_at
        and occurred_at < $to_at
    group by offer_no
)

select
    offers.offer_id,
    offer_title(offer_titles.titles, institutions.languages) as title,
    merchants.name as merchant_name, counted.offer_impressions, counted.offer_add_successes,
    counted.redemptions
from counted
inner join institutions on institutions.institution_id = $institution_id
inner join offers on offers.offer_no = counted.offer_no
inner join merchants on merchants.merchant_id = offers.merchant_id
left join offer_titles on offer_titles.offer_id = offers.offer_id
order by
    counted.redemptions desc, counted.offer_add_successes desc, counted.offer_impressions desc,
    offers.offer_id;

-- name: by_merchant
-- What an institution's cardholders did with the offers of each merchant in a half-open window, the
-- most redeemed first. Grain: one row per merchant with any count.
with counted as (
    select
        offers.merchant_id,
        cast(coalesce(sum(events.times) filter (where events.event = 'offer_impression'), 0) as bigint) as offer_impressions,
        cast(coalesce(sum(events.times) filter (where events.event = 'offer_add'), 0) as bigint) as offer_add_successes,
        cast(coalesce(sum(events.times) filter (where events.event = 'redemption'), 0) as bigint) as redemptions
    from cardholder_events as events
    inner join offers on offers.offer_no = events.offer_no
    where events.institution_id = $institution_id
        and events.occurred_at >= $from_at
        and events.occurred_at < $to_at
    group by offers.merchant_id
)

select
    counted.merchant_id, merchants.name as merchant_name, counted.offer_impressions,
    counted.offer_add_successes, counted.redemptions
from counted
inner join merchants on merchants.merchant_id = counted.merchant_id
order by
    counted.redemptions desc, counted.offer_add_successes desc, counted.offer_impressions desc,
    counted.merchant_id;
