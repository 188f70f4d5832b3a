-- name: candidates
-- The keys that begin as a given one, with their hashes. Whose a key is, is what is asked here, so
-- no institution is named. Grain: one row per key.
select
    api_keys.key_hash, api_keys.key_id, api_keys.institution_id, api_keys.name, api_keys.prefix,
    api_keys.last_four, api_keys.scopes, api_keys.created_at, api_keys.expires_at,
    key_ends_at(api_keys.expires_at, api_keys.retires_at) as ends_at,
    api_keys.replaced_by, api_keys.rotated_at, api_keys.retires_at, api_keys.revoked_at,
    api_keys.last_used_at
from api_keys
where api_keys.prefix = $prefix
order by api_keys.key_id;

-- name: hashes
-- What tells the keys that are not revoked, for whoever is asked whose a key is before the store can
-- be; so no institution is named. Grain: one row per key.
select
    api_keys.prefix, api_keys.key_hash, api_keys.institution_id,
    key_ends_at(api_keys.expires_at, api_keys.retires_at) as ends_at
from api_keys
where api_keys.revoked_at is null
order by api_keys.key_id;

-- name: known
-- The keys of the store, of one institution or one of them, the newest first. Grain: one row per
-- key.
select
    api_keys.key_id, api_keys.institution_id, api_keys.name, api_keys.prefix,
    api_keys.last_four, api_keys.scopes, api_keys.created_at, api_keys.expires_at,
    key_ends_at(api_keys.expires_at, api_keys.retires_at) as ends_at,
    api_keys.replaced_by, api_keys.rotated_at, api_keys.retires_at, api_keys.revoked_at,
    api_keys.last_used_at
from api_keys
where ($institution_id is null or api_keys.institution_id = $institution_id)
    and ($key_id is null or cast(api_keys.key_id as varchar) = lower($key_id))
order by api_keys.created_at desc, api_keys.key_id;

-- name: add
-- Writes one key, as its hash and what shows which one is meant.
insert into api_keys (
    key_id, institution_id, name, prefix, last_four, key_hash, scopes, created_at, expires_at
)
values (
    $key_id, $institution_id, $name, $prefix, $last_four, $key_hash, $scopes, $created_at,
    $expires_at
);

-- name: replace
-- Names the successor of a key, and when the key retires (null: when somebody revokes it).
update api_keys
set replaced_by = $replaced_by, rotated_at = $rotated_at, retires_at = $retires_at
where key_id = $key_id
    and replaced_by is null;

-- name: revoke
-- Ends a key for good; the first time counts.
update api_keys
set revoked_at = $revoked_at
where key_id = $key_id
    and revoked_at is null;

-- name: use
-- Notes when a key was last used; an earlier use than the one known changes nothing.
update api_keys
set last_used_at = greatest(coalesce(last_used_at, $used_at), $used_at)
where key_id = $key_id;
