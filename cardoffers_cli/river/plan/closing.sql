-- name: unlimited
-- reads: limits(offer_no, merchant_no)
-- makes: unlimited(offer_no, merchant_no, budget_left)
-- The limits of a contest that asks no budget. Grain: one row per offer.
select limits.offer_no, limits.merchant_no, cast(null as decimal(38, 4)) as budget_left
from limits;

-- name: closings
-- reads: limits(offer_no, budget_left)
-- makes: closings(offer_no, turn_no, left_amount)
-- No offer is closed at first. Grain: one row per offer and closing.
select
    limits.offer_no, cast(null as bigint) as turn_no,
    cast(limits.budget_left as decimal(38, 4)) as left_amount
from limits
where 1 = 0;

-- name: final
-- reads: candidates(purchase_no, offer_no, preference_no, cardholder_no, choice_no)
-- makes: final(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no)
-- Nothing is final at first. Grain: one row per purchase.
select
    candidates.purchase_no, cast(null as bigint) as turn_no, candidates.choice_no,
    candidates.offer_no, candidates.preference_no, candidates.cardholder_no
from candidates
where 1 = 0;
