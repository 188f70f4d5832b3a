-- Settings around what is paid: within how many days an institution credits, the tax fields of
-- institutions and merchants, which pass through to what is closed, and what a credited row names
-- beside its redemption.

-- name: institutions_credit_days
-- From a redemption until it is expected to be credited.
alter table institutions add column credit_days integer default 7;

-- name: institutions_tax_id
-- As its statements are to say it.
alter table institutions add column tax_id varchar;

-- name: institutions_tax_note
-- What else of tax its statements are to say.
alter table institutions add column tax_note varchar;

-- name: merchants_tax_id
-- As its invoices are to say it.
alter table merchants add column tax_id varchar;

-- name: merchants_tax_note
-- What else of tax its invoices are to say.
alter table merchants add column tax_note varchar;

-- name: statements_tax_id
-- As it was when the statement was closed.
alter table statements add column tax_id varchar;

-- name: statements_tax_note
-- As it was when the statement was closed.
alter table statements add column tax_note varchar;

-- name: invoices_tax_id
-- As it was when the invoice was closed.
alter table invoices add column tax_id varchar;

-- name: invoices_tax_note
-- As it was when the invoice was closed.
alter table invoices add column tax_note varchar;

-- name: credit_links_is_of_other_ref
-- Whether the row names another purchase than that of its redemption_id; of no link of before is
-- that known.
alter table credit_links add column is_of_other_ref boolean default false;
