-- name: cut_off
-- Writes attempts, one row for every claim that a crash left behind: its receiver may have the
-- event or not. Idempotent, as the claims are released next.
insert into attempts (
    event_no, redemption_no, institution_id, number, run_no, started_at, error, is_manual,
    next_attempt_at
)
select
    outbox.event_no, outbox.redemption_no, outbox.institution_id, outbox.attempts + 1, $run_no,
    outbox.claimed_at, 'unknown', outbox.is_claimed_manually, outbox.next_attempt_at
from outbox
where outbox.claimed_at is not null;

-- name: release
-- Releases every claim in outbox; the attempt counts, but not as a failure along the schedule.
update outbox
set attempts = attempts + 1, claimed_at = null, is_claimed_manually = null
where claimed_at is not null;

-- name: due
-- makes: due(event_no, institution_id)
-- Makes due: events that were due by a moment, the longest waiting of each institution in turn.
-- Institutions that have $most_open attempts under way wait for the next time; those whose secret is
-- not $at_hand are left out. Reads deliveries and the secrets active now.
-- Grain: one row per event.
create temp table due as
with under_way as (
    select outbox.institution_id
    from outbox
    where outbox.claimed_at is not null
    group by outbox.institution_id
    having count(*) >= $most_open
),
ready as (
    select
        deliveries.event_no,
        deliveries.institution_id,
        deliveries.next_attempt_at,
        row_number() over (
            partition by deliveries.institution_id
            order by deliveries.next_attempt_at, deliveries.event_no
        ) as place
    from deliveries
    inner join signing_secrets($now) as signing
        on signing.institution_id = deliveries.institution_id
    anti join under_way on under_way.institution_id = deliveries.institution_id
    where deliveries.state in ('due', 'failed')
        and deliveries.next_attempt_at <= $due_by
        and deliveries.claimed_at is null
        and deliveries.webhook_url is not null
        and list_contains(cast($at_hand as varchar[]), signing.secret_sha256)
)
select ready.event_no, ready.institution_id
from ready
order by ready.place, ready.next_attempt_at, ready.event_no
limit $most;

-- name: one
-- makes: due(event_no, institution_id)
-- Makes due: one event of any state, whose institution has a webhook and a secret $at_hand, unless
-- there is nothing to take back.
create temp table due as
select deliveries.event_no, deliveries.institution_id
from deliveries
inner join signing_secrets($now) as signing
    on signing.institution_id = deliveries.institution_id
where deliveries.subject_id = try_cast($subject_id as uuid)
    and deliveries.kind = $kind
    and deliveries.moot_because is distinct from 'not_announced'
    and deliveries.webhook_url is not null
    and list_contains(cast($at_hand as varchar[]), signing.secret_sha256);

-- name: claim
-- reads: due(event_no)
-- Claims the events of due in outbox, so that a crash from now on is seen.
update outbox
set claimed_at = $now, is_claimed_manually = $is_manual
from due
where due.event_no = outbox.event_no;

-- name: claimed
-- reads: due(event_no, institution_id)
-- What is to be sent: the events of due. Grain: one row per event, in no order.
select
    outbox.event_no, outbox.kind, outbox.subject_id, outbox.subject, outbox.institution_id,
    outbox.body, outbox.attempts, outbox.failures, outbox.state, outbox.next_attempt_at,
    institutions.webhook_url as url, signing.secret_no, signing.secret_sha256
from due
inner join outbox using (event_no, institution_id)
inner join institutions on institutions.institution_id = due.institution_id
inner join signing_secrets($now) as signing on signing.institution_id = due.institution_id;

-- name: unclaim
-- Releases claims in outbox whose attempts were never begun: nothing was sent, nothing counts.
update outbox
set claimed_at = null, is_claimed_manually = null
from (select unnest(cast($event_no as bigint[])) as event_no) as unbegun
where unbegun.event_no = outbox.event_no;

-- name: ended
-- makes: ended(event_no, secret_no, signed_at_s, started_at, http_status, error,
--     duration_ms, state, failures, delay_ms, next_attempt_at)
-- Makes ended: attempts that have ended, from a list for each column. Grain: one row per attempt.
create temp table ended as
select
    unnest(cast($event_no as bigint[])) as event_no,
    unnest(cast($secret_no as bigint[])) as secret_no,
    unnest(cast($signed_at_s as bigint[])) as signed_at_s,
    unnest(cast($started_at as timestamp[])) as started_at,
    unnest(cast($http_status as integer[])) as http_status,
    unnest(cast($error as varchar[])) as error,
    unnest(cast($duration_ms as integer[])) as duration_ms,
    unnest(cast($state as varchar[])) as state,
    unnest(cast($failures as integer[])) as failures,
    unnest(cast($delay_ms as bigint[])) as delay_ms,
    unnest(cast($next_attempt_at as timestamp[])) as next_attempt_at;

-- name: attempts
-- reads: ended(event_no, secret_no, signed_at_s, started_at, http_status, error,
--     duration_ms, delay_ms, next_attempt_at)
-- Writes the attempts of ended whose event is still claimed.
insert into attempts (
    event_no, redemption_no, institution_id, number, run_no, secret_no, signed_at_s, started_at,
    http_status, error, duration_ms, is_manual, delay_ms, next_attempt_at
)
select
    ended.event_no, outbox.redemption_no, outbox.institution_id, outbox.attempts + 1, $run_no,
    ended.secret_no, ended.signed_at_s, ended.started_at, ended.http_status, ended.error,
    ended.duration_ms, outbox.is_claimed_manually, ended.delay_ms, ended.next_attempt_at
from ended
inner join outbox using (event_no)
where outbox.claimed_at is not null;

-- name: outbox
-- reads: ended(event_no, state, failures, next_attempt_at)
-- Moves the events of ended to their next state and releases their claims. Done twice, the second
-- finds no claim.
update outbox
set state = ended.state,
    attempts = outbox.attempts + 1,
    failures = ended.failures,
    next_attempt_at = ended.next_attempt_at,
    claimed_at = null,
    is_claimed_manually = null
from ended
where ended.event_no = outbox.event_no
    and outbox.claimed_at is not null;

-- name: waiting
-- What a sender still has before it: events that it can send now or later, and when the next is due.
select
    count(*) as still_due,
    count(*) filter (where deliveries.next_attempt_at <= $now) as due_now,
    min(deliveries.next_attempt_at) as next_attempt_at
from deliveries
inner join signing_secrets($now) as signing
    on signing.institution_id = deliveries.institution_id
where deliveries.state in ('due', 'failed')
    and deliveries.webhook_url is not null
    and list_contains(cast($at_hand as varchar[]), signing.secret_sha256);

-- name: held
-- Events that nobody can send as things are, and why. Grain: one row per institution.
select
    deliveries.institution,
    case
        when deliveries.webhook_url is null then 'no_url'
        when signing.secret_no is null then 'no_secret'
        else 'secret_missing'
    end as reason,
    count(*) as events
from deliveries
left join signing_secrets($now) as signing
    on signing.institution_id = deliveries.institution_id
where deliveries.state in ('due', 'failed')
    and (
        deliveries.webhook_url is null
        or signing.secret_no is null
        or not list_contains(cast($at_hand as varchar[]), signing.secret_sha256)
    )
group by all
order by deliveries.institution;
