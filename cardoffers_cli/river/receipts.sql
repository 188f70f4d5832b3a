-- name: invalid
-- reads: staged_findings(line, transaction_ref, field, code, level, message)
-- Every error of the staged rows, by call and item. Grain: one row per finding.
select line // $stride as call_no, line % $stride as item, transaction_ref, field, code, message
from staged_findings
where level = 'error'
order by line, field nulls first, code;

-- name: repeated
-- reads: staged_duplicates(line, transaction_ref, is_conflict)
-- Every staged row whose ref was known already, by call and item. Grain: one row per such row.
select line // $stride as call_no, line % $stride as item, transaction_ref, is_conflict
from staged_duplicates
order by line;

-- name: receipts
-- reads: staged(line, transaction_ref), staged_duplicates(line, is_conflict, received_at)
-- The purchases that the first items of the calls stand for, be they new or known already.
-- Grain: one row per call whose first item is valid.
select
    staged.line // $stride as call_no,
    transaction_id($institution_id, staged.transaction_ref) as transaction_id,
    staged.transaction_ref,
    staged_duplicates.line is not null as is_duplicate,
    coalesce(staged_duplicates.is_conflict, false) as is_conflict,
    coalesce(staged_duplicates.received_at, $received_at) as received_at
from staged
left join staged_duplicates on staged_duplicates.line = staged.line
where staged.line % $stride = 0;

-- name: accepted_calls
-- makes: staged_calls(call_no, call_id, body_sha256, size_bytes, received, options, accepted,
--     duplicates, conflicts, invalid, amount_accepted)
-- Reads frame (calls of which every item was accepted) and makes staged_calls of it. Grain: one row
-- per call.
create temp table staged_calls as
select
    frame.call_no, cast(frame.call_id as uuid) as call_id, frame.body_sha256, frame.size_bytes,
    frame.received, frame.options, frame.received as accepted, 0 as duplicates, 0 as conflicts,
    0 as invalid, frame.amount_accepted
from frame;

-- name: calls
-- reads: staged_findings(line, level), staged_duplicates(line, is_conflict), staged(line, amount)
-- makes: staged_calls(call_no, call_id, body_sha256, size_bytes, received, options, accepted,
--     duplicates, conflicts, invalid, amount_accepted)
-- Makes staged_calls: what was sent with each call ($calls, a list of structs), and what came of it.
-- Grain: one row per call.
create temp table staged_calls as
with sent as (
    select
        unnest(
            cast(
                $calls as struct(
                    call_no bigint, call_id uuid, body_sha256 varchar, size_bytes bigint,
                    received bigint, options varchar
                )[]
            ),
            recursive := true
        )
),
invalid as (
    select staged_findings.line // $stride as call_no, count(distinct staged_findings.line) as items
    from staged_findings
    where staged_findings.level = 'error'
    group by call_no
),
repeated as (
    select
        staged_duplicates.line // $stride as call_no,
        count(*) as items,
        count(*) filter (where staged_duplicates.is_conflict) as conflicts
    from staged_duplicates
    group by call_no
),
taken as (
    select staged.line // $stride as call_no, count(*) as items, sum(staged.amount) as amount
    from staged
    anti join staged_duplicates on staged_duplicates.line = staged.line
    group by call_no
)
select
    sent.call_no, sent.call_id, sent.body_sha256, sent.size_bytes, sent.received, sent.options,
    coalesce(taken.items, 0) as accepted, coalesce(repeated.items, 0) as duplicates,
    coalesce(repeated.conflicts, 0) as conflicts, coalesce(invalid.items, 0) as invalid,
    coalesce(taken.amount, 0) as amount_accepted
from sent
left join invalid on invalid.call_no = sent.call_no
left join repeated on repeated.call_no = sent.call_no
left join taken on taken.call_no = sent.call_no;
