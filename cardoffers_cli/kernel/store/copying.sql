-- name: attach_source
-- Opens the file at $path for reading, under the name of a copy's source.
attach $path as source (read_only);

-- name: attach_draft
-- Makes the file at $path, under the name of a copy's target.
attach $path as draft (read_write);

-- name: copy
-- Copies every table, view and macro of the source; the draft must be empty.
copy from database source to draft;

-- name: checkpoint
-- Writes what is committed into the open file, so that the file alone is the whole store; again,
-- nothing is left to write. Closing does so too, but tells of no failure.
force checkpoint;

-- name: checkpoint_draft
-- The same for the target of a copy.
force checkpoint draft;

-- name: detach_draft
-- Closes the draft, all of it written to its file.
detach draft;

-- name: tables
-- The tables of the open store. Grain: one row per table.
select table_name
from duckdb_tables()
where not internal
    and not temporary
order by table_name;

-- name: content
-- What tells the content of one table, in any order of its rows, from any other.
select count(*) as row_count, coalesce(bit_xor(hash(rows_of)), 0) as content
from query_table($table_name) as rows_of;

-- name: rows_with
-- How many rows of a table hold a text in any of their columns.
select count(*) as found
from query_table($table_name) as rows_of
where contains(cast(rows_of as varchar), $text);
