-- name: next_no
-- The number of the next run.
select coalesce(max(run_no), 0) + 1 as run_no
from runs;

-- name: start
-- Writes runs, one row, without its counts.
insert into runs (run_no, run_id, kind, as_of, actor)
values ($run_no, $run_id, $kind, $as_of, $actor);

-- name: finish
-- Writes the counts of one run; the same counts again change nothing.
update runs
set counts = $counts
where run_no = $run_no;
