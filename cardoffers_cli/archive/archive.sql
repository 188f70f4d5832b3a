-- name: root
-- Where the archive is; no row for a store that has none.
select root
from history;

-- name: begin
-- Writes where the archive is; a store has one, and keeps it.
insert into history (root)
select $root
where not exists (select 1 from history);

-- name: parts
-- The parts of the archive, in the order of their runs. Grain: one row per table and run.
select table_name, run_id, row_count, purchase_no_sum, amount
from history_parts
order by run_no, run_id, table_name;

-- name: add
-- Adds one part to the archive: from now on it is read.
insert into history_parts (table_name, run_no, run_id, row_count, purchase_no_sum, amount)
values ($table_name, $run_no, $run_id, $row_count, $purchase_no_sum, $amount);

-- name: unfinished
-- The runs that were begun and never finished: what they left in the archive's folder is nobody's.
-- Grain: one row per run.
select run_id
from runs
where counts is null
order by run_no;

-- name: files_of
-- for each: purchases, purchase_details, decisions, outcomes
-- Says which files the view of the table reads, because a view takes no parameters.
set variable files_of_{table} = $files;

-- name: show
-- for each: purchases, purchase_details, decisions, outcomes
-- Shows the archive's rows with the recent ones, in the place of the view of the store. Parquet
-- holds ids as text, which every engine knows. Grain: that of {kept}.
create or replace temp view {table} as
select {columns}
from {kept}
union all
select {restored}
from read_parquet(getvariable('files_of_{table}'), hive_partitioning = false);

-- name: write
-- for each: purchases, purchase_details, decisions, outcomes
-- Writes the recent rows into a file, in the place of one that was there.
copy (
    select {stored}
    from {kept}
) to $file (format parquet, compression zstd);

-- name: recent
-- for each: purchases, purchase_details, decisions, outcomes
-- What the recent rows come to, which the part they are moved to must come to as well.
select
    count(*) as row_count,
    coalesce(sum(purchase_no), 0) as purchase_no_sum,
    sum(cast({amount} as decimal(38, 4))) as amount
from {kept};

-- name: sums
-- for each: purchases, purchase_details, decisions, outcomes
-- What the rows of some files come to.
select
    count(*) as row_count,
    coalesce(sum(purchase_no), 0) as purchase_no_sum,
    sum(cast({amount} as decimal(38, 4))) as amount
from read_parquet($files, hive_partitioning = false);

-- name: empty
-- for each: purchases, purchase_details, decisions, outcomes
-- Empties the recent rows, which are in the archive by now.
delete from {kept};

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
