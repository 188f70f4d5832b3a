-- name: undecided
-- makes: undecided(purchase_no, cardholder_no, identifier_no, merchant_id, amount, transacted_at)
-- For a rematch: every purchase that never redeemed. Grain: one row per purchase.
with decided as (
    select decisions.purchase_no
    from decisions
    where decisions.outcome = 'redeemed'
)
select
    purchases.purchase_no, purchases.cardholder_no, purchases.identifier_no,
    purchases.merchant_id, purchases.amount, purchases.transacted_at
from purchases
where not exists (
    select 1
    from decided
    where decided.purchase_no = purchases.purchase_no
);

-- name: said_unknown
-- makes: said_unknown(purchase_no)
-- The purchases whose merchant was ever said to be unknown. Grain: one row per purchase.
select decisions.purchase_no
from decisions
where decisions.outcome = 'merchant_unresolved';
