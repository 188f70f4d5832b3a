-- name: append
-- Appends one act to the log, chained to the last one. Idempotent by event_id. The last row is found
-- by its number, because `max_by` would read every hash. Who approved a run is who answered the
-- request that it used. Without an id it has one that is derived from its place.
insert into acts (
    act_no, event_id, run_no, happened_at, institution_id, key_id, kind, subject, actor, approver,
    row_sha256, details, previous_hash, hash
)
with act as (
    select
        coalesce(max(acts.act_no), 0) + 1 as act_no,
        coalesce(
            cast($event_id as uuid),
            derived_id('act' || chr(31) || coalesce(max(acts.hash), ''))
        ) as event_id,
        cast($run_no as bigint) as run_no, cast($happened_at as timestamp) as happened_at,
        cast($institution_id as uuid) as institution_id, cast($key_id as uuid) as key_id,
        $kind as kind, $subject as subject, $actor as actor,
        (
            select max(approvals.answered_by)
            from approvals
            where approvals.used_run_no = $run_no
        ) as approver,
        $row_sha256 as row_sha256, $details as details,
        coalesce(max(acts.hash), repeat('0', 64)) as previous_hash
    from acts
    where acts.act_no = (select max(act_no) from acts)
)
select
    act.act_no, act.event_id, act.run_no, act.happened_at, act.institution_id, act.key_id, act.kind,
    act.subject, act.actor, act.approver, act.row_sha256, act.details, act.previous_hash,
    act_hash(act)
from act
anti join acts on acts.event_id = act.event_id;

-- name: of_run
-- What a run did and the log does not have. Grain: one row per act.
from unlogged_acts('act_rows', $run_no)
order by kind, institution_id, subject;

-- name: of_import
-- The same of a run of kind import, which only takes files: they are asked for alone, because most
-- runs are imports and act_rows takes 20 ms to plan. Grain: one row per act.
from unlogged_acts('file_acts', $run_no)
order by subject;

-- name: of_payments
-- The same of a run that settles, pays, or takes in what banks say. Grain: one row per act.
from unlogged_acts('payment_acts', $run_no)
order by kind, institution_id, subject;

-- name: row_sha256
-- The digest of the row of a subject. Grain: one row, or none where the kind has none.
select row_sha256
from act_rows
where kind = $kind
    and subject = $subject;

-- name: head
-- The number and the hash of the last row; 0 and 64 zeros where there is none.
select coalesce(max(act_no), 0) as act_no, coalesce(max(hash), repeat('0', 64)) as hash
from acts
where act_no = (select max(act_no) from acts);

-- name: entries
-- The latest acts, the newest first, filtered as asked. Grain: one row per act.
select
    acts.act_no as entry_no, acts.event_id, acts.happened_at, institutions.slug as institution,
    acts.key_id, acts.kind as event, acts.subject, acts.actor, acts.approver, acts.details,
    runs.machine_at as recorded_at
from acts
left join runs on runs.run_no = acts.run_no
left join institutions on institutions.institution_id = acts.institution_id
where ($institution_id is null or acts.institution_id = $institution_id)
    and ($event is null or acts.kind = $event)
    and ($from_at is null or acts.happened_at >= $from_at)
    and ($to_at is null or acts.happened_at < $to_at)
order by acts.act_no desc
limit $limit;

-- name: faults
-- The rows that break the chain, and how: the numbers run from 1 without a gap, every row carries
-- the hash of itself and of the row before it. Reads the log only. Grain: one row per row of the log
-- that offends, the first hundred.
with chained as (
    select
        act_no as entry_no, hash, previous_hash, act_hash(acts) as computed_hash,
        lag(act_no, 1, 0) over (order by act_no, event_id) as number_before,
        lag(hash, 1, repeat('0', 64)) over (order by act_no, event_id) as hash_before
    from acts
),
judged as (
    select
        entry_no,
        case
            when entry_no = number_before then 'entry_doubled'
            when entry_no <> number_before + 1 then 'entries_missing_before'
            when hash <> computed_hash then 'entry_changed'
            when previous_hash <> hash_before then 'entry_not_chained'
        end as fault
    from chained
)
select entry_no, fault
from judged
where fault is not null
order by entry_no, fault
limit 100;

-- name: hash_of
-- The hash that one row of the log carries.
select hash
from acts
where act_no = $act_no;
