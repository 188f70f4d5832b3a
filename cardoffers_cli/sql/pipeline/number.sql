-- name: staged_payers
-- Makes staged_payers, which `store/interning.py` reads. Grain: one row per pair of tokens.
create or replace temp table staged_payers as
select distinct
    cast($institution_id as uuid) as institution_id,
    staged_tokens.cardholder_token,
    staged_tokens.instrument_token
from staged_tokens;

-- name: staged_identifiers
-- Makes staged_identifiers, which `store/interning.py` reads. Grain: one row per identifier.
create or replace temp table staged_identifiers as
select distinct staged_merchants.merchant_identifier_type, staged_merchants.merchant_identifier
from staged_merchants;

-- name: payer_numbers
-- Makes payer_numbers: from a fingerprint to the numbers of its tokens. Grain: one row per payer.
create or replace temp table payer_numbers as
select distinct staged_tokens.payer, cardholders.cardholder_no, instruments.instrument_no
from staged_tokens
inner join cardholders
    on cardholders.institution_id = $institution_id
    and cardholders.cardholder_token = staged_tokens.cardholder_token
inner join instruments
    on instruments.institution_id = cardholders.institution_id
    and instruments.cardholder_no = cardholders.cardholder_no
    and instruments.instrument_token = staged_tokens.instrument_token;

-- name: identifier_numbers
-- Makes identifier_numbers: from a fingerprint to the number of its identifier. Grain: one row each.
create or replace temp table identifier_numbers as
select distinct staged_merchants.identifier, identifiers.identifier_no
from staged_merchants
inner join identifiers
    on identifiers.merchant_identifier_type = staged_merchants.merchant_identifier_type
    and identifiers.merchant_identifier = staged_merchants.merchant_identifier;

-- name: collisions
-- How many fingerprints stand for more than one text; the import must not go on unless none does.
with shared as (
    select payer_numbers.payer as fingerprint
    from payer_numbers
    group by payer_numbers.payer
    having count(*) > 1
    union all
    select identifier_numbers.identifier
    from identifier_numbers
    group by identifier_numbers.identifier
    having count(*) > 1
)
select count(*) as collisions
from shared;
