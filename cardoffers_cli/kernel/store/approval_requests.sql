-- name: known
-- The requests of the store, of one institution, of one state, alike (of one digest), for one action,
-- on one subject, signed together, or one of them, the newest first; nulls bound nothing.
-- Grain: one row per request.
select
    approvals.approval_id, approvals.institution_id, institutions.slug as institution,
    approvals.number, approvals.action, approvals.subject, approvals.amount, approvals.currency,
    approvals.details, approvals.digest, approvals.maker, approvals.requested_at,
    approvals.expires_at,
    approval_state(approvals.answer, approvals.used_at, approvals.expires_at, $moment) as state,
    approvals.signed_by, approvals.request_signature, approvals.answer, approvals.answered_by,
    approvals.answered_at, approvals.answer_signature, approvals.reason, approvals.used_by,
    approvals.used_at
from approvals
inner join institutions on institutions.institution_id = approvals.institution_id
where ($institution_id is null or approvals.institution_id = $institution_id)
    and ($state is null or state = $state)
    and ($digest is null or approvals.digest = $digest)
    and ($action is null or approvals.action = $action)
    and ($subject is null or approvals.subject = $subject)
    and ($signature is null or $signature in (request_signature, answer_signature))
    and ($approval_id is null or cast(approvals.approval_id as varchar) = lower($approval_id))
order by approvals.requested_at desc, approvals.number desc, approvals.approval_id
limit $limit;

-- name: ask
-- Writes a request. Idempotent by its id, which is derived from what it is for.
insert into approvals (
    approval_id, institution_id, number, action, subject, amount, currency, details, digest, maker,
    requested_at, expires_at
)
values (
    $approval_id, $institution_id, $number, $action, $subject, $amount, $currency, $details,
    $digest, $maker, $requested_at, $expires_at
)
on conflict do nothing;

-- name: use
-- Writes by which run an approval of an institution was used; the first one counts.
update approvals
set used_by = $used_by, used_at = $used_at, used_run_no = $used_run_no
where approval_id = $approval_id
    and institution_id = $institution_id
    and answer = 'given'
    and used_at is null;

-- name: sign
-- Writes which approver asks by a signature; the first one counts.
update approvals
set signed_by = $signed_by, request_signature = $signature
where approval_id = $approval_id
    and institution_id = $institution_id
    and signed_by is null;

-- name: approvers
-- Who may sign, of all and with those who were removed where asked for, by name. Grain: one row per
-- approver.
select
    approvers.name, institutions.slug as institution, approvers.limit_amount, approvers.currency,
    approvers.public_key, added.as_of as added_at, added.actor as added_by,
    removed.as_of as removed_at
from approvers
inner join runs as added on added.run_no = approvers.added_run_no
left join runs as removed on removed.run_no = approvers.removed_run_no
left join institutions on institutions.institution_id = approvers.institution_id
where $removed or removed_run_no is null
order by approvers.name;
