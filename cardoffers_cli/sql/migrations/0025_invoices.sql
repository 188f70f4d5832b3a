-- Invoices: what merchants are asked for a month, and credit notes that amend them. Nothing of all this
-- is ever changed: rows are added. No settlement of before is on an invoice; the first period that is
-- closed takes them.

-- name: merchants_net_days
-- Within how many days a merchant pays; null for 30.
alter table merchants add column net_days integer;

-- name: invoice_periods
-- Grain: one row per period that was closed, all merchants together. Append only.
create table invoice_periods (
    period_no bigint not null primary key,
    from_at timestamp not null,
    to_at timestamp not null,
    closed_at timestamp not null,
    run_no bigint not null,
    actor varchar not null
);

-- name: invoiced_settlements
-- Grain: one row per settlement that a period of invoices took: it is of that one for ever.
-- Append only.
create table invoiced_settlements (
    settlement_no bigint not null primary key,
    institution_id uuid not null,
    period_no bigint not null
);

-- name: invoices
-- Grain: one row per period, merchant and currency, and per invoice that a credit note of these amends.
-- Append only.
create table invoices (
    invoice_no bigint not null primary key,
    number varchar not null unique,
    series varchar not null,
    year integer not null,
    place integer not null,
    period_no bigint not null,
    merchant_id uuid not null,
    merchant_name varchar not null,
    currency varchar not null,
    amended_period_no bigint,
    amends varchar,
    line_count bigint not null,
    amount decimal(38, 4) not null,
    net_days integer not null,
    issued_on date not null,
    due_on date not null,
    sha256 varchar not null,
    previous_number varchar,
    previous_sha256 varchar
);
