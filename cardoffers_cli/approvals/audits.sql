-- name: approvals_are_of_two_persons
-- Requests that were not signed by two approvers, used without having been given, used or given
-- after they had expired, or used before they were given (rules.md#four-eyes). That signatures are
-- right `audit verify` says. Grain: one row per request and fault.
with faults as (
    select approvals.approval_id, 'not signed by two' as fault
    from approvals
    where approvals.answer = 'given'
        and coalesce(
            answered_by = signed_by or answer_signature = request_signature
            or answered_by not in (from approvers select name), true
        )
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
)
select faults.approval_id, faults.fault
from faults
order by faults.approval_id, faults.fault;
