-- name: next_no
-- The number of the next import: behind all there were, those of withdrawn files too.
select
    greatest(
        (select coalesce(max(imports.import_no), 0) from imports),
        (select max(withdrawn_imports.import_no) from withdrawn_imports)
    ) + 1 as import_no;

-- name: earlier
-- The first import of the same bytes into an institution.
select import_id, file_name, imported_at
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
    options, imported_at, kind_of_rows
)
values (
    $import_no, $import_id, $institution_id, $run_no, $file_name, $file_kind, $file_sha256,
    $size_bytes, $received, $accepted, $duplicates, $conflicts, $invalid, $blank_lines,
    $amount_accepted, $currency, $options, $imported_at, $kind_of_rows
);

-- name: record_calls
-- reads: staged_calls(call_no, call_id, body_sha256, size_bytes, received, options, accepted,
--     duplicates, conflicts, invalid, amount_accepted)
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

-- name: rejects_by_code
-- Why rows of imported files were not accepted, the most frequent reason of each institution first;
-- nulls in the parameters filter nothing. Grain: one row per institution and code.
select
    institutions.slug as institution, rejects.code, count(*) as errors,
    count(distinct (rejects.import_no, rejects.line)) as rows,
    count(distinct rejects.import_no) as files
from rejects
inner join imports
    on imports.import_no = rejects.import_no
    and imports.institution_id = rejects.institution_id
inner join institutions on institutions.institution_id = rejects.institution_id
where ($institution_id is null or rejects.institution_id = $institution_id)
    and ($from_at is null or imports.imported_at >= $from_at)
    and ($to_at is null or imports.imported_at < $to_at)
    and ($after_run_no is null or imports.run_no > $after_run_no)
    and ($to_run_no is null or imports.run_no <= $to_run_no)
group by institutions.slug, rejects.code
order by institutions.slug, errors desc, rejects.code;
