-- name: append
-- Appends one row to the security log, chained to the last one. Idempotent by event_id. The last
-- row is found by its number, because `max_by` would read every hash.
insert into security_log (
    entry_no, event_id, happened_at, institution_id, key_id, event, actor, details, previous_hash,
    entry_hash
)
with last_entry as (
    select
        coalesce(max(security_log.entry_no), 0) as entry_no,
        coalesce(max(security_log.entry_hash), repeat('0', 64)) as entry_hash
    from security_log
    where security_log.entry_no = (select max(entry_no) from security_log)
),
entry as (
    select
        last_entry.entry_no + 1 as entry_no, cast($event_id as uuid) as event_id,
        cast($happened_at as timestamp) as happened_at,
        cast($institution_id as uuid) as institution_id, cast($key_id as uuid) as key_id,
        $event as event, $actor as actor, $details as details,
        last_entry.entry_hash as previous_hash
    from last_entry
)
select
    entry.entry_no, entry.event_id, entry.happened_at, entry.institution_id, entry.key_id,
    entry.event, entry.actor, entry.details, entry.previous_hash,
    security_hash(
        entry.previous_hash, entry.entry_no, entry.event_id, entry.happened_at,
        entry.institution_id, entry.key_id, entry.event, entry.actor, entry.details
    )
from entry
where not exists (
    select 1
    from security_log
    where security_log.event_id = entry.event_id
);

-- name: head
-- The number and the hash of the last row; 0 and 64 zeros where there is none.
select
    coalesce(max(entry_no), 0) as entry_no, coalesce(max(entry_hash), repeat('0', 64)) as entry_hash
from security_log
where entry_no = (select max(entry_no) from security_log);

-- name: entries
-- The latest rows of the security log, the newest first, filtered as asked. Grain: one row per
-- security event.
select
    security_log.entry_no, security_log.event_id, security_log.happened_at,
    institutions.slug as institution, security_log.key_id, security_log.event,
    security_log.actor, security_log.details
from security_log
left join institutions on institutions.institution_id = security_log.institution_id
where ($institution_id is null or security_log.institution_id = $institution_id)
    and ($event is null or security_log.event = $event)
    and ($from_at is null or security_log.happened_at >= $from_at)
    and ($to_at is null or security_log.happened_at < $to_at)
order by security_log.entry_no desc
limit $limit;

-- name: faults
-- The rows that break the chain, and how: the numbers run from 1 without a gap, every row carries
-- the hash of itself and of the row before it. Reads the security log only. Grain: one row per row
-- of the log that offends, the first hundred.
with chained as (
    select
        entry_no, entry_hash, previous_hash,
        security_hash(
            previous_hash, entry_no, event_id, happened_at, institution_id, key_id, event, actor,
            details
        ) as computed_hash,
        lag(entry_no, 1, 0) over (order by entry_no, event_id) as number_before,
        lag(entry_hash, 1, repeat('0', 64)) over (order by entry_no, event_id) as hash_before
    from security_log
),
judged as (
    select
        entry_no,
        case
            when entry_no = number_before then 'entry_doubled'
            when entry_no <> number_before + 1 then 'entries_missing_before'
            when entry_hash <> computed_hash then 'entry_changed'
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
-- The hash that one row of the security log carries.
select entry_hash
from security_log
where entry_no = $entry_no;
