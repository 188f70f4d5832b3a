-- name: in_program
-- The offers of an institution's program with their state and their money, in program order; the
-- budget is the offer's, shared by every program it stands in. Grain: one row per offer.
select
    program_offers.position, offers.offer_id as id,
    offer_title(offer_titles.titles, institutions.languages) as title,
    offers.merchant_id, merchants.name as merchant_name,
    offer_state(
        $now, offers.starts_at, offers.expires_at, offers.is_paused,
        offers.left_amount, offers.merchant_funded_amount
    ) as state,
    offers.segments, offers.currency, offers.min_spend, offers.cashback_amount,
    offers.cashback_percent, offers.merchant_funded_amount, offers.budget_amount,
    offers.reserved_amount, offers.left_amount, offers.redemptions,
    coalesce(linked.links, 0) as links, offers.starts_at, offers.expires_at
from program_offers
inner join institutions on institutions.institution_id = program_offers.institution_id
inner join budgeted_offers as offers on offers.offer_id = program_offers.offer_id
inner join merchants on merchants.merchant_no = offers.merchant_no
left join offer_totals as linked
    on linked.offer_no = offers.offer_no
    and linked.institution_id = program_offers.institution_id
left join offer_titles on offer_titles.offer_id = offers.offer_id
where program_offers.institution_id = $institution_id
order by program_offers.position, offers.offer_id;

-- name: standing
-- How one offer of an institution's program stands: its state and for which segments it is; no row
-- where the offer is unknown, or in other programs only.
select
    offer_state(
        $now, offers.starts_at, offers.expires_at, offers.is_paused,
        offers.left_amount, offers.merchant_funded_amount
    ) as state,
    offers.segments
from program_offers
inner join budgeted_offers as offers on offers.offer_id = program_offers.offer_id
inner join institutions on institutions.institution_id = program_offers.institution_id
where program_offers.institution_id = $institution_id
    and program_offers.offer_id = $offer_id
    and (offers.reward_type is null or institutions.accepts_percent);

-- name: terms
-- One offer as the catalogue has it now, with its state and its money.
select
    offers.offer_no, offers.offer_id as id, offers.merchant_id, merchants.name as merchant_name,
    merchants.category,
    offer_state(
        $now, offers.starts_at, offers.expires_at, offers.is_paused,
        offers.left_amount, offers.merchant_funded_amount
    ) as state,
    offers.currency, offers.min_spend, offers.reward_type, offers.cashback_percent,
    offers.cashback_amount, offers.commission_rate, offers.commission_basis,
    offers.max_commission_amount, offers.commission_amount, offers.merchant_funded_amount,
    offers.budget_amount, offers.reserved_amount, offers.left_amount, offers.redemptions, offers.starts_at,
    offers.expires_at, offers.segments, offers.max_redemptions_per_cardholder,
    offers.is_paused as paused
from budgeted_offers as offers
inner join merchants on merchants.merchant_no = offers.merchant_no
where offers.offer_id = $offer_id;

-- name: ids
-- The ids of all offers, for whoever mistyped one. Grain: one row per offer.
select offers.offer_id
from offers
order by offers.offer_id;

-- name: texts
-- The titles and descriptions of one offer. Grain: one row per language.
select offer_texts.language, offer_texts.title, offer_texts.description
from offer_texts
where offer_texts.offer_id = $offer_id
order by offer_texts.language;

-- name: programs
-- The programs one offer stands in, and what came of it in each. Grain: one row per institution.
select
    institutions.slug as institution, program_offers.position, coalesce(totals.links, 0) as links,
    coalesce(totals.redemptions, 0) as redemptions,
    coalesce(totals.merchant_funded_amount, 0) as reserved_amount
from program_offers
inner join institutions on institutions.institution_id = program_offers.institution_id
left join offer_totals as totals
    on totals.institution_id = program_offers.institution_id
    and totals.offer_no = $offer_no
where program_offers.offer_id = $offer_id
order by institutions.slug;

-- name: versions
-- The versions of one offer, the newest first: the moment from which each counts, and the run that
-- brought it. Grain: one row each.
select
    offer_versions.version, offer_versions.known_at as since, runs.as_of as imported_at,
    runs.run_id, offer_versions.merchant_id, offer_versions.min_spend,
    offer_versions.cashback_amount, offer_versions.cashback_percent,
    offer_versions.commission_rate, offer_versions.commission_basis,
    offer_versions.max_commission_amount, offer_versions.budget_amount,
    offer_versions.starts_at, offer_versions.expires_at,
    offer_versions.max_redemptions_per_cardholder
from numbered_versions as offer_versions
left join runs on runs.run_no = offer_versions.run_no
where offer_versions.offer_no = $offer_no
order by offer_versions.run_no desc;

-- name: is_known
-- Whether there is an offer of an id.
select count(*) > 0 as is_there
from offers
where offer_id = $offer_id;

-- name: next_position
-- The position behind the last offer of an institution's program.
select coalesce(max(position), 0) + 1 as position
from program_offers
where institution_id = $institution_id;
