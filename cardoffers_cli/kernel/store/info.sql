-- name: migrations
-- The schemas that a store was brought to, oldest first. A file without this table is no store, or
-- one from before schema 1. Grain: one row per schema.
select version, name, digest, engine_version, applied_at
from schema_versions
order by version;

-- name: record_migration
-- Writes the record of one migration, in the transaction that applied it, or made a new store.
insert into schema_versions (version, name, digest, engine_version, applied_at)
values ($version, $name, $digest, $engine_version, $applied_at);

-- name: views_digest
-- The digest of the views and macros that a store has. Grain: one row.
select digest
from store_views;

-- name: keep_views
-- Writes the digest of the views and macros of a store in place of the one before.
insert or replace into store_views (only_row, digest)
values (true, $digest);

-- name: add_currencies
-- Adds the currencies this store does not know yet ($currencies, beside each its $minor_units).
insert into currencies (currency, minor_unit)
select listed.currency, listed.minor_unit
from (select unnest($currencies) as currency, unnest($minor_units) as minor_unit) as listed
where not exists (select 1 from currencies where currencies.currency = listed.currency);

-- name: sizes
-- Rows and bytes of every table, largest first. Grain: one row per table.
select table_name, estimated_size as row_count
from duckdb_tables()
where not internal and not temporary
order by row_count desc, table_name;

-- name: engine
-- The version of the engine that has the store open.
select library_version
from pragma_version();
