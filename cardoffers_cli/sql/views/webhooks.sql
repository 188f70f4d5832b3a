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

-- name: reversal_event
-- The event redemption.reversed of a redemption (rules.md#reversed-events): the one place that says
-- what its bytes are. The token stands masked alone: its institution has it from redemption.completed.
create or replace macro reversal_event(
    redemption_id, institution_id, offer_id, cardholder_token, amount, minor_unit, reason,
    reversed_at, transaction_ref, currency
) as
    '{"event":"redemption.reversed"'
    || ',"redemption_id":"' || cast(redemption_id as varchar)
    || '","institution_id":"' || cast(institution_id as varchar)
    || '","offer_id":' || to_json(offer_id)
    || ',"cardholder_token_masked":' || to_json(masked(cardholder_token))
    || ',"amount":' || amount_text(amount, minor_unit)
    || ',"reason":' || to_json(reason)
    || ',"occurred_at":"' || strftime(reversed_at, '%Y-%m-%dT%H:%M:%S.%gZ') || '"'
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
-- How far each event is. What still waits is `stopped` where there is a reason: a redemption.completed
-- of a redemption that was reversed; a redemption.reversed that its institution wants no more, or of
-- which there is nothing to take back, as nobody was told of the redemption, or not yet
-- (rules.md#reversed-events); anything that is held back. Few events are of reversed redemptions, so
-- they alone are looked up. Grain: one row per event.
create or replace view deliveries as
with reversed as (
    select ledger_entries.redemption_no, ledger_entries.institution_id
    from ledger_entries
    where ledger_entries.status = 'reversed'
),
unannounced as (
    select reversal.redemption_no, reversal.institution_id
    from outbox as reversal
    inner join outbox as completed
        on completed.redemption_no = reversal.redemption_no
        and completed.institution_id = reversal.institution_id
    where reversal.event = 'redemption.reversed'
        and reversal.state in ('due', 'failed')
        and completed.event = 'redemption.completed'
        and (completed.attempts = 0 or completed.claimed_at is not null)
),
joined as (
    select
        outbox.redemption_no,
        outbox.event,
        outbox.redemption_id,
        outbox.institution_id,
        institutions.slug as institution,
        institutions.webhook_url,
        outbox.occurred_at,
        outbox.state,
        outbox.state in ('due', 'failed') as is_waiting,
        case
            when outbox.event = 'redemption.completed'
                then case when reversed.redemption_no is not null then 'reversed' end
            when institutions.webhook_events <> 'completed,reversed' then 'not_wanted'
            when unannounced.redemption_no is not null then 'not_announced'
        end as moot_because,
        coalesce(outbox.is_held_back, false) as is_held_back,
        outbox.attempts,
        outbox.failures,
        outbox.next_attempt_at,
        outbox.claimed_at
    from outbox
    inner join institutions on institutions.institution_id = outbox.institution_id
    left join reversed
        on reversed.redemption_no = outbox.redemption_no
        and reversed.institution_id = outbox.institution_id
    left join unannounced
        on unannounced.redemption_no = outbox.redemption_no
        and unannounced.institution_id = outbox.institution_id
)
select
    joined.redemption_no,
    joined.event,
    joined.redemption_id,
    joined.institution_id,
    joined.institution,
    joined.webhook_url,
    joined.occurred_at,
    case
        when joined.is_waiting and (joined.is_held_back or joined.moot_because is not null)
            then 'stopped'
        else joined.state
    end as state,
    joined.moot_because,
    joined.attempts,
    joined.failures,
    case
        when not joined.is_held_back and joined.moot_because is null then joined.next_attempt_at
    end as next_attempt_at,
    joined.claimed_at
from joined;
