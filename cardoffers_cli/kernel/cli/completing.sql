-- name: institutions
-- Reads institutions. Grain: one row per institution, by slug.
select institutions.slug as value
from institutions
order by institutions.slug;

-- name: offers
-- Reads the offers, with an institution only those of its program. Grain: one row per offer, by id.
select offer_terms.offer_id as value
from offer_terms
where starts_with(offer_terms.offer_id, $beginning)
    and (
        $slug_or_id is null
        or exists (
            select 1
            from program_offers
            inner join institutions using (institution_id)
            where program_offers.offer_id = offer_terms.offer_id
                and (
                    institutions.slug = $slug_or_id
                    or cast(institutions.institution_id as varchar) = lower($slug_or_id)
                )
        )
    )
order by offer_terms.offer_id
limit $most;

-- name: keys
-- Reads the keys that are not revoked, with what tells a person which is which. Grain: one row per
-- key, the newest first.
select
    cast(api_keys.key_id as varchar) as value, institutions.slug || ' ' || api_keys.name as meaning
from api_keys
inner join institutions on institutions.institution_id = api_keys.institution_id
where api_keys.revoked_at is null
order by api_keys.created_at desc, api_keys.key_id;
