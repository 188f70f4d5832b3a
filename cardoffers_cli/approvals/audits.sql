-- name: approvals_are_of_two_persons
-- Requests that were approved by the name that asked, used without having been given, used or given
-- after they had expired, used before they were given or by no run, or that are there twice under
-- other ids (rules.md#four-eyes). Grain: one row per request and fault.
with faults as (
    select approvals.approval_id, 'approved by who asked' as fault
    from approvals
    where approvals.answer = 'given'
        and approvals.answered_by = approvals.maker
    union all
    select approvals.approval_id, 'used without being given'
    from approvals
    where approvals.used_at is not null
        and approvals.answer is distinct from 'given'
    union all
    select approvals.approval_id, 'not in time'
    from approvals
    where approvals.answered_at not between approvals.requested_at and approvals.expires_at
        or approvals.used_at not between approvals.answered_at and approvals.expires_at
    union all
    select approvals.approval_id, 'used by no run'
    from approvals
    where approvals.used_at is not null
        and not exists (select 1 from runs where runs.run_no = approvals.used_run_no)
    union all
    select max(approvals.approval_id), 'there twice'
    from approvals
    group by approvals.institution_id, approvals.digest, approvals.number
    having count(*) > 1
)
select faults.approval_id, faults.fault
from faults
order by faults.approval_id, faults.fault;

-- name: approvals_are_in_the_security_log
-- Requests, answers and uses that the security log does not have. Grain: one row per request and
-- event.
with events as (
    select approvals.approval_id, approvals.institution_id, 'approval_requested' as event
    from approvals
    union all
    select approvals.approval_id, approvals.institution_id, 'approval_' || approvals.answer
    from approvals
    where approvals.answer is not null
    union all
    select approvals.approval_id, approvals.institution_id, 'approval_used'
    from approvals
    where approvals.used_at is not null
)
select events.approval_id, events.event
from events
anti join acts
    on acts.institution_id = events.institution_id
    and acts.kind = events.event
    and acts.details like '%' || cast(events.approval_id as varchar) || '%'
order by events.approval_id, events.event;
