-- name: priced
-- reads: enrolled(purchase_no, offer_no, preference_no, cardholder_no, outcome),
--     resolutions(purchase_no, amount), ranked_terms(offer_no, version_no, preference_no)
-- makes: priced(purchase_no, offer_no, preference_no, cardholder_no, outcome, cashback_amount,
--     merchant_funded_amount, tie_no)
-- The same where what an offer gives depends on the purchase (rules.md#percent-offers): its cashback,
-- what its merchant funds, and its place among offers of as much; what rounds to no cashback is not
-- eligible. Amounts are rounded as whole numbers of the smallest unit of their currency.
-- Grain: one row per purchase and offer.
with terms as (
    select
        ranked_terms.preference_no, in_force.cashback_amount, in_force.cashback_percent,
        in_force.commission_rate, in_force.commission_basis, in_force.max_commission_amount,
        case in_force.minor_unit when 0 then 1 when 2 then 100 when 3 then 1000 else 10000 end
            as units,
        case in_force.minor_unit when 0 then 1.0000 when 2 then 0.0100 when 3 then 0.0010
            else 0.0001 end as unit,
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
rewarded as (
    select
        enrolled.purchase_no, enrolled.offer_no, enrolled.preference_no, enrolled.cardholder_no,
        enrolled.outcome, resolutions.amount as spent, terms.commission_rate,
        terms.commission_basis, terms.max_commission_amount, terms.units, terms.unit, terms.tie_no,
        case
            when terms.cashback_percent is null then terms.cashback_amount
            else least(terms.cashback_amount, cast(
                round(
                    resolutions.amount * terms.cashback_percent * 0.01
                    * cast(terms.units as decimal(5, 0)), 0
                ) * terms.unit as decimal(18, 4)
            ))
        end as cashback_amount
    from enrolled
    inner join resolutions on resolutions.purchase_no = enrolled.purchase_no
    inner join terms on terms.preference_no = enrolled.preference_no
)
select
    rewarded.purchase_no, rewarded.offer_no, rewarded.preference_no, rewarded.cardholder_no,
    case
        when rewarded.outcome = 'eligible' and rewarded.cashback_amount = 0
            then 'reward_below_minor_unit'
        else rewarded.outcome
    end as outcome,
    rewarded.cashback_amount,
    cast(rewarded.cashback_amount + least(rewarded.max_commission_amount, cast(
        round(
            case rewarded.commission_basis when 'spend' then rewarded.spent
                else rewarded.cashback_amount end
            * rewarded.commission_rate * cast(rewarded.units as decimal(5, 0)), 0
        ) * rewarded.unit as decimal(18, 4)
    )) as decimal(18, 4)) as merchant_funded_amount,
    rewarded.tie_no
from rewarded;

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
