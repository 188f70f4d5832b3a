-- Files that were fetched from the places of institutions.

-- name: picked_files
-- A file that was fetched from a place of an institution. Grain: one row per place, name and stamp.
create table picked_files (
    picked_no bigint not null primary key,
    institution_id uuid not null,
    place varchar not null,  -- its URL, without the user
    remote_name varchar not null,
    stamp varchar not null,  -- tells it from a later file of its name
    size_bytes bigint not null,  -- as it lay there, as sha256
    sha256 varchar not null,
    placed_sha256 varchar not null,  -- of what went into the drop folder
    drop_name varchar not null,  -- its name there
    fetched_at timestamp not null,  -- of the real clock, as ended_at
    ended_at timestamp,  -- when it was done with at its place
    outcome varchar  -- then removed, moved, kept, replaced or gone
);
