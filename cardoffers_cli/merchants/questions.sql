-- name: find
-- The merchant of an id, or those of a name, in letters of either case, with their identifiers.
-- Grain: one row per merchant.
select
    merchants.merchant_id, merchants.name, merchants.category,
    list(
        identifiers.merchant_identifier_type || ':' || identifiers.merchant_identifier
        order by identifiers.identifier_no
    ) filter (where identifiers.identifier_no is not null) as identifiers,
    merchants.net_days, merchants.tax_id, merchants.tax_note
from merchants
left join identifiers on identifiers.merchant_id = merchants.merchant_id
where merchants.merchant_id = try_cast($merchant_id as uuid) or lower(merchants.name) = lower($name)
group by
    merchants.merchant_no, merchants.merchant_id, merchants.name, merchants.category,
    merchants.net_days, merchants.tax_id, merchants.tax_note
order by merchants.merchant_no
limit 5;

-- name: of_identifier
-- The merchant whose identifier it is.
select merchants.merchant_id, merchants.name
from identifiers
inner join merchants on merchants.merchant_id = identifiers.merchant_id
where identifiers.merchant_identifier_type = $merchant_identifier_type
    and identifiers.merchant_identifier = $merchant_identifier;

-- name: list
-- Every merchant with its identifiers. Grain: one row per merchant.
select
    merchants.merchant_id, merchants.name, merchants.category,
    list(
        identifiers.merchant_identifier_type || ':' || identifiers.merchant_identifier
        order by identifiers.identifier_no
    ) filter (where identifiers.identifier_no is not null) as identifiers,
    merchants.net_days, merchants.tax_id, merchants.tax_note
from merchants
left join identifiers on identifiers.merchant_id = merchants.merchant_id
group by
    merchants.merchant_id, merchants.name, merchants.category, merchants.net_days, merchants.tax_id,
    merchants.tax_note
order by merchants.name, merchants.merchant_id;
