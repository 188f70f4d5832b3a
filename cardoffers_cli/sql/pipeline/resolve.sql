-- name: import_looked_at
-- Makes import_looked_at: the number that a view cannot be given. Grain: one row.
create or replace temp table import_looked_at as
select cast($import_no as bigint) as import_no;

-- name: of_import
-- Makes undecided for a simulation: the purchases of one import, whatever else waits.
-- Grain: one row per purchase.
create or replace temp view undecided as
select
    purchases.purchase_no, purchases.cardholder_no, purchases.identifier_no,
    purchases.merchant_id, purchases.amount, purchases.transacted_at
from purchases
inner join import_looked_at on import_looked_at.import_no = purchases.import_no;

-- name: purchase_looked_at
-- Makes purchase_looked_at: the number that a view cannot be given. Grain: one row.
create or replace temp table purchase_looked_at as
select cast($purchase_no as bigint) as purchase_no;

-- name: of_purchase
-- Makes undecided to look again at one purchase, whatever was decided of it. Grain: one row.
create or replace temp view undecided as
select
    purchases.purchase_no, purchases.cardholder_no, purchases.identifier_no,
    purchases.merchant_id, purchases.amount, purchases.transacted_at
from purchases
inner join purchase_looked_at on purchase_looked_at.purchase_no = purchases.purchase_no;
