-- name: institutions
-- Every institution in the columns of its file, by slug; without the credit days of all that set none.
select
    slug, cast(institution_id as varchar) as institution_id, name, plan, currency, languages,
    max_active_offers, widget_limit, settlement_hold_days, webhook_url,
    cast(require_marker as varchar) as require_marker,
    nullif(credit_days, 7) as credit_days, tax_id, tax_note, address, country,
    cast(nullif(accepts_percent, false) as varchar) as accepts_percent
from institutions
order by slug;

-- name: merchants
-- Every merchant in the columns of its file, by id.
select cast(merchant_id as varchar) as merchant_id, name, category, net_days, tax_id, tax_note,
    address, country
from merchants
order by merchant_id;

-- name: merchant_identifiers
-- Every merchant identifier whose owner is known, in the columns of its file.
select cast(merchant_id as varchar) as merchant_id, merchant_identifier_type, merchant_identifier
from identifiers
where merchant_id is not null
order by merchant_identifier_type, merchant_identifier;

-- name: offers
-- Every offer in the columns of its file, by id.
select
    offers.offer_id, cast(offers.merchant_id as varchar) as merchant_id, en.title as title_en,
    es.title as title_es, pt.title as "title_pt-BR", en.description as description_en,
    es.description as description_es, pt.description as "description_pt-BR", offers.min_spend,
    offers.cashback_amount, offers.currency, offers.commission_rate, offers.budget_amount,
    offers.starts_at, offers.expires_at, offers.segments, offers.max_redemptions_per_cardholder,
    offers.is_paused as paused, offers.reward_type, offers.cashback_percent,
    offers.max_cashback_amount, offers.commission_basis, offers.max_commission_amount
from offers
left join offer_texts as en on en.offer_id = offers.offer_id and en.language = 'en'
left join offer_texts as es on es.offer_id = offers.offer_id and es.language = 'es'
left join offer_texts as pt on pt.offer_id = offers.offer_id and pt.language = 'pt-BR'
order by offers.offer_id;

-- name: program_offers
-- Every program offer in the columns of its file, in the order of the programs.
select institutions.slug as institution, program_offers.offer_id, program_offers.position
from program_offers
inner join institutions on institutions.institution_id = program_offers.institution_id
order by institution, program_offers.position, program_offers.offer_id;

-- name: masked_links
-- Every link in the columns of its file, by number: its tokens reduced to first and last 4
-- characters, short ones to the ellipsis (rules.md#masking).
select
    institutions.slug as institution, masked(cardholders.cardholder_token) as cardholder_token,
    masked(instruments.instrument_token) as card_token, offers.offer_id, links.added_at
from links
inner join institutions on institutions.institution_id = links.institution_id
inner join cardholders
    on cardholders.cardholder_no = links.cardholder_no
    and cardholders.institution_id = links.institution_id
inner join instruments
    on instruments.instrument_no = links.instrument_no
    and instruments.institution_id = links.institution_id
inner join offers on offers.offer_no = links.offer_no
order by institution, links.cardholder_no, links.offer_no;
