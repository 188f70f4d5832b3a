-- name: directory
-- The blocks that hold the directory of the open store. Grain: one row per block.
select distinct block_id
from pragma_metadata_info()
order by block_id;
