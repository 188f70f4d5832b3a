-- API keys, and the security log.

-- name: key_ends_at
-- When a key stops working by itself: the earlier of its expiry and the end of its overlap.
create or replace macro key_ends_at(expires_at, retires_at) as least(
    coalesce(expires_at, retires_at), coalesce(retires_at, expires_at)
);

-- name: security_hash
-- The hash of a row of the security log: over every column of it and the hash before. The one place
-- of the rule; writing and verifying both use it.
create or replace macro security_hash(
    previous_hash, entry_no, event_id, happened_at, institution_id, key_id, event, actor, details
) as sha256(
    previous_hash
    || chr(31) || cast(entry_no as varchar)
    || chr(31) || cast(event_id as varchar)
    || chr(31) || cast(happened_at as varchar)
    || chr(31) || coalesce(cast(institution_id as varchar), '')
    || chr(31) || coalesce(cast(key_id as varchar), '')
    || chr(31) || event
    || chr(31) || actor
    || chr(31) || details
);
