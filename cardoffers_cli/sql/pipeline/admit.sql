-- name: staged_payers
-- Makes staged_payers: the cardholder and instrument tokens of the rows to admit.
-- Grain: one row per pair.
create or replace temp table staged_payers as
select distinct
    cast($institution_id as uuid) as institution_id,
    staged.cardholder_token,
    staged.instrument_token
from staged;

-- name: staged_identifiers
-- Makes staged_identifiers: the merchant identifiers of the rows to admit. Grain: one row each.
create or replace temp table staged_identifiers as
select distinct staged.merchant_identifier_type, staged.merchant_identifier
from staged
where staged.merchant_identifier is not null;

-- name: drop_duplicates
-- Takes duplicates out of staged; what is left will be admitted.
delete from staged
where exists (
    select 1
    from staged_duplicates
    where staged_duplicates.line = staged.line
);

-- name: purchases
-- Writes one purchase per staged row. Idempotent through staged_duplicates, which holds every ref
-- the institution has purchases of. Purchase numbers follow the lines, with gaps.
insert into purchases (
    purchase_no, institution_id, transaction_ref, cardholder_no, instrument_no, instrument_type,
    identifier_no, merchant_id, mcc, merchant_descriptor, network, amount, currency, transacted_at,
    received_at, import_no, line
)
with numbered as (
    select coalesce(max(purchases.purchase_no), 0) + 1 as first_no
    from purchases
),
payers as (
    select
        cardholders.cardholder_token,
        cardholders.cardholder_no,
        instruments.instrument_token,
        instruments.instrument_no
    from cardholders
    inner join instruments
        on instruments.cardholder_no = cardholders.cardholder_no
        and instruments.institution_id = cardholders.institution_id
    where cardholders.institution_id = $institution_id
),
final as (
    select
        numbered.first_no + staged.line as purchase_no,
        staged.transaction_ref,
        payers.cardholder_no,
        payers.instrument_no,
        staged.instrument_type,
        identifiers.identifier_no,
        staged.merchant_id,
        staged.mcc,
        staged.merchant_descriptor,
        staged.network,
        staged.amount,
        staged.transacted_at,
        staged.line
    from staged
    cross join numbered
    inner join payers
        on payers.cardholder_token = staged.cardholder_token
        and payers.instrument_token = staged.instrument_token
    left join identifiers
        on identifiers.merchant_identifier_type = staged.merchant_identifier_type
        and identifiers.merchant_identifier = staged.merchant_identifier
)
select
    purchase_no, $institution_id, transaction_ref, cardholder_no, instrument_no, instrument_type,
    identifier_no, merchant_id, mcc, merchant_descriptor, network, amount, $currency, transacted_at,
    $received_at, $import_no, line
from final;

-- name: amount
-- What the staged rows that are left come to.
select count(*) as accepted, coalesce(sum(amount), 0) as amount_accepted
from staged;

-- name: rejects
-- Writes the errors of the rows that were not accepted.
insert into rejects (import_no, institution_id, line, transaction_ref, field, code, message)
select
    $import_no, $institution_id, staged_findings.line, staged_findings.transaction_ref,
    staged_findings.field, staged_findings.code, staged_findings.message
from staged_findings
where staged_findings.level = 'error';

-- name: duplicates
-- Writes the rows whose ref was known already.
insert into duplicates (import_no, institution_id, line, transaction_ref, is_conflict)
select
    $import_no, $institution_id, staged_duplicates.line, staged_duplicates.transaction_ref,
    staged_duplicates.is_conflict
from staged_duplicates;
