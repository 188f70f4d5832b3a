-- name: taken_at
-- The moment of the newest run that took a snapshot: in a snapshot that is the run that took it.
select as_of
from runs
where kind = $kind
order by run_no desc
limit 1;
