-- name: institutions_require_marker
-- Whether files of the institution are taken only with a marker or a manifest beside them.
alter table institutions add column require_marker boolean default false;

-- name: nights_processed_folder
-- Where the night keeps what it takes, an absolute path; null in a night of an earlier version,
-- whose files lie in `done/` and `failed/` of the drop folder.
alter table nights add column processed_folder varchar;

-- name: night_files_taken_bytes
-- The size, as stored, of what was read of the file; null where nothing of it was.
alter table night_files add column taken_bytes bigint;

-- name: night_files_taken_sha256
-- The SHA-256 of those bytes.
alter table night_files add column taken_sha256 varchar;

-- name: night_files_looked_stamp
-- What a later night found where the file is kept, once it was found to be those bytes; null before.
alter table night_files add column looked_stamp varchar;

-- name: night_files_accepted_sha256
-- The SHA-256 of what somebody accepted in their place, when the file changed after it was taken.
alter table night_files add column accepted_sha256 varchar;
