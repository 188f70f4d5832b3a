-- name: attach
-- Opens the file at $path, which is made where there is none.
attach $path as store (read_write);

-- name: attach_read_only
-- Opens the file at $path for reading.
attach $path as store (read_only);

-- name: use
-- Lets the names of tables mean those of the file.
use store;

-- name: detach
-- Closes the file, all of it written.
detach store;

-- name: spill_to
-- Lets what does not fit in memory go to a folder at $path. Fails once another one was used.
set temp_directory = $path;

-- name: holds_little
-- Whether the file is all that is open, and less than $most_bytes of memory are in use.
select count(*) = 0 and (select sum(memory_usage_bytes) from duckdb_memory()) < $most_bytes
from duckdb_databases()
where not internal
    and database_name not in ('memory', 'store');
