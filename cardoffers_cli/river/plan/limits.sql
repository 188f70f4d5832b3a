-- name: limits
-- reads: ranked_terms(offer_no, merchant_no, budget_amount), reserved(offer_no,
--     merchant_funded_amount)
-- makes: limits(offer_no, merchant_no, budget_left)
-- What is left of each offer's budget before this run; null where nothing limits it.
-- Grain: one row per offer.
with present as (
    select distinct ranked_terms.offer_no, ranked_terms.merchant_no, ranked_terms.budget_amount
    from ranked_terms
)
select
    present.offer_no,
    present.merchant_no,
    present.budget_amount - coalesce(reserved.merchant_funded_amount, 0) as budget_left
from present
left join reserved on reserved.offer_no = present.offer_no;

-- name: tight
-- reads: candidates(offer_no, preference_no, cardholder_no), ranked_terms(offer_no,
--     merchant_funded_amount, max_redemptions_per_cardholder, preference_no), limits(offer_no,
--     budget_left), uses(offer_no, cardholder_no, used)
-- makes: tight(offer_no)
-- The offers that cannot serve every purchase that fits them: only these can refuse one.
-- Grain: one row per offer.
with by_terms as (
    select candidates.preference_no, count(*) as fitting
    from candidates
    group by candidates.preference_no
),
over_budget as (
    select ranked_terms.offer_no
    from by_terms
    inner join ranked_terms on ranked_terms.preference_no = by_terms.preference_no
    inner join limits on limits.offer_no = ranked_terms.offer_no
    group by ranked_terms.offer_no, limits.budget_left
    having sum(by_terms.fitting * ranked_terms.merchant_funded_amount) > limits.budget_left
),
limited as (
    select
        ranked_terms.offer_no,
        min(ranked_terms.max_redemptions_per_cardholder) as fewest_uses
    from ranked_terms
    where ranked_terms.max_redemptions_per_cardholder is not null
    group by ranked_terms.offer_no
),
demand as (
    select candidates.offer_no, candidates.cardholder_no, limited.fewest_uses, count(*) as fitting
    from candidates
    inner join limited on limited.offer_no = candidates.offer_no
    group by candidates.offer_no, candidates.cardholder_no, limited.fewest_uses
),
over_limit as (
    select demand.offer_no
    from demand
    left join uses
        on uses.offer_no = demand.offer_no
        and uses.cardholder_no = demand.cardholder_no
    where demand.fitting + coalesce(uses.used, 0) > demand.fewest_uses
)
select over_budget.offer_no
from over_budget
union
select over_limit.offer_no
from over_limit;
