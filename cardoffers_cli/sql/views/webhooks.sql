-- Events for institutions: their bytes, the secret that signs them, how far each one is.

-- name: masked
-- A token reduced to its first and last 4 characters (rules.md#masking); the twin of
-- `domain/tokens.py`.
create or replace macro masked(token) as case
    when length(token) <= 8 then '…'
    else left(token, 4) || '…' || right(token, 4)
end;

-- name: redemption_event
-- The event redemption.completed of a redemption (rules.md#redemption-events): the one place that says
-- what its bytes are. `transaction_ref` and `currency` stand behind the contract's fields.
-- Events of before are in the outbox as they were written, and are sent so.
create or replace macro redemption_event(
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

-- name: deliveries
-- How far the event of each redemption is. What still waits is `stopped` where it is held back, or
-- where the redemption was reversed: few are, so they alone are looked up. Grain: one row per event.
create or replace view deliveries as
with reversed as (
    select ledger_entries.redemption_no, ledger_entries.institution_id
    from ledger_entries
    where ledger_entries.status = 'reversed'
),
joined as (
    select
        outbox.redemption_no,
        outbox.redemption_id,
        outbox.institution_id,
        institutions.slug as institution,
        institutions.webhook_url,
        outbox.occurred_at,
        outbox.state,
        outbox.state in ('due', 'failed') as is_waiting,
        coalesce(outbox.is_held_back, false) or reversed.redemption_no is not null as is_stopped,
        outbox.attempts,
        outbox.failures,
        outbox.next_attempt_at,
        outbox.claimed_at
    from outbox
    inner join institutions on institutions.institution_id = outbox.institution_id
    left join reversed
        on reversed.redemption_no = outbox.redemption_no
        and reversed.institution_id = outbox.institution_id
)
select
    joined.redemption_no,
    joined.redemption_id,
    joined.institution_id,
    joined.institution,
    joined.webhook_url,
    joined.occurred_at,
    case when joined.is_waiting and joined.is_stopped then 'stopped' else joined.state end as state,
    joined.attempts,
    joined.failures,
    case when not joined.is_stopped then joined.next_attempt_at end as next_attempt_at,
    joined.claimed_at
from joined;
