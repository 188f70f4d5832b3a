-- name: merchants
-- What plans read of the merchants. Grain: one row per merchant.
select merchant_no, cast(merchant_id as varchar) as merchant_id
from merchants;

-- name: identifiers
-- What plans read of the identifiers of merchants. Grain: one row per identifier.
select identifier_no, cast(merchant_id as varchar) as merchant_id
from identifiers;

-- name: terms_in_force
-- What plans read of the terms of offers. Grain: one row per offer and version.
select
    offer_no, cast(offer_id as varchar) as offer_id, merchant_no, version_no, known_from,
    known_until, min_spend, cashback_amount, cashback_percent, commission_rate,
    cast(commission_basis as varchar) as commission_basis, max_commission_amount,
    cast(minor_unit as integer) as minor_unit, merchant_funded_amount,
    max_redemptions_per_cardholder, budget_amount, starts_at, expires_at
from terms_in_force;

-- name: link_starts
-- What plans read of the links. Grain: one row per link.
select offer_no, cardholder_no, counts_from
from link_starts;

-- name: recent
-- for each: purchases, decisions
-- The rows that an archive has not yet, as it will have them. Grain: that of {kept}.
select {stored}
from {kept};
