-- name: next_no
-- The number behind which new purchases are numbered by their lines.
select last_purchase.purchase_no + 1 as purchase_no
from last_purchase;

-- name: purchase_refs
-- reads: staged(line, hash_of_text), staged_duplicates(line)
-- Writes the hash that each purchase will be found by, under the number that `purchases` gives it;
-- in order, so that of a large import who looks for one reads the rows near it only.
insert into purchase_refs (ref_hash, purchase_no)
select
    hash_of_institution(staged.hash_of_text, $institution_id),
    $first_no + staged.line
from staged
anti join staged_duplicates on staged_duplicates.line = staged.line
order by 1;

-- name: few_purchase_refs
-- Writes the hashes that a few purchases will be found by.
insert into purchase_refs (ref_hash, purchase_no)
select unnest(cast($hashes as ubigint[])), unnest(cast($purchase_nos as bigint[]));

-- name: without_duplicates
-- reads: staged_refs(line, institution_id, transaction_ref, cardholder_no, instrument_no,
--     identifier_no, merchant_id, amount, transacted_at), staged_duplicates(line)
-- makes: admitted_refs(line, institution_id, transaction_ref, cardholder_no, instrument_no,
--     identifier_no, merchant_id, amount, transacted_at)
-- Makes admitted_refs: the staged rows that are no duplicates. Grain: one row per such row.
create temp view admitted_refs as
select
    staged_refs.line, staged_refs.institution_id, staged_refs.transaction_ref,
    staged_refs.cardholder_no, staged_refs.instrument_no, staged_refs.identifier_no,
    staged_refs.merchant_id, staged_refs.amount, staged_refs.transacted_at
from staged_refs
anti join staged_duplicates on staged_duplicates.line = staged_refs.line;

-- name: purchases
-- reads: admitted_refs(line, institution_id, transaction_ref, cardholder_no, instrument_no,
--     identifier_no, merchant_id, amount, transacted_at)
-- Writes one purchase per row of admitted_refs, which holds no ref that the institution has a
-- purchase of: so it is idempotent. Purchase numbers follow the lines, with gaps. Imports that are
-- staged together have $stride lines each, so a line tells its import and its line there.
insert into recent_purchases (
    purchase_no, institution_id, transaction_ref, cardholder_no, instrument_no, identifier_no,
    merchant_id, amount, currency, transacted_at, received_at, import_no, line
)
select
    $first_no + admitted_refs.line,
    admitted_refs.institution_id,
    admitted_refs.transaction_ref,
    admitted_refs.cardholder_no,
    admitted_refs.instrument_no,
    admitted_refs.identifier_no,
    admitted_refs.merchant_id,
    admitted_refs.amount,
    $currency,
    admitted_refs.transacted_at,
    $received_at,
    $import_no + admitted_refs.line // $stride,
    admitted_refs.line % $stride
from admitted_refs;

-- name: refunds
-- reads: staged_refunds(line, refund_ref, ref_hash, kind, original_transaction_ref, cardholder_no,
--     instrument_no, identifier_no, merchant_id, amount, refunded_at), staged_duplicates(line)
-- Writes one refund per staged row that is no duplicate. Idempotent through staged_duplicates, which holds every
-- refund_ref the institution has refunds of. Refund numbers follow the lines, with gaps; of $stride
-- as in `purchases`.
insert into refunds (
    refund_no, institution_id, refund_ref, ref_hash, kind, original_transaction_ref, cardholder_no,
    instrument_no, identifier_no, merchant_id, amount, currency, refunded_at, received_at,
    import_no, line
)
with last_refund as (
    select coalesce(max(refunds.refund_no), 0) as refund_no
    from refunds
)
select
    last_refund.refund_no + 1 + staged_refunds.line,
    $institution_id,
    staged_refunds.refund_ref,
    hash_of_institution(staged_refunds.ref_hash, $institution_id),
    staged_refunds.kind,
    staged_refunds.original_transaction_ref,
    staged_refunds.cardholder_no,
    staged_refunds.instrument_no,
    staged_refunds.identifier_no,
    staged_refunds.merchant_id,
    staged_refunds.amount,
    $currency,
    staged_refunds.refunded_at,
    $received_at,
    $import_no + staged_refunds.line // $stride,
    staged_refunds.line % $stride
from staged_refunds
cross join last_refund
anti join staged_duplicates on staged_duplicates.line = staged_refunds.line;

-- name: credits
-- reads: staged_credits(line, credit_ref, ref_hash, redemption_id, transaction_ref, status,
--     failure_code, amount, credited_at), staged_duplicates(line)
-- Writes one credited row per staged row that is no duplicate. Idempotent through staged_duplicates,
-- which holds every credit_ref the institution has credited rows of. Their numbers follow the lines,
-- with gaps; of $stride as in `purchases`.
insert into credits (
    credit_no, institution_id, credit_ref, ref_hash, redemption_id, transaction_ref, status,
    failure_code, amount, currency, credited_at, received_at, import_no, line
)
with last_credit as (
    select coalesce(max(credits.credit_no), 0) as credit_no
    from credits
)
select
    last_credit.credit_no + 1 + staged_credits.line,
    $institution_id,
    staged_credits.credit_ref,
    hash_of_institution(staged_credits.ref_hash, $institution_id),
    staged_credits.redemption_id,
    staged_credits.transaction_ref,
    staged_credits.status,
    staged_credits.failure_code,
    staged_credits.amount,
    $currency,
    staged_credits.credited_at,
    $received_at,
    $import_no + staged_credits.line // $stride,
    staged_credits.line % $stride
from staged_credits
cross join last_credit
anti join staged_duplicates on staged_duplicates.line = staged_credits.line;

-- name: purchase_details
-- reads: staged_details(
--     line, instrument_type, mcc, merchant_descriptor,
--     network)
-- Writes the optional fields of the purchases of these imports that carry any.
insert into recent_purchase_details (
    purchase_no, institution_id, instrument_type, mcc, merchant_descriptor,
    network
)
select
    purchases.purchase_no,
    $institution_id,
    staged_details.instrument_type,
    staged_details.mcc,
    staged_details.merchant_descriptor,
    staged_details.network
from staged_details
inner join purchases
    on purchases.import_no = $import_no + staged_details.line // $stride
    and purchases.line = staged_details.line % $stride
    and purchases.import_no >= $import_no
    and purchases.institution_id = $institution_id;

-- name: amount
-- reads: staged(line, amount), staged_duplicates(line)
-- What the staged rows that are no duplicates come to.
select coalesce(sum(staged.amount), 0) as amount
from staged
anti join staged_duplicates on staged_duplicates.line = staged.line;

-- name: rejects
-- reads: staged_findings(line, transaction_ref, field, code, level, message)
-- Writes the errors of the rows that were not accepted.
insert into rejects (import_no, institution_id, line, transaction_ref, field, code, message)
select
    $import_no + staged_findings.line // $stride, $institution_id, staged_findings.line % $stride,
    staged_findings.transaction_ref, staged_findings.field, staged_findings.code, staged_findings.message
from staged_findings
where staged_findings.level = 'error';

-- name: duplicates
-- reads: staged_duplicates(line, transaction_ref, is_conflict)
-- Writes the rows whose ref was known already.
insert into duplicates (import_no, institution_id, line, transaction_ref, is_conflict)
select
    $import_no + staged_duplicates.line // $stride, $institution_id,
    staged_duplicates.line % $stride, staged_duplicates.transaction_ref,
    staged_duplicates.is_conflict
from staged_duplicates;
