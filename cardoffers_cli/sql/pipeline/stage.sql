-- name: staged_whole
-- Makes the empty table of staged rows for an import. Grain: one row per valid row of the file.
create or replace temp table staged (
    line ubigint,
    transaction_ref varchar,
    content ubigint,
    cardholder ubigint,
    cardholder_token varchar,
    instrument_token varchar,
    instrument_type varchar,
    merchant_identifier_type varchar,
    merchant_identifier varchar,
    merchant_id uuid,
    mcc varchar,
    merchant_descriptor varchar,
    network varchar,
    amount decimal(18, 4),
    transacted_at timestamp
);

-- name: staged_slim
-- Makes the empty table of staged rows for a check alone: just what duplicates and unstable tokens
-- are found by. Grain: one row per valid row of the file.
create or replace temp table staged (
    line ubigint,
    transaction_ref varchar,
    content ubigint,
    cardholder ubigint
);

-- name: staged_findings
-- Makes the empty table of findings. Grain: one row per finding, errors and warnings.
create or replace temp table staged_findings (
    line ubigint,
    transaction_ref varchar,
    field varchar,
    code varchar,
    level varchar,
    message varchar
);

-- name: stage_whole
-- Reads frame (valid rows of a chunk) and appends them to staged.
insert into staged
select
    frame.line,
    frame.transaction_ref,
    purchase_content(
        frame.cardholder_token, frame.instrument_token, cast(frame.merchant_id as uuid),
        frame.merchant_identifier_type, frame.merchant_identifier, frame.amount, frame.transacted_at
    ),
    hash(frame.cardholder_token),
    frame.cardholder_token,
    frame.instrument_token,
    frame.instrument_type,
    frame.merchant_identifier_type,
    frame.merchant_identifier,
    cast(frame.merchant_id as uuid),
    frame.mcc,
    frame.merchant_descriptor,
    frame.network,
    frame.amount,
    frame.transacted_at
from frame;

-- name: stage_slim
-- Reads frame (valid rows of a chunk) and appends their refs and fingerprints to staged.
insert into staged
select
    frame.line,
    frame.transaction_ref,
    purchase_content(
        frame.cardholder_token, frame.instrument_token, cast(frame.merchant_id as uuid),
        frame.merchant_identifier_type, frame.merchant_identifier, frame.amount, frame.transacted_at
    ),
    hash(frame.cardholder_token)
from frame;

-- name: stage_findings
-- Reads frame (findings of a chunk) and appends them to staged_findings.
insert into staged_findings
select frame.line, frame.transaction_ref, frame."column", frame.code, frame.level, frame.message
from frame;
