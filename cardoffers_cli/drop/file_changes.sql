-- name: watched
-- The files that were read and are kept, the newest of each name: an older one of the same name was
-- taken away since. Grain: one row per file.
with kept as (
    select
        night_files.night_no, night_files.file_no, night_files.institution, night_files.taken_as,
        night_files.state, night_files.taken_bytes, night_files.taken_sha256,
        night_files.looked_stamp, night_files.accepted_sha256, nights.processed_folder,
        nights.as_of,
        row_number() over (
            partition by
                nights.processed_folder, night_files.institution, night_files.state,
                night_files.taken_as
            order by night_files.night_no desc, night_files.file_no desc
        ) as nth
    from night_files
    inner join nights on nights.night_no = night_files.night_no
    where night_files.taken_sha256 is not null
        and night_files.state in ('imported', 'failed', 'held')
)
select
    kept.night_no, kept.file_no, kept.institution, institutions.institution_id, kept.taken_as,
    kept.state, kept.taken_bytes, kept.taken_sha256, kept.looked_stamp,
    kept.accepted_sha256 as accepted_mark, kept.processed_folder, kept.as_of
from kept
inner join institutions on institutions.slug = kept.institution
where kept.nth = 1
order by kept.night_no, kept.file_no;

-- name: kept_folders
-- The folders that files of nights were taken out of, and those in which they are kept.
-- Grain: one row per folder.
select nights.drop_folder as folder
from nights
union
select nights.processed_folder
from nights
order by folder;

-- name: looked
-- Writes the state in which a kept file was found to be what was read.
update night_files
set looked_stamp = $stamp
where night_no = $night_no
    and file_no = $file_no;

-- name: accept
-- Writes the state of a kept file that somebody accepted in place of what was read.
update night_files
set accepted_sha256 = $mark
where night_no = $night_no
    and file_no = $file_no;
