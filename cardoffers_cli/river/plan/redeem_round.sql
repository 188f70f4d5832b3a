-- name: held
-- reads: proposals(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no),
--     tight(offer_no), standing(purchase_no, turn_no, choice_no, offer_no, preference_no,
--     cardholder_no), ranked_terms(merchant_funded_amount, max_redemptions_per_cardholder,
--     preference_no)
-- makes: held(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no,
--     merchant_funded_amount, max_redemptions_per_cardholder)
-- The proposals before every tight offer that got a new one, with those it held already, and what
-- each asks for by its own terms. Grain: one row per purchase.
with asked as (
    select distinct proposals.offer_no
    from proposals
    inner join tight on tight.offer_no = proposals.offer_no
),
before_them as (
    select
        proposals.purchase_no, proposals.turn_no, proposals.choice_no, proposals.offer_no,
        proposals.preference_no, proposals.cardholder_no
    from proposals
    inner join asked on asked.offer_no = proposals.offer_no
    union all
    select
        standing.purchase_no, standing.turn_no, standing.choice_no, standing.offer_no,
        standing.preference_no, standing.cardholder_no
    from standing
    inner join asked on asked.offer_no = standing.offer_no
)
select
    before_them.purchase_no, before_them.turn_no, before_them.choice_no, before_them.offer_no,
    before_them.preference_no, before_them.cardholder_no,
    ranked_terms.merchant_funded_amount, ranked_terms.max_redemptions_per_cardholder
from before_them
inner join ranked_terms on ranked_terms.preference_no = before_them.preference_no;

-- name: kept
-- reads: held(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no,
--     merchant_funded_amount, max_redemptions_per_cardholder), uses(offer_no, cardholder_no, used),
--     limits(offer_no, budget_left)
-- makes: kept(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no)
-- What each of these offers keeps: the earliest of every cardholder while uses are left, of these
-- the earliest while the budget covers one more in full (rules.md#budgets). What it kept in earlier
-- periods comes first and stays; in one period all ask for the same. Grain: one row per purchase.
with by_cardholder as (
    select
        held.purchase_no, held.turn_no, held.choice_no, held.offer_no, held.preference_no,
        held.cardholder_no, held.merchant_funded_amount, held.max_redemptions_per_cardholder,
        row_number() over (
            partition by held.offer_no, held.cardholder_no
            order by held.turn_no nulls last
        ) + coalesce(uses.used, 0) as use_no
    from held
    left join uses
        on uses.offer_no = held.offer_no
        and uses.cardholder_no = held.cardholder_no
),
by_budget as (
    select
        by_cardholder.purchase_no, by_cardholder.turn_no, by_cardholder.choice_no,
        by_cardholder.offer_no, by_cardholder.preference_no, by_cardholder.cardholder_no,
        limits.budget_left,
        sum(by_cardholder.merchant_funded_amount) over (
            partition by by_cardholder.offer_no
            order by by_cardholder.turn_no nulls last
            rows between unbounded preceding and current row
        ) as spent
    from by_cardholder
    inner join limits on limits.offer_no = by_cardholder.offer_no
    where by_cardholder.max_redemptions_per_cardholder is null
        or by_cardholder.use_no <= by_cardholder.max_redemptions_per_cardholder
),
final as (
    select
        by_budget.purchase_no, by_budget.turn_no, by_budget.choice_no, by_budget.offer_no,
        by_budget.preference_no, by_budget.cardholder_no
    from by_budget
    where by_budget.budget_left is null or by_budget.spent <= by_budget.budget_left
)
select
    final.purchase_no, final.turn_no, final.choice_no, final.offer_no, final.preference_no,
    final.cardholder_no
from final;

-- name: next_standing
-- reads: kept(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no),
--     standing(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no),
--     held(offer_no)
-- makes: next_standing(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no)
-- Held by tight offers after this round. Grain: one row per purchase.
select
    kept.purchase_no, kept.turn_no, kept.choice_no, kept.offer_no, kept.preference_no,
    kept.cardholder_no
from kept
union all
select
    standing.purchase_no, standing.turn_no, standing.choice_no, standing.offer_no,
    standing.preference_no, standing.cardholder_no
from standing
where not exists (
    select 1
    from held
    where held.offer_no = standing.offer_no
);

-- name: refused
-- reads: held(purchase_no, choice_no), kept(purchase_no)
-- makes: refused(purchase_no, choice_no)
-- Proposals turned down in this round. Grain: one row per purchase.
select held.purchase_no, held.choice_no
from held
where not exists (
    select 1
    from kept
    where kept.purchase_no = held.purchase_no
);

-- name: next_proposals
-- reads: refused(purchase_no, choice_no), choices(purchase_no, turn_no, choice_no, offer_no,
--     preference_no, cardholder_no)
-- makes: next_proposals(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no)
-- Who was refused moves on to the next best offer, if there is one. Grain: one row per purchase.
select
    choices.purchase_no, choices.turn_no, choices.choice_no, choices.offer_no,
    choices.preference_no, choices.cardholder_no
from refused
inner join choices
    on choices.purchase_no = refused.purchase_no
    and choices.choice_no = refused.choice_no + 1;

-- name: next_refusals
-- reads: refusals(purchase_no, choice_no), refused(purchase_no, choice_no)
-- makes: next_refusals(purchase_no, choice_no)
-- All refusals up to now. Grain: one row per purchase and refusal.
select refusals.purchase_no, refusals.choice_no
from refusals
union all
select refused.purchase_no, refused.choice_no
from refused;
