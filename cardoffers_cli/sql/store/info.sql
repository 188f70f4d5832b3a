-- name: migrations
-- The migrations applied, oldest first; a file without this table and these columns is no store of
-- ours. Grain: one row per migration.
select version, name, digest, engine_version, applied_at
from migrations
order by version;

-- name: record_migration
-- Writes the record of one migration, in the transaction that applied it, or made a new store.
insert into migrations (version, name, digest, engine_version, applied_at)
values ($version, $name, $digest, $engine_version, $applied_at);

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
