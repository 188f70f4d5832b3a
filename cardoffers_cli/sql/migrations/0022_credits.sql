-- What institutions say that they credited to their cardholders, redemption by redemption. Nothing of
-- it is ever changed: rows are added.

-- name: credits
-- Grain: one row per accepted row of a credited file, as it was sent. (institution_id, credit_ref) is
-- unique, kept so as that of purchases. Append only.
create table credits (
    credit_no bigint not null,
    institution_id uuid not null,
    credit_ref varchar not null,
    ref_hash ubigint not null,
    redemption_id uuid,
    transaction_ref varchar,
    status varchar not null,
    failure_code varchar,
    amount decimal(18, 4) not null,
    currency varchar not null,
    credited_at timestamp not null,
    received_at timestamp not null,
    import_no bigint,
    line bigint
);
