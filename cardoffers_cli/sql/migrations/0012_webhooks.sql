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

-- name: signing_secrets
-- The secret that signs at a moment. Grain: one row per institution that has one by then.
create or replace macro signing_secrets(moment) as table
select
    webhook_secrets.institution_id,
    max_by(webhook_secrets.secret_no, (webhook_secrets.activate_at, webhook_secrets.secret_no))
        as secret_no,
    max_by(webhook_secrets.secret_sha256, (webhook_secrets.activate_at, webhook_secrets.secret_no))
        as secret_sha256
from webhook_secrets
where webhook_secrets.activate_at <= moment
group by webhook_secrets.institution_id;

-- name: redemption_event
-- The event redemption.completed of a redemption (specification, Events): the one place that says
-- what its bytes are. `transaction_ref` and `currency` stand behind the specification's fields.
-- Events of before are in the outbox as they were written, and are sent so.
create macro redemption_event(
    redemption_id, institution_id, offer_id, cardholder_token, amount, minor_unit, created_at,
    transaction_ref, currency
) as
    '{"event":"redemption.completed"'
    || ',"redemption_id":"' || cast(redemption_id as varchar)
    || '","institution_id":"' || cast(institution_id as varchar)
    || '","offer_id":' || to_json(offer_id)
    || ',"cardholder_token":' || to_json(cardholder_token)
    || ',"cardholder_token_masked":' || to_json(masked(cardholder_token))
    || ',"institution_payout_amount":' || amount_text(amount, minor_unit)
    || ',"occurred_at":"' || strftime(created_at, '%Y-%m-%dT%H:%M:%S.%gZ') || '"'
    || coalesce(',"transaction_ref":' || to_json(transaction_ref), '')
    || ',"currency":' || to_json(currency)
    || '}';

-- name: redemption_events
-- Drops the view that said so before: it could not see purchases that are outside of the store.
drop view redemption_events;
