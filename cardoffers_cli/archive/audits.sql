-- name: left_parts_are_not_listed
-- A part of the history that was merged into another is listed no more: it would be read twice now,
-- and its folder be removed later. Grain: one row per table and run.
select history_left.table_name, history_left.run_id, history_left.left_at
from history_left
semi join history_parts using (table_name, run_id)
order by history_left.table_name, history_left.run_id;
