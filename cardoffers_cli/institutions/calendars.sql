-- name: calendars
-- What was expected of an institution, or of each where that is null, the newest last. Grain: one
-- row per institution and change.
select
    expectations.institution_id, institutions.slug as institution, expectations.set_at,
    expectations.expects, expectations.holidays
from expectations
inner join institutions on institutions.institution_id = expectations.institution_id
where $institution_id is null
    or expectations.institution_id = $institution_id
order by institutions.slug, expectations.set_at, expectations.run_no;

-- name: keep
-- Writes what is expected of an institution from now on, beside what was before.
insert into expectations (institution_id, set_at, run_no, expects, holidays)
values ($institution_id, $now, $run_no, $expects, $holidays);

-- name: came
-- The files that came of an institution, of purchases, refunds and credits, and when: by its last
-- change in the drop folder, but after the nightly run before, and by when it was taken. One that
-- brought nothing new, and one that was refused, has a fault. Grain: one row per file and run.
with looks as (
    select
        nights.night_no, nights.as_of,
        coalesce(
            lag(nights.as_of) over (order by nights.night_no), nights.as_of - interval 7 day
        ) as looked_at
    from nights
),

dropped as (
    select
        institutions.institution_id, night_files.file_name,
        json_extract_string(night_files.report, '$.import_id') as import_id,
        json_extract_string(night_files.report, '$.file_error.code') as fault,
        least(
            greatest(
                make_timestamp(cast(split_part(night_files.stamp, ':', 2) as bigint) // 1000),
                looks.looked_at
            ),
            looks.as_of
        ) as received_at
    from night_files
    inner join looks on looks.night_no = night_files.night_no
    inner join institutions on institutions.slug = night_files.institution
    where institutions.institution_id = $institution_id
        and looks.as_of >= $from_at
        and night_files.state in ('imported', 'failed', 'held')
),

imported as (
    select
        imports.run_no, imports.file_name, min(imports.import_no) as import_no,
        min(imports.imported_at) as imported_at, sum(imports.accepted) as accepted,
        sum(imports.received) as received, sum(imports.invalid) as invalid
    from imports
    where imports.institution_id = $institution_id
        and imports.imported_at >= $from_at
        and imports.file_kind <> 'call'
    group by imports.run_no, imports.file_name, imports.file_sha256
)

select
    coalesce(dropped.file_name, regexp_extract(imported.file_name, '[^/]*$')) as name,
    coalesce(dropped.received_at, imported.imported_at) as received_at,
    cast(imports.import_id as varchar) as import_id,
    case
        when imported.accepted > 0 or imported.received = 0 then null
        when imported.invalid > 0 then 'rows_rejected'
        else 'file_known'
    end as fault
from imported
inner join imports
    on imports.import_no = imported.import_no
    and imports.institution_id = $institution_id
left join dropped on dropped.import_id = cast(imports.import_id as varchar)
union all
select dropped.file_name, dropped.received_at, null, dropped.fault
from dropped
where dropped.fault is not null
order by received_at, name;
