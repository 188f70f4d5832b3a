-- name: outcomes_of_choices
-- reads: choices(purchase_no, turn_no, choice_no, offer_no, preference_no), redeemed(purchase_no,
--     choice_no), ranked_terms(merchant_funded_amount, preference_no), tight(offer_no),
--     limits(offer_no, budget_left)
-- makes: outcomes_of_choices(purchase_no, offer_no, outcome)
-- What became of every purchase with every offer it fitted. Better offers than the one it got had
-- no budget left at its turn, or else no use (the budget is asked first); worse ones were
-- outranked. Grain: one row per purchase and offer.
with answered as (
    select
        choices.purchase_no,
        choices.turn_no,
        choices.offer_no,
        choices.preference_no,
        case
            when redeemed.choice_no is null then 'refused'
            when choices.choice_no < redeemed.choice_no then 'refused'
            when choices.choice_no = redeemed.choice_no then 'redeemed'
            else 'outranked'
        end as answer
    from choices
    left join redeemed on redeemed.purchase_no = choices.purchase_no
),
spent as (
    select
        answered.purchase_no,
        answered.offer_no,
        answered.answer,
        ranked_terms.merchant_funded_amount,
        sum(
            case when answered.answer = 'redeemed' then ranked_terms.merchant_funded_amount else 0 end
        ) over (
            partition by answered.offer_no
            order by answered.turn_no nulls last
            rows between unbounded preceding and current row
        ) as spent_so_far
    from answered
    inner join ranked_terms on ranked_terms.preference_no = answered.preference_no
    where answered.answer <> 'outranked'
        and exists (
            select 1
            from tight
            where tight.offer_no = answered.offer_no
        )
),
reasoned as (
    select
        spent.purchase_no,
        spent.offer_no,
        case
            when spent.spent_so_far + spent.merchant_funded_amount > limits.budget_left
                then 'budget_exhausted'
            else 'redemption_limit_reached'
        end as reason
    from spent
    inner join limits on limits.offer_no = spent.offer_no
    where spent.answer = 'refused'
)
select
    answered.purchase_no,
    answered.offer_no,
    coalesce(reasoned.reason, answered.answer) as outcome
from answered
left join reasoned
    on reasoned.purchase_no = answered.purchase_no
    and reasoned.offer_no = answered.offer_no;
