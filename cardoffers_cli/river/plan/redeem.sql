-- name: periods
-- reads: candidates(offer_no, preference_no), tight(offer_no), ranked_terms(offer_no, merchant_no,
--     known_from, merchant_funded_amount, max_redemptions_per_cardholder, preference_no)
-- makes: periods(merchant_no, begins_at, ends_at, period_no)
-- The lengths of time in which every tight offer of a merchant has one amount and one limit for all
-- purchases that fit it: one begins with each version of an offer that changed either of them. What
-- lies before the first is period 0. Grain: one row per merchant and period.
with in_use as (
    select distinct candidates.preference_no
    from candidates
    inner join tight on tight.offer_no = candidates.offer_no
),
terms as (
    select
        ranked_terms.offer_no, ranked_terms.merchant_no, ranked_terms.known_from,
        ranked_terms.merchant_funded_amount,
        coalesce(ranked_terms.max_redemptions_per_cardholder, 0) as most_uses
    from in_use
    inner join ranked_terms on ranked_terms.preference_no = in_use.preference_no
),
changing as (
    select terms.offer_no
    from terms
    group by terms.offer_no
    having min(terms.merchant_funded_amount) < max(terms.merchant_funded_amount)
        or min(terms.most_uses) < max(terms.most_uses)
),
starts as (
    select distinct terms.merchant_no, terms.known_from
    from terms
    inner join changing on changing.offer_no = terms.offer_no
)
select
    starts.merchant_no,
    starts.known_from as begins_at,
    lead(starts.known_from) over (
        partition by starts.merchant_no
        order by starts.known_from nulls last, starts.merchant_no nulls last
    ) as ends_at,
    row_number() over (
        partition by starts.merchant_no
        order by starts.known_from nulls last, starts.merchant_no nulls last
    ) as period_no
from starts;

-- name: turns
-- reads: candidates(purchase_no, offer_no), tight(offer_no), limits(offer_no, merchant_no),
--     periods(merchant_no, begins_at, ends_at, period_no)
-- makes: turns(purchase_no, turn_no, period_no)
-- The order in which purchases take their turn: time, institution, ref (rules.md#redeeming), and the
-- period of each. Where an offer can serve everybody the order does not matter, so only tight offers
-- ask for it. Turns are counted by the day, for no one worker could count them all.
-- Grain: one row per purchase that fits a tight offer.
with contending as (
    select distinct candidates.purchase_no, limits.merchant_no
    from candidates
    inner join tight on tight.offer_no = candidates.offer_no
    inner join limits on limits.offer_no = candidates.offer_no
),
dated as (
    select
        purchases.purchase_no, contending.merchant_no, purchases.transacted_at,
        purchases.institution_id, purchases.transaction_ref,
        extract(year from purchases.transacted_at) * 10000
        + extract(month from purchases.transacted_at) * 100
        + extract(day from purchases.transacted_at) as day_no
    from contending
    inner join purchases on purchases.purchase_no = contending.purchase_no
),
ordered as (
    select
        dated.purchase_no, dated.merchant_no, dated.transacted_at,
        dated.day_no * 10000000000 + row_number() over (
            partition by dated.day_no
            order by
                dated.transacted_at nulls last,
                dated.institution_id nulls last,
                dated.transaction_ref nulls last
        ) as turn_no
    from dated
)
select ordered.purchase_no, ordered.turn_no, coalesce(periods.period_no, 0) as period_no
from ordered
left join periods
    on periods.merchant_no = ordered.merchant_no
    and periods.begins_at <= ordered.transacted_at
    and (periods.ends_at is null or periods.ends_at > ordered.transacted_at);
