-- name: expectations_are_set_by_a_run
-- What is expected of no institution, or since another moment than that of the run that set it.
-- Grain: one row per institution and change.
select expectations.institution_id, expectations.run_no, expectations.set_at
from expectations
left join institutions on institutions.institution_id = expectations.institution_id
left join runs on runs.run_no = expectations.run_no
where institutions.institution_id is null
    or runs.run_no is null
    or runs.as_of <> expectations.set_at
order by expectations.set_at, expectations.run_no;
