-- name: offer_terms
-- What an offer is now, and what a redemption by these terms costs its merchant; of a percent offer,
-- at most. Grain: one row per offer.
create or replace view offer_terms as
with promised as (
    select
        offers.* replace (
            coalesce(offers.cashback_amount, offers.max_cashback_amount) as cashback_amount
        )
    from offers
),
costed as (
    select
        offers.*,
        commission_on(
            null, offers.cashback_amount, offers.commission_rate, offers.commission_basis,
            offers.max_commission_amount, currencies.minor_unit
        ) as commission_amount
    from promised as offers
    inner join currencies on currencies.currency = offers.currency
)
select
    costed.*,
    cast(costed.cashback_amount + costed.commission_amount as decimal(18, 4))
        as merchant_funded_amount,
    merchants.merchant_no
from costed
inner join merchants on merchants.merchant_id = costed.merchant_id;

-- name: numbered_versions
-- The versions of offers, numbered from 1. `run_no` is the run that brought one, `last_run_no` the
-- last run that knew it as the newest: a run decides dates, merchant and budget by the version whose
-- run lies before it. The cashback of a percent offer is the most it gives.
-- Grain: one row per offer and version.
create or replace view numbered_versions as
select
    offer_versions.* replace (
        coalesce(offer_versions.cashback_amount, offer_versions.max_cashback_amount)
            as cashback_amount
    ),
    row_number() over versions as version,
    coalesce(lead(offer_versions.run_no) over versions, 9223372036854775807) as last_run_no
from offer_versions
window versions as (partition by offer_versions.offer_no order by offer_versions.run_no);

-- name: terms_in_force
-- The terms that a purchase is judged by: those of the newest version known at its moment, which is
-- in [known_from, known_until), and the first version's where none was known; merchant, dates and
-- budget are those of the offer now. A version that a later one was back-dated over holds never, and
-- is left out. Amounts are the most that one redemption comes to. Grain: one row per offer and version.
create or replace view terms_in_force as
with numbered as (
    select
        numbered_versions.*,
        min(numbered_versions.known_at) over (
            partition by numbered_versions.offer_no
            order by numbered_versions.run_no
            rows between 1 following and unbounded following
        ) as overtaken_at
    from numbered_versions
),
costed as (
    select
        offers.offer_no, offers.offer_id, merchants.merchant_no, numbered.run_no as version_no,
        case when numbered.version = 1 then timestamp '0001-01-01' else numbered.known_at end
            as known_from,
        coalesce(numbered.overtaken_at, timestamp '9999-12-31') as known_until,
        numbered.min_spend, numbered.cashback_amount, numbered.max_redemptions_per_cardholder,
        numbered.cashback_percent, numbered.commission_rate, numbered.commission_basis,
        numbered.max_commission_amount, currencies.minor_unit,
        commission_on(
            null, numbered.cashback_amount, numbered.commission_rate, numbered.commission_basis,
            numbered.max_commission_amount, currencies.minor_unit
        ) as commission_amount,
        offers.budget_amount, offers.starts_at, offers.expires_at
    from numbered
    inner join offers on offers.offer_no = numbered.offer_no
    inner join currencies on currencies.currency = offers.currency
    inner join merchants on merchants.merchant_id = offers.merchant_id
)
select
    costed.offer_no, costed.offer_id, costed.merchant_no, costed.version_no, costed.known_from,
    costed.known_until, costed.min_spend, costed.cashback_amount, costed.commission_amount,
    cast(costed.cashback_amount + costed.commission_amount as decimal(18, 4))
        as merchant_funded_amount,
    costed.max_redemptions_per_cardholder, costed.cashback_percent, costed.commission_rate,
    costed.commission_basis, costed.max_commission_amount, costed.minor_unit, costed.budget_amount,
    costed.starts_at, costed.expires_at
from costed
where costed.known_from < costed.known_until;

-- name: version_judged_by
-- The version (its run) of an offer that a run judges a purchase by, from what the run knew.
create or replace macro version_judged_by(of_offer_no, bought_at, in_run_no) as (
    select
        coalesce(
            max(offer_versions.run_no) filter (
                where offer_versions.known_at <= bought_at
                    or in_run_no <= (
                        select terms_of_purchases.after_run_no
                        from terms_of_purchases
                    )
            ),
            min(offer_versions.run_no)
        )
    from offer_versions
    where offer_versions.offer_no = of_offer_no
        and offer_versions.run_no < in_run_no
);

-- name: link_starts
-- Since when a link counts: from the beginning of the second in which it was added, because the
-- records of purchases know no smaller unit. Grain: one row per link.
create or replace view link_starts as
select
    links.institution_id, links.cardholder_no, links.offer_no,
    date_trunc('second', links.added_at) as counts_from,
    links.run_no
from links;

-- name: offer_titles
-- The titles of offers by language. Grain: one row per offer with a text.
create or replace view offer_titles as
select
    offer_texts.offer_id,
    map(list(offer_texts.language), list(offer_texts.title)) as titles
from offer_texts
group by offer_texts.offer_id;

-- name: offer_title
-- The title in the first of an institution's languages, else in English; without an institution
-- `languages` is null. A query for each title, in the place of a join, would cost more.
create or replace macro offer_title(titles, languages) as coalesce(
    titles[split_part(languages, '|', 1)], titles['en']
);

-- name: offer_budgets
-- What redemptions hold of each offer's budget, and how many there are; a reversal gives both back,
-- and a refund that reduces one the difference.
-- It reads no links, as who asks for a budget must not wait for them: offer_totals has both.
-- Grain: one row per offer that was redeemed.
create or replace view offer_budgets as
with parts as (
    select offer_counts.offer_no, offer_counts.redemptions, offer_counts.merchant_funded_amount
    from offer_counts
    union all
    select entries.offer_no, entries.sign, entries.merchant_funded_amount
    from uncounted_entries as entries
    where entries.status <> 'reversed'
    union all
    select adjustments.offer_no, 0, adjustments.merchant_funded_amount
    from adjustments
    where adjustments.offer_no is not null
)
select
    parts.offer_no,
    sum(parts.merchant_funded_amount) as reserved_amount,
    cast(sum(parts.redemptions) as bigint) as redemptions
from parts
group by parts.offer_no
having sum(parts.redemptions) > 0;

-- name: offer_state
-- The state of an offer at a moment: the one place of the rule. What cannot be undone comes first;
-- only active offers are shown and added. `budget_left` is null where there is no budget.
create or replace macro offer_state(
    moment, starts_at, expires_at, is_paused, budget_left, merchant_funded_amount
) as case
    when moment >= expires_at then 'expired'
    when is_paused then 'paused'
    when moment < starts_at then 'not_started'
    when budget_left < merchant_funded_amount then 'budget_spent'
    else 'active'
end;

-- name: budgeted_offers
-- What an offer is now and what its budget is: held by redemptions, and left, which is null where
-- there is no budget. Amounts are in the currency of the offer. Grain: one row per offer.
create or replace view budgeted_offers as
select
    offer_terms.*,
    coalesce(offer_budgets.reserved_amount, 0) as reserved_amount,
    offer_terms.budget_amount - coalesce(offer_budgets.reserved_amount, 0) as left_amount,
    coalesce(offer_budgets.redemptions, 0) as redemptions
from offer_terms
left join offer_budgets on offer_budgets.offer_no = offer_terms.offer_no;

-- name: cardholder_events
-- What cardholders did with offers: the widget views, impressions, links (offer_add) and
-- redemptions, which come counted. Only a view of the widget has no offer, and who it was is told of
-- views and impressions alone. Grain: rows whose `times` are to be summed.
create or replace view cardholder_events as
select
    engagement.institution_id, engagement.cardholder_no, engagement.event, engagement.offer_no,
    engagement.occurred_at, 1 as times
from engagement
union all
select links.institution_id, null, 'offer_add', links.offer_no, links.added_at, 1
from links
union all
select
    redemption_totals.institution_id, null, 'redemption', redemption_totals.offer_no,
    redemption_totals.created_at, redemption_totals.redemptions
from redemption_totals;
