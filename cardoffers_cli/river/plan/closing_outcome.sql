-- name: answered
-- reads: candidates(purchase_no, offer_no, preference_no, choice_no, merchant_funded_amount),
--     turns(purchase_no, turn_no), final(purchase_no, choice_no)
-- makes: answered(purchase_no, turn_no, offer_no, preference_no, choice_no, merchant_funded_amount,
--     answer)
-- What every offer that a purchase fitted answered it. Grain: one row per purchase and offer.
select
    candidates.purchase_no, turns.turn_no, candidates.offer_no, candidates.preference_no,
    candidates.choice_no, candidates.merchant_funded_amount,
    case
        when candidates.choice_no = final.choice_no then 'redeemed'
        when candidates.choice_no > final.choice_no then 'outranked'
        else 'refused'
    end as answer
from candidates
left join turns on turns.purchase_no = candidates.purchase_no
left join final on final.purchase_no = candidates.purchase_no;

-- name: refusals
-- reads: answered(purchase_no, choice_no, answer)
-- makes: refusals(purchase_no, choice_no)
-- All refusals. Grain: one row per purchase and refusal.
select answered.purchase_no, answered.choice_no
from answered
where answered.answer = 'refused';

-- name: outcomes_of_choices
-- reads: answered(purchase_no, turn_no, offer_no, preference_no, merchant_funded_amount, answer),
--     ranked_terms(preference_no, merchant_funded_amount), limits(offer_no, budget_left)
-- makes: outcomes_of_choices(purchase_no, offer_no, outcome)
-- What became of every choice: what was refused, was so by a budget that at its turn did not cover
-- the most that one can cost, or else by its uses. Grain: one row per purchase and offer.
with spent as (
    select
        answered.purchase_no, answered.offer_no, answered.answer,
        limits.budget_left - ranked_terms.merchant_funded_amount - sum(
            case when answered.answer = 'redeemed' then answered.merchant_funded_amount else 0 end
        ) over (
            partition by answered.offer_no
            order by answered.turn_no nulls last
            rows between unbounded preceding and current row
        ) as left_amount
    from answered
    inner join ranked_terms on ranked_terms.preference_no = answered.preference_no
    inner join limits on limits.offer_no = answered.offer_no
    where answered.answer <> 'outranked'
)
select
    spent.purchase_no, spent.offer_no,
    case
        when spent.answer = 'redeemed' then spent.answer
        when spent.left_amount < 0 then 'budget_exhausted'
        else 'redemption_limit_reached'
    end as outcome
from spent
union all
select answered.purchase_no, answered.offer_no, answered.answer
from answered
where answered.answer = 'outranked';
