-- name: stage
-- Grain: one row per line of the file that is well formed; lines found wrong are deleted again.
create or replace temp table staged_merchants (
    line ubigint not null,
    merchant_id uuid not null,
    name varchar not null,
    category varchar not null
);

-- name: load
-- Reads frame; writes staged_merchants.
insert into staged_merchants
select line, merchant_id, name, category
from frame;

-- name: check
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_merchants; writes catalogue_findings.
insert into catalogue_findings
with placed as (
    select line, row_number() over (partition by merchant_id order by line) as nth
    from staged_merchants
)

select 'merchants', line, 'merchant_id', 'duplicate_key', 'error',
    'an earlier row has the same merchant_id'
from placed
where nth > 1;

-- name: refuse
-- reads: catalogue_findings(kind, line, level)
-- Deletes the lines found wrong from staged_merchants.
delete from staged_merchants
where line in (
    select line from catalogue_findings where kind = 'merchants' and level = 'error'
);

-- name: compare
-- changes: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- Reads staged_merchants and merchants; writes catalogue_changes.
insert into catalogue_changes
with paired as (
    select
        staged.line, staged.merchant_id,
        unnest([
            {'field': 'name', 'old_value': known.name, 'new_value': staged.name},
            {'field': 'category', 'old_value': known.category, 'new_value': staged.category}
        ]) as pair
    from staged_merchants as staged
    inner join merchants as known on known.merchant_id = staged.merchant_id
)

select line, null, cast(merchant_id as varchar), pair.field, pair.old_value, pair.new_value
from paired
where pair.old_value is distinct from pair.new_value;

-- name: update
-- reads: catalogue_changes(line)
-- Reads staged_merchants and catalogue_changes; writes the changed rows of merchants.
update merchants
set name = staged.name, category = staged.category
from staged_merchants as staged
where staged.merchant_id = merchants.merchant_id
    and staged.line in (select line from catalogue_changes);

-- name: insert
-- Reads staged_merchants; writes merchants, the rows whose id is not there yet.
insert into merchants (merchant_no, merchant_id, name, category)
with highest as (
    select coalesce(max(merchant_no), 0) as merchant_no
    from merchants
)

select
    highest.merchant_no + row_number() over (order by staged.merchant_id),
    staged.merchant_id, staged.name, staged.category
from staged_merchants as staged
cross join highest
where not exists (select 1 from merchants where merchants.merchant_id = staged.merchant_id);

-- name: drop_staged
-- Gives back the room of staged_merchants when its rows are taken.
drop table staged_merchants;
