-- name: find
-- The id of the link of a cardholder to an offer, by token and offer id; no row where there is none.
select
    link_id(links.institution_id, cardholders.cardholder_token, offers.offer_id)
        as cardholder_offer_id
from links
inner join cardholders using (institution_id, cardholder_no)
inner join offers on offers.offer_no = links.offer_no
where links.institution_id = $institution_id
    and links.cardholder_no = $cardholder_no
    and offers.offer_id = $offer_id;

-- name: of_cardholder
-- Every link of one cardholder, with its state: that of its offer, or used_up where no use is left.
-- Grain: one row per link, the oldest first.
with held as (
    select
        links.institution_id, links.cardholder_no, links.instrument_no, links.offer_no,
        links.added_at
    from links
    where links.institution_id = $institution_id
        and links.cardholder_no = $cardholder_no
),

used as (
    select ledger_entries.offer_no, count(*) as uses
    from ledger_entries
    where ledger_entries.institution_id = $institution_id
        and ledger_entries.cardholder_no = $cardholder_no
        and ledger_entries.status <> 'reversed'
    group by ledger_entries.offer_no
),

reserved as (
    select offer_budgets.offer_no, offer_budgets.reserved_amount
    from offer_budgets
    where offer_budgets.offer_no in (select held.offer_no from held)
),

final as (
    select
        link_id(held.institution_id, cardholders.cardholder_token, offer_terms.offer_id)
            as cardholder_offer_id,
        offer_terms.offer_id,
        offer_title(offer_titles.titles, institutions.languages) as offer_title,
        merchants.name as merchant_name, cardholders.cardholder_token, instruments.instrument_token,
        held.added_at, offer_terms.expires_at,
        offer_state(
            $now, offer_terms.starts_at, offer_terms.expires_at, offer_terms.is_paused,
            offer_terms.budget_amount - coalesce(reserved.reserved_amount, 0),
            offer_terms.merchant_funded_amount
        ) as offer_state,
        coalesce(used.uses, 0) as uses,
        offer_terms.max_redemptions_per_cardholder - coalesce(used.uses, 0) as uses_left
    from held
    inner join cardholders using (institution_id, cardholder_no)
    inner join instruments using (institution_id, instrument_no)
    inner join offer_terms on offer_terms.offer_no = held.offer_no
    inner join merchants on merchants.merchant_no = offer_terms.merchant_no
    inner join institutions on institutions.institution_id = held.institution_id
    left join used on used.offer_no = held.offer_no
    left join reserved on reserved.offer_no = held.offer_no
    left join offer_titles on offer_titles.offer_id = offer_terms.offer_id
)

select
    cardholder_offer_id, offer_id, offer_title, merchant_name, cardholder_token, instrument_token,
    added_at, expires_at,
    case
        when offer_state <> 'expired' and uses_left <= 0 then 'used_up'
        else offer_state
    end as state,
    uses,
    case when uses_left < 0 then 0 else uses_left end as uses_left
from final
order by added_at, offer_id;

-- name: insert
-- Writes the link of a cardholder to an offer, unless there is one.
insert into links (institution_id, cardholder_no, instrument_no, offer_no, added_at, run_no)
select
    cast($institution_id as uuid), $cardholder_no, $instrument_no, offers.offer_no, $added_at,
    $run_no
from offers
anti join links
    on links.institution_id = $institution_id
    and links.cardholder_no = $cardholder_no
    and links.offer_no = offers.offer_no
where offers.offer_id = $offer_id;
