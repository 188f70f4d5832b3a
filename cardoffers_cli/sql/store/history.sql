-- name: root
-- Where the history is; no row for a store that has none.
select root
from history;

-- name: begin
-- Writes where the history is; a store has one, and keeps it.
insert into history (root)
select $root
where not exists (select 1 from history);

-- name: parts
-- The parts of the history, in the order of their runs. Grain: one row per table and run.
select table_name, run_id, row_count, purchase_no_sum, amount
from history_parts
order by run_no, run_id, table_name;

-- name: list_part
-- Adds one part to the history: from now on it is read.
insert into history_parts (table_name, run_no, run_id, row_count, purchase_no_sum, amount)
values ($table_name, $run_no, $run_id, $row_count, $purchase_no_sum, $amount);

-- name: unfinished
-- The runs that were begun and never finished: what they left in the history's folder is nobody's.
-- Grain: one row per run.
select run_id
from runs
where counts is null
order by run_no;

-- name: folders_of_purchases
-- Says which files the view of purchases reads, because a view takes no parameters.
set variable folders_of_purchases = $files;

-- name: folders_of_purchase_details
-- Says which files the view of purchase_details reads.
set variable folders_of_purchase_details = $files;

-- name: folders_of_decisions
-- Says which files the view of decisions reads.
set variable folders_of_decisions = $files;

-- name: folders_of_outcomes
-- Says which files the view of outcomes reads.
set variable folders_of_outcomes = $files;

-- name: show_purchases
-- Shows the history's purchases with the recent ones, in the place of the view of the store.
-- Parquet holds ids as text, which every engine knows. Grain: one row per purchase.
create or replace temp view purchases as
select
    recent_purchases.purchase_no,
    recent_purchases.institution_id,
    recent_purchases.transaction_ref,
    recent_purchases.cardholder_no,
    recent_purchases.instrument_no,
    recent_purchases.identifier_no,
    recent_purchases.merchant_id,
    recent_purchases.amount,
    recent_purchases.currency,
    recent_purchases.transacted_at,
    recent_purchases.received_at,
    recent_purchases.import_no,
    recent_purchases.line
from recent_purchases
union all
select
    parts.purchase_no,
    cast(parts.institution_id as uuid),
    parts.transaction_ref,
    parts.cardholder_no,
    parts.instrument_no,
    parts.identifier_no,
    cast(parts.merchant_id as uuid),
    parts.amount,
    parts.currency,
    parts.transacted_at,
    parts.received_at,
    parts.import_no,
    parts.line
from read_parquet(getvariable('folders_of_purchases'), hive_partitioning = false) as parts;

-- name: show_purchase_details
-- As show_purchases. Grain: one row per purchase that carried any of the optional fields.
create or replace temp view purchase_details as
select
    recent_purchase_details.purchase_no,
    recent_purchase_details.institution_id,
    recent_purchase_details.instrument_type,
    recent_purchase_details.mcc,
    recent_purchase_details.merchant_descriptor,
    recent_purchase_details.network
from recent_purchase_details
union all
select
    parts.purchase_no,
    cast(parts.institution_id as uuid),
    parts.instrument_type,
    parts.mcc,
    parts.merchant_descriptor,
    parts.network
from read_parquet(getvariable('folders_of_purchase_details'), hive_partitioning = false) as parts;

-- name: show_decisions
-- As show_purchases. Grain: one row per purchase and run that decided it.
create or replace temp view decisions as
select
    recent_decisions.purchase_no,
    recent_decisions.run_no,
    recent_decisions.outcome,
    recent_decisions.merchant_no
from recent_decisions
union all
select
    parts.purchase_no,
    parts.run_no,
    parts.outcome,
    parts.merchant_no
from read_parquet(getvariable('folders_of_decisions'), hive_partitioning = false) as parts;

-- name: show_outcomes
-- As show_purchases. Grain: one row per decided purchase and offer.
create or replace temp view outcomes as
select
    recent_outcomes.purchase_no,
    recent_outcomes.offer_no,
    recent_outcomes.run_no,
    recent_outcomes.outcome
from recent_outcomes
union all
select
    parts.purchase_no,
    parts.offer_no,
    parts.run_no,
    parts.outcome
from read_parquet(getvariable('folders_of_outcomes'), hive_partitioning = false) as parts;

-- name: write_purchases
-- Writes the recent purchases into a file, in the place of one that was there.
copy (
    select
        recent_purchases.purchase_no,
        cast(recent_purchases.institution_id as varchar) as institution_id,
        recent_purchases.transaction_ref,
        recent_purchases.cardholder_no,
        recent_purchases.instrument_no,
        recent_purchases.identifier_no,
        cast(recent_purchases.merchant_id as varchar) as merchant_id,
        recent_purchases.amount,
        recent_purchases.currency,
        recent_purchases.transacted_at,
        recent_purchases.received_at,
        recent_purchases.import_no,
        recent_purchases.line
    from recent_purchases
) to $file (format parquet, compression zstd);

-- name: write_purchase_details
-- Writes the recent details into a file, in the place of one that was there.
copy (
    select
        recent_purchase_details.purchase_no,
        cast(recent_purchase_details.institution_id as varchar) as institution_id,
        recent_purchase_details.instrument_type,
        recent_purchase_details.mcc,
        recent_purchase_details.merchant_descriptor,
        recent_purchase_details.network
    from recent_purchase_details
) to $file (format parquet, compression zstd);

-- name: write_decisions
-- Writes the recent decisions into a file, in the place of one that was there.
copy (
    select
        recent_decisions.purchase_no,
        recent_decisions.run_no,
        recent_decisions.outcome,
        recent_decisions.merchant_no
    from recent_decisions
) to $file (format parquet, compression zstd);

-- name: write_outcomes
-- Writes the recent outcomes into a file, in the place of one that was there.
copy (
    select
        recent_outcomes.purchase_no,
        recent_outcomes.offer_no,
        recent_outcomes.run_no,
        recent_outcomes.outcome
    from recent_outcomes
) to $file (format parquet, compression zstd);

-- name: recent_sums
-- What the recent rows come to, which the part they are moved to must come to as well. Grain: one
-- row per table.
select
    'purchases' as table_name, count(*) as row_count, coalesce(sum(purchase_no), 0)
        as purchase_no_sum, sum(cast(amount as decimal(38, 4))) as amount
from recent_purchases
union all
select 'purchase_details', count(*), coalesce(sum(purchase_no), 0), null
from recent_purchase_details
union all
select 'decisions', count(*), coalesce(sum(purchase_no), 0), null
from recent_decisions
union all
select 'outcomes', count(*), coalesce(sum(purchase_no), 0), null
from recent_outcomes;

-- name: sums_of_purchases
-- What the purchases of some files come to.
select
    count(*) as row_count,
    coalesce(sum(parts.purchase_no), 0) as purchase_no_sum,
    sum(cast(parts.amount as decimal(38, 4))) as amount
from read_parquet($files, hive_partitioning = false) as parts;

-- name: sums
-- What the rows of some files come to, of a table without amounts.
select
    count(*) as row_count,
    coalesce(sum(parts.purchase_no), 0) as purchase_no_sum,
    cast(null as decimal(38, 4)) as amount
from read_parquet($files, hive_partitioning = false) as parts;

-- name: empty_purchases
-- Empties the recent purchases, which are in the history by now.
delete from recent_purchases;

-- name: empty_purchase_details
-- Empties the recent details, which are in the history by now.
delete from recent_purchase_details;

-- name: empty_decisions
-- Empties the recent decisions, which are in the history by now.
delete from recent_decisions;

-- name: empty_outcomes
-- Empties the recent outcomes, which are in the history by now.
delete from recent_outcomes;
