-- name: fetched_files_are_imported_before_they_go
-- Fetched files that were removed or moved at their place though no import has their bytes, and
-- such as are there twice. Grain: one row per file and fault.
with faults as (
    select picked_files.picked_no, 'taken away, and not imported' as fault
    from picked_files
    anti join imports
        on imports.institution_id = picked_files.institution_id
        and imports.file_sha256 = picked_files.placed_sha256
    where picked_files.outcome in ('removed', 'moved')
        and not exists (
            select 1
            from night_files
            inner join institutions on institutions.slug = night_files.institution
            where institutions.institution_id = picked_files.institution_id
                and night_files.state = 'imported'
                and night_files.taken_sha256 = picked_files.placed_sha256
        )
    union all
    select min(picked_files.picked_no), 'it is there twice'
    from picked_files
    group by
        picked_files.institution_id, picked_files.place, picked_files.remote_name,
        picked_files.stamp
    having count(*) > 1
)
select faults.picked_no, faults.fault
from faults
order by faults.picked_no, faults.fault;
