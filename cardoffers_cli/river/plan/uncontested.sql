-- name: choices
-- reads: candidates(purchase_no, offer_no, preference_no, cardholder_no, choice_no)
-- makes: choices(purchase_no, turn_no, period_no, choice_no, offer_no, preference_no,
--     cardholder_no)
-- The candidates where no offer is tight: nobody needs a turn. Grain: one row per purchase and offer.
select
    candidates.purchase_no, cast(null as bigint) as turn_no, cast(null as bigint) as period_no,
    candidates.choice_no, candidates.offer_no, candidates.preference_no, candidates.cardholder_no
from candidates;

-- name: refusals
-- reads: candidates(purchase_no, choice_no)
-- makes: refusals(purchase_no, choice_no)
-- Nobody is refused where no offer is tight. Grain: one row per purchase and refusal.
select candidates.purchase_no, candidates.choice_no
from candidates
where 1 = 0;
