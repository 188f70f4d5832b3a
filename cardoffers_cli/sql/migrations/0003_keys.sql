-- name: api_keys
-- Grain: one row per API key. The key itself is nowhere: only its SHA-256, and what shows which one
-- is meant. `scopes` is `offers|reporting|transactions`; null is a key from before scopes, which
-- holds all three. A rotated key ends at `retires_at`, if its successor was made with an overlap.
create table api_keys (
    key_id uuid not null primary key,
    institution_id uuid not null,
    name varchar not null,
    prefix varchar not null,
    last_four varchar not null,
    key_hash varchar not null,
    scopes varchar,
    created_at timestamp not null,
    expires_at timestamp,
    replaced_by uuid,
    rotated_at timestamp,
    retires_at timestamp,
    revoked_at timestamp,
    last_used_at timestamp
);

-- name: key_ends_at
-- When a key stops working by itself: the earlier of its expiry and the end of its overlap.
create macro key_ends_at(expires_at, retires_at) as least(
    coalesce(expires_at, retires_at), coalesce(retires_at, expires_at)
);

-- name: key_notices
-- Grain: one row per key, end and notice given (14_days, 3_days, day_of). Append only.
create table key_notices (
    key_id uuid not null,
    ends_at timestamp not null,
    notice varchar not null,
    given_at timestamp not null,
    primary key (key_id, ends_at, notice)
);

-- name: inbox_messages
-- Grain: one row per message to an institution's team. Its id is derived from the institution, the
-- kind and what it is about, so the same thing is never said twice.
create table inbox_messages (
    message_id uuid not null primary key,
    institution_id uuid not null,
    kind varchar not null,
    text varchar not null,
    created_at timestamp not null,
    read_at timestamp
);

-- name: security_log
-- Grain: one row per security event, each carrying the hash of the row before it (64 zeros for the
-- first). `details` is a JSON text; institution and key are null where nobody knows them. Append only.
create table security_log (
    entry_no bigint not null,
    event_id uuid not null,
    happened_at timestamp not null,
    institution_id uuid,
    key_id uuid,
    event varchar not null,
    actor varchar not null,
    details varchar not null,
    previous_hash varchar not null,
    entry_hash varchar not null
);

-- name: security_hash
-- The hash of a row of the security log: over every column of it and the hash before. The one place
-- of the rule; writing and verifying both use it.
create macro security_hash(
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

-- name: transaction_id
-- The public id of a purchase, from what identifies it.
create macro transaction_id(institution_id, transaction_ref) as derived_id(
    'purchase' || chr(31) || cast(institution_id as varchar) || chr(31) || transaction_ref
);
