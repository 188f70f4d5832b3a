-- name: stage
-- Grain: one row per line of the file that is well formed; lines found wrong are deleted again.
create or replace temp table staged_merchant_identifiers (
    line ubigint not null,
    merchant_id uuid not null,
    merchant_identifier_type varchar not null,
    merchant_identifier varchar not null
);

-- name: load
-- Reads frame; writes staged_merchant_identifiers.
insert into staged_merchant_identifiers
select line, merchant_id, merchant_identifier_type, merchant_identifier
from frame;

-- name: check
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_merchant_identifiers and merchants; writes catalogue_findings.
insert into catalogue_findings
with placed as (
    select
        line, merchant_id,
        row_number() over (
            partition by merchant_identifier_type, merchant_identifier order by line
        ) as nth
    from staged_merchant_identifiers
),

final as (
    select line, 'merchant_identifier' as field, 'duplicate_key' as code,
        'an earlier row has the same identifier' as message
    from placed
    where nth > 1
    union all
    select line, 'merchant_id', 'reference_unknown', 'there is no such merchant'
    from placed
    where not exists (select 1 from merchants where merchants.merchant_id = placed.merchant_id)
)

select 'merchant_identifiers', line, field, code, 'error', message
from final;

-- name: refuse
-- reads: catalogue_findings(kind, line, level)
-- Deletes the lines found wrong from staged_merchant_identifiers.
delete from staged_merchant_identifiers
where line in (
    select line from catalogue_findings where kind = 'merchant_identifiers' and level = 'error'
);

-- name: stage_identifiers
-- makes: staged_identifiers(merchant_identifier_type, merchant_identifier)
-- Makes what `store/interning` reads.
create temp table staged_identifiers as
select merchant_identifier_type, merchant_identifier
from staged_merchant_identifiers;

-- name: compare
-- changes: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- Reads staged_merchant_identifiers and identifiers; writes catalogue_changes, the identifiers
-- whose owner is another one.
insert into catalogue_changes
select
    staged.line, null,
    staged.merchant_identifier_type || ':' || staged.merchant_identifier,
    'merchant_id',
    cast(known.merchant_id as varchar), cast(staged.merchant_id as varchar)
from staged_merchant_identifiers as staged
inner join identifiers as known
    on known.merchant_identifier_type = staged.merchant_identifier_type
    and known.merchant_identifier = staged.merchant_identifier
where known.merchant_id != staged.merchant_id;

-- name: update
-- Reads staged_merchant_identifiers; writes the identifiers whose owner is another one.
update identifiers
set merchant_id = staged.merchant_id
from staged_merchant_identifiers as staged
where staged.merchant_identifier_type = identifiers.merchant_identifier_type
    and staged.merchant_identifier = identifiers.merchant_identifier
    and staged.merchant_id != identifiers.merchant_id;

-- name: insert
-- Reads staged_merchant_identifiers; writes the identifiers that had no owner, be it that they were
-- numbered just now or that so far only purchases carried them.
update identifiers
set merchant_id = staged.merchant_id
from staged_merchant_identifiers as staged
where staged.merchant_identifier_type = identifiers.merchant_identifier_type
    and staged.merchant_identifier = identifiers.merchant_identifier
    and identifiers.merchant_id is null;

-- name: drop_staged
-- Gives back the room of staged_merchant_identifiers when its rows are taken.
drop table staged_merchant_identifiers;
