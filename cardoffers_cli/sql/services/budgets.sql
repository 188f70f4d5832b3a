-- name: burn
-- What redemptions took from the budgets of the offers that have not ended, in all and from $since
-- on; reversals took nothing. First come those that will run out, the first of them first, then those
-- that are spent, those that will last, and those without a budget; this order goes by a rough
-- measure. With an institution, the offers of its program, whoever redeemed them.
-- Grain: one row per offer.
with spent as (
    select
        offer_no,
        sum(merchant_funded_amount) as spent_amount,
        sum(merchant_funded_amount) filter (where created_at >= $since) as recent_amount,
        max(created_at) as last_redeemed_at
    from ledger_entries
    where status <> 'reversed'
    group by offer_no
),

burning as (
    select
        offer_terms.offer_id,
        offer_terms.merchant_id,
        offer_terms.currency,
        offer_terms.budget_amount,
        coalesce(spent.spent_amount, 0) as spent_amount,
        coalesce(spent.recent_amount, 0) as recent_amount,
        offer_terms.merchant_funded_amount as next_amount,
        offer_terms.starts_at,
        offer_terms.expires_at,
        spent.last_redeemed_at
    from offer_terms
    left join spent on spent.offer_no = offer_terms.offer_no
    where offer_terms.starts_at <= $now
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
),

measured as (
    select
        burning.*,
        cast(burning.budget_amount - burning.spent_amount as double)
        / nullif(cast(burning.recent_amount as double), 0)
        * (epoch(cast($now as timestamp)) - epoch(greatest(burning.starts_at, $since)))
            as seconds_left,
        burning.spent_amount + burning.next_amount > burning.budget_amount as is_spent
    from burning
),

judged as (
    select
        measured.*,
        case
            when measured.budget_amount is null then 4
            when measured.is_spent then 2
            when epoch(cast($now as timestamp)) + measured.seconds_left
                < epoch(measured.expires_at) then 1
            else 3
        end as place
    from measured
)

select
    judged.offer_id,
    coalesce(in_first_language.title, in_english.title) as title,
    merchants.name as merchant_name,
    judged.currency,
    judged.budget_amount,
    judged.spent_amount,
    judged.recent_amount,
    judged.next_amount,
    judged.starts_at,
    judged.expires_at,
    judged.last_redeemed_at,
    count(*) over () as offers
from judged
inner join merchants on merchants.merchant_id = judged.merchant_id
left join institutions on institutions.institution_id = $institution_id
left join offer_texts as in_first_language
    on in_first_language.offer_id = judged.offer_id
    and in_first_language.language = split_part(institutions.languages, '|', 1)
left join offer_texts as in_english
    on in_english.offer_id = judged.offer_id
    and in_english.language = 'en'
order by
    judged.place,
    case when judged.place = 1 then judged.seconds_left end,
    judged.spent_amount desc,
    judged.offer_id
limit $limit;
