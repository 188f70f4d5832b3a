-- name: list
-- What offers brought in a half-open window (UTC, of when redemptions were decided; nulls filter
-- nothing), reversed redemptions apart, and how far their budgets are at $now: the offers that run
-- then, and those that redeemed in the window. With an institution: its offers, its redemptions, and
-- budgets as all institutions spend them. Of each currency come the first $limit rows in an order.
-- By their ends come those first that end first, at the rate of the last 28 days, or since the offer
-- began, a day at least (`offers/budgets.py`); what is spent or ended has no end to come.
-- The four weeks before $now are told apart, the last first. Grain: one row per offer.
with people as (
    select
        offer_no, count(distinct cardholder_no) as cardholders,
        count(*) filter (where institution_payout_amount >= offers.max_cashback_amount) as capped
    from ledger_entries
    inner join offers using (offer_no)
    where status <> 'reversed'
        and ($institution_id is null or institution_id = $institution_id)
        and ($from_at is null or created_at >= $from_at)
        and ($to_at is null or created_at < $to_at)
    group by offer_no
),

made as (
    select
        entries.offer_no, cast(sum(entries.redemptions) as bigint) as redemptions,
        cast(
            coalesce(sum(entries.redemptions) filter (where entries.status = 'reversed'), 0)
            as bigint
        ) as reversed,
        any_value(people.cardholders) as cardholders, any_value(people.capped) as capped,
        sum(entries.purchase_amount) filter (where entries.status <> 'reversed') as spend_amount,
        sum(entries.merchant_funded_amount)
            filter (where entries.status <> 'reversed') as merchant_funded_amount,
        sum(entries.commission_amount)
            filter (where entries.status <> 'reversed') as commission_amount,
        sum(entries.institution_payout_amount)
            filter (where entries.status <> 'reversed') as institution_payout_amount
    from redemption_totals as entries
    left join people on people.offer_no = entries.offer_no
    where ($institution_id is null or entries.institution_id = $institution_id)
        and ($from_at is null or entries.created_at >= $from_at)
        and ($to_at is null or entries.created_at < $to_at)
    group by entries.offer_no
),

spent_at as (
    select offer_no, created_at, sum(merchant_funded_amount) as amount
    from redemption_totals
    where status <> 'reversed'
    group by offer_no, created_at
    having sum(redemptions) > 0
    union all
    select reduced.offer_no, entries.created_at, reduced.merchant_funded_amount
    from adjustments as reduced
    inner join ledger_entries as entries using (redemption_no, institution_id)
    where reduced.offer_no is not null
),

spent as (
    select
        offer_no, sum(amount) as spent_amount,
        sum(amount)
            filter (where created_at > cast($now as timestamp) - interval 7 day) as week_1_amount,
        sum(amount) filter (
            where created_at > cast($now as timestamp) - interval 14 day
                and created_at <= cast($now as timestamp) - interval 7 day
        ) as week_2_amount,
        sum(amount) filter (
            where created_at > cast($now as timestamp) - interval 21 day
                and created_at <= cast($now as timestamp) - interval 14 day
        ) as week_3_amount,
        sum(amount) filter (
            where created_at > cast($now as timestamp) - interval 28 day
                and created_at <= cast($now as timestamp) - interval 21 day
        ) as week_4_amount,
        sum(amount) filter (where created_at >= cast($now as timestamp) - interval 28 day)
            as recent_amount,
        max(created_at) as last_redeemed_at
    from spent_at
    group by offer_no
),

chosen as (
    select
        offer_terms.offer_id, offer_terms.merchant_id, offer_terms.currency,
        offer_terms.budget_amount, offer_terms.merchant_funded_amount as next_amount,
        offer_terms.starts_at, offer_terms.expires_at,
        offer_terms.starts_at <= $now and offer_terms.expires_at > $now as is_running,
        coalesce(made.redemptions, 0) as redemptions, coalesce(made.reversed, 0) as reversed,
        coalesce(made.cardholders, 0) as cardholders,
        if(offer_terms.reward_type = 'percent', made.capped, null) as capped,
        coalesce(made.spend_amount, 0) as spend_amount,
        coalesce(made.merchant_funded_amount, 0) as merchant_funded_amount,
        coalesce(made.commission_amount, 0) as commission_amount,
        coalesce(made.institution_payout_amount, 0) as institution_payout_amount,
        coalesce(spent.spent_amount, 0) as spent_amount,
        coalesce(spent.recent_amount, 0) as recent_amount,
        coalesce(spent.week_1_amount, 0) as week_1_amount,
        coalesce(spent.week_2_amount, 0) as week_2_amount,
        coalesce(spent.week_3_amount, 0) as week_3_amount,
        coalesce(spent.week_4_amount, 0) as week_4_amount, spent.last_redeemed_at
    from offer_terms
    left join made on made.offer_no = offer_terms.offer_no
    left join spent on spent.offer_no = offer_terms.offer_no
    where made.offer_no is not null
        or (
            offer_terms.starts_at <= $now
            and offer_terms.expires_at > $now
            and (
                $institution_id is null
                or exists (
                    select 1
                    from program_offers
                    where program_offers.offer_id = offer_terms.offer_id
                        and program_offers.institution_id = $institution_id
                )
            )
        )
),

measured as (
    select
        chosen.*,
        case
            when not chosen.is_running then null
            when chosen.spent_amount + chosen.next_amount > chosen.budget_amount then null
            else least(
                epoch(chosen.expires_at),
                coalesce(
                    epoch(cast($now as timestamp))
                    + cast(chosen.budget_amount - chosen.spent_amount as double)
                    / nullif(cast(chosen.recent_amount as double), 0)
                    * greatest(
                        86400,
                        least(
                            2419200, epoch(cast($now as timestamp)) - epoch(chosen.starts_at)
                        )
                    ),
                    epoch(chosen.expires_at)
                )
            )
        end as ends_s
    from chosen
),

numbered as (
    select
        measured.*, count(*) over (partition by measured.currency) as offers,
        count(*) filter (
            where measured.is_running
                and measured.spent_amount + measured.next_amount > measured.budget_amount
        ) over (partition by measured.currency) as spent_offers,
        count(*) filter (where measured.redemptions > 0) over (partition by measured.currency)
            as redeemed,
        sum(measured.spend_amount) over (partition by measured.currency) as spend_in_all,
        sum(measured.institution_payout_amount) over (partition by measured.currency)
            as cashback_in_all,
        row_number() over (
            partition by measured.currency
            order by
                case when $order = 'ends' then measured.ends_s end nulls last,
                case when $order = 'redemptions' then measured.redemptions end desc nulls last,
                measured.spend_amount desc, measured.redemptions desc, measured.offer_id
        ) as place
    from measured
)

select
    numbered.* exclude (ends_s),
    offer_title(offer_titles.titles, institutions.languages) as title,
    merchants.name as merchant_name
from numbered
inner join merchants on merchants.merchant_id = numbered.merchant_id
left join institutions on institutions.institution_id = $institution_id
left join offer_titles on offer_titles.offer_id = numbered.offer_id
where numbered.place <= $limit
order by numbered.currency, numbered.place;
