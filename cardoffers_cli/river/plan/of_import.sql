-- name: decided_of_import
-- reads: decided(purchase_no, run_no, outcome, merchant_no), import_looked_at(import_no)
-- makes: decided_of_import(purchase_no, run_no, outcome, merchant_no)
-- What was decided of the purchases of one import. Grain: one row per purchase.
select decided.purchase_no, decided.run_no, decided.outcome, decided.merchant_no
from decided
inner join purchases on purchases.purchase_no = decided.purchase_no
inner join import_looked_at on import_looked_at.import_no = purchases.import_no;

-- name: outcomes_of_import
-- reads: outcomes_found(purchase_no, offer_no, run_no, outcome), import_looked_at(import_no)
-- makes: outcomes_of_import(purchase_no, offer_no, run_no, outcome)
-- The outcomes of the purchases of one import. Grain: one row per purchase and offer.
select
    outcomes_found.purchase_no, outcomes_found.offer_no, outcomes_found.run_no,
    outcomes_found.outcome
from outcomes_found
inner join purchases on purchases.purchase_no = outcomes_found.purchase_no
inner join import_looked_at on import_looked_at.import_no = purchases.import_no;
