-- name: nights
-- Grain: one row per night: what `nightly` does for one date, however often it has to begin again.
-- Nights of one date are numbered from 1. Its reports cover the runs after `after_run_no` up to
-- `to_run_no`; `last_run_no` is the newest run when it ended. `began_at` and `ended_at` are of the
-- real clock, all else is of the night's own, `as_of`.
create table nights (
    night_no bigint not null primary key,
    run_id uuid not null,
    run_no bigint not null,
    as_of timestamp not null,
    number integer not null,
    drop_folder varchar not null,
    after_run_no bigint not null,
    to_run_no bigint,
    began_at timestamp not null,
    ended_at timestamp,
    last_run_no bigint
);

-- name: night_steps
-- Grain: one row per step of a night that is done. Counts and findings are JSON; the moments are of
-- the real clock.
create table night_steps (
    night_no bigint not null,
    position integer not null,
    name varchar not null,
    status varchar not null,
    began_at timestamp not null,
    ended_at timestamp not null,
    counts varchar not null,
    findings varchar not null
);

-- name: night_files
-- Grain: one row per file that a night found ready. `stamp` tells it from a later one of its name,
-- `taken_as` is its name in `done/` or `failed/`. `state` is waiting, then imported, failed, changed
-- or gone; `report` is the JSON of the import, or of the failure.
create table night_files (
    night_no bigint not null,
    file_no integer not null,
    institution varchar not null,
    file_name varchar not null,
    stamp varchar not null,
    taken_as varchar not null,
    state varchar not null,
    report varchar,
    is_moved boolean not null
);
