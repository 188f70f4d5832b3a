-- name: recent_purchases
-- What grows with purchases may live outside of the store, as its history. The tables hold the rest
-- of it, which for a store without a history is all. Grain as before: one row per purchase.
alter table purchases rename to recent_purchases;

-- name: recent_purchase_details
-- Grain: one row per recent purchase that carried any of the optional fields.
alter table purchase_details rename to recent_purchase_details;

-- name: recent_decisions
-- Grain: one row per purchase and run that decided it without an engine. Append only.
alter table decisions rename to recent_decisions;

-- name: recent_outcomes
-- Grain: one row per purchase and offer of a run without an engine. Append only.
alter table outcomes rename to recent_outcomes;

-- name: purchases
-- What every reader reads. A store that has a history shows more by this name, for as long as it is
-- open (`store/history.py`). Grain: one row per purchase.
create view purchases as
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
from recent_purchases;

-- name: purchase_details
-- As purchases. Grain: one row per purchase that carried any of the optional fields.
create view purchase_details as
select
    recent_purchase_details.purchase_no,
    recent_purchase_details.institution_id,
    recent_purchase_details.instrument_type,
    recent_purchase_details.mcc,
    recent_purchase_details.merchant_descriptor,
    recent_purchase_details.network
from recent_purchase_details;

-- name: decisions
-- As purchases. Grain: one row per purchase and run that decided it.
create view decisions as
select
    recent_decisions.purchase_no,
    recent_decisions.run_no,
    recent_decisions.outcome,
    recent_decisions.merchant_no
from recent_decisions;

-- name: outcomes
-- As purchases. Grain: one row per decided purchase and offer.
create view outcomes as
select
    recent_outcomes.purchase_no,
    recent_outcomes.offer_no,
    recent_outcomes.run_no,
    recent_outcomes.outcome
from recent_outcomes;

-- name: history
-- Where the history of this store is: a folder. Grain: one row for a store that has one, else none.
create table history (
    root varchar not null
);

-- name: history_parts
-- The history: what may be read of its folder, and what must be found there. A part is the Parquet
-- files of `<root>/<table_name>/run=<run_id>/`; a folder that is not listed was never finished.
-- `amount` is null where the table has none. Grain: one row per table and run. Append only.
create table history_parts (
    table_name varchar not null,
    run_no bigint not null,
    run_id uuid not null,
    row_count bigint not null,
    purchase_no_sum decimal(38, 0) not null,
    amount decimal(38, 4),
    primary key (table_name, run_id)
);
