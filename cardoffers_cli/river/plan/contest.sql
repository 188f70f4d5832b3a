-- name: choices
-- reads: candidates(purchase_no, offer_no, preference_no, cardholder_no, choice_no),
--     turns(purchase_no, turn_no, period_no)
-- makes: choices(purchase_no, turn_no, period_no, choice_no, offer_no, preference_no,
--     cardholder_no)
-- The candidates with the turn and the period of their purchase; null where no tight offer is among
-- its choices. Grain: one row per purchase and offer.
select
    candidates.purchase_no, turns.turn_no, turns.period_no, candidates.choice_no,
    candidates.offer_no, candidates.preference_no, candidates.cardholder_no
from candidates
left join turns on turns.purchase_no = candidates.purchase_no;

-- name: period
-- reads: turns(period_no)
-- makes: period(period_no)
-- The period whose purchases propose now: at first the earliest. Grain: one row.
select coalesce(min(turns.period_no), 0) as period_no
from turns;

-- name: later_periods
-- reads: turns(period_no), period(period_no)
-- makes: later_periods(period_no)
-- The periods that are still to come. Grain: one row per period.
select distinct turns.period_no
from turns
cross join period
where turns.period_no > period.period_no;

-- name: proposals
-- reads: choices(purchase_no, turn_no, period_no, choice_no, offer_no, preference_no,
--     cardholder_no), period(period_no)
-- makes: proposals(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no)
-- Every purchase of the period, and every one whose turn does not matter, proposes to its best offer.
-- Grain: one row per purchase.
select
    choices.purchase_no, choices.turn_no, choices.choice_no, choices.offer_no,
    choices.preference_no, choices.cardholder_no
from choices
cross join period
where choices.choice_no = 1
    and coalesce(choices.period_no, period.period_no) = period.period_no;

-- name: standing
-- reads: proposals(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no)
-- makes: standing(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no)
-- No tight offer holds a proposal before the first round. Grain: one row per purchase.
select
    proposals.purchase_no, proposals.turn_no, proposals.choice_no, proposals.offer_no,
    proposals.preference_no, proposals.cardholder_no
from proposals
where 1 = 0;

-- name: refusals
-- reads: proposals(purchase_no, choice_no)
-- makes: refusals(purchase_no, choice_no)
-- Nobody has been refused before the first round. Grain: one row per purchase and refusal.
select proposals.purchase_no, proposals.choice_no
from proposals
where 1 = 0;
