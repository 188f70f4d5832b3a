-- name: find
-- How far an event of one subject is, with its bytes, the newest one where $event is null, and another
-- event that it has, if any.
select
    case when deliveries.redemption_no is not null then deliveries.subject_id end as redemption_id,
    deliveries.kind as event, deliveries.institution, offers.offer_id, deliveries.occurred_at,
    deliveries.state, deliveries.moot_because, deliveries.attempts, deliveries.next_attempt_at,
    outbox.body,
    (
        select max(other.kind)
        from outbox as other
        where other.subject_id = deliveries.subject_id
            and other.institution_id = deliveries.institution_id
            and other.event_no <> deliveries.event_no
    ) as other_event,
    case when deliveries.redemption_no is null then deliveries.subject_id end as subject_id,
    deliveries.subject
from deliveries
inner join outbox using (event_no, institution_id)
left join redemptions
    on redemptions.redemption_no = deliveries.redemption_no
    and redemptions.institution_id = deliveries.institution_id
left join offers on offers.offer_no = redemptions.offer_no
where deliveries.subject_id = try_cast($subject_id as uuid)
    and ($event is null or deliveries.kind = $event)
order by deliveries.event_no desc
limit 1;

-- name: log
-- The attempts of one event, in their order. Grain: one row per attempt.
select
    attempts.number, attempts.started_at, attempts.http_status, attempts.error,
    attempts.duration_ms, attempts.is_manual as manual, attempts.delay_ms, attempts.next_attempt_at
from attempts
inner join outbox using (event_no, institution_id)
where outbox.subject_id = try_cast($subject_id as uuid)
    and outbox.kind = $event
order by attempts.number;

-- name: last_signature
-- When the last signed attempt of an event was signed, and with which secret if it is still kept.
select attempts.signed_at_s, webhook_secrets.secret_sha256
from attempts
inner join outbox using (event_no, institution_id)
left join webhook_secrets using (secret_no, institution_id)
where outbox.subject_id = try_cast($subject_id as uuid)
    and outbox.kind = $event
    and attempts.signed_at_s is not null
order by attempts.number desc
limit 1;

-- name: list
-- Events, the newest first; nulls in the parameters filter nothing. Which these are is found before
-- anything else is looked up of them. Grain: one row per event.
with newest as (
    select
        deliveries.event_no, deliveries.kind, deliveries.subject_id, deliveries.subject,
        deliveries.redemption_no, deliveries.institution_id, deliveries.institution, deliveries.occurred_at,
        deliveries.state, deliveries.attempts, deliveries.next_attempt_at
    from deliveries
    where ($institution_id is null or deliveries.institution_id = $institution_id)
        and ($event is null or deliveries.kind = $event)
        and ($state is null or deliveries.state = $state)
        and (
            $offer_id is null
            or exists (
                select 1
                from redemptions
                inner join offers on offers.offer_no = redemptions.offer_no
                where redemptions.redemption_no = deliveries.redemption_no
                    and redemptions.institution_id = deliveries.institution_id
                    and offers.offer_id = $offer_id
            )
        )
        and ($from_at is null or deliveries.occurred_at >= $from_at)
        and ($to_at is null or deliveries.occurred_at < $to_at)
    order by deliveries.occurred_at desc, deliveries.event_no desc
    limit $limit
)

select
    case when newest.redemption_no is not null then newest.subject_id end as redemption_id,
    newest.kind as event, newest.institution, offers.offer_id, newest.occurred_at,
    newest.state, newest.attempts, newest.next_attempt_at, attempts.started_at as last_attempt_at,
    attempts.http_status as last_http_status, attempts.error as last_error,
    case when newest.redemption_no is null then newest.subject_id end as subject_id, newest.subject
from newest
left join redemptions using (redemption_no, institution_id)
left join offers on offers.offer_no = redemptions.offer_no
left join attempts
    on attempts.event_no = newest.event_no
    and attempts.institution_id = newest.institution_id
    and attempts.number = newest.attempts
order by newest.occurred_at desc, newest.event_no desc;

-- name: chosen
-- Makes chosen: failed and exhausted events that are still to be told, those of these subjects or
-- all, of one institution or all, whose last attempt was at $since or later. Grain: one row per event.
create or replace temp table chosen as
select deliveries.event_no, deliveries.institution_id
from deliveries
inner join attempts
    on attempts.event_no = deliveries.event_no
    and attempts.institution_id = deliveries.institution_id
    and attempts.number = deliveries.attempts
where deliveries.state in ('failed', 'exhausted')
    and deliveries.moot_because is null
    and ($institution_id is null or deliveries.institution_id = $institution_id)
    and ($since is null or attempts.started_at >= $since)
    and (
        $subject_ids is null
        or list_contains(cast($subject_ids as uuid[]), deliveries.subject_id)
    );

-- name: make_due
-- Makes the events of chosen due in outbox, with the whole schedule before them; done twice, the
-- second finds nothing chosen.
update outbox
set state = 'due', failures = 0, next_attempt_at = $now, is_held_back = false
from chosen
where chosen.event_no = outbox.event_no;

-- name: has_secret
-- Whether an institution has a signing secret, active or to come.
select count(*) > 0 as has_secret
from webhook_secrets
where institution_id = $institution_id;

-- name: keep_the_one_that_signs
-- Removes from webhook_secrets what an institution signs with no more, or not yet.
delete from webhook_secrets
where institution_id = $institution_id
    and secret_no is distinct from (
        select signing.secret_no
        from signing_secrets($now) as signing
        where signing.institution_id = $institution_id
    );

-- name: add_secret
-- Writes the next signing secret of an institution, of which the store has the hash.
insert into webhook_secrets (secret_no, institution_id, secret_sha256, created_at, activate_at)
select
    coalesce(max(webhook_secrets.secret_no), 0) + 1, cast($institution_id as uuid), $secret_sha256,
    $now, $activate_at
from webhook_secrets;

-- name: waiting
-- How many events of an institution still wait: due, failed or held back, and still to be told.
select count(*) as events
from deliveries
where deliveries.institution_id = $institution_id
    and deliveries.state in ('due', 'failed', 'stopped')
    and deliveries.moot_because is null;

-- name: events
-- Sets which events an institution is sent.
update institutions
set webhook_events = $webhook_events
where institution_id = $institution_id;

-- name: hold_back
-- Holds back the events of an institution that wait in outbox, or lets them be sent.
update outbox
set is_held_back = $is_held_back
where outbox.institution_id = $institution_id
    and outbox.state in ('due', 'failed');

-- name: health
-- How the events of a half-open window fare: how many are in which state, and of those delivered,
-- how many attempts half of them and 95 of 100 needed at most, and how long the one that succeeded
-- took. Grain: one row per institution with an event.
select
    deliveries.institution, count(*) as events,
    count(*) filter (where deliveries.state = 'delivered') as delivered,
    count(*) filter (where deliveries.state = 'due') as due,
    count(*) filter (where deliveries.state = 'failed') as failed,
    count(*) filter (where deliveries.state = 'stopped') as stopped,
    count(*) filter (where deliveries.state = 'exhausted') as exhausted,
    quantile_disc(deliveries.attempts, 0.5)
        filter (where deliveries.state = 'delivered') as attempts_p50,
    quantile_disc(deliveries.attempts, 0.95)
        filter (where deliveries.state = 'delivered') as attempts_p95,
    quantile_disc(attempts.duration_ms, 0.5) as duration_ms_p50,
    quantile_disc(attempts.duration_ms, 0.95) as duration_ms_p95
from deliveries
left join attempts
    on attempts.event_no = deliveries.event_no
    and attempts.institution_id = deliveries.institution_id
    and attempts.error is null
    and not attempts.is_manual
where ($institution_id is null or deliveries.institution_id = $institution_id)
    and deliveries.occurred_at >= $from_at
    and deliveries.occurred_at < $to_at
group by deliveries.institution
order by deliveries.institution;
