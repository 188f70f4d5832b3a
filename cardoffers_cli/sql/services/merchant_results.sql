-- name: list
-- What merchants funded in a half-open window (UTC, of when redemptions were decided; nulls filter
-- nothing), net of what was reversed, which stands beside it. The merchant is the one the purchase
-- was made at. Of each currency come the first $limit rows in an order.
-- Grain: one row per merchant and currency.
with counted as (
    select
        ledger_entries.merchant_id, ledger_entries.currency, count(*) as redemptions,
        count(*) filter (where ledger_entries.status = 'reversed') as reversed,
        count(distinct (ledger_entries.institution_id, ledger_entries.cardholder_no))
            filter (where ledger_entries.status <> 'reversed') as cardholders,
        sum(purchases.amount) filter (where ledger_entries.status <> 'reversed') as spend_amount,
        sum(ledger_entries.merchant_funded_amount)
            filter (where ledger_entries.status <> 'reversed') as merchant_funded_amount,
        sum(ledger_entries.commission_amount)
            filter (where ledger_entries.status <> 'reversed') as commission_amount,
        sum(ledger_entries.institution_payout_amount)
            filter (where ledger_entries.status <> 'reversed') as institution_payout_amount,
        sum(ledger_entries.merchant_funded_amount)
            filter (where ledger_entries.status = 'reversed') as reversed_amount
    from redemption_entries as ledger_entries
    inner join purchases
        on purchases.purchase_no = ledger_entries.purchase_no
        and purchases.institution_id = ledger_entries.institution_id
    where ($institution_id is null or ledger_entries.institution_id = $institution_id)
        and ($from_at is null or ledger_entries.created_at >= $from_at)
        and ($to_at is null or ledger_entries.created_at < $to_at)
    group by ledger_entries.merchant_id, ledger_entries.currency
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
