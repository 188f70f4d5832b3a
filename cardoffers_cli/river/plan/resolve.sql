-- name: resolutions
-- reads: undecided(purchase_no, cardholder_no, identifier_no, merchant_id, amount, transacted_at),
--     refunded(purchase_no, amount)
-- makes: resolutions(purchase_no, cardholder_no, amount, transacted_at, merchant_no)
-- The merchant of every undecided purchase: the one of the merchant_id that it was sent with, if that
-- is known, else its identifier's (rules.md#resolving); null while nobody knows it. Its amount is
-- what refunds have left of it (rules.md#net-amounts).
-- Grain: one row per undecided purchase.
with known_identifiers as (
    select identifiers.identifier_no, merchants.merchant_no
    from identifiers
    inner join merchants on merchants.merchant_id = identifiers.merchant_id
)
select
    undecided.purchase_no,
    undecided.cardholder_no,
    cast(undecided.amount - coalesce(refunded.amount, 0) as decimal(18, 4)) as amount,
    undecided.transacted_at,
    coalesce(merchants.merchant_no, known_identifiers.merchant_no) as merchant_no
from undecided
left join known_identifiers on known_identifiers.identifier_no = undecided.identifier_no
left join merchants on merchants.merchant_id = undecided.merchant_id
left join refunded on refunded.purchase_no = undecided.purchase_no;
