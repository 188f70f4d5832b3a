-- name: list
-- What merchants funded in a half-open window (UTC, of when redemptions were decided; nulls filter
-- nothing), net of what was reversed, which stands beside it. The merchant is the one the purchase
-- was made at. Of each currency come the first $limit rows in an order.
-- Grain: one row per merchant and currency.
with people as (
    select merchant_id, currency, count(distinct (institution_id, cardholder_no)) as cardholders
    from ledger_entries
    where status <> 'reversed'
        and ($institution_id is null or institution_id = $institution_id)
        and ($from_at is null or created_at >= $from_at)
        and ($to_at is null or created_at < $to_at)
    group by merchant_id, currency
),

summed as (
    select
        merchant_id, currency, cast(sum(redemptions) as bigint) as redemptions,
        cast(coalesce(sum(redemptions) filter (where status = 'reversed'), 0) as bigint)
            as reversed,
        sum(purchase_amount) filter (where status <> 'reversed') as spend_amount,
        sum(merchant_funded_amount) filter (where status <> 'reversed') as merchant_funded_amount,
        sum(commission_amount) filter (where status <> 'reversed') as commission_amount,
        sum(institution_payout_amount) filter (where status <> 'reversed')
            as institution_payout_amount,
        sum(merchant_funded_amount) filter (where status = 'reversed') as reversed_amount
    from redemption_totals
    where ($institution_id is null or institution_id = $institution_id)
        and ($from_at is null or created_at >= $from_at)
        and ($to_at is null or created_at < $to_at)
    group by merchant_id, currency
),

counted as (
    select
        summed.merchant_id, summed.currency, summed.redemptions, summed.reversed,
        coalesce(people.cardholders, 0) as cardholders, summed.spend_amount,
        case
            when summed.redemptions > summed.reversed then summed.merchant_funded_amount
        end as merchant_funded_amount,
        summed.commission_amount, summed.institution_payout_amount, summed.reversed_amount
    from summed
    left join people using (merchant_id, currency)
),

numbered as (
    select
        counted.*, count(*) over (partition by counted.currency) as merchants,
        sum(counted.redemptions) over (partition by counted.currency) as redemptions_in_all,
        sum(counted.reversed) over (partition by counted.currency) as reversed_in_all,
        sum(counted.merchant_funded_amount) over (partition by counted.currency) as funded_in_all,
        row_number() over (
            partition by counted.currency
            order by
                case when $order = 'redemptions' then counted.redemptions end desc nulls last,
                counted.merchant_funded_amount desc nulls last, counted.redemptions desc,
                counted.merchant_id
        ) as place
    from counted
)

select
    numbered.merchant_id, merchants.name as merchant_name, merchants.category, numbered.currency,
    numbered.redemptions, numbered.reversed, numbered.cardholders,
    coalesce(numbered.spend_amount, 0) as spend_amount,
    coalesce(numbered.merchant_funded_amount, 0) as merchant_funded_amount,
    coalesce(numbered.commission_amount, 0) as commission_amount,
    coalesce(numbered.institution_payout_amount, 0) as institution_payout_amount,
    coalesce(numbered.reversed_amount, 0) as reversed_amount, numbered.merchants,
    cast(numbered.redemptions_in_all as bigint) as redemptions_in_all,
    cast(numbered.reversed_in_all as bigint) as reversed_in_all,
    coalesce(numbered.funded_in_all, 0) as funded_in_all
from numbered
inner join merchants on merchants.merchant_id = numbered.merchant_id
where numbered.place <= $limit
order by numbered.currency, numbered.place;
