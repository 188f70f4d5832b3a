-- name: next_no
-- The number of the next import.
select coalesce(max(import_no), 0) + 1 as import_no
from imports;

-- name: earlier
-- The first import of the same bytes into an institution.
select import_id
from imports
where institution_id = $institution_id
    and file_sha256 = $file_sha256
order by import_no
limit 1;

-- name: record
-- Writes the record of one import, in the transaction that took its rows.
insert into imports (
    import_no, import_id, institution_id, run_no, file_name, file_kind, file_sha256, size_bytes,
    received, accepted, duplicates, conflicts, invalid, blank_lines, amount_accepted, currency,
    options, imported_at
)
values (
    $import_no, $import_id, $institution_id, $run_no, $file_name, $file_kind, $file_sha256,
    $size_bytes, $received, $accepted, $duplicates, $conflicts, $invalid, $blank_lines,
    $amount_accepted, $currency, $options, $imported_at
);

-- name: record_calls
-- Writes the records of the calls in staged_calls, in the transaction that took their events. Their
-- numbers begin at $import_no, in the order of the calls.
insert into imports (
    import_no, import_id, institution_id, run_no, file_name, file_kind, file_sha256, size_bytes,
    received, accepted, duplicates, conflicts, invalid, blank_lines, amount_accepted, currency,
    options, imported_at
)
select
    $import_no + staged_calls.call_no, staged_calls.call_id, $institution_id, $run_no,
    cast(staged_calls.call_id as varchar), 'call', staged_calls.body_sha256,
    staged_calls.size_bytes, staged_calls.received, staged_calls.accepted, staged_calls.duplicates,
    staged_calls.conflicts, staged_calls.invalid, 0, staged_calls.amount_accepted, $currency,
    staged_calls.options, $imported_at
from staged_calls;
