-- name: next_period
-- reads: turns(period_no), period(period_no)
-- makes: next_period(period_no)
-- The period after the one that was decided. Grain: one row.
select min(turns.period_no) as period_no
from turns
cross join period
where turns.period_no > period.period_no;

-- name: next_proposals
-- reads: choices(purchase_no, turn_no, period_no, choice_no, offer_no, preference_no,
--     cardholder_no), next_period(period_no)
-- makes: next_proposals(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no)
-- Every purchase of that period proposes to its best offer. Grain: one row per purchase.
select
    choices.purchase_no, choices.turn_no, choices.choice_no, choices.offer_no,
    choices.preference_no, choices.cardholder_no
from choices
inner join next_period on next_period.period_no = choices.period_no
where choices.choice_no = 1;
