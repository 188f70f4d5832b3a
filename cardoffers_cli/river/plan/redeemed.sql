-- name: redeemed
-- reads: refusals(purchase_no), choices(purchase_no, turn_no, choice_no, offer_no, preference_no,
--     cardholder_no)
-- makes: redeemed(purchase_no, turn_no, choice_no, offer_no, preference_no, cardholder_no)
-- The offer each purchase redeems: the one after those that refused it.
-- Grain: one row per purchase.
with passed as (
    select refusals.purchase_no, count(*) as refusals
    from refusals
    group by refusals.purchase_no
)
select
    choices.purchase_no, choices.turn_no, choices.choice_no, choices.offer_no,
    choices.preference_no, choices.cardholder_no
from choices
left join passed on passed.purchase_no = choices.purchase_no
where choices.choice_no = coalesce(passed.refusals, 0) + 1;
