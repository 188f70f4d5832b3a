-- name: purchase_keys
-- Makes purchase_keys: what gives purchases their turn. Read only for those that fit an offer.
create or replace temp view purchase_keys as
select
    purchases.purchase_no,
    purchases.transacted_at,
    cast(purchases.institution_id as varchar) as institution_key,
    purchases.transaction_ref
from purchases;
