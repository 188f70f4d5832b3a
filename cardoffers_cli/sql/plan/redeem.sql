-- name: limits
-- What is left of each offer before this run; null where nothing limits it.
-- Grain: one row per offer.
select
    offer_terms.offer_no,
    offer_terms.merchant_funded_amount,
    offer_terms.budget_amount - coalesce(reserved.merchant_funded_amount, 0) as budget_left,
    offer_terms.max_redemptions_per_cardholder
from offer_terms
left join reserved on reserved.offer_no = offer_terms.offer_no;

-- name: tight
-- The offers that cannot serve every purchase that fits them: only these can refuse one.
-- Grain: one row per offer.
with demand as (
    select candidates.offer_no, candidates.cardholder_no, count(*) as fitting
    from candidates
    group by candidates.offer_no, candidates.cardholder_no
),
counted as (
    select
        demand.offer_no,
        sum(demand.fitting) as fitting,
        max(demand.fitting + coalesce(uses.used, 0)) as most_uses
    from demand
    left join uses
        on uses.offer_no = demand.offer_no
        and uses.cardholder_no = demand.cardholder_no
    group by demand.offer_no
)
select counted.offer_no
from counted
inner join limits on limits.offer_no = counted.offer_no
where counted.fitting * limits.merchant_funded_amount > limits.budget_left
    or counted.most_uses > limits.max_redemptions_per_cardholder;

-- name: turns
-- The order in which purchases take their turn: time, institution, ref (decisions, Redeem). Where
-- an offer can serve everybody the order does not matter, so only tight offers ask for it. Turns are
-- counted by the day, for no one worker could count them all. Grain: one row per purchase that fits
-- a tight offer.
with contending as (
    select distinct candidates.purchase_no
    from candidates
    inner join tight on tight.offer_no = candidates.offer_no
),
dated as (
    select
        purchases.purchase_no, purchases.transacted_at, purchases.institution_id,
        purchases.transaction_ref,
        extract(year from purchases.transacted_at) * 10000
        + extract(month from purchases.transacted_at) * 100
        + extract(day from purchases.transacted_at) as day_no
    from contending
    inner join purchases on purchases.purchase_no = contending.purchase_no
)
select
    dated.purchase_no,
    dated.day_no * 10000000000 + row_number() over (
        partition by dated.day_no
        order by
            dated.transacted_at nulls last,
            dated.institution_id nulls last,
            dated.transaction_ref nulls last
    ) as turn_no
from dated;

-- name: choices
-- The candidates with the turn of their purchase; null where no tight offer is among its choices.
-- Grain: one row per purchase and offer.
select
    candidates.purchase_no, turns.turn_no, candidates.choice_no, candidates.offer_no,
    candidates.cardholder_no
from candidates
left join turns on turns.purchase_no = candidates.purchase_no;

-- name: proposals
-- Every purchase proposes to its best offer. Grain: one row per purchase.
select
    choices.purchase_no, choices.turn_no, choices.choice_no, choices.offer_no,
    choices.cardholder_no
from choices
where choices.choice_no = 1;

-- name: standing
-- No tight offer holds a proposal before the first round. Grain: one row per purchase.
select
    proposals.purchase_no, proposals.turn_no, proposals.choice_no, proposals.offer_no,
    proposals.cardholder_no
from proposals
where 1 = 0;

-- name: refusals
-- Nobody has been refused before the first round. Grain: one row per purchase and refusal.
select proposals.purchase_no, proposals.choice_no
from proposals
where 1 = 0;
