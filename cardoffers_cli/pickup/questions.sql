-- name: next
-- The number of the file that is fetched next.
select coalesce(max(picked_no), 0) + 1 as picked_no
from picked_files;

-- name: record
-- Writes a file that was fetched, before it goes into the drop folder. One of the same place, name
-- and stamp is there once: fetched again, because it was lost in between, it is the newer one.
insert or replace into picked_files (
    picked_no, institution_id, place, remote_name, stamp, size_bytes, sha256, placed_sha256,
    drop_name, fetched_at, ended_at, outcome
)
select
    coalesce(
        (
            select min(known.picked_no)
            from picked_files as known
            where known.institution_id = $institution_id
                and known.place = $place
                and known.remote_name = $remote_name
                and known.stamp = $stamp
        ),
        $picked_no
    ),
    $institution_id, $place, $remote_name, $stamp, $size_bytes, $sha256, $placed_sha256,
    $drop_name, $fetched_at, null, null;

-- name: placed_as
-- Writes the name that a file of an institution has in the drop folder, where its own was in use.
update picked_files
set drop_name = $drop_name
where institution_id = $institution_id
    and picked_no = $picked_no;

-- name: finish
-- Writes what became of a file of an institution at its place; the first time holds.
update picked_files
set ended_at = $ended_at, outcome = $outcome
where institution_id = $institution_id
    and picked_no = $picked_no
    and ended_at is null;

-- name: known
-- The files that were fetched from a place, and whether their bytes were imported, by a nightly run
-- or by hand; refused, since they were fetched; or wait in a nightly run. Grain: one row per file.
with judged as (
    select
        night_files.institution, night_files.file_name, night_files.taken_sha256,
        night_files.state, nights.began_at
    from night_files
    inner join nights on nights.night_no = night_files.night_no
    inner join institutions on institutions.slug = night_files.institution
    where institutions.institution_id = $institution_id
)
select
    picked.picked_no, picked.remote_name, picked.stamp, picked.size_bytes, picked.sha256,
    picked.placed_sha256, picked.drop_name, picked.fetched_at, picked.outcome,
    exists (
        select 1
        from judged
        where judged.state = 'imported'
            and judged.taken_sha256 = picked.placed_sha256
    ) or exists (
        select 1
        from imports
        where imports.institution_id = picked.institution_id
            and imports.file_sha256 = picked.placed_sha256
    ) as is_imported,
    exists (
        select 1
        from judged
        where judged.state in ('failed', 'held')
            and judged.began_at >= picked.fetched_at
            and (
                judged.taken_sha256 = picked.placed_sha256
                or (judged.taken_sha256 is null and judged.file_name = picked.drop_name)
            )
    ) as is_refused,
    exists (
        select 1
        from judged
        where judged.state = 'waiting'
            and judged.file_name = picked.drop_name
    ) as is_in_hand
from picked_files as picked
where picked.institution_id = $institution_id
    and picked.place = $place
order by picked.picked_no;

-- name: last_folder
-- The drop folder of the newest nightly run.
select drop_folder
from nights
order by night_no desc
limit 1;
