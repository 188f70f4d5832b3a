-- Which files are expected of an institution, by when, and on which days nothing is.

-- name: expectations
-- What is expected of an institution from a moment on, so that the past is judged by what held then.
-- Grain: one row per institution and change. Append only.
create table expectations (
    institution_id uuid not null,
    set_at timestamp not null,
    run_no bigint not null,
    expects varchar not null,  -- one a line; empty for none
    holidays varchar not null  -- a date and its name a line; empty for none
);
