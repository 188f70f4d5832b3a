-- name: stage
-- Grain: one row per line of the file that is well formed; lines found wrong are deleted again.
create or replace temp table staged_institutions (
    line ubigint not null,
    slug varchar not null,
    institution_id uuid,
    name varchar not null,
    plan varchar not null,
    currency varchar not null,
    languages varchar not null,
    max_active_offers integer not null,
    widget_limit integer not null,
    settlement_hold_days integer not null,
    webhook_url varchar,
    require_marker boolean
);

-- name: load
-- Reads frame; writes staged_institutions.
insert into staged_institutions
select
    line, slug, institution_id, name, plan, currency, languages,
    max_active_offers, widget_limit, settlement_hold_days, webhook_url, require_marker
from frame;

-- name: check
-- changes: catalogue_findings(kind, line, field, code, level, message)
-- Reads staged_institutions and institutions; writes catalogue_findings.
insert into catalogue_findings
with placed as (
    select
        line, slug, institution_id, currency,
        row_number() over (partition by slug order by line) as nth_of_slug,
        row_number() over (partition by institution_id order by line) as nth_of_id
    from staged_institutions
),

used as (
    select institution_id from program_offers
    union
    select institution_id from links
    union
    select institution_id from purchases
),

final as (
    select line, 'slug' as field, 'duplicate_key' as code,
        'an earlier row has the same slug' as message
    from placed
    where nth_of_slug > 1
    union all
    select line, 'institution_id', 'duplicate_key', 'an earlier row has the same institution_id'
    from placed
    where nth_of_id > 1 and institution_id is not null
    union all
    select placed.line, 'institution_id', 'duplicate_key',
        'institution_id belongs to an institution with another slug'
    from placed
    inner join institutions
        on institutions.institution_id = placed.institution_id
        and institutions.slug != placed.slug
    where placed.nth_of_id = 1
    union all
    select placed.line, 'institution_id', 'id_conflict',
        'the institution is known under another institution_id'
    from placed
    inner join institutions
        on institutions.slug = placed.slug
        and institutions.institution_id != placed.institution_id
    union all
    select placed.line, 'currency', 'currency_in_use',
        'the institution has offers, links or purchases in its present currency'
    from placed
    inner join institutions
        on institutions.slug = placed.slug
        and institutions.currency != placed.currency
    inner join used on used.institution_id = institutions.institution_id
)

select 'institutions', line, field, code, 'error', message
from final;

-- name: refuse
-- reads: catalogue_findings(kind, line, level)
-- Deletes the lines found wrong from staged_institutions.
delete from staged_institutions
where line in (
    select line from catalogue_findings where kind = 'institutions' and level = 'error'
);

-- name: keep_ids
-- Gives rows without an id the one their slug is known under.
update staged_institutions
set institution_id = institutions.institution_id
from institutions
where institutions.slug = staged_institutions.slug
    and staged_institutions.institution_id is null;

-- name: without_id
-- The new institutions that came without an id.
select slug
from staged_institutions
where institution_id is null
order by line;

-- name: give_id
-- Gives a new institution its id.
update staged_institutions
set institution_id = $institution_id
where slug = $slug;

-- name: compare
-- changes: catalogue_changes(line, institution_id, subject_id, field, old_value, new_value)
-- Reads staged_institutions and institutions; writes catalogue_changes. An empty webhook_url or
-- require_marker leaves what there is: it may have been set apart from the catalogue.
insert into catalogue_changes
with paired as (
    select
        staged.line, staged.institution_id, staged.slug,
        unnest([
            {'field': 'name', 'old_value': known.name, 'new_value': staged.name},
            {'field': 'plan', 'old_value': known.plan, 'new_value': staged.plan},
            {'field': 'currency', 'old_value': known.currency, 'new_value': staged.currency},
            {'field': 'languages', 'old_value': known.languages, 'new_value': staged.languages},
            {
                'field': 'max_active_offers',
                'old_value': cast(known.max_active_offers as varchar),
                'new_value': cast(staged.max_active_offers as varchar)
            },
            {
                'field': 'widget_limit',
                'old_value': cast(known.widget_limit as varchar),
                'new_value': cast(staged.widget_limit as varchar)
            },
            {
                'field': 'settlement_hold_days',
                'old_value': cast(known.settlement_hold_days as varchar),
                'new_value': cast(staged.settlement_hold_days as varchar)
            },
            {
                'field': 'webhook_url',
                'old_value': known.webhook_url,
                'new_value': coalesce(staged.webhook_url, known.webhook_url)
            },
            {
                'field': 'require_marker',
                'old_value': cast(known.require_marker as varchar),
                'new_value': cast(
                    coalesce(staged.require_marker, known.require_marker) as varchar
                )
            }
        ]) as pair
    from staged_institutions as staged
    inner join institutions as known on known.institution_id = staged.institution_id
)

select line, institution_id, slug, pair.field, pair.old_value, pair.new_value
from paired
where pair.old_value is distinct from pair.new_value;

-- name: update
-- reads: catalogue_changes(line)
-- Reads staged_institutions and catalogue_changes; writes the changed rows of institutions.
update institutions
set
    name = staged.name,
    plan = staged.plan,
    currency = staged.currency,
    languages = staged.languages,
    max_active_offers = staged.max_active_offers,
    widget_limit = staged.widget_limit,
    settlement_hold_days = staged.settlement_hold_days,
    webhook_url = coalesce(staged.webhook_url, institutions.webhook_url),
    require_marker = coalesce(staged.require_marker, institutions.require_marker)
from staged_institutions as staged
where staged.institution_id = institutions.institution_id
    and staged.line in (select line from catalogue_changes);

-- name: insert
-- Reads staged_institutions; writes institutions, the rows whose id is not there yet.
insert into institutions (
    institution_id, slug, name, plan, currency, languages,
    max_active_offers, widget_limit, settlement_hold_days, webhook_url, require_marker
)
select
    institution_id, slug, name, plan, currency, languages,
    max_active_offers, widget_limit, settlement_hold_days, webhook_url,
    coalesce(require_marker, false)
from staged_institutions as staged
where not exists (
    select 1 from institutions where institutions.institution_id = staged.institution_id
);

-- name: drop_staged
-- Gives back the room of staged_institutions when its rows are taken.
drop table staged_institutions;
