-- name: list
-- Merchants with their identifiers: that of an id or those of a name, in letters of either case, or
-- all where neither is given. Grain: one row per merchant.
select
    merchants.merchant_id, merchants.name, merchants.category,
    list(
        identifiers.merchant_identifier_type || ':' || identifiers.merchant_identifier
        order by identifiers.identifier_no
    ) filter (where identifiers.identifier_no is not null) as identifiers,
    merchants.net_days, merchants.tax_id, merchants.tax_note, merchants.address, merchants.country
from merchants
left join identifiers on identifiers.merchant_id = merchants.merchant_id
where coalesce($merchant_id, $name) is null
    or merchants.merchant_id = try_cast($merchant_id as uuid)
    or lower(merchants.name) = lower($name)
group by
    merchants.merchant_id, merchants.name, merchants.category, merchants.net_days, merchants.tax_id,
    merchants.tax_note, merchants.address, merchants.country
order by merchants.name, merchants.merchant_id;

-- name: of_identifier
-- The merchant whose identifier it is.
select merchants.merchant_id, merchants.name
from identifiers
inner join merchants on merchants.merchant_id = identifiers.merchant_id
where identifiers.merchant_identifier_type = $merchant_identifier_type
    and identifiers.merchant_identifier = $merchant_identifier;

