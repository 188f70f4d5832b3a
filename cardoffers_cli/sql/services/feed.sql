-- name: open_offers
-- Makes open_offers: what an institution's cardholder of a segment may see now (rules.md#feed), but
-- for offers whose uses the cardholder has spent. Only budgets that could be spent are looked up.
-- Grain: one row per offer.
create or replace temp table open_offers as
with running as (
    select
        offer_terms.offer_no, offer_terms.offer_id, program_offers.position,
        offer_terms.merchant_no, offer_terms.budget_amount, offer_terms.merchant_funded_amount,
        offer_terms.starts_at, offer_terms.expires_at, offer_terms.is_paused,
        offer_terms.max_redemptions_per_cardholder
    from program_offers
    inner join offer_terms on offer_terms.offer_id = program_offers.offer_id
    where program_offers.institution_id = $institution_id
        and offer_terms.expires_at > $now
        and (
            offer_terms.segments is null
            or list_contains(string_split(offer_terms.segments, '|'), $segment)
        )
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

used as (
    select ledger_entries.offer_no, count(*) as uses
    from ledger_entries
    where ledger_entries.institution_id = $institution_id
        and ledger_entries.cardholder_no = $cardholder_no
        and ledger_entries.status <> 'reversed'
    group by ledger_entries.offer_no
)

select running.offer_no, running.offer_id, running.position, running.merchant_no
from running
left join reserved on reserved.offer_no = running.offer_no
left join used on used.offer_no = running.offer_no
where offer_state(
    $now, running.starts_at, running.expires_at, running.is_paused,
    running.budget_amount - coalesce(reserved.reserved_amount, 0), running.merchant_funded_amount
) = 'active'
    and (
        running.max_redemptions_per_cardholder is null
        or running.max_redemptions_per_cardholder > coalesce(used.uses, 0)
    );

-- name: total
-- How many offers the cardholder may see, before any limit.
select count(*) as total
from open_offers;

-- name: in_program_order
-- The first open offers of the program. Grain: one row per offer, in order.
select open_offers.offer_no
from open_offers
order by open_offers.position, open_offers.offer_id
limit $limit;

-- name: by_affinity
-- reads: link_totals(offer_no, links)
-- The open offers that suit the cardholder best, with what speaks for each; the weights come as the
-- parameters named after the signals. Reads open_offers, link_totals, and the purchases of this
-- cardholder once. Grain: one row per offer, in order.
with bought_from as (
    select distinct purchases.merchant_no, purchases.category
    from identified_purchases as purchases
    where purchases.merchant_id is not null
        and purchases.institution_id = $institution_id
        and purchases.cardholder_no = $cardholder_no
        and purchases.transacted_at >= $past_from
        and purchases.transacted_at < $now
),

most_added as (
    select link_totals.offer_no
    from link_totals
    inner join offers on offers.offer_no = link_totals.offer_no
    order by link_totals.links desc, offers.offer_id
    limit $most_popular
),

signals as (
    select
        open_offers.offer_no, open_offers.offer_id, open_offers.position,
        cast(merchants.merchant_id as varchar) in (select unnest($merchant_hints))
        or lower(merchants.name) in (select unnest($merchant_hints)) as preferred_merchant,
        coalesce(lower(merchants.category) in (select unnest($category_hints)), false)
            as preferred_category,
        open_offers.merchant_no in (select bought_from.merchant_no from bought_from)
            as past_merchant,
        coalesce(
            merchants.category in (
                select bought_from.category from bought_from where bought_from.category is not null
            ),
            false
        ) as past_category,
        open_offers.offer_no in (select most_added.offer_no from most_added) as popular
    from open_offers
    inner join merchants on merchants.merchant_no = open_offers.merchant_no
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
-- What a feed says of a few offers, and whether the cardholder has added them.
-- Grain: one row per offer.
select
    offers.offer_no, offers.offer_id as id, offers.merchant_id, offers.min_spend,
    offers.cashback_amount, offers.currency, offers.starts_at, offers.expires_at,
    offers.offer_no in (
        select links.offer_no
        from links
        where links.institution_id = $institution_id
            and links.cardholder_no = $cardholder_no
    ) as added
from offers
where offers.offer_no in (select unnest($offer_nos));

-- name: texts
-- The titles and descriptions of a few offers. Grain: one row per offer and language.
select offers.offer_no, offer_texts.language, offer_texts.title, offer_texts.description
from offer_texts
inner join offers on offers.offer_id = offer_texts.offer_id
where offers.offer_no in (select unnest($offer_nos));

-- name: record
-- Writes engagement: one widget view, and one impression for each offer shown.
insert into engagement (
    institution_id, cardholder_no, event, offer_no, occurred_at, run_no
)
select cast($institution_id as uuid), $cardholder_no, 'widget_view', null, $now, null
union all
select cast($institution_id as uuid), $cardholder_no, 'offer_impression', shown.offer_no, $now, null
from (select unnest($offer_nos) as offer_no) as shown;
