-- name: hashed_secrets
-- The signing secrets leave the store: their text is in the file of `store/signing_secrets.py`, and
-- here stays the SHA-256 of each, by which it is found there. Grain: one row per signing secret of
-- an institution: the one that signs, and at most one that is to follow it.
create table hashed_secrets (
    secret_no bigint not null primary key,
    institution_id uuid not null,
    secret_sha256 varchar not null,
    created_at timestamp not null,
    activate_at timestamp not null
);

-- name: keep_hashes
-- Writes the hash of every secret there is.
insert into hashed_secrets (secret_no, institution_id, secret_sha256, created_at, activate_at)
select
    webhook_secrets.secret_no,
    webhook_secrets.institution_id,
    sha256(webhook_secrets.secret),
    webhook_secrets.created_at,
    webhook_secrets.activate_at
from webhook_secrets;

-- name: drop_secrets
-- Drops the secrets, which are in the file beside the store before this migration begins.
drop table webhook_secrets;

-- name: webhook_secrets
-- Gives the table its name back.
alter table hashed_secrets rename to webhook_secrets;
