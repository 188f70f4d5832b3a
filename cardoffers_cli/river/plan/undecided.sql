-- name: undecided
-- reads: watermark(purchase_no), known_now(purchase_no, cardholder_no, identifier_no, merchant_id,
--     amount, transacted_at)
-- makes: undecided(purchase_no, cardholder_no, identifier_no, merchant_id, amount, transacted_at)
-- Purchases that no run has looked at yet, and those whose merchant was unknown and is known now
-- (rules.md#standing-decisions). Grain: one row per purchase.
select
    purchases.purchase_no, purchases.cardholder_no, purchases.identifier_no,
    purchases.merchant_id, purchases.amount, purchases.transacted_at
from purchases
cross join watermark
where purchases.purchase_no > watermark.purchase_no
union all
select
    known_now.purchase_no, known_now.cardholder_no, known_now.identifier_no,
    known_now.merchant_id, known_now.amount, known_now.transacted_at
from known_now;

-- name: said_unknown
-- reads: known_now(purchase_no)
-- makes: said_unknown(purchase_no)
-- Those of them whose merchant was said to be unknown. Grain: one row per purchase.
select known_now.purchase_no
from known_now;
