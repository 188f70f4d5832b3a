-- name: ranked_terms
-- makes: ranked_terms(offer_no, version_no, merchant_no, known_from, known_until, min_spend,
--     merchant_funded_amount, max_redemptions_per_cardholder, budget_amount, starts_at, expires_at,
--     preference_no)
-- The terms of every version in force with their place in the one order of preference: most
-- cashback, then earliest end, then id. Grain: one row per offer and version.
select
    terms_in_force.offer_no, terms_in_force.version_no, terms_in_force.merchant_no,
    terms_in_force.known_from, terms_in_force.known_until, terms_in_force.min_spend,
    terms_in_force.merchant_funded_amount, terms_in_force.max_redemptions_per_cardholder,
    terms_in_force.budget_amount, terms_in_force.starts_at, terms_in_force.expires_at,
    row_number() over (
        order by
            terms_in_force.cashback_amount desc nulls last,
            terms_in_force.expires_at nulls last,
            terms_in_force.offer_id nulls last,
            terms_in_force.version_no nulls last
    ) as preference_no
from terms_in_force;

-- name: enrolled
-- reads: resolutions(purchase_no, cardholder_no, amount, transacted_at, merchant_no),
--     ranked_terms(offer_no, merchant_no, known_from, known_until, min_spend, starts_at,
--     expires_at, preference_no)
-- makes: enrolled(purchase_no, offer_no, preference_no, cardholder_no, outcome)
-- Every undecided purchase with each offer of its merchant that its cardholder has a link to, the
-- offer's terms at its moment (by their preference_no), and the first check that failed, or eligible
-- (rules.md#eligibility). Grain: one row per purchase and offer.
select
    resolutions.purchase_no,
    ranked_terms.offer_no,
    ranked_terms.preference_no,
    resolutions.cardholder_no,
    case
        when link_starts.counts_from > resolutions.transacted_at then 'enrolled_after_purchase'
        when ranked_terms.starts_at > resolutions.transacted_at then 'offer_not_started'
        when ranked_terms.expires_at <= resolutions.transacted_at then 'offer_expired'
        when resolutions.amount = 0 then 'refunded'
        when ranked_terms.min_spend > resolutions.amount then 'below_min_spend'
        else 'eligible'
    end as outcome
from resolutions
inner join ranked_terms
    on ranked_terms.merchant_no = resolutions.merchant_no
    and ranked_terms.known_from <= resolutions.transacted_at
    and ranked_terms.known_until > resolutions.transacted_at
inner join link_starts
    on link_starts.offer_no = ranked_terms.offer_no
    and link_starts.cardholder_no = resolutions.cardholder_no;
