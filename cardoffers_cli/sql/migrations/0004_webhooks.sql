-- name: webhook_stops
-- Grain: one row per institution whose receiver answered 410: nothing is sent to it until its
-- webhook is set again, which removes the row.
create table webhook_stops (
    institution_id uuid not null primary key,
    stopped_at timestamp not null
);

-- name: webhook_secrets
-- Grain: one row per signing secret of an institution: the one that signs, and at most one that is
-- to follow it. The newest that is active signs.
create table webhook_secrets (
    secret_no bigint not null primary key,
    institution_id uuid not null,
    secret varchar not null,
    created_at timestamp not null,
    activate_at timestamp not null
);

-- name: signing_secrets
-- The secret that signs at a moment. Grain: one row per institution that has one by then.
create macro signing_secrets(moment) as table
select
    webhook_secrets.institution_id,
    max_by(webhook_secrets.secret_no, (webhook_secrets.activate_at, webhook_secrets.secret_no))
        as secret_no,
    max_by(webhook_secrets.secret, (webhook_secrets.activate_at, webhook_secrets.secret_no))
        as secret
from webhook_secrets
where webhook_secrets.activate_at <= moment
group by webhook_secrets.institution_id;

-- name: outbox
-- Grain: one row per redemption: the event for its institution. `body` holds the exact bytes (UTF-8)
-- of every attempt, and with them the full cardholder token. `state` is due before the first
-- attempt, then delivered, failed (the schedule goes on) or exhausted. `failures` counts along the
-- schedule, `attempts` counts all rows in attempts. A row is claimed while it is being sent.
create table outbox (
    redemption_no bigint not null,
    redemption_id uuid not null,
    institution_id uuid not null,
    body varchar not null,
    occurred_at timestamp not null,
    state varchar not null,
    attempts integer not null,
    failures integer not null,
    next_attempt_at timestamp,
    claimed_at timestamp,
    is_claimed_manually boolean
);

-- name: attempts
-- Grain: one row per attempt to deliver an event. `error` is null where it was delivered, and
-- `unknown` where a crash cut the attempt off: the receiver may have it. `delay_ms` is the delay
-- before the next attempt, jitter and Retry-After included. `signed_at_s` is the Unix time that was
-- signed, by the real clock. Append only.
create table attempts (
    redemption_no bigint not null,
    institution_id uuid not null,
    number integer not null,
    run_no bigint not null,
    secret_no bigint,
    signed_at_s bigint,
    started_at timestamp not null,
    http_status integer,
    error varchar,
    duration_ms integer,
    is_manual boolean not null,
    delay_ms bigint,
    next_attempt_at timestamp
);

-- name: masked
-- A token reduced to its first and last 4 characters (specification, Redemption); the twin of
-- `domain/tokens.py`.
create macro masked(token) as case
    when length(token) <= 8 then '…'
    else left(token, 4) || '…' || right(token, 4)
end;

-- name: amount_text
-- An amount as a number token with exactly its currency's decimals.
create macro amount_text(amount, minor_unit) as case minor_unit
    when 0 then cast(cast(amount as decimal(18, 0)) as varchar)
    when 2 then cast(cast(amount as decimal(18, 2)) as varchar)
    when 3 then cast(cast(amount as decimal(18, 3)) as varchar)
    when 4 then cast(amount as varchar)
end;

-- name: redemption_events
-- The event redemption.completed of every redemption (specification, Events): the one place that
-- says what its bytes are. Grain: one row per redemption.
create view redemption_events as
select
    redemptions.redemption_no,
    redemptions.redemption_id,
    redemptions.institution_id,
    redemptions.run_no,
    redemptions.created_at as occurred_at,
    ledger_entries.status,
    '{"event":"redemption.completed"'
    || ',"redemption_id":"' || cast(redemptions.redemption_id as varchar)
    || '","institution_id":"' || cast(redemptions.institution_id as varchar)
    || '","offer_id":' || to_json(offers.offer_id)
    || ',"cardholder_token":' || to_json(cardholders.cardholder_token)
    || ',"cardholder_token_masked":' || to_json(masked(cardholders.cardholder_token))
    || ',"institution_payout_amount":'
    || amount_text(ledger_entries.institution_payout_amount, currencies.minor_unit)
    || ',"occurred_at":"' || strftime(redemptions.created_at, '%Y-%m-%dT%H:%M:%S.%gZ')
    || '"}' as body
from redemptions
inner join ledger_entries
    on ledger_entries.redemption_no = redemptions.redemption_no
    and ledger_entries.institution_id = redemptions.institution_id
inner join offers on offers.offer_no = redemptions.offer_no
inner join cardholders
    on cardholders.cardholder_no = redemptions.cardholder_no
    and cardholders.institution_id = redemptions.institution_id
inner join currencies on currencies.currency = ledger_entries.currency;

-- name: events_of_earlier_redemptions
-- Writes the outbox of a store that was made before there was one; what was reversed is not owed.
insert into outbox (
    redemption_no, redemption_id, institution_id, body, occurred_at, state, attempts, failures,
    next_attempt_at
)
select
    redemption_events.redemption_no,
    redemption_events.redemption_id,
    redemption_events.institution_id,
    redemption_events.body,
    redemption_events.occurred_at,
    'due', 0, 0,
    redemption_events.occurred_at
from redemption_events
where redemption_events.status <> 'reversed';

-- name: deliveries
-- How far the event of each redemption is. What still waits is `stopped` where the webhook of its
-- institution is, or where the redemption was reversed. Grain: one row per event.
create view deliveries as
with joined as (
    select
        outbox.redemption_no,
        outbox.redemption_id,
        outbox.institution_id,
        institutions.slug as institution,
        institutions.webhook_url,
        ledger_entries.offer_no,
        outbox.occurred_at,
        outbox.state,
        outbox.state in ('due', 'failed') as is_waiting,
        webhook_stops.stopped_at is not null or ledger_entries.status = 'reversed' as is_stopped,
        outbox.attempts,
        outbox.failures,
        outbox.next_attempt_at,
        outbox.claimed_at
    from outbox
    inner join institutions on institutions.institution_id = outbox.institution_id
    inner join ledger_entries
        on ledger_entries.redemption_no = outbox.redemption_no
        and ledger_entries.institution_id = outbox.institution_id
    left join webhook_stops on webhook_stops.institution_id = outbox.institution_id
)
select
    joined.redemption_no,
    joined.redemption_id,
    joined.institution_id,
    joined.institution,
    joined.webhook_url,
    joined.offer_no,
    joined.occurred_at,
    case when joined.is_waiting and joined.is_stopped then 'stopped' else joined.state end as state,
    joined.attempts,
    joined.failures,
    case when not joined.is_stopped then joined.next_attempt_at end as next_attempt_at,
    joined.claimed_at
from joined;
