-- name: migrations
-- The migrations of a store from before schema 1, which only its own version reads. Grain: one row
-- per migration.
select version, name, digest, engine_version, applied_at
from migrations
order by version;
