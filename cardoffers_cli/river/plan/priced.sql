-- name: priced
-- reads: enrolled(purchase_no, offer_no, preference_no, cardholder_no, outcome),
--     resolutions(purchase_no, amount), ranked_terms(offer_no, version_no, preference_no)
-- makes: priced(purchase_no, offer_no, preference_no, cardholder_no, outcome, cashback_amount,
--     merchant_funded_amount, tie_no)
-- The same where what an offer gives depends on the purchase (rules.md#percent-offers): its cashback,
-- what its merchant funds, and its place among offers of as much; what rounds to no cashback is not
-- eligible. Amounts are multiplied, never divided, and rounded to the decimals of their currency, in
-- an order that keeps within 38 digits. Grain: one row per purchase and offer.
with terms as (
    select
        ranked_terms.preference_no, in_force.cashback_amount, in_force.cashback_percent,
        in_force.commission_rate, in_force.commission_basis, in_force.max_commission_amount,
        in_force.minor_unit,
        row_number() over (
            order by
                in_force.expires_at nulls last,
                in_force.offer_id nulls last,
                ranked_terms.preference_no nulls last
        ) as tie_no
    from ranked_terms
    inner join terms_in_force as in_force
        on in_force.offer_no = ranked_terms.offer_no
        and in_force.version_no = ranked_terms.version_no
),
shared as (
    select
        enrolled.purchase_no, enrolled.offer_no, enrolled.preference_no, enrolled.cardholder_no,
        enrolled.outcome, resolutions.amount as spent,
        cast(resolutions.amount as decimal(28, 4)) * terms.cashback_percent * 0.01 as share
    from enrolled
    inner join resolutions on resolutions.purchase_no = enrolled.purchase_no
    inner join terms on terms.preference_no = enrolled.preference_no
),
rewarded as (
    select
        shared.purchase_no, shared.offer_no, shared.preference_no, shared.cardholder_no,
        shared.outcome, shared.spent,
        case
            when terms.cashback_percent is null then terms.cashback_amount
            else least(terms.cashback_amount, case terms.minor_unit
                when 0 then cast(round(shared.share, 0) as decimal(18, 4))
                when 2 then cast(round(shared.share, 2) as decimal(18, 4))
                when 3 then cast(round(shared.share, 3) as decimal(18, 4))
                else cast(round(shared.share, 4) as decimal(18, 4))
            end)
        end as cashback_amount
    from shared
    inner join terms on terms.preference_no = shared.preference_no
),
charged as (
    select
        rewarded.purchase_no, rewarded.offer_no, rewarded.preference_no, rewarded.cardholder_no,
        rewarded.outcome, rewarded.cashback_amount, terms.minor_unit, terms.tie_no,
        terms.max_commission_amount,
        cast(
            case when terms.commission_basis = 'spend' then rewarded.spent
                else rewarded.cashback_amount end
            as decimal(28, 4)
        ) * terms.commission_rate as commission
    from rewarded
    inner join terms on terms.preference_no = rewarded.preference_no
)
select
    terms.purchase_no, terms.offer_no, terms.preference_no, terms.cardholder_no,
    case
        when terms.outcome = 'eligible' and terms.cashback_amount = 0
            then 'reward_below_minor_unit'
        else terms.outcome
    end as outcome,
    terms.cashback_amount,
    cast(
        terms.cashback_amount + least(case terms.minor_unit
            when 0 then cast(round(terms.commission, 0) as decimal(18, 4))
            when 2 then cast(round(terms.commission, 2) as decimal(18, 4))
            when 3 then cast(round(terms.commission, 3) as decimal(18, 4))
            else cast(round(terms.commission, 4) as decimal(18, 4))
        end, terms.max_commission_amount)
        as decimal(18, 4)
    ) as merchant_funded_amount,
    terms.tie_no
from charged as terms;

-- name: candidates
-- reads: priced(purchase_no, offer_no, preference_no, cardholder_no, outcome, cashback_amount,
--     merchant_funded_amount, tie_no)
-- makes: candidates(purchase_no, offer_no, preference_no, cardholder_no, choice_no,
--     merchant_funded_amount)
-- The offers a purchase fits, best for it first (choice 1), and what its merchant would fund.
-- Grain: one row per purchase and offer.
select
    priced.purchase_no, priced.offer_no, priced.preference_no, priced.cardholder_no,
    row_number() over (
        partition by priced.purchase_no
        order by priced.cashback_amount desc nulls last, priced.tie_no nulls last
    ) as choice_no,
    priced.merchant_funded_amount
from priced
where priced.outcome = 'eligible';
