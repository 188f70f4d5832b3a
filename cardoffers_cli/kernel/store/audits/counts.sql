-- name: purchases_are_counted
-- Institutions whose purchases, as the kept counts and what came after say, are not those that are
-- there. Grain: one row per institution.
with found as (
    select
        purchases.institution_id, count(*) as purchases, sum(purchases.amount) as amount,
        max(purchases.transacted_at) as last_purchase_at
    from purchases
    group by purchases.institution_id
)
select
    coalesce(purchase_totals.institution_id, found.institution_id) as institution_id,
    purchase_totals.purchases as counted, found.purchases, purchase_totals.amount as amount_counted,
    found.amount, purchase_totals.last_purchase_at as last_counted_at, found.last_purchase_at
from purchase_totals
full join found on found.institution_id = purchase_totals.institution_id
where found.purchases is distinct from purchase_totals.purchases
    or found.amount is distinct from purchase_totals.amount
    or found.last_purchase_at is distinct from purchase_totals.last_purchase_at
order by institution_id;

-- name: redemptions_are_counted
-- Matches, offers and states whose redemptions, as they are counted, are not those that are there.
-- Grain: one row per institution, match, offer with its merchant, currency and state.
with both_sides as (
    select
        redemption_totals.institution_id, redemption_totals.run_no, redemption_totals.created_at,
        redemption_totals.offer_no, redemption_totals.merchant_id, redemption_totals.currency,
        redemption_totals.status, redemption_totals.redemptions,
        redemption_totals.merchant_funded_amount, redemption_totals.commission_amount,
        redemption_totals.institution_payout_amount, redemption_totals.purchase_amount
    from redemption_totals
    union all
    select
        ledger_entries.institution_id, redemptions.run_no, ledger_entries.created_at,
        ledger_entries.offer_no, ledger_entries.merchant_id, ledger_entries.currency,
        ledger_entries.status, -1, -ledger_entries.merchant_funded_amount,
        -ledger_entries.commission_amount, -ledger_entries.institution_payout_amount,
        coalesce(-redemptions.purchase_amount, 0)
    from ledger_entries
    left join redemptions
        on redemptions.redemption_no = ledger_entries.redemption_no
        and redemptions.institution_id = ledger_entries.institution_id
)
select
    both_sides.institution_id, both_sides.run_no, both_sides.offer_no, both_sides.status,
    sum(both_sides.redemptions) as too_many,
    sum(both_sides.merchant_funded_amount) as merchant_funded_amount,
    sum(both_sides.commission_amount) as commission_amount,
    sum(both_sides.institution_payout_amount) as institution_payout_amount,
    sum(both_sides.purchase_amount) as purchase_amount
from both_sides
group by
    both_sides.institution_id, both_sides.run_no, both_sides.created_at, both_sides.offer_no,
    both_sides.merchant_id, both_sides.currency, both_sides.status
having sum(both_sides.redemptions) <> 0
    or sum(both_sides.merchant_funded_amount) <> 0
    or sum(both_sides.commission_amount) <> 0
    or sum(both_sides.institution_payout_amount) <> 0
    or sum(both_sides.purchase_amount) <> 0
order by both_sides.run_no, both_sides.offer_no, both_sides.status;

-- name: purchase_days_are_counted
-- Matches and days of purchases whose redemptions, as they are counted, are not those that are
-- there. Grain: one row per institution, moment of a match, currency, state and day.
with both_sides as (
    select
        purchase_day_totals.institution_id, purchase_day_totals.created_at,
        purchase_day_totals.currency, purchase_day_totals.status,
        purchase_day_totals.purchased_on, purchase_day_totals.redemptions,
        purchase_day_totals.institution_payout_amount
    from purchase_day_totals
    union all
    select
        ledger_entries.institution_id, ledger_entries.created_at, ledger_entries.currency,
        ledger_entries.status, cast(redemptions.purchased_at as date), -1,
        -ledger_entries.institution_payout_amount
    from ledger_entries
    inner join redemptions
        on redemptions.redemption_no = ledger_entries.redemption_no
        and redemptions.institution_id = ledger_entries.institution_id
    where redemptions.purchased_at is not null
)
select
    both_sides.institution_id, both_sides.created_at, both_sides.status, both_sides.purchased_on,
    sum(both_sides.redemptions) as too_many,
    sum(both_sides.institution_payout_amount) as institution_payout_amount
from both_sides
group by
    both_sides.institution_id, both_sides.created_at, both_sides.currency, both_sides.status,
    both_sides.purchased_on
having sum(both_sides.redemptions) <> 0
    or sum(both_sides.institution_payout_amount) <> 0
order by both_sides.created_at, both_sides.purchased_on, both_sides.status;

-- name: offers_are_counted
-- Offers whose links, or what their redemptions hold of the budget, are counted otherwise than they
-- are there. Grain: one row per institution and offer.
with both_sides as (
    select
        offer_totals.institution_id, offer_totals.offer_no, offer_totals.links,
        offer_totals.redemptions, offer_totals.merchant_funded_amount
    from offer_totals
    union all
    select links.institution_id, links.offer_no, -1, 0, 0
    from links
    union all
    select
        ledger_entries.institution_id, ledger_entries.offer_no, 0, -1,
        -ledger_entries.merchant_funded_amount
    from ledger_entries
    where ledger_entries.status <> 'reversed'
)
select
    both_sides.institution_id, both_sides.offer_no, sum(both_sides.links) as links_too_many,
    sum(both_sides.redemptions) as redemptions_too_many,
    sum(both_sides.merchant_funded_amount) as amount_too_much
from both_sides
group by both_sides.institution_id, both_sides.offer_no
having sum(both_sides.links) <> 0
    or sum(both_sides.redemptions) <> 0
    or sum(both_sides.merchant_funded_amount) <> 0
order by both_sides.institution_id, both_sides.offer_no;

-- name: counts_end_with_what_is_there
-- Kept counts that claim to know more than there is: what comes next would never be counted.
-- Grain: one row where that is so.
with newest as (
    select
        (select coalesce(max(purchases.purchase_no), 0) from purchases) as purchase_no,
        (select coalesce(max(ledger_entries.redemption_no), 0) from ledger_entries) as redemption_no,
        (select coalesce(max(runs.run_no), 0) from runs) as run_no
)
select
    counted_purchase_no() as counted_purchase_no, newest.purchase_no,
    counted_redemption_no() as counted_redemption_no, newest.redemption_no,
    counted_run_no() as counted_run_no, newest.run_no
from newest
where counted_purchase_no() > newest.purchase_no
    or counted_redemption_no() > newest.redemption_no
    or counted_run_no() > newest.run_no;
