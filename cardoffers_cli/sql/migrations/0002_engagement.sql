-- name: engagement
-- Grain: one row per widget view (offer_no null) or offer impression, from feed reads and from
-- engagement files. Append only.
create table engagement (
    institution_id uuid not null,
    cardholder_no bigint not null,
    event varchar not null,
    offer_no integer,
    occurred_at timestamp not null,
    run_no bigint
);
