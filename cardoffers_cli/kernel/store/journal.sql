-- name: run_id
-- The id of the run of one number; no row where the store has none.
select run_id
from runs
where run_no = $run_no;

-- name: newest
-- The run of the highest number; no row before the first run.
select run_no, run_id, kind, as_of
from runs
order by run_no desc
limit 1;

-- name: runs_from
-- The first $most runs from a number on, in their order. Grain: one row per run.
select run_no, run_id, kind, as_of
from runs
where run_no >= $run_no
order by run_no
limit $most;

-- name: all_runs
-- All runs, as the journal tells of them. Grain: one row per run.
select run_no, run_id, kind, as_of
from runs
order by run_no;
