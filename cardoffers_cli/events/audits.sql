-- name: one_event_per_subject
-- reads: happened(run_no, subject_id, institution_id)
-- What happened and has no event of $kind, or several, and events of nothing that happened, or of none
-- of $kinds. An event is to be there where $is_always holds, or where the institution wanted it by then,
-- as the audit log says. Where hashes add up, nothing more is looked at. Grain: one row per subject.
with hashed as (
    select
        (select sum(hash(happened.subject_id, happened.institution_id)) from happened) as subjects,
        (
            select sum(hash(outbox.subject_id, outbox.institution_id))
            from outbox
            where outbox.kind = $kind or not list_contains(cast($kinds as varchar[]), outbox.kind)
        ) as events
),
doubt as (
    select hashed.subjects is distinct from hashed.events as is_there
    from hashed
),
wanted as (
    select
        audit_log.institution_id, audit_log.run_no as from_run_no,
        list_contains(wanted_events(audit_log.new_value), $kind) as is_wanted,
        lead(audit_log.run_no) over (
            partition by audit_log.institution_id
            order by audit_log.audit_no
        ) as to_run_no
    from audit_log
    where audit_log.subject = 'institution'
        and audit_log.field = 'webhook_events'
),
both_sides as (
    select
        happened.subject_id, happened.institution_id, 1 as subjects, 0 as events,
        $is_always or coalesce(wanted.is_wanted, false) as is_expected
    from happened
    left join wanted
        on wanted.institution_id = happened.institution_id
        and wanted.from_run_no < happened.run_no
        and coalesce(wanted.to_run_no > happened.run_no, true)
    where (select doubt.is_there from doubt)
    union all
    select outbox.subject_id, outbox.institution_id, 0, 1, false
    from outbox
    where (select doubt.is_there from doubt)
        and (outbox.kind = $kind or not list_contains(cast($kinds as varchar[]), outbox.kind))
),
counted as (
    select
        both_sides.subject_id, sum(both_sides.subjects) as subjects,
        sum(both_sides.events) as events, bool_or(both_sides.is_expected) as is_expected
    from both_sides
    group by both_sides.subject_id, both_sides.institution_id
)
select $kind as event, counted.subject_id, counted.subjects, counted.events
from counted
where counted.subjects <> 1
    or counted.events > 1
    or (counted.events = 0 and counted.is_expected)
order by counted.subject_id;

-- name: events_say_what_happened
-- reads: happened(run_no, subject_id, subject, redemption_no, occurred_at, body)
-- Events of $kind that say another thing than what happened makes of it today, to the byte, or that
-- have it otherwise; `differs` names what. Grain: one row per event.
with compared as (
    select
        outbox.event_no, outbox.subject_id,
        concat_ws(
            ', ',
            case when outbox.body is distinct from happened.body then 'body' end,
            case when outbox.occurred_at <> happened.occurred_at then 'occurred_at' end,
            case when outbox.run_no <> happened.run_no then 'run_no' end,
            case when outbox.subject is distinct from happened.subject then 'subject' end,
            case
                when outbox.redemption_no is distinct from happened.redemption_no
                    then 'redemption_no'
            end,
            case when outbox.moot_when is distinct from nullif($moot_when, 'never') then 'moot_when' end
        ) as differs
    from outbox
    inner join happened on happened.subject_id = outbox.subject_id
    where outbox.kind = $kind
)
select $kind as event, compared.subject_id, compared.differs
from compared
where compared.differs <> ''
order by compared.event_no;

-- name: attempts_are_consecutive
-- Events whose attempts are not numbered 1, 2, 3 … up to what the event counts. Grain: one row per
-- event.
with counted as (
    select
        attempts.event_no, count(*) as attempts, count(distinct attempts.number) as numbers,
        min(attempts.number) as first_number, max(attempts.number) as last_number
    from attempts
    group by attempts.event_no
)
select
    outbox.subject_id, outbox.kind, outbox.attempts, coalesce(counted.attempts, 0) as attempts_found,
    counted.first_number, counted.last_number
from outbox
left join counted using (event_no)
where outbox.attempts <> coalesce(counted.attempts, 0)
    or counted.attempts <> counted.numbers
    or counted.first_number <> 1
    or counted.last_number <> counted.attempts
order by outbox.event_no;

-- name: attempts_end
-- Events that were tried more than 9 times along their schedule; one that was made due again by hand
-- has the whole schedule before it again. Attempts by hand, and those that a crash cut off, are not
-- of the schedule. Grain: one row per event.
with again as (
    select runs.run_no
    from runs
    where runs.kind = 'webhook_retry'
),
counted as (
    select
        attempts.event_no,
        count(*) filter (where attempts.error is null or attempts.error <> 'unknown') as attempts
    from attempts
    where not attempts.is_manual
    group by attempts.event_no
),
allowed as (
    select
        counted.event_no, any_value(counted.attempts) as attempts,
        9 * (1 + count(again.run_no)) as most
    from counted
    inner join outbox on outbox.event_no = counted.event_no
    left join again on again.run_no > outbox.run_no
    group by counted.event_no
)
select outbox.subject_id, outbox.kind, coalesce(allowed.attempts, 0) as attempts, outbox.failures
from outbox
left join allowed using (event_no)
where allowed.attempts > allowed.most
    or outbox.failures not between 0 and 9
    or (outbox.failures = 9 and outbox.state not in ('exhausted', 'delivered'))
    or (outbox.failures < 9 and outbox.state = 'exhausted')
order by outbox.event_no;

-- name: nothing_is_sent_after_success
-- Attempts of the schedule that came after one that had delivered the event. Grain: one row per
-- attempt.
with delivered as (
    select attempts.event_no, min(attempts.number) as number
    from attempts
    where attempts.error is null
    group by attempts.event_no
)
select outbox.subject_id, outbox.kind, attempts.number, delivered.number as delivered_by
from attempts
inner join delivered using (event_no)
inner join outbox using (event_no)
where attempts.number > delivered.number
    and not attempts.is_manual
order by attempts.event_no, attempts.number;

-- name: events_follow_attempts
-- Events whose state is not what their attempts made of them. Grain: one row per event.
with tried as (
    select attempts.event_no, bool_or(attempts.error is null) as is_delivered
    from attempts
    group by attempts.event_no
),
scheduled as (
    select
        attempts.event_no,
        max_by(attempts.next_attempt_at is null, attempts.number) as was_last
    from attempts
    where not attempts.is_manual
        and attempts.error <> 'unknown'
    group by attempts.event_no
)
select outbox.subject_id, outbox.kind, outbox.state, outbox.attempts
from outbox
left join tried using (event_no)
left join scheduled using (event_no)
where outbox.state not in ('due', 'delivered', 'failed', 'exhausted')
    or (outbox.state = 'delivered') <> coalesce(tried.is_delivered, false)
    or (outbox.state = 'exhausted' and not coalesce(scheduled.was_last, false))
    or (outbox.state = 'failed' and coalesce(scheduled.was_last, true))
    or (outbox.state in ('due', 'failed')) <> (outbox.next_attempt_at is not null)
order by outbox.event_no;

-- name: alerts_are_of_exhausted_events
-- Last attempts of the schedule that failed and left no alert in the inbox, and alerts without such
-- an attempt. The id of a message tells what it is about: subject and number, and the event where
-- that is not the first. Grain: one row per attempt or message.
with exhausted as (
    select
        outbox.subject_id, attempts.number,
        derived_id(
            cast(outbox.institution_id as varchar) || chr(31) || 'webhook_exhausted' || chr(31)
            || cast(outbox.subject_id as varchar) || ' '
            || case when is_announcement(outbox.kind) then '' else outbox.kind || ' ' end
            || cast(attempts.number as varchar)
        ) as message_id
    from attempts
    inner join outbox using (event_no)
    where not attempts.is_manual
        and attempts.error <> 'unknown'
        and attempts.next_attempt_at is null
),
alerts as (
    select inbox_messages.message_id
    from inbox_messages
    where inbox_messages.kind = 'webhook_exhausted'
)
select exhausted.subject_id, exhausted.number, alerts.message_id
from exhausted
full join alerts on alerts.message_id = exhausted.message_id
where exhausted.message_id is null
    or alerts.message_id is null
order by exhausted.subject_id, exhausted.number, alerts.message_id;
