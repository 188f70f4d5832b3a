-- name: masked
-- A token reduced to its first and last 4 characters (rules.md#masking); the twin of
-- `kernel/words/ids.py`.
create or replace macro masked(token) as case
    when length(token) <= 8 then '…'
    else left(token, 4) || '…' || right(token, 4)
end;

-- name: event_moment
-- A moment as the body of an event has it, with milliseconds.
create or replace macro event_moment(moment) as strftime(moment, '"%Y-%m-%dT%H:%M:%S.%gZ"');

-- name: wanted_events
-- The kinds of events in a list of their words, in which those of redemptions are the short ones.
create or replace macro wanted_events(words) as list_transform(
    string_split(words, ','),
    lambda word: case when contains(word, '.') then word else 'redemption.' || word end
);

-- name: is_announcement
-- Whether an event is the one that tells an institution of a redemption.
create or replace macro is_announcement(kind) as kind = 'redemption.completed';

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
-- How far each event is. What still waits is `stopped` where there is a reason: its institution wants
-- no events of its kind (any more), it tells of a redemption that was reversed, or there is nothing to
-- take back, as nobody was told of the redemption, or not yet (rules.md#reversed-events); anything that
-- is held back. Few events are of reversed redemptions, so they alone are looked up.
-- Grain: one row per event.
create or replace view deliveries as
with reversed as (
    select ledger_entries.redemption_no, ledger_entries.institution_id
    from ledger_entries
    where ledger_entries.status = 'reversed'
),
unannounced as (
    select reversal.event_no, reversal.institution_id
    from outbox as reversal
    inner join outbox as completed using (redemption_no, institution_id)
    where reversal.moot_when = 'not_announced'
        and reversal.state in ('due', 'failed')
        and is_announcement(completed.kind)
        and (completed.attempts = 0 or completed.claimed_at is not null)
),
owners as (
    select
        institutions.institution_id, institutions.slug, institutions.webhook_url,
        wanted_events(institutions.webhook_events) as wanted
    from institutions
),
joined as (
    select
        outbox.event_no, outbox.kind, outbox.subject_id, outbox.subject, outbox.redemption_no,
        outbox.institution_id, owners.slug as institution, owners.webhook_url, outbox.occurred_at,
        outbox.state,
        outbox.state in ('due', 'failed') as is_waiting,
        case
            when outbox.moot_when = 'reversed' and reversed.redemption_no is not null
                then 'reversed'
            when not list_contains(owners.wanted, outbox.kind) then 'not_wanted'
            when unannounced.event_no is not null then 'not_announced'
        end as moot_because,
        coalesce(outbox.is_held_back, false) as is_held_back,
        outbox.attempts, outbox.failures, outbox.next_attempt_at, outbox.claimed_at
    from outbox
    inner join owners on owners.institution_id = outbox.institution_id
    left join reversed
        on reversed.redemption_no = outbox.redemption_no
        and reversed.institution_id = outbox.institution_id
    left join unannounced
        on unannounced.event_no = outbox.event_no
        and unannounced.institution_id = outbox.institution_id
)
select
    joined.event_no, joined.kind, joined.subject_id, joined.subject, joined.redemption_no,
    joined.institution_id, joined.institution, joined.webhook_url, joined.occurred_at,
    case
        when joined.is_waiting and (joined.is_held_back or joined.moot_because is not null)
            then 'stopped'
        else joined.state
    end as state,
    joined.moot_because, joined.attempts, joined.failures,
    case
        when not joined.is_held_back and joined.moot_because is null then joined.next_attempt_at
    end as next_attempt_at,
    joined.claimed_at
from joined;
