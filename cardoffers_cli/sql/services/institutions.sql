-- name: list
-- Every institution with its program. Grain: one row per institution, by slug.
select
    institutions.institution_id as id,
    institutions.slug,
    institutions.name,
    institutions.plan,
    institutions.currency,
    currencies.minor_unit,
    institutions.languages,
    institutions.max_active_offers,
    institutions.widget_limit,
    institutions.settlement_hold_days,
    institutions.webhook_url,
    institutions.require_marker
from institutions
inner join currencies on currencies.currency = institutions.currency
order by institutions.slug;

-- name: find
-- One institution with its program, by its slug or its id as text.
select
    institutions.institution_id as id,
    institutions.slug,
    institutions.name,
    institutions.plan,
    institutions.currency,
    currencies.minor_unit,
    institutions.languages,
    institutions.max_active_offers,
    institutions.widget_limit,
    institutions.settlement_hold_days,
    institutions.webhook_url,
    institutions.require_marker
from institutions
inner join currencies on currencies.currency = institutions.currency
where institutions.slug = $slug_or_id
    or cast(institutions.institution_id as varchar) = lower($slug_or_id);

-- name: between
-- The slugs of the institutions whose ids are between two. Grain: one row per institution.
select slug
from institutions
where institution_id between $first and $last
order by slug;

-- name: is_known
-- Whether there is an institution of a slug.
select count(*) > 0 as is_there
from institutions
where slug = $slug;
