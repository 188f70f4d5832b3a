-- name: block_size
-- The bytes of a block of the open store.
select block_size from pragma_database_size();

-- name: directory
-- The blocks that hold the directory of the open store. Grain: one row per block.
select distinct block_id
from pragma_metadata_info()
order by block_id;
