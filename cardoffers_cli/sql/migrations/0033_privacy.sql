-- Privacy: who was erased, and what is on legal hold. No full token is in either.

-- name: erasures
-- Grain: one row per erasure of a cardholder. Append only.
create table erasures (
    erasure_id uuid not null primary key,
    institution_id uuid not null,
    cardholder_no bigint,
    token_hash varchar not null,
    reason varchar not null,
    erased_at timestamp not null,
    run_no bigint not null,
    actor varchar not null
);

-- name: legal_holds
-- Grain: one row per hold that was set or lifted, of an institution or one cardholder of it; the newest
-- counts. Append only.
create table legal_holds (
    hold_no bigint not null primary key,
    institution_id uuid not null,
    cardholder_no bigint,
    is_on boolean not null,
    reason varchar not null,
    set_at timestamp not null,
    run_no bigint not null,
    actor varchar not null
);
