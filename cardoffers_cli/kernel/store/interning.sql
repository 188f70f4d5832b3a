-- name: cardholders
-- reads: staged_payers(institution_id, cardholder_token)
-- Reads staged_payers; writes cardholders, one row per institution and token that has none yet, so
-- a second run adds nothing.
insert into cardholders (cardholder_no, institution_id, cardholder_token)
with unknown as (
    select distinct staged_payers.institution_id, staged_payers.cardholder_token
    from staged_payers
    anti join cardholders using (institution_id, cardholder_token)
),

highest as (
    select coalesce(max(cardholder_no), 0) as cardholder_no
    from cardholders
),

final as (
    select
        highest.cardholder_no
        + row_number() over (order by unknown.institution_id, unknown.cardholder_token)
            as cardholder_no,
        unknown.institution_id,
        unknown.cardholder_token
    from unknown
    cross join highest
)

select cardholder_no, institution_id, cardholder_token
from final;

-- name: instruments
-- reads: staged_payers(institution_id, cardholder_token, instrument_token)
-- Reads staged_payers and cardholders, which has them all by now; writes instruments, one row per
-- cardholder and instrument token that has none yet, so a second run adds nothing.
insert into instruments (instrument_no, cardholder_no, institution_id, instrument_token)
with carried as (
    select distinct
        cardholders.cardholder_no, staged_payers.institution_id, staged_payers.instrument_token
    from staged_payers
    inner join cardholders using (institution_id, cardholder_token)
    where staged_payers.instrument_token is not null
),

unknown as (
    select carried.cardholder_no, carried.institution_id, carried.instrument_token
    from carried
    anti join instruments using (cardholder_no, instrument_token)
),

highest as (
    select coalesce(max(instrument_no), 0) as instrument_no
    from instruments
),

final as (
    select
        highest.instrument_no
        + row_number() over (order by unknown.cardholder_no, unknown.instrument_token)
            as instrument_no,
        unknown.cardholder_no,
        unknown.institution_id,
        unknown.instrument_token
    from unknown
    cross join highest
)

select instrument_no, cardholder_no, institution_id, instrument_token
from final;

-- name: identifiers
-- reads: staged_identifiers(merchant_identifier_type, merchant_identifier)
-- Reads staged_identifiers; writes identifiers, one row per type and identifier that has none yet,
-- without an owner, so a second run adds nothing.
insert into identifiers (identifier_no, merchant_identifier_type, merchant_identifier)
with unknown as (
    select distinct
        staged_identifiers.merchant_identifier_type, staged_identifiers.merchant_identifier
    from staged_identifiers
    anti join identifiers using (merchant_identifier_type, merchant_identifier)
),

highest as (
    select coalesce(max(identifier_no), 0) as identifier_no
    from identifiers
),

final as (
    select
        highest.identifier_no
        + row_number() over (
            order by unknown.merchant_identifier_type, unknown.merchant_identifier
        ) as identifier_no,
        unknown.merchant_identifier_type,
        unknown.merchant_identifier
    from unknown
    cross join highest
)

select identifier_no, merchant_identifier_type, merchant_identifier
from final;

-- name: known_cardholders
-- The numbers of the cardholders of an institution with these tokens. Grain: one row per cardholder.
select cardholders.cardholder_token, cardholders.cardholder_no
from cardholders
where cardholders.institution_id = $institution_id
    and cardholders.cardholder_token in (select unnest(cast($cardholder_tokens as varchar[])));

-- name: known_instruments
-- The numbers of instruments of cardholders, among them those with these tokens. Grain: one row per
-- instrument.
select instruments.cardholder_no, instruments.instrument_token, instruments.instrument_no
from instruments
where instruments.institution_id = $institution_id
    and instruments.cardholder_no in (select unnest(cast($cardholder_nos as bigint[])))
    and instruments.instrument_token in (select unnest(cast($instrument_tokens as varchar[])));

-- name: known_identifiers
-- The numbers of merchant identifiers, among them those of these types. Grain: one row per
-- identifier.
select
    identifiers.merchant_identifier_type, identifiers.merchant_identifier, identifiers.identifier_no
from identifiers
where identifiers.merchant_identifier in (select unnest(cast($merchant_identifiers as varchar[])))
    and identifiers.merchant_identifier_type in (
        select unnest(cast($merchant_identifier_types as varchar[]))
    );

-- name: next_cardholder
-- The number that a new cardholder gets: the one behind the highest.
select coalesce(max(cardholder_no), 0) + 1 as cardholder_no
from cardholders;

-- name: next_instrument
-- The number that a new instrument gets: the one behind the highest.
select coalesce(max(instrument_no), 0) + 1 as instrument_no
from instruments;

-- name: next_identifier
-- The number that a new merchant identifier gets: the one behind the highest.
select coalesce(max(identifier_no), 0) + 1 as identifier_no
from identifiers;

-- name: new_cardholders
-- Writes cardholders, one row per token of an institution, none of which is known yet.
insert into cardholders (cardholder_no, institution_id, cardholder_token)
select
    unnest(cast($numbers as bigint[])), $institution_id,
    unnest(cast($cardholder_tokens as varchar[]));

-- name: new_instruments
-- Writes instruments, one row per cardholder and token, none of which is known yet.
insert into instruments (instrument_no, cardholder_no, institution_id, instrument_token)
select
    unnest(cast($numbers as bigint[])), unnest(cast($cardholder_nos as bigint[])),
    $institution_id, unnest(cast($instrument_tokens as varchar[]));

-- name: new_identifiers
-- Writes identifiers, one row per type and identifier, none of which is known yet; nobody owns them.
insert into identifiers (identifier_no, merchant_identifier_type, merchant_identifier)
select
    unnest(cast($numbers as bigint[])), unnest(cast($merchant_identifier_types as varchar[])),
    unnest(cast($merchant_identifiers as varchar[]));
