-- name: staged_slim
-- makes: staged(line, transaction_ref, reference, content, cardholder)
-- Makes the empty table of staged rows for a check alone: just what duplicates and unstable tokens
-- are found by. Grain: one row per valid row of the file.
create temp table staged (
    line ubigint,
    transaction_ref varchar,
    reference ubigint,
    content ubigint,
    cardholder ubigint
);

-- name: staged_whole
-- makes: staged(line, transaction_ref, reference, content, cardholder, payer, identifier,
--     merchant_id, amount, transacted_at)
-- Makes the empty table of staged rows for an import. Grain: one row per valid row of the file.
create temp table staged (
    line ubigint,
    transaction_ref varchar,
    reference ubigint,
    content ubigint,
    cardholder ubigint,
    payer ubigint,
    identifier ubigint,
    merchant_id uuid,
    amount decimal(18, 4),
    transacted_at timestamp
);

-- name: staged_findings
-- makes: staged_findings(line, transaction_ref, field, code, level, message)
-- Makes the empty table of findings. Grain: one row per finding, errors and warnings.
create temp table staged_findings (
    line ubigint,
    transaction_ref varchar,
    field varchar,
    code varchar,
    level varchar,
    message varchar
);

-- name: staged_doubts
-- makes: staged_doubts(line, field, length, head, transaction_ref)
-- Makes the empty table of numbers that may be card numbers, with their form: how long they are and
-- how they begin; of a reference its text. Grain: one row per line and field.
create temp table staged_doubts (
    line ubigint,
    field varchar,
    length uinteger,
    head varchar,
    transaction_ref varchar
);

-- name: staged_details
-- makes: staged_details(line, instrument_type, mcc, merchant_descriptor, network)
-- Makes the empty table of optional fields. Grain: one row per staged row that carries any.
create temp table staged_details (
    line ubigint,
    instrument_type varchar,
    mcc varchar,
    merchant_descriptor varchar,
    network varchar
);

-- name: staged_tokens
-- makes: staged_tokens(payer, cardholder_token, instrument_token)
-- Makes the empty table of the tokens behind the fingerprints. Grain: one row per payer, or more.
create temp table staged_tokens (
    payer ubigint,
    cardholder_token varchar,
    instrument_token varchar
);

-- name: staged_merchants
-- makes: staged_merchants(identifier, merchant_identifier_type, merchant_identifier)
-- Makes the empty table of the merchant identifiers behind the fingerprints. Grain: one row per
-- identifier, or more.
create temp table staged_merchants (
    identifier ubigint,
    merchant_identifier_type varchar,
    merchant_identifier varchar
);

-- name: stage_whole
-- changes: staged(line, transaction_ref, reference, content, cardholder, payer, identifier,
--     merchant_id, amount, transacted_at)
-- Reads frame (valid rows with fingerprints) and appends them to staged.
insert into staged
select
    frame.line, frame.transaction_ref, frame.reference, frame.content, frame.cardholder,
    frame.payer, frame.identifier, cast(frame.merchant_id as uuid), frame.amount,
    frame.transacted_at
from frame;

-- name: stage_slim
-- changes: staged(line, transaction_ref, reference, content, cardholder)
-- Reads frame (valid rows with fingerprints) and appends what a check needs to staged.
insert into staged
select frame.line, frame.transaction_ref, frame.reference, frame.content, frame.cardholder
from frame;

-- name: stage_findings
-- changes: staged_findings(line, transaction_ref, field, code, level, message)
-- Reads frame (findings of a chunk) and appends them to staged_findings.
insert into staged_findings
select frame.line, frame.transaction_ref, frame."column", frame.code, frame.level, frame.message
from frame;

-- name: stage_doubts
-- changes: staged_doubts(line, field, length, head, transaction_ref)
-- Reads frame (doubtful numbers of a chunk) and appends them to staged_doubts.
insert into staged_doubts
select frame.line, frame.field, frame.length, frame.head, frame.transaction_ref
from frame;

-- name: stage_details
-- changes: staged_details(line, instrument_type, mcc, merchant_descriptor, network)
-- Reads frame (optional fields of some rows) and appends those that carry any to staged_details.
insert into staged_details
select frame.line, frame.instrument_type, frame.mcc, frame.merchant_descriptor, frame.network
from frame
where coalesce(frame.instrument_type, frame.mcc, frame.merchant_descriptor, frame.network)
    is not null;

-- name: stage_tokens
-- changes: staged_tokens(payer, cardholder_token, instrument_token)
-- Reads frame (payers not met before in this file) and appends them to staged_tokens.
insert into staged_tokens
select frame.payer, frame.cardholder_token, frame.instrument_token
from frame;

-- name: stage_merchants
-- changes: staged_merchants(identifier, merchant_identifier_type, merchant_identifier)
-- Reads frame (identifiers not met before in this file) and appends them to staged_merchants.
insert into staged_merchants
select frame.identifier, frame.merchant_identifier_type, frame.merchant_identifier
from frame;

-- name: amount
-- reads: staged(amount)
-- What the staged rows amount to, duplicates included.
select coalesce(sum(staged.amount), 0) as amount
from staged;
