-- name: staged_payers
-- reads: staged_tokens(cardholder_token, instrument_token)
-- makes: staged_payers(institution_id, cardholder_token, instrument_token)
-- Makes staged_payers, which `kernel/store/interning.py` reads. Grain: one row per pair of tokens, or more.
create temp table staged_payers as
select
    cast($institution_id as uuid) as institution_id, staged_tokens.cardholder_token,
    staged_tokens.instrument_token
from staged_tokens;

-- name: payer_numbers
-- reads: staged_tokens(payer, cardholder_token, instrument_token)
-- makes: payer_numbers(payer, institution_id, cardholder_no, instrument_no)
-- Makes payer_numbers: from a fingerprint to the numbers of its tokens. If it $is_partial there may be
-- cardholders without an instrument: the number of that is null. Grain: one row per payer.
create temp table payer_numbers as
select distinct
    staged_tokens.payer, cardholders.institution_id, cardholders.cardholder_no,
    instruments.instrument_no
from staged_tokens
inner join cardholders
    on cardholders.institution_id = $institution_id
    and cardholders.cardholder_token = staged_tokens.cardholder_token
left join instruments using (institution_id, cardholder_no, instrument_token)
where $is_partial
    or instruments.instrument_no is not null;

-- name: few_payers
-- makes: payer_numbers(payer, institution_id, cardholder_no, instrument_no)
-- Makes payer_numbers of lists. Grain: one row per payer.
create temp table payer_numbers as
select
    unnest(cast($payers as ubigint[])) as payer,
    cast($institution_id as uuid) as institution_id,
    unnest(cast($cardholder_nos as bigint[])) as cardholder_no,
    unnest(cast($instrument_nos as bigint[])) as instrument_no;

-- name: few_identifiers
-- makes: identifier_numbers(identifier, identifier_no)
-- Makes identifier_numbers of lists. Grain: one row per identifier.
create temp table identifier_numbers as
select
    unnest(cast($identifiers as ubigint[])) as identifier,
    unnest(cast($identifier_nos as bigint[])) as identifier_no;

-- name: identifier_numbers
-- reads: staged_merchants(identifier, merchant_identifier_type, merchant_identifier)
-- makes: identifier_numbers(identifier, identifier_no)
-- Makes identifier_numbers: from a fingerprint to the number of its identifier. Grain: one row each.
create temp table identifier_numbers as
select distinct staged_merchants.identifier, identifiers.identifier_no
from staged_merchants
inner join identifiers using (merchant_identifier_type, merchant_identifier);

-- name: staged_purchases
-- reads: staged(line, transaction_ref, payer, identifier, merchant_id, amount, transacted_at),
--     payer_numbers(payer, institution_id, cardholder_no, instrument_no),
--     identifier_numbers(identifier, identifier_no)
-- makes: staged_refs(line, institution_id, transaction_ref, cardholder_no, instrument_no,
--     identifier_no, merchant_id, amount, transacted_at)
-- Makes staged_refs: what staged purchases say, by numbers where the store has given them. Grain:
-- one row per staged row.
create temp view staged_refs as
select
    staged.line, payer_numbers.institution_id, staged.transaction_ref, payer_numbers.cardholder_no,
    payer_numbers.instrument_no, identifier_numbers.identifier_no, staged.merchant_id,
    staged.amount, staged.transacted_at
from staged
inner join payer_numbers on payer_numbers.payer = staged.payer
left join identifier_numbers on identifier_numbers.identifier = staged.identifier;

-- name: staged_refunds
-- reads: staged(line, transaction_ref, payer, identifier, merchant_id, amount, transacted_at,
--     hash_of_text, original_transaction_ref, kind),
--     payer_numbers(payer, cardholder_no, instrument_no),
--     identifier_numbers(identifier, identifier_no)
-- makes: staged_refunds(line, refund_ref, ref_hash, kind, original_transaction_ref, cardholder_no,
--     instrument_no, identifier_no, merchant_id, amount, refunded_at)
-- Makes staged_refunds: what staged refunds say, by numbers where the store has given them. Grain:
-- one row per staged row.
create temp view staged_refunds as
select
    staged.line, staged.transaction_ref as refund_ref, staged.hash_of_text as ref_hash, staged.kind,
    staged.original_transaction_ref, payer_numbers.cardholder_no, payer_numbers.instrument_no,
    identifier_numbers.identifier_no, staged.merchant_id, staged.amount,
    staged.transacted_at as refunded_at
from staged
left join payer_numbers on payer_numbers.payer = staged.payer
left join identifier_numbers on identifier_numbers.identifier = staged.identifier;

-- name: staged_credits
-- reads: staged(line, transaction_ref, amount, transacted_at, hash_of_text, redemption_id,
--     redeemed_ref, status, failure_code)
-- makes: staged_credits(line, credit_ref, ref_hash, redemption_id, transaction_ref, status,
--     failure_code, amount, credited_at)
-- Makes staged_credits: what staged credited rows say; there is nothing in them to be numbered.
-- Grain: one row per staged row.
create temp view staged_credits as
select
    staged.line, staged.transaction_ref as credit_ref, staged.hash_of_text as ref_hash,
    staged.redemption_id, staged.redeemed_ref as transaction_ref, staged.status,
    staged.failure_code, staged.amount, staged.transacted_at as credited_at
from staged;

-- name: few_refs
-- makes: staged_refs(line, institution_id, transaction_ref, cardholder_no, instrument_no,
--     identifier_no, merchant_id, amount, transacted_at)
-- Reads frame (staged rows with the numbers beside them) and makes staged_refs of it. Grain: one row
-- per staged row.
create temp table staged_refs as
select
    frame.line, cast($institution_id as uuid) as institution_id, frame.transaction_ref,
    frame.cardholder_no, frame.instrument_no, frame.identifier_no,
    cast(frame.merchant_id as uuid) as merchant_id, cast(frame.amount as decimal(18, 4)) as amount,
    cast(frame.transacted_at as timestamp) as transacted_at
from frame;

-- name: collisions
-- reads: payer_numbers(payer), identifier_numbers(identifier)
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
