-- name: append
-- Appends one row to the security log, chained to the last one. Idempotent by event_id.
insert into security_log (
    entry_no, event_id, happened_at, institution_id, key_id, event, actor, details, previous_hash,
    entry_hash
)
with last_entry as (
    select
        coalesce(max(security_log.entry_no), 0) as entry_no,
        coalesce(max_by(security_log.entry_hash, security_log.entry_no), repeat('0', 64))
            as entry_hash
    from security_log
),
entry as (
    select
        last_entry.entry_no + 1 as entry_no,
        cast($event_id as uuid) as event_id,
        cast($happened_at as timestamp) as happened_at,
        cast($institution_id as uuid) as institution_id,
        cast($key_id as uuid) as key_id,
        $event as event,
        $actor as actor,
        $details as details,
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
    coalesce(max(entry_no), 0) as entry_no,
    coalesce(max_by(entry_hash, entry_no), repeat('0', 64)) as entry_hash
from security_log;
