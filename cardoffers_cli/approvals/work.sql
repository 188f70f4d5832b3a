-- name: answer
-- Writes the answer to a request of an institution; the first one counts.
update approvals
set answer = $answer, answered_by = $answered_by, answered_at = $answered_at, reason = $reason
where approval_id = $approval_id
    and institution_id = $institution_id
    and answer is null;
