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
