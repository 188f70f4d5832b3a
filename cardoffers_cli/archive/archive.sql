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
    count(*) as row_count, coalesce(sum(purchase_no), 0) as purchase_no_sum,
    sum(cast({amount} as decimal(38, 4))) as amount
from {kept};

-- name: sums
-- for each: purchases, purchase_details, decisions, outcomes
-- What the rows of some files come to.
select
    count(*) as row_count, coalesce(sum(purchase_no), 0) as purchase_no_sum,
    sum(cast({amount} as decimal(38, 4))) as amount
from read_parquet($files, hive_partitioning = false);

-- name: empty
-- for each: purchases, purchase_details, decisions, outcomes
-- Empties the recent rows, which are in the archive by now.
delete from {kept};
