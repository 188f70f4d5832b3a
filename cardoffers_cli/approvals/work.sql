-- name: answer
-- Writes the answer to a request of an institution; the first one counts.
update approvals
set answer = $answer, answered_by = $answered_by, answered_at = $answered_at, reason = $reason,
    answer_signature = $signature
where approval_id = $approval_id
    and institution_id = $institution_id
    and answer is null;

-- name: add
-- Writes an approver, by which run it was added. A name and a key are written once.
insert into approvers (name, public_key, institution_id, limit_amount, currency, added_run_no)
values ($name, $public_key, $institution_id, $limit_amount, $currency, $run_no);

-- name: remove
-- Writes by which run an approver was removed.
update approvers
set removed_run_no = $run_no
where name = $name
    and removed_run_no is null;
