-- name: resolutions
-- The merchant of every undecided purchase: the merchant_id it was sent with, else its identifier's
-- (decisions, Resolve); null while nobody knows it. Grain: one row per undecided purchase.
select
    undecided.purchase_no,
    undecided.cardholder_no,
    undecided.amount,
    undecided.transacted_at,
    merchants.merchant_id
from undecided
left join identifiers on identifiers.identifier_no = undecided.identifier_no
left join merchants
    on merchants.merchant_id = coalesce(undecided.merchant_id, identifiers.merchant_id);
