-- name: candidates
-- reads: enrolled(purchase_no, offer_no, preference_no, cardholder_no, outcome)
-- makes: candidates(purchase_no, offer_no, preference_no, cardholder_no, choice_no)
-- The offers a purchase fits, best first (choice 1). Grain: one row per purchase and offer.
select
    enrolled.purchase_no,
    enrolled.offer_no,
    enrolled.preference_no,
    enrolled.cardholder_no,
    row_number() over (
        partition by enrolled.purchase_no
        order by enrolled.preference_no nulls last
    ) as choice_no
from enrolled
where enrolled.outcome = 'eligible';
