-- name: program
-- What an institution's cardholders may see now (rules.md#feed), but for offers whose uses a
-- cardholder has spent. Only budgets that could be spent are looked up; `turns` says where each offer
-- stands in the program. Grain: one row per list of segments that offers are limited to.
with running as (
    select
        offer_terms.offer_no, offer_terms.offer_id, program_offers.position,
        offer_terms.segments, offer_terms.budget_amount, offer_terms.merchant_funded_amount,
        offer_terms.starts_at, offer_terms.expires_at, offer_terms.is_paused
    from program_offers
    inner join offer_terms on offer_terms.offer_id = program_offers.offer_id
    inner join institutions on institutions.institution_id = program_offers.institution_id
    where program_offers.institution_id = $institution_id
        and offer_terms.expires_at > $now
        and (offer_terms.reward_type is null or institutions.accepts_percent)
),

reserved as (
    select offer_budgets.offer_no, offer_budgets.reserved_amount
    from offer_budgets
    where offer_budgets.offer_no in (
        select running.offer_no
        from running
        where running.budget_amount is not null
    )
),

open_offers as (
    select
        running.segments, running.offer_no,
        row_number() over (order by running.position, running.offer_id) as turn
    from running
    left join reserved on reserved.offer_no = running.offer_no
    where offer_state(
        $now, running.starts_at, running.expires_at, running.is_paused,
        running.budget_amount - coalesce(reserved.reserved_amount, 0),
        running.merchant_funded_amount
    ) = 'active'
)

select
    open_offers.segments,
    list(open_offers.offer_no order by open_offers.turn) as offer_nos,
    list(open_offers.turn order by open_offers.turn) as turns
from open_offers
group by open_offers.segments;

-- name: changes_at
-- When the next offer of a program begins or ends; null where none will.
select
    min(
        case when offers.starts_at > $now then offers.starts_at else offers.expires_at end
    ) as changes_at
from program_offers
inner join offers on offers.offer_id = program_offers.offer_id
where program_offers.institution_id = $institution_id
    and offers.expires_at > $now;

-- name: readers
-- The offers that some cardholders have added, and those whose uses they have spent.
-- Grain: one row per cardholder and offer, or two.
select links.cardholder_no, links.offer_no, false as is_spent
from links
where links.institution_id = $institution_id
    and links.cardholder_no in (select unnest($cardholder_nos))
union all
select ledger_entries.cardholder_no, ledger_entries.offer_no, true
from ledger_entries
inner join offers on offers.offer_no = ledger_entries.offer_no
where ledger_entries.institution_id = $institution_id
    and ledger_entries.cardholder_no in (select unnest($cardholder_nos))
    and ledger_entries.status <> 'reversed'
    and offers.max_redemptions_per_cardholder is not null
group by ledger_entries.cardholder_no, ledger_entries.offer_no
having count(*) >= min(offers.max_redemptions_per_cardholder);

-- name: by_affinity
-- Those of the open offers ($offer_nos) that suit the cardholder best, with what speaks for each; the
-- weights come as the parameters named after the signals. Reads the purchases of this
-- cardholder once. Grain: one row per offer, in order.
with open_offers as (
    select offers.offer_no, offers.offer_id, program_offers.position, offers.merchant_id
    from program_offers
    inner join offers on offers.offer_id = program_offers.offer_id
    where program_offers.institution_id = $institution_id
        and offers.offer_no in (select unnest($offer_nos))
),

bought_from as (
    select distinct purchases.merchant_no, purchases.category
    from identified_purchases as purchases
    where purchases.merchant_id is not null
        and purchases.institution_id = $institution_id
        and purchases.cardholder_no = $cardholder_no
        and purchases.transacted_at >= $past_from
        and purchases.transacted_at < $now
),

most_added as (
    select offer_totals.offer_no
    from offer_totals
    inner join offers on offers.offer_no = offer_totals.offer_no
    where offer_totals.institution_id = $institution_id
        and offer_totals.links > 0
    order by offer_totals.links desc, offers.offer_id
    limit $most_popular
),

signals as (
    select
        open_offers.offer_no, open_offers.offer_id, open_offers.position,
        cast(merchants.merchant_id as varchar) in (select unnest($merchant_hints))
        or lower(merchants.name) in (select unnest($merchant_hints)) as preferred_merchant,
        coalesce(lower(merchants.category) in (select unnest($category_hints)), false)
            as preferred_category,
        merchants.merchant_no in (select bought_from.merchant_no from bought_from)
            as past_merchant,
        coalesce(
            merchants.category in (
                select bought_from.category from bought_from where bought_from.category is not null
            ),
            false
        ) as past_category,
        open_offers.offer_no in (select most_added.offer_no from most_added) as popular
    from open_offers
    inner join merchants on merchants.merchant_id = open_offers.merchant_id
),

scored as (
    select
        signals.*,
        $preferred_merchant * cast(signals.preferred_merchant as integer)
        + $preferred_category * cast(signals.preferred_category as integer)
        + $past_merchant * cast(signals.past_merchant as integer)
        + $past_category * cast(signals.past_category as integer)
        + $popular * cast(signals.popular as integer) as score
    from signals
)

select
    scored.offer_no, scored.preferred_merchant, scored.preferred_category, scored.past_merchant,
    scored.past_category, scored.popular
from scored
order by scored.score desc, scored.position, scored.offer_id
limit $limit;

-- name: offers
-- What a feed says of a few offers to everybody. Grain: one row per offer.
select
    offers.offer_no, offers.offer_id as id, offers.merchant_id, offers.min_spend,
    coalesce(offers.cashback_amount, offers.max_cashback_amount) as cashback_amount,
    offers.reward_type, offers.cashback_percent, offers.currency, offers.starts_at,
    offers.expires_at
from offers
where offers.offer_no in (select unnest($offer_nos));

-- name: texts
-- The titles and descriptions of a few offers. Grain: one row per offer and language.
select offers.offer_no, offer_texts.language, offer_texts.title, offer_texts.description
from offer_texts
inner join offers on offers.offer_id = offer_texts.offer_id
where offers.offer_no in (select unnest($offer_nos));

-- name: record
-- Writes engagement: what each of some cardholders saw, an impression for each offer, and a widget
-- view where there is none ($offer_nos has a null).
insert into engagement (
    institution_id, cardholder_no, event, offer_no, occurred_at, run_no
)
select
    cast($institution_id as uuid), seen.cardholder_no,
    case when seen.offer_no is null then 'widget_view' else 'offer_impression' end,
    seen.offer_no, $now, null
from (
    select
        unnest(cast($cardholder_nos as bigint[])) as cardholder_no,
        unnest(cast($offer_nos as integer[])) as offer_no
) as seen;
