-- name: import_looked_at
-- makes: import_looked_at(import_no)
-- Makes import_looked_at: the number that a plan cannot be given. Grain: one row.
create temp table import_looked_at as
select cast($import_no as bigint) as import_no;

-- name: of_import
-- makes: undecided(purchase_no, cardholder_no, identifier_no, merchant_id, amount, transacted_at)
-- Makes undecided of one import: its purchases, whatever else waits. Grain: one row per purchase.
create temp table undecided as
select
    purchases.purchase_no, purchases.cardholder_no, purchases.identifier_no,
    purchases.merchant_id, purchases.amount, purchases.transacted_at
from purchases
where purchases.import_no = $import_no;

-- name: of_purchase
-- makes: undecided(purchase_no, cardholder_no, identifier_no, merchant_id, amount, transacted_at)
-- Makes undecided of one purchase, whatever was decided of it. Grain: one row.
create temp table undecided as
select
    purchases.purchase_no, purchases.cardholder_no, purchases.identifier_no,
    purchases.merchant_id, purchases.amount, purchases.transacted_at
from purchases
where purchases.purchase_no = $purchase_no;
