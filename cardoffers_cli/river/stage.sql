-- name: slim
-- makes: staged(line, transaction_ref, reference, content, cardholder, look)
-- Reads frame (valid rows with fingerprints) and makes staged of it, for a check alone: just what
-- duplicates, look-alikes and unstable tokens are found by. Grain: one row per valid row of the file.
create temp table staged as
select
    frame.line, frame.transaction_ref, frame.reference, frame.content, frame.cardholder, frame.look
from frame;

-- name: credits
-- makes: staged(line, transaction_ref, reference, content, amount, transacted_at, hash_of_text,
--     redemption_id, redeemed_ref, status, failure_code)
-- Reads frame (valid credited rows with fingerprints) and makes staged of it, for an import. Grain:
-- one row per valid row of the file.
create temp table staged as
select
    frame.line, frame.transaction_ref, frame.reference, frame.content,
    cast(frame.amount as decimal(18, 4)) as amount,
    cast(frame.transacted_at as timestamp) as transacted_at,
    text_hash(frame.transaction_ref) as hash_of_text,
    cast(frame.redemption_id as uuid) as redemption_id, frame.redeemed_ref, frame.status,
    frame.failure_code
from frame;

-- name: purchases
-- makes: staged(line, transaction_ref, reference, content, cardholder, payer, identifier,
--     merchant_id, amount, transacted_at, look, hash_of_text)
-- Reads frame (valid purchases with fingerprints) and makes staged of it, for an import. Grain: one
-- row per valid row of the file.
create temp table staged as
select
    frame.line, frame.transaction_ref, frame.reference, frame.content, frame.cardholder,
    frame.payer, frame.identifier, cast(frame.merchant_id as uuid) as merchant_id,
    cast(frame.amount as decimal(18, 4)) as amount,
    cast(frame.transacted_at as timestamp) as transacted_at, frame.look,
    text_hash(frame.transaction_ref) as hash_of_text
from frame;

-- name: refunds
-- makes: staged(line, transaction_ref, reference, content, cardholder, payer, identifier,
--     merchant_id, amount, transacted_at, hash_of_text, original_transaction_ref, kind)
-- Reads frame (valid refunds with fingerprints) and makes staged of it, for an import. Grain: one
-- row per valid row of the file.
create temp table staged as
select
    frame.line, frame.transaction_ref, frame.reference, frame.content, frame.cardholder,
    frame.payer, frame.identifier, cast(frame.merchant_id as uuid) as merchant_id,
    cast(frame.amount as decimal(18, 4)) as amount,
    cast(frame.transacted_at as timestamp) as transacted_at,
    text_hash(frame.transaction_ref) as hash_of_text, frame.original_transaction_ref, frame.kind
from frame;

-- name: findings
-- makes: staged_findings(line, transaction_ref, field, code, level, message)
-- Reads frame (findings of chunks) and makes staged_findings of it. Grain: one row per finding,
-- errors and warnings.
create temp table staged_findings as
select
    frame.line, frame.transaction_ref, frame."column" as field, frame.code, frame.level,
    frame.message
from frame;

-- name: doubts
-- makes: staged_doubts(line, field, length, form, text)
-- Reads frame and makes staged_doubts of it: the numbers that may be card numbers, with their form,
-- which is their length and how they stand in the text of the field. Grain: one row per number.
create temp table staged_doubts as
select frame.line, frame.field, frame.length, frame.form, frame.text
from frame;

-- name: details
-- makes: staged_details(
--     line, instrument_type, mcc, merchant_descriptor,
--     network)
-- Reads frame (optional fields of some rows) and makes staged_details of those that carry any.
-- Grain: one row per such row.
create temp table staged_details as
select
    frame.line, frame.instrument_type, frame.mcc, frame.merchant_descriptor,
    frame.network
from frame
where
    frame.instrument_type is not null
    or frame.mcc is not null
    or frame.merchant_descriptor is not null
    or frame.network is not null;

-- name: tokens
-- makes: staged_tokens(payer, cardholder_token, instrument_token)
-- Reads frame (payers not met before in this file) and makes staged_tokens of it: the tokens behind
-- the fingerprints. Grain: one row per payer, or more.
create temp table staged_tokens as
select frame.payer, frame.cardholder_token, frame.instrument_token
from frame;

-- name: merchants
-- makes: staged_merchants(identifier, merchant_identifier_type, merchant_identifier)
-- Reads frame (identifiers not met before in this file) and makes staged_merchants of it: the
-- merchant identifiers behind the fingerprints. Grain: one row per identifier, or more.
create temp table staged_merchants as
select frame.identifier, frame.merchant_identifier_type, frame.merchant_identifier
from frame;

-- name: amount
-- reads: staged(amount)
-- What the staged rows amount to, duplicates included.
select coalesce(sum(staged.amount), 0) as amount
from staged;
