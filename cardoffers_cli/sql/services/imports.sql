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
