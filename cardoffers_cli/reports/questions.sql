-- name: redemptions
-- A page of redemptions, newest first, after a position; nulls in the parameters filter nothing.
-- Which these are is found first, in few columns; the rest is looked up of them alone, with what became
-- of each (rules.md#stories).
-- Tokens are masked (rules.md#masking). Grain: one row per redemption.
with page as (
    select
        redemptions.redemption_no, redemptions.redemption_id, redemptions.institution_id,
        redemptions.cardholder_no, redemptions.offer_no, redemptions.created_at,
        redemptions.purchase_amount, redemptions.purchased_at, redemptions.transaction_ref
    from redemptions
    where ($institution_id is null or redemptions.institution_id = $institution_id)
        and ($from_at is null or redemptions.created_at >= $from_at)
        and ($to_at is null or redemptions.created_at < $to_at)
        and ($after_run_no is null or redemptions.run_no > $after_run_no)
        and ($to_run_no is null or redemptions.run_no <= $to_run_no)
        and (
            $status is null
            or exists (
                select 1
                from ledger_entries
                where ledger_entries.redemption_no = redemptions.redemption_no
                    and ledger_entries.institution_id = redemptions.institution_id
                    and ledger_entries.status = $status
            )
        )
        and (
            $after_at is null
            or redemptions.created_at < $after_at
            or (redemptions.created_at = $after_at and redemptions.redemption_id < $after_id)
        )
    order by redemptions.created_at desc, redemptions.redemption_id desc
    limit $limit
),

stories as materialized (
    select found.*
    from stories_of((select list(page.redemption_no) from page)) as found
)

select
    page.redemption_id as id, page.created_at, stories.status, stories.merchant_funded_amount,
    stories.commission_amount, stories.institution_payout_amount, stories.currency, stories.story,
    stories.story_at, stories.story_amount,
    {
        'id': offers.offer_id,
        'title': offer_title(offer_titles.titles, institutions.languages),
        'merchant_name': merchants.name
    } as offer,
    masked(cardholders.cardholder_token) as cardholder_token_masked,
    institutions.slug as institution, page.transaction_ref, page.purchase_amount,
    page.purchased_at as transacted_at, stories.merchant_id, stories.verdict,
    stories.credited_amount, stories.credited_at
from page
inner join institutions on institutions.institution_id = page.institution_id
inner join stories on stories.redemption_no = page.redemption_no
inner join offers on offers.offer_no = page.offer_no
inner join cardholders
    on cardholders.cardholder_no = page.cardholder_no
    and cardholders.institution_id = page.institution_id
left join merchants on merchants.merchant_id = stories.merchant_id
left join offer_titles on offer_titles.offer_id = offers.offer_id
order by page.created_at desc, page.redemption_id desc;

-- name: is_any_reconciled
-- Whether a run held credited rows of an institution, or of any, against its redemptions.
select exists (
    select 1
    from reconciliations
    where ($institution_id is null or reconciliations.institution_id = $institution_id)
        and reconciliations.credited_rows > 0
) as is_any;

-- name: settlements
-- A page of ledger entries, newest first, after a position; nulls in the parameters filter nothing.
-- Which these are is found first, in few columns. Grain: one row per ledger entry.
with page as (
    select
        ledger_entries.redemption_no, ledger_entries.entry_id, ledger_entries.institution_id,
        ledger_entries.created_at
    from ledger_entries
    where ($institution_id is null or ledger_entries.institution_id = $institution_id)
        and ($status is null or ledger_entries.status = $status)
        and ($from_at is null or ledger_entries.created_at >= $from_at)
        and ($to_at is null or ledger_entries.created_at < $to_at)
        and (
            ($after_run_no is null and $to_run_no is null)
            or ledger_entries.settlement_no in (
                select settlements.settlement_no
                from settlements
                where ($institution_id is null or settlements.institution_id = $institution_id)
                    and ($after_run_no is null or settlements.run_no > $after_run_no)
                    and ($to_run_no is null or settlements.run_no <= $to_run_no)
            )
        )
        and ($settlement_no is null or ledger_entries.settlement_no = $settlement_no)
        and (
            $after_at is null
            or ledger_entries.created_at < $after_at
            or (ledger_entries.created_at = $after_at and ledger_entries.entry_id < $after_id)
        )
    order by ledger_entries.created_at desc, ledger_entries.entry_id desc
    limit $limit
),

redeemed as (
    select
        redemptions.redemption_no, redemptions.redemption_id, redemptions.institution_id,
        redemptions.offer_no, redemptions.purchase_amount, redemptions.purchased_at,
        redemptions.transaction_ref
    from redemptions
    where redemptions.redemption_no in (select page.redemption_no from page)
)

select
    page.entry_id as id, redemptions.redemption_id, offers.offer_id, ledger_entries.merchant_id,
    redemptions.transaction_ref, ledger_entries.currency, ledger_entries.merchant_funded_amount,
    ledger_entries.commission_amount, ledger_entries.institution_payout_amount,
    ledger_entries.status, page.created_at, ledger_entries.settles_at, ledger_entries.settled_at,
    ledger_entries.reversed_at, ledger_entries.reversal_reason, settlements.settlement_id,
    institutions.slug as institution, merchants.name as merchant_name,
    offer_title(offer_titles.titles, institutions.languages) as offer_title,
    redemptions.purchase_amount, redemptions.purchased_at as transacted_at
from page
inner join ledger_entries using (redemption_no, institution_id)
inner join redeemed as redemptions using (redemption_no, institution_id)
inner join institutions on institutions.institution_id = page.institution_id
inner join offers on offers.offer_no = redemptions.offer_no
left join merchants on merchants.merchant_id = ledger_entries.merchant_id
left join settlements using (settlement_no, institution_id)
left join offer_titles on offer_titles.offer_id = offers.offer_id
order by page.created_at desc, page.entry_id desc;

-- name: unresolved
-- What purchases named their merchant by and nobody knows, with the text that most often came with
-- it; most purchases first, or most money, or the last seen: the first $limit rows, of each currency
-- if $each_currency says so.
-- Grain: one row per institution, identifier (or merchant_id sent) and currency.
with described as (
    select
        waiting.institution_id, waiting.identifier_no, waiting.merchant_id, waiting.currency,
        purchase_details.merchant_descriptor, count(*) as purchases
    from waiting_purchases as waiting
    inner join purchase_details using (purchase_no, institution_id)
    where purchase_details.merchant_descriptor is not null
        and ($institution_id is null or waiting.institution_id = $institution_id)
        and ($from_at is null or waiting.transacted_at >= $from_at)
        and ($to_at is null or waiting.transacted_at < $to_at)
    group by all
),

most_said as (
    select
        institution_id, identifier_no, merchant_id, currency,
        arg_max(merchant_descriptor, (purchases, merchant_descriptor)) as merchant_descriptor,
        count(*) as descriptors
    from described
    group by all
),

counted as (
    select
        institution_id, identifier_no, merchant_id, currency,
        cast(sum(purchases) as bigint) as purchases, sum(amount) as amount, count(*) as cardholders,
        min(first_seen_at) as first_seen_at, max(last_seen_at) as last_seen_at
    from unknown_purchases($institution_id, $from_at, $to_at)
    group by all
),

numbered as (
    select
        institutions.slug as institution, identifiers.merchant_identifier_type,
        identifiers.merchant_identifier, counted.merchant_id, counted.currency, counted.purchases,
        counted.amount, counted.cardholders, counted.first_seen_at, counted.last_seen_at,
        most_said.merchant_descriptor, coalesce(most_said.descriptors, 0) as descriptors,
        row_number() over (
            partition by case when $each_currency then counted.currency end
            order by
                case when $order = 'amount' then counted.amount end desc nulls last,
                case when $order = 'last seen' then counted.last_seen_at end desc nulls last,
                counted.purchases desc, institutions.slug,
                identifiers.merchant_identifier_type nulls last,
                identifiers.merchant_identifier nulls last, counted.merchant_id nulls last,
                counted.currency
        ) as place
    from counted
    inner join institutions on institutions.institution_id = counted.institution_id
    left join identifiers on identifiers.identifier_no = counted.identifier_no
    left join most_said
        on most_said.institution_id = counted.institution_id
        and most_said.identifier_no is not distinct from counted.identifier_no
        and most_said.merchant_id is not distinct from counted.merchant_id
        and most_said.currency = counted.currency
)

select numbered.* exclude (place)
from numbered
where numbered.place <= $limit
order by numbered.place, numbered.currency;

-- name: unresolved_totals
-- What purchases of unknown merchants come to, and how many rows `unresolved` has in all.
-- Grain: one row per currency.
select
    currency, cast(sum(purchases) as bigint) as purchases, sum(amount) as amount,
    count(distinct cardholder_no) as cardholders,
    count(distinct (institution_id, identifier_no, merchant_id)) as rows
from unknown_purchases($institution_id, $from_at, $to_at)
group by currency
order by currency;

-- name: redemptions_by_day
-- Redemptions and their money by the day they were decided, and the same redemptions by the day of
-- their purchase (UTC), newest first, from the first day with any to the last, the days between
-- without any too. Grain: one row per day and currency.
with decided as (
    select
        date_trunc('day', created_at) as day, currency,
        cast(sum(redemptions) as bigint) as redemptions,
        cast(coalesce(sum(redemptions) filter (where status = 'reversed'), 0) as bigint)
            as reversed,
        sum(merchant_funded_amount) as merchant_funded_amount,
        sum(institution_payout_amount) as institution_payout_amount
    from redemption_totals_within($institution_id, $status, $from_at, $to_at)
    group by date_trunc('day', created_at), currency
    having sum(redemptions) > 0
),

purchased as (
    select
        cast(purchased_on as timestamp) as day, currency,
        cast(sum(redemptions) as bigint) as redemptions,
        sum(institution_payout_amount) as institution_payout_amount
    from purchase_day_totals
    where ($institution_id is null or institution_id = $institution_id)
        and ($status is null or status = $status)
        and ($from_at is null or created_at >= $from_at)
        and ($to_at is null or created_at < $to_at)
    group by purchased_on, currency
    having sum(redemptions) > 0
),

touched as (
    select day, currency
    from decided
    union
    select day, currency
    from purchased
),

days as (
    select unnest(
        range(
            cast(min(day) as timestamp), cast(max(day) as timestamp) + interval 1 day,
            interval 1 day
        )
    ) as day
    from touched
),

currencies as (
    select distinct currency
    from touched
)

select
    cast(days.day as date) as day, coalesce(decided.redemptions, 0) as redemptions,
    coalesce(decided.reversed, 0) as reversed, currencies.currency,
    coalesce(decided.merchant_funded_amount, 0) as merchant_funded_amount,
    coalesce(decided.institution_payout_amount, 0) as institution_payout_amount,
    coalesce(purchased.redemptions, 0) as purchase_day_redemptions,
    coalesce(purchased.institution_payout_amount, 0) as purchase_day_payout_amount
from days
cross join currencies
left join decided on decided.day = days.day and decided.currency = currencies.currency
left join purchased on purchased.day = days.day and purchased.currency = currencies.currency
order by days.day desc, currencies.currency
limit $limit;

-- name: redemptions_by_offer
-- Redemptions and their money by offer, the most redeemed first; titles in the first language of
-- the institution asked for, else in English. Grain: one row per offer and currency.
with counted as (
    select
        offer_no, currency, cast(sum(redemptions) as bigint) as redemptions,
        cast(coalesce(sum(redemptions) filter (where status = 'reversed'), 0) as bigint)
            as reversed,
        sum(merchant_funded_amount) as merchant_funded_amount,
        sum(institution_payout_amount) as institution_payout_amount
    from redemption_totals_within($institution_id, $status, $from_at, $to_at)
    group by offer_no, currency
    having sum(redemptions) > 0
)

select
    offers.offer_id,
    offer_title(offer_titles.titles, institutions.languages) as title,
    merchants.name as merchant_name, counted.redemptions, counted.reversed, counted.currency,
    counted.merchant_funded_amount, counted.institution_payout_amount
from counted
inner join offers on offers.offer_no = counted.offer_no
inner join merchants on merchants.merchant_id = offers.merchant_id
left join institutions on institutions.institution_id = $institution_id
left join offer_titles on offer_titles.offer_id = offers.offer_id
order by counted.redemptions desc, offers.offer_id, counted.currency
limit $limit;

-- name: redemptions_by_merchant
-- Redemptions and their money by the merchant they were made at, the most redeemed first.
-- Grain: one row per merchant and currency.
with counted as (
    select
        merchant_id, currency, cast(sum(redemptions) as bigint) as redemptions,
        cast(coalesce(sum(redemptions) filter (where status = 'reversed'), 0) as bigint)
            as reversed,
        sum(merchant_funded_amount) as merchant_funded_amount,
        sum(institution_payout_amount) as institution_payout_amount
    from redemption_totals_within($institution_id, $status, $from_at, $to_at)
    group by merchant_id, currency
    having sum(redemptions) > 0
)

select
    counted.merchant_id, merchants.name as merchant_name, counted.redemptions, counted.reversed,
    counted.currency, counted.merchant_funded_amount, counted.institution_payout_amount
from counted
inner join merchants on merchants.merchant_id = counted.merchant_id
order by counted.redemptions desc, counted.merchant_id, counted.currency
limit $limit;

-- name: settlement_totals
-- What ledger entries come to. Grain: one row per institution, currency and state.
select
    institutions.slug as institution, ledger_entries.currency, ledger_entries.status,
    cast(sum(ledger_entries.redemptions) as bigint) as entries,
    sum(ledger_entries.merchant_funded_amount) as merchant_funded_amount,
    sum(ledger_entries.commission_amount) as commission_amount,
    sum(ledger_entries.institution_payout_amount) as institution_payout_amount
from redemption_totals_within($institution_id, $status, $from_at, $to_at) as ledger_entries
inner join institutions on institutions.institution_id = ledger_entries.institution_id
group by institutions.slug, ledger_entries.currency, ledger_entries.status
having sum(ledger_entries.redemptions) > 0
order by
    institutions.slug, ledger_entries.currency,
    list_position(['settled', 'pending', 'reversed'], ledger_entries.status);
