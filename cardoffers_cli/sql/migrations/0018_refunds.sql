-- Refunds: what institutions say of goods that went back, to which purchase each belongs, and what
-- became of it. Nothing of all this is ever changed: rows are added.

-- name: imports_kind_of_rows
-- What the rows of a file are. All files of before held purchases.
alter table imports add column kind_of_rows varchar default 'purchases';

-- name: institutions_refund_window_days
-- How many days before a refund without a reference its purchase may lie.
alter table institutions add column refund_window_days integer default 180;

-- name: institutions_refund_auto_link
-- Whether a refund without a reference is linked by itself: never, or unique_exact.
alter table institutions add column refund_auto_link varchar default 'never';

-- name: institutions_clawback_days
-- How many days after its settlement a redemption may still be taken back by a refund; null for ever.
alter table institutions add column clawback_days integer;

-- name: refunds
-- Grain: one row per accepted refund, as it was sent. (institution_id, refund_ref) is unique, kept so
-- as that of purchases. Append only.
create table refunds (
    refund_no bigint not null,
    institution_id uuid not null,
    refund_ref varchar not null,
    ref_hash ubigint not null,
    kind varchar not null,
    original_transaction_ref varchar,
    cardholder_no bigint,
    instrument_no bigint,
    identifier_no bigint,
    merchant_id uuid,
    amount decimal(18, 4) not null,
    currency varchar not null,
    refunded_at timestamp not null,
    received_at timestamp not null,
    import_no bigint,
    line bigint
);

-- name: refund_links
-- Grain: one row per refund that was found to be of a purchase. Append only: a link is for ever.
create table refund_links (
    refund_no bigint not null,
    institution_id uuid not null,
    purchase_no bigint not null,
    amount decimal(18, 4) not null,
    how varchar not null,
    actor varchar not null,
    reason varchar,
    run_no bigint not null,
    linked_at timestamp not null
);

-- name: refund_outcomes
-- Grain: one row per refund and run that found something of it; the newest counts. Append only.
create table refund_outcomes (
    refund_no bigint not null,
    institution_id uuid not null,
    run_no bigint not null,
    outcome varchar not null,
    purchase_no bigint,
    redemption_no bigint,
    purchase_amount decimal(18, 4),
    refund_amount decimal(18, 4) not null,
    net_after decimal(18, 4)
);

-- name: refund_dismissals
-- Grain: one row per refund that a person laid aside. Append only.
create table refund_dismissals (
    refund_no bigint not null,
    institution_id uuid not null,
    actor varchar not null,
    reason varchar not null,
    run_no bigint not null,
    dismissed_at timestamp not null
);
