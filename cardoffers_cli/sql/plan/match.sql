-- name: enrolled
-- Every undecided purchase with each offer of its merchant that its cardholder has a link to, and
-- the first check that failed, or eligible (decisions, Eligible).
-- Grain: one row per purchase and offer.
select
    resolutions.purchase_no,
    offer_terms.offer_no,
    resolutions.cardholder_no,
    case
        when links.added_at > resolutions.transacted_at then 'enrolled_after_purchase'
        when offer_terms.starts_at > resolutions.transacted_at then 'offer_not_started'
        when offer_terms.expires_at <= resolutions.transacted_at then 'offer_expired'
        when offer_terms.min_spend > resolutions.amount then 'below_min_spend'
        else 'eligible'
    end as outcome
from resolutions
inner join offer_terms on offer_terms.merchant_no = resolutions.merchant_no
inner join links
    on links.offer_no = offer_terms.offer_no
    and links.cardholder_no = resolutions.cardholder_no;

-- name: preferences
-- The one order of preference among offers: most cashback, then earliest end, then id.
-- Grain: one row per offer.
select
    offer_terms.offer_no,
    row_number() over (
        order by
            offer_terms.cashback_amount desc nulls last,
            offer_terms.expires_at nulls last,
            offer_terms.offer_id nulls last
    ) as preference_no
from offer_terms;

-- name: candidates
-- The offers a purchase fits, best first (choice 1). Grain: one row per purchase and offer.
select
    enrolled.purchase_no,
    enrolled.offer_no,
    enrolled.cardholder_no,
    row_number() over (
        partition by enrolled.purchase_no
        order by preferences.preference_no nulls last
    ) as choice_no
from enrolled
inner join preferences on preferences.offer_no = enrolled.offer_no
where enrolled.outcome = 'eligible';
