-- name: merge
-- Writes the rows of parts of one table into one file, all columns as they are. They are not put
-- in order: parts are read one after the other, so that rows of one time come to lie together.
copy (
    from read_parquet($files, hive_partitioning = false)
) to $file (format parquet, compression zstd);

-- name: size
-- The bytes of some files.
select cast(coalesce(sum(files.file_size_bytes), 0) as bigint) as size_bytes
from parquet_file_metadata($files) as files;

-- name: leave
-- Writes that parts of a table are in a merged one by now; `unlist` is the other half.
insert into history_left (table_name, run_id, left_at)
select history_parts.table_name, history_parts.run_id, $left_at
from history_parts
where history_parts.table_name = $table_name
    and history_parts.run_id in (select unnest($run_ids));

-- name: unlist
-- Takes parts of a table out of the archive: from now on they are not read.
delete from history_parts
where table_name = $table_name
    and run_id in (select unnest($run_ids));

-- name: left
-- The parts that were left before a moment. Grain: one row per table and run.
select table_name, run_id
from history_left
where left_at < $before
order by left_at, table_name, run_id;

-- name: left_by_table
-- How many parts were left, and not removed yet. Grain: one row per table that has any.
select table_name, count(*) as parts
from history_left
group by table_name
order by table_name;

-- name: forget
-- Forgets a part that was left, as its folder is gone.
delete from history_left
where table_name = $table_name
    and run_id = $run_id;
