-- name: stage
-- Grain: one row per line of the file that is well formed; lines found wrong are deleted again.
create or replace temp table staged_program_offers (
    line ubigint not null,
    institution varchar not null,
    offer_id varchar not null,
    position integer not null
);

-- name: load
-- Reads frame; writes staged_program_offers.
insert into staged_program_offers
select line, institution, offer_id, position
from frame;

-- name: check
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_program_offers, institutions and offers; writes catalogue_findings.
insert into catalogue_findings
with placed as (
    select
        staged.line, institutions.currency as institution_currency,
        offers.currency as offer_currency,
        row_number() over (
            partition by staged.institution, staged.offer_id order by staged.line
        ) as nth
    from staged_program_offers as staged
    left join institutions on institutions.slug = staged.institution
    left join offers on offers.offer_id = staged.offer_id
),

final as (
    select line, 'offer_id' as field, 'duplicate_key' as code,
        'an earlier row has the same institution and offer_id' as message
    from placed
    where nth > 1
    union all
    select line, 'institution', 'reference_unknown', 'there is no such institution'
    from placed
    where institution_currency is null
    union all
    select line, 'offer_id', 'reference_unknown', 'there is no such offer'
    from placed
    where offer_currency is null
    union all
    select line, 'offer_id', 'currency_mismatch',
        'the offer is not in the currency of the institution'
    from placed
    where offer_currency != institution_currency
)

select 'program_offers', line, field, code, 'error', message
from final;

-- name: refuse
-- reads: catalogue_findings(kind, line, level)
-- Deletes the lines found wrong from staged_program_offers.
delete from staged_program_offers
where line in (
    select line from catalogue_findings where kind = 'program_offers' and level = 'error'
);

-- name: compare
-- changes: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- Reads staged_program_offers and program_offers; writes catalogue_changes.
insert into catalogue_changes
select
    staged.line, known.institution_id, staged.institution || '/' || staged.offer_id,
    'position',
    cast(known.position as varchar), cast(staged.position as varchar)
from staged_program_offers as staged
inner join institutions on institutions.slug = staged.institution
inner join program_offers as known
    on known.institution_id = institutions.institution_id
    and known.offer_id = staged.offer_id
where known.position != staged.position;

-- name: update
-- Reads staged_program_offers; writes the program_offers whose position is another one.
update program_offers
set position = staged.position
from staged_program_offers as staged
inner join institutions on institutions.slug = staged.institution
where institutions.institution_id = program_offers.institution_id
    and staged.offer_id = program_offers.offer_id
    and staged.position != program_offers.position;

-- name: insert
-- Reads staged_program_offers; writes program_offers, the pairs that are not there yet.
insert into program_offers (institution_id, offer_id, position)
select institutions.institution_id, staged.offer_id, staged.position
from staged_program_offers as staged
inner join institutions on institutions.slug = staged.institution
where not exists (
    select 1
    from program_offers
    where program_offers.institution_id = institutions.institution_id
        and program_offers.offer_id = staged.offer_id
);

-- name: drop_staged
-- Gives back the room of staged_program_offers when its rows are taken.
drop table staged_program_offers;
