-- name: history_left
-- Parts of the history whose rows are in a merged part by now: `history_parts` has lost them, and
-- nothing reads them. Their folders stay for a while, because a snapshot and backups of this store
-- may list them; a row goes with its folder. Grain: one row per table and run.
create table history_left (
    table_name varchar not null,
    run_id uuid not null,
    left_at timestamp not null,
    primary key (table_name, run_id)
);
