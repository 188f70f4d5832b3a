-- name: known_refs
-- reads: staged_refs(line, institution_id, transaction_ref, cardholder_no, instrument_no,
--     identifier_no, merchant_id, amount, transacted_at), same_refs(line, purchase_no)
-- makes: known_refs(line, transaction_ref, is_conflict, received_at, first_import_no, first_line)
-- The staged rows whose ref the institution has a purchase of, among those of one hash; the texts
-- decide, in a form that no engine takes for what to join by. A conflict where what was said then
-- differs; received_at is when that was, first_import_no and first_line where it stands. Grain: one
-- row per such row.
select
    staged_refs.line,
    staged_refs.transaction_ref,
    purchases.cardholder_no <> staged_refs.cardholder_no
    or purchases.instrument_no <> staged_refs.instrument_no
    or purchases.identifier_no is distinct from staged_refs.identifier_no
    or purchases.merchant_id is distinct from staged_refs.merchant_id
    or purchases.amount <> staged_refs.amount
    or purchases.transacted_at <> staged_refs.transacted_at as is_conflict,
    purchases.received_at,
    purchases.import_no as first_import_no,
    purchases.line as first_line
from same_refs
inner join staged_refs on staged_refs.line = same_refs.line
inner join purchases on purchases.purchase_no = same_refs.purchase_no
where case
    when purchases.institution_id = staged_refs.institution_id
        then purchases.transaction_ref = staged_refs.transaction_ref
    else 1 = 0
end;
