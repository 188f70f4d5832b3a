-- name: overdrawn
-- reads: redeemed(purchase_no, turn_no, offer_no, preference_no), candidates(purchase_no, offer_no,
--     merchant_funded_amount), ranked_terms(preference_no, merchant_funded_amount), tight(offer_no),
--     limits(offer_no, merchant_no, budget_left)
-- makes: overdrawn(offer_no, merchant_no, turn_no, left_amount)
-- The first redemption of each merchant before which its offer's budget no longer covered the most
-- that one can cost, and what was left (rules.md#budgets). Purchases of two merchants share no offer,
-- so each merchant closes an offer in the same round. Grain: one row per merchant.
with spent as (
    select
        redeemed.turn_no, redeemed.offer_no, limits.merchant_no,
        ranked_terms.merchant_funded_amount as most,
        cast(limits.budget_left + candidates.merchant_funded_amount
        - sum(candidates.merchant_funded_amount) over (
            partition by redeemed.offer_no
            order by redeemed.turn_no nulls last
            rows between unbounded preceding and current row
        ) as decimal(38, 4)) as left_amount
    from redeemed
    inner join tight on tight.offer_no = redeemed.offer_no
    inner join limits on limits.offer_no = redeemed.offer_no
    inner join ranked_terms on ranked_terms.preference_no = redeemed.preference_no
    inner join candidates
        on candidates.purchase_no = redeemed.purchase_no
        and candidates.offer_no = redeemed.offer_no
    where limits.budget_left is not null
),
numbered as (
    select
        spent.offer_no, spent.merchant_no, spent.turn_no, spent.left_amount,
        row_number() over (
            partition by spent.merchant_no
            order by spent.turn_no nulls last
        ) as nth
    from spent
    where spent.left_amount < spent.most
)
select numbered.offer_no, numbered.merchant_no, numbered.turn_no, numbered.left_amount
from numbered
where numbered.nth = 1;

-- name: next_closings
-- reads: closings(offer_no, turn_no, left_amount), overdrawn(offer_no, turn_no, left_amount)
-- makes: next_closings(offer_no, turn_no, left_amount)
-- From this turn on an offer is closed to whoever may cost more than is left, which only falls.
-- Grain: one row per offer and closing.
select closings.offer_no, closings.turn_no, closings.left_amount
from closings
union all
select overdrawn.offer_no, overdrawn.turn_no, overdrawn.left_amount
from overdrawn;

-- name: next_final
-- reads: final(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no),
--     redeemed(purchase_no, turn_no, offer_no, preference_no, cardholder_no),
--     candidates(purchase_no, offer_no, choice_no), limits(offer_no, merchant_no),
--     overdrawn(merchant_no)
-- makes: next_final(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no)
-- The redemptions at merchants that close no offer any more. Grain: one row per purchase.
select
    final.purchase_no, final.turn_no, final.choice_no, final.offer_no, final.preference_no,
    final.cardholder_no
from final
union all
select
    redeemed.purchase_no, redeemed.turn_no, candidates.choice_no, redeemed.offer_no,
    redeemed.preference_no, redeemed.cardholder_no
from redeemed
inner join limits on limits.offer_no = redeemed.offer_no
inner join candidates
    on candidates.purchase_no = redeemed.purchase_no
    and candidates.offer_no = redeemed.offer_no
where not exists (
    select 1
    from overdrawn
    where overdrawn.merchant_no = limits.merchant_no
);

-- name: reopened
-- reads: candidates(purchase_no, offer_no, preference_no, cardholder_no, choice_no),
--     ranked_terms(preference_no, merchant_funded_amount), turns(purchase_no, turn_no),
--     limits(offer_no, merchant_no), overdrawn(merchant_no), next_closings(offer_no, turn_no,
--     left_amount)
-- makes: reopened(purchase_no, offer_no, preference_no, cardholder_no, choice_no)
-- The candidates of the other merchants that no closing shuts out, for one more contest.
-- Grain: one row per purchase and offer.
with still_open as (
    select
        candidates.purchase_no, candidates.offer_no, candidates.preference_no,
        candidates.cardholder_no, candidates.choice_no
    from candidates
    inner join limits on limits.offer_no = candidates.offer_no
    inner join overdrawn on overdrawn.merchant_no = limits.merchant_no
    inner join ranked_terms on ranked_terms.preference_no = candidates.preference_no
    left join turns on turns.purchase_no = candidates.purchase_no
    where not exists (
        select 1
        from next_closings
        where next_closings.offer_no = candidates.offer_no
            and next_closings.turn_no <= turns.turn_no
            and next_closings.left_amount < ranked_terms.merchant_funded_amount
    )
)
select
    still_open.purchase_no, still_open.offer_no, still_open.preference_no,
    still_open.cardholder_no,
    row_number() over (
        partition by still_open.purchase_no
        order by still_open.choice_no nulls last, still_open.offer_no nulls last
    ) as choice_no
from still_open;
