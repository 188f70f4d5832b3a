-- name: approval_state
-- How far a request is at a moment (rules.md#four-eyes): an approval that was used stays used, and
-- one that was refused stays refused; the others end when they expire.
create or replace macro approval_state(answer, used_at, expires_at, moment) as case
    when used_at is not null then 'used'
    when answer = 'refused' then 'refused'
    when expires_at <= moment then 'expired'
    when answer = 'given' then 'given'
    else 'pending'
end;
