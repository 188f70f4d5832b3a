-- name: find
-- One institution with its program, by its slug or its id as text, or each of them, by slug, where
-- that is null. Grain: one row per institution.
select
    institutions.institution_id as id, institutions.slug, institutions.name, institutions.plan,
    institutions.currency, currencies.minor_unit, institutions.languages,
    institutions.max_active_offers, institutions.widget_limit, institutions.settlement_hold_days,
    institutions.webhook_url, institutions.require_marker, institutions.refund_window_days,
    institutions.refund_auto_link, institutions.clawback_days, institutions.webhook_events,
    institutions.approvals, institutions.approval_limit,
    coalesce(institutions.credit_days, 7) as credit_days, institutions.tax_id, institutions.tax_note,
    institutions.address, institutions.country, institutions.time_zone,
    nullif(institutions.accepts_percent, false) as accepts_percent,
    institutions.numbers, institutions.shares_tokens_with, institutions.hold_short,
    watched_institutions.institution_id is not null as is_watched
from institutions
inner join currencies on currencies.currency = institutions.currency
left join watched_institutions using (institution_id)
where $slug_or_id is null
    or institutions.slug = $slug_or_id
    or cast(institutions.institution_id as varchar) = lower($slug_or_id)
order by institutions.slug;

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
