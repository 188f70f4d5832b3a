-- name: next_no
-- The number of the next run.
select coalesce(max(run_no), 0) + 1 as run_no
from runs;

-- name: newest_clock
-- The latest clock that any run had; null where there is no run.
select max(runs.as_of) as as_of
from runs;

-- name: write
-- Writes runs, one row; a run that has only begun has no counts yet.
insert into runs (run_no, run_id, kind, as_of, actor, counts)
values ($run_no, $run_id, $kind, $as_of, $actor, $counts);

-- name: finish
-- Writes the counts of one run; the same counts again change nothing.
update runs
set counts = $counts
where run_no = $run_no;

-- name: counts
-- Whether a run is there, and whether it has been finished. Grain: one row, or none.
select counts is not null as is_finished
from runs
where run_no = $run_no
    and run_id = $run_id;

-- name: finished_since
-- The first finished run of a kind after a run, if there is one.
select run_id
from runs
where kind = $kind
    and run_no > $run_no
    and counts is not null
order by run_no
limit 1;

-- name: terms_changed_since
-- The first run after a run that changed the terms of an offer, if there is one.
select runs.run_id
from offer_versions
inner join runs on runs.run_no = offer_versions.run_no
where offer_versions.run_no > $run_no
order by offer_versions.run_no
limit 1;
